# Errors of class partita_error, those that a change of the call mends of class partita_input_error as well; warnings of class
# partita_warning; what is worth knowing as messages.

fail <- function(message, class = "partita_input_error") {
  stop(structure(class = unique(c(class, "partita_error", "error", "condition")), list(message = message, call = NULL)))
}

# The value of a native answer, after what it told. `made` makes the value of it, also of the best so far where Ctrl-C stopped the work.
# `file` is a file that only we know, whose name messages do not say.
answer <- function(found, made = identity, file = NULL, called = "x") {
  said <- function(text) {
    for (name in if (!is.null(file)) c(file, basename(file))) text <- gsub(name, called, text, fixed = TRUE)
    text
  }
  for (text in found$notes) message(said(text))
  for (text in found$warnings) {
    warning(structure(class = c("partita_warning", "warning", "condition"), list(message = said(text), call = NULL)))
  }
  if (found$interrupted) interrupt(if (!is.null(found$value)) made(found$value))
  if (!is.null(found$error)) fail(said(found$error), found$class)
  made(found$value)
}

# Calls a native function, which takes texts in UTF-8 alone.
native <- function(symbol, ...) {
  given <- list(...)
  rapply(given, function(words) if (!all(validUTF8(words))) fail("a text is not valid UTF-8; iconv() makes it so"), classes = "character")
  do.call(.Call, c(list(symbol), given))
}

# Goes on with Ctrl-C as R does: `tryCatch(..., interrupt = function(stopped) stopped$result)` has the best so far.
interrupt <- function(result) {
  signalCondition(structure(
    class = c("partita_interrupt", "interrupt", "condition"),
    list(message = "stopped by an interrupt", call = NULL, result = result)
  ))
  if (interactive()) invokeRestart("abort")
  fail("stopped by an interrupt", "partita_error")
}

# Threads and memory, which no result depends on.
how <- function() {
  threads <- getOption("partita.threads", 2L)
  if (!is_number(threads) || threads < 0 || threads > 4096) {
    fail("the option partita.threads is a number of threads from 1 to 4096, or 0 for all cores")
  }
  memory <- getOption("partita.max_memory")
  if (!is.null(memory) && (!is_number(memory) || memory < 0)) fail("the option partita.max_memory is a number of bytes")
  list(threads = as.integer(threads), max_memory = memory)
}

# Whether it is one whole number.
is_number <- function(x) is.numeric(x) && length(x) == 1L && is.finite(x) && x == floor(x)

# A seed: a whole number, or one drawn from R's generator, which `set.seed` sets.
seed_of <- function(seed) {
  if (is.null(seed)) return(sample.int(.Machine$integer.max, 1L))
  if (!is_number(seed) || seed < 0 || seed > 2^53) fail("`seed` is a whole number from 0 to 2^53, or NULL for one of R's generator")
  seed
}

# A number of clusters, several of which one is chosen, "auto", "significant" or "method", as the native functions read it; NULL is as usual.
clusters_of <- function(k) {
  if (is.null(k)) return(NULL)
  if (is.character(k) && length(k) == 1L && !is.na(k)) return(k)
  if (is_number(k)) return(sprintf("%.0f", k))
  if (!is_range(k)) fail("`k` is a number of clusters, a range such as 2:12, NULL (one is chosen), \"significant\" or \"method\"")
  sprintf("%.0f..%.0f", k[1L], k[length(k)])
}

is_range <- function(k) is.numeric(k) && length(k) > 1L && all(is.finite(k)) && all(diff(k) == 1) && all(k == floor(k))

# Settings of a method out of `...`.
settings_of <- function(...) {
  given <- tryCatch(list(...), error = function(error) fail(conditionMessage(error)))
  names <- names(given)
  if (length(given) && (is.null(names) || any(names == ""))) {
    fail("settings of the method are named, such as `max_iter = 50`; partita_methods() lists them")
  }
  given
}

# One word, or NULL.
word <- function(x, name) {
  if (!is.null(x) && (!is.character(x) || length(x) != 1L || is.na(x))) fail(sprintf("`%s` is one word", name))
  x
}
