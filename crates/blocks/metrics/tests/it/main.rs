//! Tests of the indices, one module a topic, in one binary: it links once, and its tests share the processors.

mod alignment;
mod indices;
