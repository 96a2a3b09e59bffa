//! Tests of mixture models, one module a topic, in one binary: it links once, and its tests share the processors.

mod doubt;
mod missing;
mod row_model;
mod row_passes;
