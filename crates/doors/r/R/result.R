# What is seen of results.

sizes <- function(x) {
  table(factor(x$cluster, seq_len(max(c(0L, x$cluster), na.rm = TRUE))), useNA = if (anyNA(x$cluster)) "always" else "no", dnn = NULL)
}

one_line <- function(x) {
  sure <- mean(x$agreement, na.rm = TRUE)
  sure <- if (is.nan(sure)) "" else sprintf(", agreement %.3f", sure)
  sprintf("Consensus by %s: %d objects in %d clusters%s", x$method, length(x$cluster), x$k, sure)
}

print.partita <- function(x, ...) {
  cat(one_line(x), "\n", sep = "")
  print(sizes(x))
  invisible(x)
}

summary.partita <- function(object, ...) {
  by <- split(object$agreement, object$cluster)
  clusters <- data.frame(
    cluster = as.integer(names(by)), size = lengths(by), agreement = vapply(by, mean, 0, na.rm = TRUE), row.names = NULL
  )
  kept <- object[c("method", "settings", "seed", "warnings")]
  structure(c(list(line = one_line(object), clusters = clusters), kept), class = "summary.partita")
}

print.summary.partita <- function(x, ...) {
  cat(x$line, "; seed ", format(x$seed), "\n", sep = "")
  print(x$clusters, row.names = FALSE)
  for (text in x$warnings) cat("note: ", text, "\n", sep = "")
  invisible(x)
}

as.data.frame.partita <- function(x, row.names = NULL, optional = FALSE, ...) {
  frame <- data.frame(cluster = unname(x$cluster), agreement = unname(x$agreement))
  if (!is.null(x$membership)) {
    frame$probability <- unname(apply(x$membership, 1L, max))
    shares <- as.data.frame(x$membership)
    names(shares) <- paste0("p", seq_along(shares))
    frame <- cbind(frame, shares)
  }
  names <- if (is.null(row.names)) names(x$cluster) else row.names
  if (!is.null(names)) row.names(frame) <- make.unique(names)
  frame
}

as.hclust.partita <- function(x, ...) {
  tree <- attr(x, "tree")
  if (is.null(tree)) fail(sprintf("%s cuts no tree; eac-average does", x$method))
  n <- nrow(tree) + 1L
  at <- tree[, 1:2, drop = FALSE]
  merge <- ifelse(at < n, -(at + 1), at - n + 1)
  storage.mode(merge) <- "integer"
  under <- vector("list", n - 1L)
  leaves <- function(node) if (node < 0L) -node else under[[node]]
  for (step in seq_len(n - 1L)) {
    under[[step]] <- c(leaves(merge[step, 1L]), leaves(merge[step, 2L]))
    for (node in merge[step, ]) if (node > 0L) under[node] <- list(NULL)
  }
  names <- names(x$cluster)
  made <- list(merge = merge, height = tree[, 3L], order = under[[n - 1L]], labels = names, method = x$method, call = NULL, dist.method = NULL)
  structure(made, class = "hclust")
}

plot.partita <- function(x, which = c("sizes", "consensus", "cdf", "map"), ...) {
  which <- tryCatch(match.arg(which), error = function(error) fail("`which` is \"sizes\", \"consensus\", \"cdf\" or \"map\""))
  count <- max(c(0L, x$cluster), na.rm = TRUE)
  colours <- hcl.colors(max(1L, count), "Set 2")
  if (which == "sizes") {
    counts <- sizes(x)
    barplot(counts, col = colours, xlab = "cluster", ylab = "objects", main = one_line(x), ...)
    return(invisible(x))
  }
  shares <- co_association(x)
  if (which == "consensus") {
    order <- order(x$cluster, -x$agreement)
    n <- length(order)
    image(seq_len(n), seq_len(n), shares[order, rev(order), drop = FALSE], zlim = 0:1, col = hcl.colors(64, "Blues", rev = TRUE),
          axes = FALSE, xlab = "objects by cluster", ylab = "", main = "share of base clusterings that agree", ...)
    ends <- cumsum(table(x$cluster))
    abline(v = ends + 0.5, h = n - ends + 0.5, col = "grey40")
  } else if (which == "cdf") {
    plot_cdf(list(shares[lower.tri(shares)]), ...)
  } else {
    # Scaling takes n^3: of many objects the map has some, evenly from all clusters.
    shown <- order(x$cluster)
    shown <- shown[unique(round(seq(1, length(shown), length.out = min(500L, length(shown)))))]
    far <- 1 - shares[shown, shown, drop = FALSE]
    far[is.na(far)] <- 1
    places <- if (length(shown) > 2L) suppressWarnings(stats::cmdscale(far, 2L)) else cbind(seq_along(shown))
    places <- cbind(places, 0, 0)[, 1:2]
    plot(places, col = colours[x$cluster[shown]], pch = 19, xlab = "", ylab = "", main = "scaling of 1 - share of base clusterings that agree", ...)
  }
  invisible(x)
}

# The distributions of the entries of consensus matrices.
plot_cdf <- function(entries, ...) {
  plot(NULL, xlim = 0:1, ylim = 0:1, xlab = "consensus", ylab = "CDF", main = "distribution of the consensus", ...)
  at <- seq(0, 1, 0.01)
  for (of in seq_along(entries)) lines(at, stats::ecdf(entries[[of]])(at), col = of)
}
