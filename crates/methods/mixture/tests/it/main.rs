//! Tests of mixture models, one module a topic, in one binary: it links once, and its tests share the processors.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;
mod doubt;
mod missing;
mod objectives;
mod row_model;
mod ways;
