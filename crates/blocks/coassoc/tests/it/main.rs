//! Tests of co-association, one module a topic, in one binary: it links once, and its tests share the processors.

mod pictures;
mod references;
