//! Tests of generation, one module a topic, in one binary: it links once, and its tests share the processors.

mod checkpoint;
mod common;
mod generate;
mod refusals;
mod sparse;
mod stored;
