# Labels of `m` noisy runs on `n` objects in `k` clusters, some missing, as a data frame.
ensemble_of <- function(n, m, k, seed, missing = 0.05) {
  set.seed(seed)
  truth <- rep_len(seq_len(k), n)
  columns <- lapply(seq_len(m), function(run) {
    noisy <- runif(n) < 0.15
    labels <- ifelse(noisy, sample.int(k + run %% 2, n, TRUE), truth)
    labels <- sample.int(20, 20)[labels]
    labels[runif(n) < missing] <- NA
    if (run %% 3 == 0) labels <- ifelse(is.na(labels), NA, paste0("c", labels))
    labels
  })
  as.data.frame(stats::setNames(columns, paste0("run", seq_len(m))))
}

# The command line of the same version, which `cargo xtask r` names.
command_line <- function() {
  binary <- Sys.getenv("PARTITA_BINARY")
  if (binary == "") skip("PARTITA_BINARY is not set")
  binary
}

# What the command line says of a data frame: labels, or NULL where it refuses.
labels_of_command <- function(command, frame, words) {
  file <- tempfile(fileext = ".csv")
  out <- tempfile(fileext = ".csv")
  on.exit(unlink(c(file, out)))
  write.csv(frame, file, row.names = FALSE, na = "")
  log <- suppressWarnings(system2(command_line(), c(command, file, "-o", out, words), stdout = TRUE, stderr = TRUE))
  if (!file.exists(out)) return(NULL)
  read.csv(out)$label + 1
}

blobs <- function(n = 150, seed = 1) {
  set.seed(seed)
  centres <- matrix(c(0, 0, 8, 8, 0, 8), 3, byrow = TRUE)
  x <- centres[rep_len(1:3, n), ] + matrix(rnorm(2 * n), n)
  dimnames(x) <- list(paste0("o", seq_len(n)), c("a", "b"))
  x
}
