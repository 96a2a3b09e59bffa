//! Tests of probabilistic consensus, one module a topic, in one binary: it links once, and its tests share the processors.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;
mod fixtures;
mod given;
mod methods;
mod simulated;
mod simulated_data;
mod solvers;
mod weights;
