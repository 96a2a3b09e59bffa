//! Tests of the built binary, in one binary: it links once, and its tests share the processors.
//!
//! Most are [cases]: files, commands and what they must say, as data in `tests/cases`. What needs code is in the other modules.

mod built;
mod cases;
mod common;
mod data;
mod examples;
mod faults;
mod guarantees;
mod methods;
mod questions;

mod row_blocks;
mod tables;
mod tasks;
