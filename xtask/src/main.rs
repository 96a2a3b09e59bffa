//! Orchestrates the workspace.
fn main() {}
