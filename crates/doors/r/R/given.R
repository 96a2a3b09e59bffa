# Labels and tables of any kind as the native functions take them.

# Names of the clusters of a column of labels, and its codes from 1; NA is missing.
coded <- function(column, name) {
  if (is.factor(column)) {
    column <- as.character(column)
  } else if (is.numeric(column) && is.null(dim(column))) {
    number <- as.double(column)
    wrong <- which(!is.na(number) & (number < -1 | number != floor(number) | abs(number) > 2^53))
    if (length(wrong)) {
      fail(sprintf("base clustering '%s' has %s in row %d; labels are whole numbers from 0, words, or NA", name, format(number[wrong[1L]]), wrong[1L]))
    }
    number[which(number == -1)] <- NA
    values <- sort(unique(number))
    return(list(codes = match(number, values), values = sprintf("%.0f", values)))
  } else if (!(is.character(column) || is.logical(column)) || !is.null(dim(column))) {
    fail(sprintf("base clustering '%s' is of class %s; labels are numbers, words, factors, or TRUE and FALSE", name, class(column)[1L]))
  }
  words <- enc2utf8(as.character(column))
  words[trimws(words) %in% c("", native(wrap__native_missing_words))] <- NA
  values <- sort(unique(words), method = "radix")
  list(codes = match(words, values), values = values)
}

# Base clusterings out of a data frame, a matrix, a list or a cl_ensemble.
labels_of <- function(labels, only = NULL, skip = NULL) {
  if (inherits(labels, "cl_ensemble")) labels <- of_clue(labels)
  if (is.data.frame(labels)) {
    columns <- lapply(labels, function(column) if (is.list(column) || !is.atomic(column)) fail("a column of a data frame of labels is one label an object") else column)
    return(labels_of_columns(frame_bases(columns, nrow(labels), only, skip), row_names(labels)))
  }
  if (!is.null(only) || !is.null(skip)) fail("`only` and `skip` choose columns of a data frame; leave others out of the list or the matrix")
  if (is.matrix(labels) && is.atomic(labels)) {
    columns <- lapply(seq_len(ncol(labels)), function(at) as.vector(labels[, at]))
    names(columns) <- colnames(labels)
    return(labels_of_columns(columns, rownames(labels)))
  }
  if (!is.list(labels) || is.object(labels)) {
    what <- if (is.atomic(labels) && !is.null(labels)) "one clustering; for one write list(labels)" else paste("of class", class(labels)[1L])
    fail(paste0("these labels are ", what, "; give a data frame or a matrix whose columns are clusterings, a list of them, or a cl_ensemble"))
  }
  if (length(labels) && all(vapply(labels, is_shares, NA))) return(shares_of(labels))
  named <- lapply(labels, names)
  if (any(lengths(named) > 0L)) return(labels_by_name(labels, named))
  labels_of_columns(labels, NULL)
}

is_shares <- function(x) is.matrix(x) && is.numeric(x)

# Labels of a cl_ensemble: those of partitions that are hard, else memberships of all.
of_clue <- function(ensemble) {
  if (!requireNamespace("clue", quietly = TRUE)) fail("a cl_ensemble is read by the package clue, which is not installed")
  hard <- all(vapply(ensemble, clue::is.cl_hard_partition, NA))
  read <- if (hard) function(of) as.vector(clue::cl_class_ids(of)) else function(of) unclass(clue::cl_membership(of))[, , drop = FALSE]
  tryCatch(lapply(ensemble, read), error = function(error) fail(paste("clue:", conditionMessage(error))))
}

# The columns of a frame that are base clusterings, chosen as those of a file are; what is left out unasked is said.
frame_bases <- function(columns, objects, only, skip) {
  different <- vapply(columns, function(column) as.double(length(unique(column[!is.na(column)]))), 0)
  for (names in list(only, skip)) if (!is.null(names) && !is.character(names)) fail("`only` and `skip` are names of columns")
  found <- answer(native(wrap__native_base_columns, names(columns), unname(different), as.double(objects), only, skip))
  if (!is.null(found$said)) warning(structure(class = c("partita_warning", "warning", "condition"), list(message = paste0("labels: ", found$said), call = NULL)))
  columns[found$columns]
}

labels_of_columns <- function(columns, objects) {
  if (!length(columns)) fail("there is no base clustering; give at least one column of labels")
  names <- base_names(columns)
  lengths <- lengths(columns)
  other <- which(lengths != lengths[1L])
  if (length(other)) {
    fail(sprintf("base clustering '%s' labels %d objects, '%s' %d", names[other[1L]], lengths[other[1L]], names[1L], lengths[1L]))
  }
  coded <- Map(coded, unname(columns), names)
  list(names = names, codes = lapply(coded, `[[`, "codes"), values = lapply(coded, `[[`, "values"), objects = text(objects))
}

# Columns whose objects have names of their own are matched by them; what one lacks is missing.
labels_by_name <- function(columns, named) {
  names <- base_names(columns)
  if (length(unique(named)) == 1L) return(labels_of_columns(lapply(columns, unname), named[[1L]]))
  named <- lapply(named, function(of) if (is.null(of)) NULL else text(of))
  called <- sprintf("base clustering '%s'", names)
  found <- answer(native(wrap__native_match_objects, called, unname(lengths(columns)), unname(named), how()))
  columns <- Map(function(column, rows) unname(column)[rows], columns, found$rows)
  labels_of_columns(columns, found$objects)
}

