//! Mixture models of label rows: MM, BCE and nonparametric NBCE.
