test_that("matrices, trees and classes are those of the package ConsensusClusterPlus", {
  skip_if_not_installed("ConsensusClusterPlus")
  set.seed(3)
  d <- matrix(rnorm(60 * 50), 60) + rep(rep(0:2, c(20, 15, 15)), each = 60)
  d[1:30, 21:35] <- d[1:30, 21:35] + 2
  colnames(d) <- paste0("s", 1:50)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (asked in list(
    list(clusterAlg = "hc"), list(clusterAlg = "hc", distance = "spearman", innerLinkage = "complete"), list(clusterAlg = "km"),
    list(clusterAlg = "pam", distance = "euclidean"), list(clusterAlg = "hc", pFeature = 0.7, distance = "euclidean"),
    list(clusterAlg = "hc", distance = "maximum", innerLinkage = "mcquitty"), list(clusterAlg = "pam", pFeature = 0.7, distance = "manhattan")
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
  expect_equal(icl$clusterConsensus[, "k"], rep(2:4, 2:4))
  of_dist <- ConsensusClusterPlus(dist(t(d)), 3, 10, seed = 1, title = folder, plot = "pdf")
  expect_true(file.exists(file.path(folder, "consensus.pdf")))
})
