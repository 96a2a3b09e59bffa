test_that("the R of the guide pages runs", {
  pages <- list.files(Sys.getenv("PARTITA_GUIDE", "none"), "^from-r(-.*)?[.]md$", full.names = TRUE)
  if (!length(pages)) skip("PARTITA_GUIDE is not set")
  for (name in c("clue", "SeuratObject")) skip_if_not_installed(name)
  dir.create(folder <- tempfile())
  old <- setwd(folder)
  grDevices::pdf(NULL)
  on.exit({
    grDevices::dev.off()
    setwd(old)
  })
  for (page in pages) {
    lines <- readLines(page, encoding = "UTF-8")
    block <- cumsum(grepl("^```", lines))
    ours <- block[lines == "```r"]
    code <- parse(text = lines[block %in% ours & !grepl("^```", lines)], keep.source = FALSE)
    expect_gt(length(code), 3)
    for (call in code) expect_error(suppressWarnings(suppressMessages(eval(call, globalenv()))), NA, info = paste(basename(page), deparse(call)[1]))
  }
})
