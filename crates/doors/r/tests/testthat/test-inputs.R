test_that("the same labels in any form give the same clusters", {
  frame <- ensemble_of(60, 6, 3, 1)
  found <- consensus(frame, 3, seed = 1)
  factors <- as.data.frame(lapply(frame, factor))
  expect_equal(consensus(factors, 3, seed = 1)$cluster, found$cluster)
  expect_equal(consensus(as.list(frame), 3, seed = 1)$cluster, found$cluster)
  expect_equal(consensus(as.matrix(frame), 3, seed = 1)$cluster, found$cluster)
  expect_equal(found$k, length(unique(found$cluster)))
})

test_that("names of objects are kept, and lists are matched by them", {
  one <- c(a = 1, b = 1, c = 2, d = 2)
  other <- c(d = "y", c = "y", b = "x", e = "x")
  found <- suppressWarnings(consensus(list(one = one, other = other, third = one), 2, seed = 1))
  expect_setequal(names(found$cluster), c("a", "b", "c", "d", "e"))
  expect_true(found$cluster[["a"]] == found$cluster[["b"]] && found$cluster[["c"]] == found$cluster[["d"]])
  x <- blobs()
  expect_equal(names(consensus_cluster(x, 3, runs = 10, seed = 1)$cluster), rownames(x))
})

test_that("objects without a label have none", {
  frame <- data.frame(a = c(1, 1, 2, 2, NA), b = c("x", "x", "y", "y", NA), c = factor(c("u", "u", "v", "v", NA)))
  found <- suppressMessages(consensus(frame, 2, seed = 1))
  expect_equal(is.na(found$cluster), c(FALSE, FALSE, FALSE, FALSE, TRUE))
  expect_true(is.na(found$agreement[5]))
})

test_that("shares in clusters are soft base clusterings", {
  q <- matrix(c(.9, .8, .1, .2, .1, .2, .9, .8), 4)
  found <- suppressWarnings(consensus(list(q, q[, 2:1]), 2, "soft-mean", seed = 1))
  expect_equal(dim(found$membership), c(4L, 2L))
  expect_equal(sort(found$membership[1, ]), c(.1, .9), ignore_attr = TRUE)
})

test_that("a cl_ensemble of clue is read", {
  skip_if_not_installed("clue")
  set.seed(1)
  partitions <- clue::cl_ensemble(list = lapply(1:5, function(run) kmeans(blobs(), 3, nstart = 5)))
  found <- consensus(partitions, 3, seed = 1)
  expect_equal(as.integer(table(found$cluster)), c(50L, 50L, 50L))
})
