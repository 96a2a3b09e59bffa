# The function of the package ConsensusClusterPlus. Resamples are drawn by R, in the order of its random numbers: from the same seed come the
# same. Base clusterings of them (trees, pam, k-means from the centres that R draws) and how often objects are together are found by partita.

ConsensusClusterPlus <- function(d = NULL, maxK = 3, reps = 10, pItem = 0.8, pFeature = 1, clusterAlg = "hc", title = "untitled_consensus_cluster",
                                 innerLinkage = "average", finalLinkage = "average", distance = "pearson", ml = NULL, tmyPal = NULL, seed = NULL,
                                 plot = NULL, writeTable = FALSE, weightsItem = NULL, weightsFeature = NULL, verbose = FALSE, corUse = "everything") {
  if (is_of(d, "ExpressionSet")) d <- Biobase::exprs(d)
  if (!inherits(d, "dist") && !(is.matrix(d) && is.numeric(d))) fail("`d` is a matrix of numbers whose columns are the objects, or a dist")
  if (!is_number(maxK) || maxK < 2 || !is_number(reps) || reps < 1) fail("`maxK` is a whole number from 2, `reps` one from 1")
  if (is.null(word(clusterAlg, "clusterAlg"))) fail("`clusterAlg` is \"hc\", \"pam\", \"km\" or the name of a function")
  for (share in list(pItem, pFeature)) {
    if (!is.numeric(share) || length(share) != 1L || !isTRUE(share > 0 && share <= 1)) fail("`pItem` and `pFeature` are shares above 0 and to 1")
  }
  if (!is.null(plot) && !(is.character(plot) && length(plot) == 1L && plot %in% c("pdf", "png", "pngBMP", "ps"))) fail("`plot` is NULL, \"pdf\", \"png\" or \"ps\"")
  if (!is.null(seed)) set.seed(seed)
  if (inherits(d, "dist") || clusterAlg == "km") distance <- if (clusterAlg == "km") "euclidean" else distance
  names <- if (inherits(d, "dist")) attr(d, "Labels") else colnames(d)
  n <- if (inherits(d, "dist")) attr(d, "Size") else ncol(d)
  weights <- list(item = weights_of(weightsItem, "weightsItem", n, pItem), feature = if (!inherits(d, "dist")) weights_of(weightsFeature, "weightsFeature", nrow(d), pFeature))
  if (is.null(ml)) {
    assigned <- resampled(d, n, maxK, reps, pItem, pFeature, clusterAlg, innerLinkage, distance, weights, corUse)
    ml <- c(list(0), lapply(assigned, matrix_of_assignments))
  }
  found <- classes_by_k(ml, names, finalLinkage)
  if (isTRUE(writeTable) || !is.null(plot)) dir.create(title, showWarnings = FALSE)
  if (!is.null(plot)) draw_plus(found, title, plot, tmyPal)
  if (isTRUE(writeTable)) for (k in seq_along(found)[-1L]) {
    file <- function(what) file.path(title, sprintf("%s.k=%d.%s.csv", basename(title), k, what))
    utils::write.csv(found[[k]]$consensusMatrix, file("consensusMatrix"))
    utils::write.table(found[[k]]$consensusClass, file("consensusClass"), col.names = FALSE, sep = ",")
  }
  found
}

weights_of <- function(given, name, count, share) {
  if (!is.null(given) && (!is.numeric(given) || length(given) != count || !all(is.finite(given) & given >= 0) || sum(given > 0) < floor(count * share))) {
    fail(sprintf("`%s` are %d numbers from 0, of which at least %d are above 0", name, count, floor(count * share)))
  }
  given
}

