//! Tests of the papers' tables, one module a topic, in one binary: it links once, and its tests share the processors.

mod engine;
mod pages;
