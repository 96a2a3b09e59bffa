choose_k <- function(x, k = NULL, method = NULL, ..., labels = FALSE, skip = NULL, only = NULL, impute = NULL, encode = NULL, seed = NULL) {
  if (is_number(k)) k <- c(k, k)
  if (!is.null(k) && (!is_range(k) && !(is.numeric(k) && length(k) == 2L && isTRUE(k[1L] == k[2L])) || k[1L] < 1)) fail("`k` is a range such as 2:12")
  if (!isTRUE(labels) && !isFALSE(labels)) fail("`labels` is TRUE where the columns of `x` are base clusterings, else FALSE")
  asked <- list(first = if (is.null(k)) 2 else k[1L], last = if (!is.null(k)) k[length(k)], method = word(method, "method"), settings = settings_of(...), seed = seed_of(seed))
  labels <- labels || (is.list(x) && !is.data.frame(x))
  given <- if (labels) labels_of(x, only, skip)
  table <- if (!labels) table_of(x, skip, only, impute, encode)
  on.exit(unlink(table$file))
  made <- function(found) {
    structure(list(k = as.integer(found$clusters), reason = found$reason, criterion = found$criterion, rows = scalars(found$rows), record = found), class = "partita_choice")
  }
  answer(native(wrap__native_choose_k, given, table, asked, how()), made, table$file)
}

# A data frame of the numbers of several records.
scalars <- function(rows) {
  keep <- function(row) row[vapply(row, function(of) is.atomic(of) && length(of) == 1L, NA)]
  rows <- lapply(rows, keep)
  names <- unique(unlist(lapply(rows, names)))
  columns <- lapply(names, function(name) vapply(rows, function(row) if (is.null(row[[name]])) NA_real_ else as.double(row[[name]]), 0))
  as.data.frame(stats::setNames(columns, names))
}

as.data.frame.partita_choice <- function(x, row.names = NULL, optional = FALSE, ...) x$rows

print.partita_choice <- function(x, ...) {
  cat(sprintf("%d clusters by %s: %s\n", x$k, x$criterion, x$reason))
  invisible(x)
}

plot.partita_choice <- function(x, criterion = x$criterion, ...) {
  if (is.null(x$rows[[criterion]])) criterion <- setdiff(names(x$rows), "clusters")[1L]
  plot(x$rows$clusters, x$rows[[criterion]], type = "b", xlab = "clusters", ylab = criterion, ...)
  abline(v = x$k, lty = 2)
  invisible(x)
}

test_clusters <- function(x, labels, alpha = NULL, halvings = NULL, merge_small = NULL, scale = NULL, common = FALSE, skip = NULL, only = NULL,
                          impute = NULL, encode = NULL, seed = NULL) {
  if (inherits(labels, "partita")) labels <- labels$cluster
  if (!is.atomic(labels) && !is.factor(labels) || is.null(labels) || !is.null(dim(labels))) fail("`labels` is one label an object: a vector, a factor, or what consensus() found")
  codes <- coded(labels, "labels")
  asked <- list(alpha = alpha, halvings = halvings, merge_small = merge_small, scale = scale, common = common, seed = seed_of(seed))
  table <- table_of(x, skip, only, impute, encode)
  on.exit(unlink(table$file))
  made <- function(found) {
    record <- found$record
    splits <- do.call(rbind, lapply(record$splits, function(split) {
      called <- vapply(record$merged, function(cluster) as.character(cluster$name), "")
      data.frame(first = called[split$first + 1L], second = called[split$second + 1L], p = or_na(split$test$p), adjusted_p = or_na(split$adjusted_p), verdict = split$verdict)
    }))
    structure(list(cluster = found$cluster, k = length(record$merged), splits = splits, newick = record$newick, record = record), class = "partita_test")
  }
  answer(native(wrap__native_test_clusters, table, codes$values[codes$codes], text(names(labels)), asked, how()), made, table$file)
}

or_na <- function(x) if (is.null(x)) NA_real_ else x

as.data.frame.partita_test <- function(x, row.names = NULL, optional = FALSE, ...) x$splits

print.partita_test <- function(x, ...) {
  cat(x$record$sentence, "\n", sep = "")
  if (!is.null(x$splits)) print(x$splits, row.names = FALSE)
  invisible(x)
}

align_runs <- function(runs, similarity = NULL, populations = NULL) {
  if (is.data.frame(runs)) runs <- as.list(runs)
  if (!is.list(runs) || is.object(runs) || !length(runs)) fail("`runs` is a list of runs: a matrix of shares (objects x clusters), or one label an object")
  if (!is.null(similarity) && !(is.numeric(similarity) && length(similarity) == 1L && isTRUE(similarity >= 0 && similarity <= 1))) {
    fail("`similarity` is a number between 0 and 1")
  }
  names <- base_names(runs)
  of_run <- function(run, name) {
    if (is.data.frame(run)) run <- as.matrix(run)
    if (is_shares(run)) return(as_double(run))
    codes <- coded(run, name)$codes
    if (all(is.na(codes))) fail(sprintf("run '%s' has no label", name))
    codes
  }
  given <- stats::setNames(Map(of_run, runs, names), names)
  objects <- if (is.matrix(runs[[1L]])) rownames(runs[[1L]]) else names(runs[[1L]])
  made <- function(found) {
    of <- found$record$runs
    number <- function(name) vapply(of, function(run) as.double(run[[name]]), 0)
    aligned <- Map(function(shares, run) matrix(shares, nrow(shares), dimnames = list(objects, paste0("c", sort(run$colours) + 1))), found$aligned, of)
    runs <- data.frame(run = names, mode = as.integer(number("mode")) + 1L, cost = number("cost"), similarity = number("similarity"))
    structure(list(aligned = stats::setNames(aligned, names), runs = runs, modes = found$record$modes, sentence = found$sentence, picture = found$picture, record = found$record), class = "partita_alignment")
  }
  answer(native(wrap__native_align_runs, given, as.double(similarity), text(objects), text(populations), how()), made)
}

print.partita_alignment <- function(x, ...) {
  cat(x$sentence, "\n", sep = "")
  invisible(x)
}