# For every number of clusters the assignments of all resamples: a list of integer vectors, NA for objects that were not drawn.
resampled <- function(d, n, maxK, reps, pItem, pFeature, clusterAlg, innerLinkage, distance, weights, corUse) {
  pairs <- inherits(d, "dist")
  if (floor(n * pItem) <= maxK) fail(sprintf("a resample has %d objects, too few for maxK = %d clusters", floor(n * pItem), maxK))
  whole <- pairs || pFeature == 1 && is.null(weights$feature)
  base <- base_of(clusterAlg, innerLinkage)
  ours <- is.character(base) && (clusterAlg == "km" || pairs || (is.character(distance) && distance %in% (if (identical(corUse, "everything")) c("euclidean", "pearson", "spearman") else "euclidean")))
  numbers <- as_double(as.matrix(if (pairs || ours || !whole) d else distances_of(d, distance, corUse)))
  by <- if (ours && !pairs) distance
  if (ours) check_numbers(numbers, by)
  clusters <- function(numbers, resamples) answer(native(wrap__native_cluster_resamples, numbers, by, base, as.integer(maxK), resamples, how()))
  drawn <- vector("list", reps)
  assigned <- rep(list(vector("list", reps)), maxK - 1)
  marks <- if (clusterAlg == "km" && whole) marks_of(numbers)
  for (run in seq_len(reps)) {
    objects <- sort(sample(n, floor(n * pItem), prob = weights$item))
    rows <- if (!whole) sort(sample(nrow(d), floor(nrow(d) * pFeature), prob = weights$feature))
    starts <- if (clusterAlg == "km") starts_of(if (whole) marks[objects] else marks_of(numbers[rows, objects]), maxK)
    drawn[[run]] <- list(objects = objects, columns = rows, starts = starts)
    if (ours || whole && is.character(base)) next
    # Dissimilarities and clusterers of others, resample by resample.
    points <- if (whole) numbers[objects, objects] else as.matrix(distances_of(unname(d[rows, objects]), distance, corUse))
    found <- if (is.character(base)) lapply(clusters(as_double(points), list(list(objects = seq_along(objects)))), `[[`, 1L) else lapply(2:maxK, function(k) base(stats::as.dist(points), k))
    for (k in 2:maxK) assigned[[k - 1L]][[run]] <- replace(rep(NA_integer_, n), objects, as.integer(found[[k - 1L]]))
  }
  if (ours || whole && is.character(base)) clusters(numbers, drawn) else assigned
}

# Refuses what has no distances, in the words of rows and columns of `d`.
check_numbers <- function(numbers, by) {
  if (!is.finite(sum(numbers))) refuse_at(!is.finite(numbers), numbers, "d")
  if (!isTRUE(by %in% c("pearson", "spearman"))) return()
  for (column in which(numbers[1L, ] == numbers[nrow(numbers), ])) {
    if (all(numbers[, column] == numbers[1L, column])) fail(sprintf("column %d of `d` has one value only, so it has no correlation; leave it out", column))
  }
}

# What clusters resamples: the name of a base clusterer of partita, or a function of distances and a number of clusters.
base_of <- function(clusterAlg, innerLinkage) {
  ours <- c(km = "kmeans", pam = "pam", hc = unname(c(average = "average", complete = "complete", single = "single", ward.D2 = "ward")[innerLinkage]))
  if (clusterAlg %in% names(ours) && !is.na(ours[[clusterAlg]])) return(ours[[clusterAlg]])
  if (clusterAlg == "hc") return(function(points, k) stats::cutree(tree_of(points, innerLinkage), k))
  function_called(clusterAlg, "clusterAlg")
}

function_called <- function(name, argument) {
  tryCatch(get(name, mode = "function"), error = function(error) fail(sprintf("`%s` = \"%s\": there is no such name, and no function is called so", argument, name)))
}

tree_of <- function(distances, linkage) {
  tryCatch(stats::hclust(distances, method = linkage), error = function(error) fail(conditionMessage(error)))
}

# A number of every column that only equal columns share.
marks_of <- function(numbers) colSums(numbers * sqrt(seq_len(nrow(numbers))))

# The objects that k-means starts at, drawn as kmeans() draws them: anew among those that differ where two are equal.
starts_of <- function(marks, maxK) {
  lapply(2:maxK, function(k) {
    drawn <- sample.int(length(marks), k)
    if (!anyDuplicated(marks[drawn])) return(drawn)
    distinct <- which(!duplicated(marks))
    if (length(distinct) < k) fail(sprintf("a resample has %d objects that differ, too few for %d clusters", length(distinct), k))
    distinct[sample.int(length(distinct), k)]
  })
}

