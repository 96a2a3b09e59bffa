//! Tests of evidence accumulation, one module a topic, in one binary: it links once, and its tests share the processors.

mod common;
mod guarantees;
mod naive_reference;
mod pools;
mod weights;