# Runs that give objects shares in several clusters, of the same objects in one order.
shares_of <- function(runs) {
  names <- base_names(runs)
  rows <- vapply(runs, nrow, 0L)
  other <- which(rows != rows[1L])
  if (length(other)) fail(sprintf("run '%s' has %d objects, '%s' %d", names[other[1L]], rows[other[1L]], names[1L], rows[1L]))
  values <- lapply(runs, function(run) if (is.null(colnames(run))) as.character(seq_len(ncol(run))) else text(colnames(run)))
  list(names = names, shares = unname(lapply(runs, as_double)), values = unname(values), objects = text(rownames(runs[[1L]])))
}

as_double <- function(matrix) {
  dimnames(matrix) <- NULL
  storage.mode(matrix) <- "double"
  unclass(matrix)
}

base_names <- function(columns) {
  names <- names(columns)
  numbered <- sprintf("base%d", seq_along(columns))
  if (is.null(names)) numbered else text(ifelse(is.na(names) | names == "", numbered, names))
}

text <- function(words) if (!is.null(words)) enc2utf8(as.character(words))

# The names of the rows, unless R only numbers them.
row_names <- function(frame) if (.row_names_info(frame) > 0L) row.names(frame)

# A table: numbers as they are, dense or sparse (of the package Matrix), NA where there is a gap; distances; or a data frame as a
# file of text, which is read as the command line reads one.
table_of <- function(x, skip = NULL, only = NULL, impute = NULL, encode = NULL) {
  impute <- word(impute, "impute")
  whole <- is.null(skip) && is.null(only)
  if (inherits(x, "sparseMatrix") && requireNamespace("Matrix", quietly = TRUE)) {
    for (class in c("dMatrix", "generalMatrix", "CsparseMatrix")) x <- methods::as(x, class)
  }
  if (inherits(x, c("dist", "dgCMatrix"))) {
    if (!whole) fail("`skip` and `only` choose columns of a data frame or of a matrix that is not sparse")
    if (inherits(x, "dist")) return(c(numbers_of(as_matrix(x)), distances = TRUE))
    return(c(list(values = x@x, rows = x@i, starts = x@p, shape = x@Dim), named_by(x@Dimnames, x@Dim[2L])))
  }
  if (is.matrix(x) && is_numbers(x) && whole && (!anyNA(x) || is.null(impute) || impute == "mean")) return(c(numbers_of(x), impute = impute))
  if (is.matrix(x) && is.atomic(x)) x <- as.data.frame(x, stringsAsFactors = FALSE)
  if (!is.data.frame(x)) {
    such <- if (isS4(x)) ", such as Embeddings(x, \"pca\") of a Seurat or t(assay(x)) of a SummarizedExperiment" else ""
    fail(sprintf("this table is of class %s; give a matrix of numbers, a data frame, a dgCMatrix or a dist, in which rows are objects%s", class(x)[1L], such))
  }
  for (names in list(skip, only)) if (!is.null(names) && !is.character(names)) fail("`skip` and `only` are names of columns")
  read <- list(file = csv_of(x, names(x)), skip = as.list(skip), only = as.list(only), impute = impute, encode = word(encode, "encode"))
  read[lengths(read) > 0L]
}

is_numbers <- function(x) is.numeric(x) || is.logical(x)

numbers_of <- function(x) {
  if (!is.finite(sum(x, na.rm = TRUE))) refuse_at(is.infinite(x), x, "x")
  c(list(values = as_double(x)), named_by(dimnames(x), ncol(x)))
}

# Names the first number of a matrix that is bad, if there is one.
refuse_at <- function(bad, x, name) {
  at <- which(bad, arr.ind = TRUE)
  if (length(at)) fail(sprintf("`%s` has %s in row %d, column %d", name, x[at[1L, , drop = FALSE]], at[1L, 1L], at[1L, 2L]))
}

# Names of columns, which are numbered where they have none, and of objects.
named_by <- function(names, count) {
  list(columns = if (is.null(names[[2L]])) sprintf("V%d", seq_len(count)) else text(names[[2L]]), objects = text(names[[1L]]))
}

# The distances of all pairs; objects that have no names get none.
as_matrix <- function(x) {
  if (!is.numeric(x) || anyNA(x)) fail("distances are numbers, and none is missing")
  pairs <- tryCatch(as.matrix(x), error = function(error) fail(conditionMessage(error)))
  if (is.null(attr(x, "Labels"))) unname(pairs) else pairs
}

# A file of text of columns, and its name.
csv_of <- function(columns, names, objects = row_names(columns)) {
  if (!length(columns)) fail("the table has no column")
  cells <- lapply(columns, cells_of)
  if (!is.null(objects)) cells <- c(list(quoted(objects)), cells)
  header <- quoted(c(if (!is.null(objects)) "object", as.character(names)))
  path <- tempfile("partita", fileext = ".csv")
  rows <- if (length(cells[[1L]])) do.call(paste, c(unname(cells), sep = ","))
  writeLines(enc2utf8(c(paste(header, collapse = ","), rows)), path, useBytes = TRUE)
  path
}

cells_of <- function(column) {
  if (!is.null(dim(column)) || is.list(column)) fail("a column of the data frame is a matrix or a list; make it columns of numbers or words")
  if (is.numeric(column) && !is.object(column)) {
    cells <- sprintf("%.17g", column)
  } else if (is.ordered(column)) {
    cells <- as.character(as.integer(column))
  } else if (is.logical(column)) {
    cells <- as.character(column)
  } else {
    cells <- quoted(as.character(column))
  }
  cells[is.na(column)] <- ""
  cells
}

quoted <- function(words) paste0("\"", gsub("\"", "\"\"", enc2utf8(as.character(words)), fixed = TRUE), "\"")