distances_of <- function(d, distance, corUse) {
  if (is.function(distance)) return(distance(t(d)))
  if (distance %in% c("pearson", "spearman")) {
    return(tryCatch(stats::as.dist(1 - stats::cor(d, method = distance, use = corUse)), error = function(error) fail(conditionMessage(error))))
  }
  known <- c("euclidean", "maximum", "manhattan", "canberra", "binary", "minkowski")
  if (distance %in% known) return(stats::dist(t(d), method = distance))
  function_called(distance, "distance")(t(d))
}

# The share of the resamples with both objects that put them together; 0 where there is none.
matrix_of_assignments <- function(assigned) {
  names <- sprintf("run%d", seq_along(assigned))
  values <- lapply(assigned, function(codes) as.character(seq_len(max(codes, na.rm = TRUE))))
  shares <- answer(native(wrap__native_label_co_association, list(names = names, codes = assigned, values = values), how()))
  shares[is.na(shares)] <- 0
  drawn <- Reduce(`+`, lapply(assigned, function(codes) !is.na(codes)))
  diag(shares) <- as.double(drawn > 0)
  shares
}

# The list that the function gives: for every number of clusters matrix, tree, classes and colours.
classes_by_k <- function(matrices, names, finalLinkage) {
  palette <- c("#A6CEE3", "#1F78B4", "#B2DF8A", "#33A02C", "#FB9A99", "#E31A1C", "#FDBF6F", "#FF7F00", "#CAB2D6", "#6A3D9A", "#FFFF99", "#B15928")
  found <- vector("list", length(matrices))
  colours <- rbind()
  before <- NULL
  lower <- lower.tri(matrices[[2L]])
  for (k in seq_along(matrices)[-1L]) {
    tree <- tree_of(structure(1 - matrices[[k]][lower], Size = nrow(lower), class = "dist"), finalLinkage)
    classes <- stats::setNames(stats::cutree(tree, k), names)
    before <- coloured(found[[k - 1L]]$consensusClass, classes, before, grDevices::colorRampPalette(palette)(max(12L, 2L * length(matrices))))
    found[[k]] <- list(consensusMatrix = matrices[[k]], consensusTree = tree, consensusClass = classes, ml = matrices[[k]], clrs = before)
    colours <- rbind(colours, before[[1L]])
  }
  found[[1L]] <- colours
  found
}

# Colours of objects, how many were given, and those of the classes: a class keeps the colour of the one before that most of it is from,
# where no larger class does.
coloured <- function(past, classes, before, palette) {
  count <- max(classes)
  if (is.null(before)) return(list(palette[classes], count, palette[seq_len(count)]))
  shared <- table(classes, past)
  source <- max.col(shared, "first")
  order <- order(-shared[cbind(seq_len(count), source)])
  own <- rep(NA_character_, count)
  own[order] <- before[[1L]][match(as.integer(colnames(shared))[source[order]], past)]
  own[order][duplicated(own[order])] <- NA
  new <- which(is.na(own))
  given <- before[[2L]] + seq_along(new)
  own[new] <- palette[(given - 1L) %% length(palette) + 1L]
  list(own[classes], before[[2L]] + length(new), unique(own[classes]))
}

# Consensus matrices in the order of their trees, and the areas under their distributions, into a folder.
draw_plus <- function(found, title, plot, colours) {
  if (is.null(colours)) colours <- hcl.colors(64, "Blues", rev = TRUE)
  switch(plot, pdf = grDevices::pdf(file.path(title, "consensus.pdf"), onefile = TRUE), ps = grDevices::postscript(file.path(title, "consensus.ps"), onefile = TRUE),
         grDevices::png(file.path(title, "consensus%03d.png")))
  on.exit(grDevices::dev.off())
  for (k in seq_along(found)[-1L]) {
    order <- found[[k]]$consensusTree$order
    image(found[[k]]$consensusMatrix[order, rev(order)], zlim = 0:1, col = colours, axes = FALSE, main = sprintf("consensus matrix k=%d", k))
  }
  lower <- lapply(found[-1L], function(of) of$consensusMatrix[lower.tri(of$consensusMatrix)])
  plot_cdf(lower)
  area <- vapply(lower, function(of) 1 - mean(of), 0)
  plot(seq_along(area) + 1, c(area[1L], diff(area) / area[-length(area)]), type = "b", xlab = "k", ylab = "relative change of the area", main = "delta area")
}
