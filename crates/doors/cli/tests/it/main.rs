//! Tests of the built binary, one module a topic, in one binary: it links once, and its tests share the processors.

mod bad_input;
mod commands;
mod common;
mod durable;
mod ensembles;
mod examples;
mod faults;
mod growing;
mod input_boundary;
mod interruption;
mod main_job;
mod named_labels;
mod number_of_clusters;
mod one_round;
mod outputs;
mod part_cache;
mod parts;
mod prediction;
mod presets;
mod repeat;
mod reports;
mod row_blocks;
mod runs;
mod streams;
