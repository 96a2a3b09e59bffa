//! Tests of median partitions, one module a topic, in one binary: it links once, and its tests share the processors.

mod fractional;
mod kcc;
mod label_means;
mod median;
mod median_rows;
mod rows;
mod soft_mean;
mod soft_mean_fine;
mod voting;
mod weights;
