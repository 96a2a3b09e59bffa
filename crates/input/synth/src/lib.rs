//! Synthetic tables with known clusters: seeded families of shapes, and Gaussian mixtures with their exact probabilities.
//!
//! Pick this crate to test or compare clusterings: [`families`] lists what can be drawn, in [`Group`]s; [`synthesise`] draws a
//! family by name; [`draw_ensemble`] draws base clusterings from a soft partition. The same name, number of objects, seed and
//! settings give the same bits. It knows nothing of files and of algorithms.
//!
//! | what | time | memory |
//! |---|---|---|
//! | [`synthesise`] of n objects in d columns | O(n d), mixtures O(n d K) | the table |
//! | [`draw_ensemble`] of M base clusterings | O(n K M) | the ensemble |
//!
//! ```
//! use partita_core::Seed;
//! use partita_synth::{Group, SynthSettings, families, synthesise};
//!
//! let made = synthesise("moons", 200, Seed::new(1), &SynthSettings::default())?;
//! assert_eq!((made.values.dim(), made.labels[0].is_some()), ((200, 2), true));
//! assert!(families().filter(|family| family.group == Group::Spirals).count() >= 3);
//! # Ok::<(), partita_synth::SynthError>(())
//! ```
//!
//! # Halves
//! Whoever tunes on these families tunes on one half and looks at the other once: [`Half`] says which is which. Families were
//! assigned at random, by a hash of their names, before anything was tuned on them.

#![forbid(unsafe_code)]

mod draw;
mod families;
mod family;
mod mixtures;
mod pictures;
mod settings;
mod synthetic;

pub use families::families;
pub use family::{Family, Group, Half};
pub use settings::{SynthError, SynthSettings};
pub use synthetic::{Synthetic, draw_ensemble, synthesise};
