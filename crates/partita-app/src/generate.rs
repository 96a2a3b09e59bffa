//! Base clusterings of a table, made in one go or kept in a part file as they are finished.

use partita::generate::{Durable, Generated, Recipe, bytes, generate, generate_durable};
use partita::{MemoryBudget, Seed};

use crate::{AppError, InputTable, Observer};

/// Nothing is said of base clusterings that take less memory.
const WORTH_KNOWING: u64 = 256 << 20;

/// Makes the base clusterings of a table. Where `durable` names a part file, each is kept there once it is finished.
///
/// # Errors
/// [`AppError::Generate`] for a recipe that cannot be followed, too little memory, or a part file of other work.
///
/// # Cost
/// That of the recipe's base clusterers.
pub fn make_ensemble(
    table: &InputTable<'_>,
    recipe: &Recipe,
    seed: Seed,
    durable: Option<&Durable>,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Generated, AppError> {
    let (values, needed) = (table.view(), bytes(recipe, &table.view()));
    if needed > WORTH_KNOWING && needed <= budget.bytes() {
        observer.note(&format!("{} base clusterings will take up to {}", recipe.runs(), MemoryBudget::new(needed)));
    }
    let monitor = observer.begin("base clusterings");
    let mut made = match durable {
        Some(durable) => generate_durable(values, recipe, seed, durable, budget, &*monitor)?,
        None => generate(values, recipe, seed, budget, &*monitor)?,
    };
    if let Some(names) = table.object_names() {
        made.ensemble = made.ensemble.with_object_names(names.clone())?;
    }
    Ok(made)
}
