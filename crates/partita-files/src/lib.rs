//! Tables, ensembles, labels and data sets on disk.
