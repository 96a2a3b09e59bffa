//! The gap test on populations whose clusters are known, on tables that cannot be tested, and its promises.

mod hostile;
mod known;
