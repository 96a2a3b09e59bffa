//! Tests of modes and of the alignment of runs, one module a topic, in one binary.

mod alignment;
mod modes;
