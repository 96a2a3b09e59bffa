//! Tests of readers and writers, one module a topic, in one binary: it links once, and its tests share the processors.

mod arrow;
mod common;
mod damage;
mod datasets;
mod folder;
mod peers;
mod round_trips;
mod soft_bases;
