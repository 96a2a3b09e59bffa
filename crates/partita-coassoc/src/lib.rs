//! Pair statistics of an ensemble: how often two objects are together.
