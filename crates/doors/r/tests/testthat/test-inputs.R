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

test_that("sparse numbers are clustered as the same dense ones", {
  skip_if_not_installed("Matrix")
  x <- blobs(90)
  x[x < 1] <- 0
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  expect_s4_class(sparse, "dgCMatrix")
  asked <- function(x) consensus_cluster(x, 3, runs = 20, method = "eac-average", seed = 2)
  expect_equal(asked(sparse)$cluster, suppressWarnings(asked(x))$cluster)
  expect_equal(asked(methods::as(sparse, "TsparseMatrix"))$cluster, asked(sparse)$cluster)
  expect_error(consensus_cluster(sparse, 3, only = "a"), "not sparse", class = "partita_input_error")
  broken <- sparse
  broken@i[1] <- 1000L
  expect_error(consensus_cluster(broken, 3), "sparse table", class = "partita_input_error")
  expect_error(predict(asked(sparse), x), "dense", class = "partita_input_error")
})

test_that("distances are clustered as a matrix of the features would be", {
  x <- blobs(90)
  found <- consensus_cluster(dist(x), 3, seed = 1)
  expect_equal(names(found$cluster), rownames(x))
  expect_equal(max(table(found$cluster, rep_len(1:3, 90))), 30L)
  expect_null(names(consensus_cluster(dist(unname(x)), 3, seed = 1)$cluster))
  expect_error(consensus_cluster(dist(x), 3, base = "kmeans:9"), "distances", class = "partita_input_error")
  expect_error(consensus_cluster(dist(replace(x, 3, NA)) * NA, 3), "missing", class = "partita_input_error")
  expect_error(test_clusters(dist(x), found), "features", class = "partita_input_error")
})

test_that("gaps of a matrix get values of like rows, as those of a data frame", {
  x <- blobs(90)
  x[c(5, 100)] <- NA
  asked <- function(x, ...) consensus_cluster(x, 3, runs = 20, method = "eac-average", seed = 3, ...)
  expect_message(found <- asked(x), "2 missing values")
  expect_equal(found$cluster, suppressMessages(asked(as.data.frame(x)))$cluster)
  expect_equal(asked(x, impute = "mean")$cluster, suppressMessages(asked(as.data.frame(x), impute = "mean"))$cluster)
  expect_error(asked(x, impute = "none"), "impute", class = "partita_input_error")
  expect_error(asked(cbind(x, empty = NA)), "empty", class = "partita_input_error")
})

test_that("the levels of an ordered factor are numbers in their order", {
  x <- as.data.frame(blobs(90))
  x$grade <- rep_len(1:3, 90)
  graded <- transform(x, grade = factor(c("low", "mid", "high")[grade], c("low", "mid", "high"), ordered = TRUE))
  asked <- function(x) suppressMessages(consensus_cluster(x, 3, runs = 10, seed = 1))
  expect_equal(asked(graded)$cluster, asked(x)$cluster)
})
