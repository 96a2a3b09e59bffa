# The package beside ConsensusClusterPlus and clue: wall and CPU seconds, and how far the results are apart.
#
#     cargo xtask bench r
#
# installs the package with all optimisations and runs this. All cases run in turn in one process; `--few` takes fewer objects, `--runs N` another
# number of runs, `--only genes`, `--only table` or `--only labels` a part.
suppressMessages(for (name in c("partita", "ConsensusClusterPlus", "clue")) library(name, character.only = TRUE))

words <- commandArgs(TRUE)
few <- "--few" %in% words
runs <- if ("--runs" %in% words) as.integer(words[match("--runs", words) + 1L]) else 3L
only <- if ("--only" %in% words) words[match("--only", words) + 1L] else c("genes", "table", "labels")
part <- if (few) 5L else 1L
grDevices::pdf(NULL)

drawn_table <- function(n, d, groups, sd) {
  set.seed(1)
  truth <- rep_len(seq_len(groups), n)
  matrix(rnorm(groups * d, sd = sd), groups)[truth, ] + matrix(rnorm(n * d), n)
}

# Base clusterings that each err at three objects of ten.
drawn_labels <- function(n, m, groups) {
  set.seed(2)
  truth <- rep_len(seq_len(groups), n)
  as.data.frame(lapply(stats::setNames(seq_len(m), paste0("run", seq_len(m))), function(run) ifelse(runif(n) < 0.3, sample(groups, n, TRUE), truth)))
}

# Runs the cases in turn, those of more than ten seconds once, prints a line of each, and gives what each found in its last run.
measured <- function(title, cases) {
  taken <- lapply(cases, function(case) matrix(0, 0L, 2L))
  found <- list()
  for (run in seq_len(runs)) for (name in names(cases)) {
    if (run > 1L && taken[[name]][1L, "wall"] > 10) next
    gc()
    time <- system.time(found[[name]] <- suppressMessages(suppressWarnings(cases[[name]]())))
    taken[[name]] <- rbind(taken[[name]], c(wall = time[["elapsed"]], cpu = sum(time[c("user.self", "sys.self")])))
  }
  cat(sprintf("\n%-64s %9s %9s\n", title, "wall s", "CPU s"))
  for (name in names(cases)) cat(sprintf("%-64s %9.3f %9.3f\n", name, median(taken[[name]][, "wall"]), median(taken[[name]][, "cpu"])))
  for (name in names(cases)) raw <<- c(raw, sprintf("%s: wall %s; CPU %s", name, paste(format(taken[[name]][, "wall"]), collapse = " "), paste(format(taken[[name]][, "cpu"]), collapse = " ")))
  list(found = found, wall = vapply(taken, function(of) median(of[, "wall"]), 0), cpu = vapply(taken, function(of) median(of[, "cpu"]), 0))
}
raw <- character()

cat(sprintf("%s, ConsensusClusterPlus %s, clue %s; medians of %d runs, cases in turn, those of more than 10 s once; 2 threads of ours, R has one\n", R.version.string,
            packageVersion("ConsensusClusterPlus"), packageVersion("clue"), runs))

# The same resamples in both: matrices must be equal.
beside <- function(d, maxK, reps, algorithms) {
  for (algorithm in algorithms) {
    asked <- list(d, maxK = maxK, reps = reps, clusterAlg = algorithm, distance = if (algorithm == "km") "euclidean" else "pearson", seed = 1)
    found <- measured(sprintf("%d objects x %d columns, maxK = %d, reps = %d, clusterAlg = \"%s\"", ncol(d), nrow(d), maxK, reps, algorithm), list(
      `ConsensusClusterPlus::ConsensusClusterPlus` = function() do.call(ConsensusClusterPlus::ConsensusClusterPlus, asked),
      `partita::ConsensusClusterPlus` = function() do.call(partita::ConsensusClusterPlus, asked)
    ))
    apart <- vapply(2:maxK, function(k) max(abs(found$found[[1L]][[k]]$consensusMatrix - found$found[[2L]][[k]]$consensusMatrix)), 0)
    classes <- vapply(2:maxK, function(k) identical(found$found[[1L]][[k]]$consensusClass, found$found[[2L]][[k]]$consensusClass), NA)
    cat(sprintf("wall of theirs / ours %.0f, CPU %.0f; largest difference of two entries of the consensus matrices %.1g; classes equal for %d of %d k\n",
                found$wall[[1L]] / found$wall[[2L]], found$cpu[[1L]] / found$cpu[[2L]], max(apart), sum(classes), length(classes)))
  }
}

if ("genes" %in% only) {
  genes <- drawn_table(500 %/% part, 2000 %/% part, 5, 0.15)
  beside(t(genes), 8, 200, c("hc", "km"))
}

if ("table" %in% only) {
  table <- drawn_table(2000 %/% part, 10, 5, 1.5)
  beside(t(table), 5, 100, "km")
  invisible(measured("the same table, 100 runs of k-means and their consensus", list(
    `consensus_cluster(x, 5, runs = 100)` = function() consensus_cluster(table, 5, runs = 100, seed = 1),
    `consensus_cluster(x, 2:5, runs = 100), which chooses k` = function() consensus_cluster(table, 2:5, runs = 100, seed = 1)
  )))
}

if ("labels" %in% only) {
  labels <- drawn_labels(20000 %/% part, 20, 10)
  ensemble <- cl_ensemble(list = lapply(labels, as.cl_partition))
  theirs <- function(method) function() cl_consensus(ensemble, method, control = list(k = 10))
  ours <- function(method) function() consensus(ensemble, 10, method, seed = 1)
  cases <- list(theirs("SE"), theirs("HE"), theirs("DWH"), ours("soft-mean"), ours("plurality"), ours("lwgp"))
  names(cases) <- c(sprintf("cl_consensus(ensemble, \"%s\")", c("SE", "HE", "DWH")), sprintf("consensus(ensemble, 10, \"%s\")", c("soft-mean", "plurality", "lwgp")))
  found <- measured(sprintf("a cl_ensemble of %d base clusterings of %d objects, 10 clusters", length(labels), nrow(labels)), cases)$found
  squares <- vapply(found, function(of) mean(as.numeric(cl_dissimilarity(ensemble, of, "euclidean"))^2), 0)
  hard <- lapply(found, as.cl_hard_partition)
  agreement <- function(with) vapply(hard, function(of) as.numeric(cl_agreement(of, with, "cRand")), 0)
  cat(sprintf("\n%-44s %16s %10s %10s %10s\n", "clue's criterion, ARI with clue's", "mean d^2", "SE", "HE", "DWH"))
  cat(sprintf("%-44s %16.4f %10.4f %10.4f %10.4f\n", names(found), squares, agreement(hard[[1L]]), agreement(hard[[2L]]), agreement(hard[[3L]])), sep = "")
}

cat("\nruns in turn, seconds\n", paste0(raw, "\n"), sep = "")
