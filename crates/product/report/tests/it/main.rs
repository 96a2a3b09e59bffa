//! Tests of the page, one module a topic, in one binary: it links once, and its tests share the processors.

mod golden;
mod page;
#[path = "../../examples/reports.rs"]
#[allow(
    dead_code,
    reason = "the example writes more reports than tests look at"
)]
mod reports;
