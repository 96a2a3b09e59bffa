//! Tests of self-supervised consensus, one module a topic, in one binary: it links once, and its tests share the processors.

mod k_means;
mod lbfgs;
mod models;
mod names;
mod real;
mod soft;
mod weights;
