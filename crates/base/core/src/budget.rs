//! Memory is said before it is taken.

use std::fmt;

/// How many bytes a computation may hold at once. `Default` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryBudget(u64);

/// A computation would hold more than its [`MemoryBudget`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs {} but the memory budget is {}; {remedy}", Bytes(*.needed), Bytes(*.budget))]
pub struct BudgetError {
    /// What asked for the memory.
    pub what: String,
    /// Bytes it would hold at once.
    pub needed: u64,
    /// Bytes it may hold.
    pub budget: u64,
    /// What would fit instead.
    pub remedy: String,
}

impl MemoryBudget {
    /// No limit.
    pub const UNLIMITED: Self = Self(u64::MAX);

    /// A budget of so many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The budget in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Refuses what does not fit.
    ///
    /// # Errors
    /// [`BudgetError`] when `needed` bytes exceed the budget; `remedy` says what would fit.
    pub fn check(self, what: &str, needed: u64, remedy: &str) -> Result<(), BudgetError> {
        if needed <= self.0 {
            return Ok(());
        }
        Err(BudgetError {
            what: what.into(),
            needed,
            budget: self.0,
            remedy: remedy.into(),
        })
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

impl fmt::Display for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes(self.0).fmt(f)
    }
}

/// Bytes in the largest binary unit that leaves at least one.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return write!(f, "{} bytes", self.0);
        }
        let power = (self.0.ilog2() / 10).min(6);
        let value = self.0 as f64 / 2f64.powi(10 * power as i32);
        write!(f, "{value:.1} {}", UNITS[power as usize - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_both_sizes_and_the_remedy() {
        let budget = MemoryBudget::new(3 << 20);
        assert_eq!(budget.check("a triangle", 3 << 20, ""), Ok(()));
        let error = budget
            .check("a triangle", 5 << 30, "take the sparse evidence")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "a triangle needs 5.0 GiB but the memory budget is 3.0 MiB; take the sparse evidence"
        );
    }
}
