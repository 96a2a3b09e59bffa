refused <- function(call, words) expect_error(call, words, class = "partita_input_error")

test_that("what cannot be used is refused in the words of R", {
  frame <- ensemble_of(30, 5, 3, 1)
  refused(consensus(NULL), "give a data frame")
  refused(consensus(c(1, 1, 2)), "list\\(labels\\)")
  refused(consensus(list(c(1, 1.5, 2))), "whole numbers")
  refused(consensus(list(1:3, 1:4)), "labels 4 objects")
  refused(consensus(frame, 0), "k = 0")
  refused(consensus(frame, 3, "lwpg"), "did you mean lwgp.*partita_methods\\(\\)")
  refused(consensus(frame, 3, "pcc-kl", restart = 3), "restart")
  refused(consensus(frame, 3, "pcc-kl", restarts = function(x) x), "neither a number")
  refused(consensus(frame, 3, seed = -1), "seed")
  refused(consensus_cluster("x"), "matrix of numbers")
  refused(consensus_cluster(matrix(c(1, NA, 2, 3, 4, 5), 3), 2, impute = "none"), "impute")
  refused(consensus_cluster(blobs(), 3, runs = 0), "runs")
  refused(consensus_cluster(replace(blobs(), 152, -Inf), 3), "-Inf in row 2, column 2")
  error <- tryCatch(consensus(frame, 99), error = identity)
  expect_false(grepl("--", conditionMessage(error), fixed = TRUE))
})

test_that("what was left out is a warning of our class, and files of ours are not named", {
  frame <- ensemble_of(30, 5, 3, 1)
  frame$id <- seq_len(30) * 7
  expect_warning(consensus(frame, 3, seed = 1), "left out 'id'", class = "partita_warning")
  x <- as.data.frame(blobs())
  x$a[3] <- NA
  told <- capture.output(invisible(suppressWarnings(consensus_cluster(x, 3, runs = 5, seed = 1))), type = "message")
  expect_true(any(grepl("^x: ", told)) && !any(grepl("[.]csv", told)))
})

test_that("an interrupt ends a computation soon", {
  x <- matrix(rnorm(4e5), 20000)
  setTimeLimit(elapsed = 1, transient = TRUE)
  on.exit(setTimeLimit())
  taken <- system.time(error <- tryCatch(consensus_cluster(x, 9, runs = 3000, base_k = 40, seed = 1), interrupt = identity, error = identity))
  expect_s3_class(error, "interrupt")
  expect_gt(taken[["elapsed"]], 0.3)
  expect_lt(taken[["elapsed"]], 3)
})

test_that("random calls end in a value or a condition", {
  few <- as.list(ensemble_of(9, 3, 2, 1))
  points <- blobs(12)
  set.seed(11)
  odd <- list(
    NULL, NA, NaN, Inf, -1, 0, 1, 2, 3, 1e10, 1e300, "", "a", "auto", "method", c(2, 5), 2:4, 5:2, TRUE, list(), list(1), list(1:3, 3:1),
    data.frame(), data.frame(a = 1:3), data.frame(a = c("x", "y", "x"), b = c(1, NA, 2)), matrix(0, 0, 0), matrix(0, 3, 0), matrix(1, 1, 1),
    matrix(1:6, 3), matrix(c(1.5, 2, NA, 4), 2), matrix("a", 2, 2), matrix(list(1), 1, 1), array(0, c(2, 2, 2)), factor(c("u", "v", "u")),
    as.Date("2020-01-01"), sum, function(x) x, quote(a + b), new.env(), as.raw(1:3), 1i, list(a = NULL), list(NA, NA), list(sum),
    as.POSIXlt("2020-01-01"), structure(list(), class = "cl_ensemble"), structure(1:3, class = "odd"), "\xff", strrep("a", 1e4),
    list(c(a = 1, b = 2), c(b = 1, b = 2)), few, points, rep(NA, 5), data.frame(a = I(list(1, 2)))
  )
  pick <- function() odd[[sample.int(length(odd), 1L)]]
  method <- function() sample(c(partita_methods()$name, "none"), 1L)
  calls <- list(
    function() consensus(pick(), pick(), method(), seed = 1), function() consensus(few, pick(), pick()),
    function() consensus(few, 2, method(), max_iter = pick(), restarts = pick(), seed = pick()),
    function() consensus(few, 2, base_weights = pick(), object_weights = pick(), unlabelled = pick(), features = pick()),
    function() consensus_cluster(pick(), pick(), runs = 2), function() consensus_cluster(points, 2, runs = 2, base_k = pick(), subsample = pick(), scale = pick()),
    function() consensus_cluster(points, 2, base = pick(), preset = pick(), features = pick(), skip = pick(), impute = pick(), encode = pick()),
    function() choose_k(pick(), pick(), labels = pick()), function() choose_k(points, pick(), criterion = "rcsi", draws = pick()),
    function() test_clusters(pick(), pick()), function() test_clusters(points, rep(1:2, 6), alpha = pick(), halvings = pick(), scale = pick()),
    function() align_runs(pick(), pick(), pick()), function() align_runs(list(pick(), pick())), function() report(pick(), pick()),
    function() predict(consensus(few, 2, seed = 1), pick(), pick(), pick()), function() partita_methods(pick()),
    function() add_consensus(pick(), pick(), pick()), function() add_consensus(as.data.frame(few), pick(), 2, name = pick()), function() plot(consensus(few, 2, seed = 1), pick()),
    function() ConsensusClusterPlus(pick(), pick(), 3), function() ConsensusClusterPlus(t(points), 3, 3, pick(), pick(), pick(), distance = pick(), seed = pick()),
    function() ConsensusClusterPlus(t(points), 3, 3, finalLinkage = pick(), ml = pick(), weightsItem = pick(), corUse = pick(), plot = pick(), tmyPal = pick())
  )
  old <- setwd(tempdir())
  grDevices::pdf(NULL)
  on.exit({
    grDevices::graphics.off()
    setwd(old)
  })
  ended <- replicate(2000, {
    call <- calls[[sample.int(length(calls), 1L)]]
    value <- suppressMessages(suppressWarnings(tryCatch(call(), error = identity, interrupt = identity)))
    defect <- inherits(value, "condition") && grepl("defect|panick", conditionMessage(value))
    if (defect) message(conditionMessage(value))
    !defect
  })
  expect_true(all(ended))
})
