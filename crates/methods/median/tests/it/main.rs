//! Tests of median partitions, one module a topic, in one binary: it links once, and its tests share the processors.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;
mod kcc;
mod label_means;
mod median;
mod soft_mean;
mod voting;
mod ways;
