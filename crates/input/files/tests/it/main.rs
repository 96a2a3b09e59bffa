//! Tests of readers and writers, one module a topic, in one binary: it links once, and its tests share the processors.

mod arrow;
#[expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#[path = "../../src/testing.rs"]
mod common;
mod damage;
mod datasets;
mod folder;
#[cfg(feature = "h5ad")]
mod h5ad;
mod peers;
mod round_trips;
mod soft_bases;
