//! Tests of k-means, one module a topic, in one binary: it links once, and its tests share the processors.

mod dense;
mod sparse;
