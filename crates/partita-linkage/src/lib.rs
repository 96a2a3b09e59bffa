//! Hierarchical clustering from condensed dissimilarities, and cuts of the tree.
