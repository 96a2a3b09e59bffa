test_that("matrices, trees and classes are those of the package ConsensusClusterPlus", {
  skip_if_not_installed("ConsensusClusterPlus")
  set.seed(3)
  d <- matrix(rnorm(60 * 50), 60) + rep(rep(0:2, c(20, 15, 15)), each = 60)
  d[1:30, 21:35] <- d[1:30, 21:35] + 2
  colnames(d) <- paste0("s", 1:50)
  grDevices::pdf(NULL)
  assign("of_others", function(this_dist, clusters) cutree(hclust(this_dist, "average"), clusters), globalenv())
  on.exit(grDevices::dev.off())
  for (asked in list(
    list(clusterAlg = "hc"), list(clusterAlg = "hc", distance = "spearman", innerLinkage = "complete"), list(clusterAlg = "km"),
    list(clusterAlg = "pam", distance = "euclidean"), list(clusterAlg = "hc", pFeature = 0.7, distance = "euclidean"),
    list(clusterAlg = "hc", distance = "maximum", innerLinkage = "mcquitty"), list(clusterAlg = "pam", pFeature = 0.7, distance = "manhattan"),
    list(clusterAlg = "hc", weightsItem = 1:50, weightsFeature = 60:1, pFeature = 0.8, innerLinkage = "single"), list(clusterAlg = "hc", corUse = "complete.obs", tmyPal = hcl.colors(9)), list(clusterAlg = "of_others")
  )) {
    asked <- c(list(d, maxK = 4, reps = 30, seed = 11), asked)
    ours <- do.call(ConsensusClusterPlus, asked)
    theirs <- suppressMessages(do.call(ConsensusClusterPlus::ConsensusClusterPlus, asked))
    for (k in 2:4) {
      expect_lt(max(abs(ours[[k]]$consensusMatrix - theirs[[k]]$consensusMatrix)), 1e-12)
      expect_equal(ours[[k]]$consensusClass, theirs[[k]]$consensusClass)
      expect_equal(ours[[k]]$consensusTree$merge, theirs[[k]]$consensusTree$merge)
    }
    expect_equal(dim(ours[[1]]), dim(theirs[[1]]))
  }
  folder <- tempfile()
  icl <- ConsensusClusterPlus::calcICL(ours, title = folder)
  expect_equal(icl, ConsensusClusterPlus::calcICL(theirs, title = folder), tolerance = 1e-12)
  of_dist <- ConsensusClusterPlus(dist(t(d)), 3, 10, seed = 1, title = folder, plot = "pdf", writeTable = TRUE, verbose = TRUE)
  expect_setequal(list.files(folder), c("consensus.pdf", sprintf("%s.k=%d.%s.csv", basename(folder), c(2, 2, 3, 3), c("consensusMatrix", "consensusClass"))))
  expect_equal(ConsensusClusterPlus(dist(t(d)), 3, ml = c(list(0), lapply(of_dist[-1], `[[`, "ml")))[[3]]$consensusClass, of_dist[[3]]$consensusClass)
  refused <- function(words, ...) expect_error(ConsensusClusterPlus(..., maxK = 3), words, class = "partita_input_error")
  refused("50 numbers", d, weightsItem = 1:3)
  refused("no such name", d, clusterAlg = "none")
  refused("no such name", d, distance = "none")
  refused("clustering method", d, finalLinkage = "none")
  refused("NA in row 2, column 3", replace(d, 122, NA))
  refused("column 2 of `d` has one value", replace(d, 61:120, 7))
})
