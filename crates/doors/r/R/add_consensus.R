# The consensus of what an object says of its own cells: a data frame, colData of a SingleCellExperiment, meta.data of a Seurat. Their
# packages are not imported.

add_consensus <- function(object, columns, k = NULL, method = NULL, ..., name = "consensus", seed = NULL) {
  if (is.null(word(name, "name"))) fail("`name` is what the new column is called")
  about <- Filter(function(column) is.atomic(column) && is.null(dim(column)), about_objects(object))
  found <- consensus(about, k, method, ..., only = columns_called(names(about), if (!missing(columns)) columns), seed = seed)
  object <- with_column(object, name, factor(unname(found$cluster), seq_len(max(0L, found$cluster, na.rm = TRUE))))
  with_column(object, paste0(name, "_agreement"), unname(found$agreement))
}

is_of <- function(object, class) isS4(object) && inherits(object, class)

about_objects <- function(object) {
  if (is.data.frame(object)) return(object)
  if (is_of(object, "Seurat")) return(object@meta.data)
  if (!is_of(object, "SummarizedExperiment")) {
    fail(sprintf("this object is of class %s; give a data frame, a SingleCellExperiment or a Seurat", class(object)[1L]))
  }
  about <- object@colData
  names <- if (is.null(about@rownames)) seq_len(about@nrows) else about@rownames
  structure(about@listData, row.names = names, class = "data.frame")
}

with_column <- function(object, name, values) {
  if (is_of(object, "Seurat")) object@meta.data[[name]] <- values else object[[name]] <- values
  object
}

# Names of columns, in which * stands for any letters; those that a regular expression, a text that begins with ^, is found in.
columns_called <- function(names, columns) {
  if (!is.character(columns) || !length(columns) || anyNA(columns)) {
    fail("`columns` are names of columns, such as c(\"leiden\", \"sc3\"), \"leiden_*\" or \"^leiden_\"")
  }
  found <- function(expression) tryCatch(grep(expression, names, value = TRUE), error = function(error) fail(conditionMessage(error)))
  called <- lapply(columns, function(column) if (startsWith(column, "^")) found(column) else column)
  none <- columns[lengths(called) == 0L]
  if (length(none)) fail(sprintf("no column is called as '%s' says", none[1L]))
  unlist(called)
}
