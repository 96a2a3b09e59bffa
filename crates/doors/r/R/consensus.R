consensus <- function(labels, k = NULL, method = NULL, ..., features = NULL, base_weights = NULL, object_weights = NULL,
                      unlabelled = NULL, only = NULL, skip = NULL, seed = NULL) {
  given <- labels_of(labels, only, skip)
  asked <- asked_of(k, method, settings_of(...), seed)
  asked$base_weights <- weights(base_weights, "base_weights", length(given$names), given$names)
  asked$object_weights <- weights(object_weights, "object_weights", NULL, given$objects)
  asked$unlabelled <- word(unlabelled, "unlabelled")
  table <- if (!is.null(features)) table_of(features)
  on.exit(unlink(table$file))
  answer(native(wrap__native_consensus, given, table, asked, how()), as_result, table$file, "features")
}

consensus_cluster <- function(x, k = NULL, runs = NULL, method = NULL, ..., base = NULL, base_k = NULL, subsample = NULL,
                              features = NULL, scale = NULL, preset = NULL, base_weights = NULL, skip = NULL, only = NULL,
                              impute = NULL, encode = NULL, resolution = NULL, objective = NULL, edges = NULL,
                              seed = NULL) {
  asked <- asked_of(k, method, settings_of(...), seed)
  if (!is.null(base_weights)) asked$base_weights <- word(base_weights, "base_weights")
  asked$preset <- word(preset, "preset")
  if (!is.null(runs)) {
    if (!is_number(runs) || runs < 1) fail("`runs` is how many base clusterings k-means makes, a whole number from 1")
    if (!is.null(base)) fail("`runs = 100` is `base = \"kmeans:100\"`; give one of them")
    base <- sprintf("kmeans:%.0f", runs)
  }
  if (is.numeric(base_k)) base_k <- if (is_range(base_k)) clusters_of(base_k) else paste(sprintf("%.0f", base_k), collapse = ",")
  if (is.character(base)) base <- as.list(trimws(strsplit(paste(base, collapse = ","), ",", fixed = TRUE)[[1L]]))
  recipe <- list(base = base, base_k = base_k, subsample = subsample, features = features, scale = scale,
                 objective = word(objective, "objective"), edges = edges)
  if (!is.null(resolution)) recipe$resolution <- paste(resolution, collapse = "..")
  asked$recipe <- recipe[lengths(recipe) > 0L]
  table <- table_of(x, skip, only, impute, encode)
  on.exit(unlink(table$file))
  answer(native(wrap__native_consensus_cluster, table, asked, how()), function(found) as_result(found, table = TRUE), table$file)
}

asked_of <- function(k, method, settings, seed) {
  clusters <- clusters_of(k)
  list(clusters = clusters, method = word(method, "method"), settings = settings, seed = seed_of(seed))
}

# Weights by place or by name; a word is left as it is.
weights <- function(given, what, count, names) {
  if (is.null(given) || (is.character(given) && length(given) == 1L)) return(given)
  if (!is.numeric(given)) fail(sprintf("`%s` are numbers", what))
  if (!is.null(names(given)) && !is.null(names)) {
    absent <- setdiff(names, names(given))
    if (length(absent)) fail(sprintf("`%s` has no weight for '%s'", what, absent[1L]))
    given <- given[names]
  }
  if (!is.null(count) && length(given) != count) fail(sprintf("%d `%s` for %d base clusterings", length(given), what, count))
  as.list(unname(as.double(given)))
}

# A result of class partita.
as_result <- function(found, table = FALSE) {
  own <- found$record$methods[[1L]]
  cluster <- found$cluster
  names(cluster) <- found$objects
  membership <- found$membership
  if (!is.null(membership)) dimnames(membership) <- list(found$objects, seq_len(ncol(membership)))
  named <- function(values) stats::setNames(values, found$objects)
  made <- list(
    cluster = cluster, k = as.integer(own$clusters), agreement = named(found$agreement),
    membership = membership, method = own$method, settings = own$settings, seed = found$record$experiment$seed,
    warnings = as.character(unlist(own$warnings)), record = found$record
  )
  made$label_names <- found$label_names
  structure(made, class = "partita", native = found$native, tree = found$tree, of_table = table)
}

native_of <- function(x) {
  if (!inherits(x, "partita")) fail(sprintf("this is of class %s; give what consensus() or consensus_cluster() found", class(x)[1L]))
  attr(x, "native")
}

predict.partita <- function(object, newdata, type = c("cluster", "membership"), predict_with = NULL, ...) {
  type <- tryCatch(match.arg(type), error = function(error) fail("`type` is \"cluster\" or \"membership\""))
  predict_with <- word(predict_with, "predict_with")
  if (attr(object, "of_table") && is.null(predict_with)) predict_with <- "ssce"
  if (missing(newdata)) return(if (type == "cluster") object$cluster else object$membership)
  if (is.null(predict_with)) {
    given <- labels_of(newdata)
    words <- Map(function(codes, values) values[codes], given$codes, given$values)
    input <- csv_of(words, given$names, given$objects)
  } else {
    if (is.matrix(newdata) && is.atomic(newdata)) newdata <- as.data.frame(newdata)
    if (!is.data.frame(newdata)) fail("`newdata` is a matrix or a data frame with the columns of the table")
    input <- csv_of(newdata, names(newdata))
  }
  model <- tempfile("partita", fileext = ".json")
  on.exit(unlink(c(input, model)))
  found <- answer(native(wrap__native_predict, native_of(object), predict_with, model, input, how()), file = input, called = "newdata")
  if (type == "cluster") return(stats::setNames(found$cluster, found$objects))
  dimnames(found$membership) <- list(found$objects, seq_len(ncol(found$membership)))
  found$membership
}

report <- function(x, file = "report.html", title = NULL, names = NULL) {
  if (is.null(word(file, "file"))) fail("`file` is the name of a file")
  called <- list(title = word(title, "title"), names = as.list(as.character(names)))
  page <- answer(native(wrap__native_report, native_of(x), called[lengths(called) > 0L], how()))
  tryCatch(writeLines(page, file, useBytes = TRUE), error = function(error) fail(conditionMessage(error)), warning = function(error) fail(conditionMessage(error)))
  invisible(file)
}

co_association <- function(x) {
  shares <- answer(native(wrap__native_co_association, native_of(x), how()))
  dimnames(shares) <- list(names(x$cluster), names(x$cluster))
  shares
}

partita_methods <- function(search = NULL) {
  found <- answer(native(wrap__native_methods, word(search, "search")))
  column <- function(name) vapply(found, function(of) as.character(of[[name]]), "")
  frame <- data.frame(name = column("name"), family = column("family"), summary = column("summary"), reference = column("reference"))
  frame$settings <- lapply(found, function(of) {
    rows <- lapply(of$settings, function(one) data.frame(name = one$name, default = paste(one$default, collapse = " "), values = one$values, help = one$help))
    do.call(rbind, rows)
  })
  frame
}
