test_that("labels are those of the command line, for every method", {
  command_line()
  for (at in 1:20) {
    frame <- ensemble_of(n = 20 + 3 * at, m = 4 + at %% 5, k = 2 + at %% 3, seed = at)
    for (method in partita_methods()$name) {
      theirs <- labels_of_command("consensus", frame, c("-k", 2 + at %% 3, "-m", method, "--seed", at))
      ours <- tryCatch(suppressWarnings(consensus(frame, 2 + at %% 3, method, seed = at)), partita_error = function(error) NULL)
      expect_equal(unname(ours$cluster), theirs, info = paste(method, at))
    }
  }
})

test_that("the number of clusters is found as by the command line", {
  command_line()
  frame <- ensemble_of(80, 8, 3, 5)
  expect_equal(unname(consensus(frame, seed = 3)$cluster), labels_of_command("consensus", frame, c("-k", "auto", "--seed", "3")))
})

test_that("a data frame of numbers, words and gaps is read as a file of it is", {
  command_line()
  frame <- as.data.frame(blobs(90))
  frame$colour <- rep(c("red", "green", NA), 30)
  frame$a[7] <- NA
  folder <- tempfile()
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(c(file, folder), recursive = TRUE))
  write.csv(data.frame(object = rownames(frame), frame), file, row.names = FALSE, na = "")
  for (words in list(character(), c("--base", "kmeans:20", "-m", "eac-average", "-k", "3"))) {
    system2(command_line(), c("run", file, "-o", folder, "--seed", "4", "--no-report", "--force", words), stdout = FALSE, stderr = FALSE)
    asked <- if (length(words)) list(k = 3, method = "eac-average", runs = 20) else list()
    ours <- suppressMessages(suppressWarnings(do.call(consensus_cluster, c(list(frame, seed = 4), asked))))
    expect_equal(unname(ours$cluster), read.csv(file.path(folder, "labels.csv"))$label + 1)
  }
})
