# What the package clue asks of a partition; registered when clue is loaded.

cl_class_ids.partita <- function(x) clue::as.cl_class_ids(x$cluster)

cl_membership.partita <- function(x, k = x$k) {
  if (is.null(x$membership)) return(clue::cl_membership(clue::as.cl_hard_partition(x$cluster), k))
  clue::as.cl_membership(cbind(x$membership, matrix(0, nrow(x$membership), k - ncol(x$membership))))
}

is.cl_partition.partita <- function(x) TRUE

is.cl_hard_partition.partita <- function(x) is.null(x$membership)

n_of_classes.partita <- function(x) x$k

n_of_objects.partita <- function(x) length(x$cluster)
