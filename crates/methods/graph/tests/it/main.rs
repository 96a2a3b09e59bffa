//! Tests of cuts, one module a topic, in one binary: it links once, and its tests share the processors.

mod corners;
mod pools;
mod soft;
mod unequal;
mod unequal_set;
mod ways;
