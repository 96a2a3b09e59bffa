//! Consensus clustering.
