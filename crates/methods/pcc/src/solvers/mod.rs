//! Minimising the objective from one start: the block solver, the papers' greedy one, EM and the growth transform.

mod active_set;
mod anderson;
mod block;
mod greedy;
mod interaction;
mod iterate;
mod l2_gram;
mod maps;
mod max_heap_tree;
mod newton_step;
mod objective;
mod rows_seen;
mod simplex_qp;
mod solve;

pub use objective::{Measure, measure};
pub(crate) use objective::{Model, check_start, scale};
pub use solve::{Descent, descend};
pub(crate) use solve::{check, feasible, run};
