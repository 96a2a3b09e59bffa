//! Tests of the page, one module a topic, in one binary: it links once, and its tests share the processors.

mod common;
mod golden;
mod page;
