//! Tests of probabilistic consensus, one module a topic, in one binary: it links once, and its tests share the processors.

mod fixtures;
mod methods;
mod simulated;
mod simulated_data;
mod solvers;
mod weights;
