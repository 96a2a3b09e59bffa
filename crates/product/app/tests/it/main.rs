//! Tests of the application layer, one module a topic, in one binary: it links once, and its tests share the processors.

mod agreement;
mod noise;
