columns_of_cells <- function() {
  cells <- ensemble_of(60, 3, 3, 1)
  names(cells) <- c("leiden_0.5", "leiden_1", "sc3")
  row.names(cells) <- paste0("cell", 1:60)
  cells$depth <- seq_len(60) / 7
  cells
}

test_that("the consensus of columns of a data frame is a column of it", {
  cells <- columns_of_cells()
  found <- consensus(cells[1:3], 3, seed = 1)
  added <- add_consensus(cells, c("leiden_*", "sc3"), 3, seed = 1)
  expect_equal(names(added), c(names(cells), "consensus", "consensus_agreement"))
  expect_equal(as.integer(added$consensus), unname(found$cluster))
  expect_equal(added$consensus_agreement, unname(found$agreement))
  expect_equal(levels(add_consensus(cells, "^leiden", 2, name = "mine", seed = 1)$mine), c("1", "2"))
  refused <- function(call, words) expect_error(call, words, class = "partita_input_error")
  refused(add_consensus(cells, "laiden_1", 3), "leiden_1")
  refused(add_consensus(cells, "^x", 3), "no column")
  refused(add_consensus(cells, "^[", 3), "regular expression")
  refused(add_consensus(cells), "names of columns")
  refused(add_consensus(cells, "sc3", 3, name = NULL), "name")
  refused(add_consensus(1:3, "sc3"), "SingleCellExperiment")
})

test_that("the consensus of colData of a SingleCellExperiment is a column of it", {
  skip_if_not_installed("SingleCellExperiment")
  cells <- columns_of_cells()
  object <- SingleCellExperiment::SingleCellExperiment(list(counts = matrix(1, 2, 60)), colData = cells)
  added <- add_consensus(object, c("leiden_*", "sc3"), 3, seed = 1)
  expect_s4_class(added, "SingleCellExperiment")
  expect_equal(added$consensus, add_consensus(cells, names(cells)[1:3], 3, seed = 1)$consensus)
  expect_equal(colnames(added), row.names(cells))
})

test_that("the consensus of meta.data of a Seurat is a column of it", {
  skip_if_not_installed("SeuratObject")
  cells <- columns_of_cells()
  counts <- matrix(1, 2, 60, dimnames = list(c("g1", "g2"), row.names(cells)))
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(counts, meta.data = cells))
  added <- add_consensus(object, c("leiden_*", "sc3"), 3, seed = 1)
  expect_s4_class(added, "Seurat")
  expect_equal(added@meta.data$consensus, add_consensus(cells, names(cells)[1:3], 3, seed = 1)$consensus)
  expect_equal(unname(added$consensus), added@meta.data$consensus)
})

test_that("a result is a partition of clue", {
  skip_if_not_installed("clue")
  frame <- ensemble_of(60, 6, 3, 1, missing = 0)
  hard <- consensus(frame, 3, seed = 1)
  soft <- consensus(frame, 3, "pcc-kl", seed = 1)
  expect_true(clue::is.cl_partition(hard) && clue::is.cl_hard_partition(hard))
  expect_equal(as.vector(clue::cl_class_ids(hard)), unname(hard$cluster))
  expect_equal(c(clue::n_of_classes(hard), clue::n_of_objects(hard)), c(3L, 60L))
  expect_equal(dim(clue::cl_membership(hard)), c(60L, 3L))
  expect_equal(is.null(soft$membership), clue::is.cl_hard_partition(soft))
  expect_equal(as.vector(unclass(clue::cl_membership(soft, 4))[, 1:3]), as.vector(soft$membership))
  expect_equal(as.numeric(clue::cl_agreement(hard, hard, "Rand")), 1)
  both <- clue::cl_ensemble(hard, clue::as.cl_partition(as.integer(factor(frame$run1))))
  expect_equal(consensus(both, 3, seed = 1)$k, 3L)
})
