//! Tests of the choice of K and of a method, one module a topic, in one binary: it links once, and its tests share the processors.

mod best;
mod choose;
mod common;
mod conformance;
mod ensemble;
mod recipe;
