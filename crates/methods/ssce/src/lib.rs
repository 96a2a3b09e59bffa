//! Self-supervised consensus: classifiers learn the base clusterings, agree on one classifier, and that one labels
//! objects nobody has seen. Also models that label new objects for any other consensus.
//!
//! Pick this crate when new objects will arrive, or when the table behind the ensemble should take part in the
//! consensus.
//!
//! | item | what it is | time | memory |
//! |---|---|---|---|
//! | [`ssce`] | consensus from a table and label rows | iterations · n d M K | 10 n M + 64 n K bytes |
//! | [`ssce_p`] | consensus from label rows alone | iterations · n M² K | + 320 ΣJ M K bytes |
//! | [`learn`], [`learn_soft`] | a model for any consensus: linear, nearest centre, nearest neighbours | | |
//! | [`read_model`] | a saved model | | |
//!
//! ```
//! use partita_core::ndarray::array;
//! use partita_core::{EnsembleBuilder, Features, ModelInput, Seed, Silent};
//! use partita_ssce::{SsceSettings, ssce};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let columns = ["height".to_owned()];
//! let values = array![[1.0], [1.2], [0.9], [5.0], [5.3], [4.8]];
//! let features = Features::new(&columns, values.view())?;
//! let mut builder = EnsembleBuilder::new(6);
//! builder.push("a", [0, 0, 0, 1, 1, 1].map(Some))?;
//! builder.push("b", [1, 1, 0, 0, 0, 0].map(Some))?;
//! let ensemble = builder.finish()?;
//! let outcome = ssce(&ensemble, &features, 2, Seed::new(1), &SsceSettings::default(), &Silent)?;
//!
//! let new = array![[0.8], [5.1]];
//! let input = ModelInput::Features(Features::new(&columns, new.view())?);
//! let labels = outcome.model.ok_or("there is a model")?.predict(&input)?.hard();
//! assert_ne!(labels.labels()[0], labels.labels()[1]);
//! # Ok(())
//! # }
//! ```
//!
//! # Decisions
//! **The tie γ** is the strongest under which held-out labels of the base clusterings are at most a quarter of a nat less
//! probable than under the best tie tried. The most probable labels alone favour weak ties, which repeat the base
//! clusterings; a wide margin hurts where these are good. Mean accuracy over ten small tables, eight ensembles of k-means
//! each, of raw and of scaled columns (SSCE itself scales):
//!
//! | γ | SSCE, raw | SSCE, scaled | SSCE-P, raw | SSCE-P, scaled |
//! |---|---|---|---|---|
//! | most probable labels | .682 | .723 | .679 | .724 |
//! | a quarter of a nat | .685 | .721 | .680 | .722 |
//! | half a nat | .685 | .716 | .675 | .711 |
//! | always 1 | .686 | .721 | | |
//!
//! The margin was itself chosen on these tables, by their classes. γ = 1 set by hand does as well on them and costs
//! less; it knows nothing of a table where labels are hard to explain.
//!
//! **Iterations stop early.** With μ free, the minimum of the objective depends little on γ and repeats the base clusterings
//! (wine, raw: .69 instead of .78); the few iterations of W, μ and Ω from zero are what regularises. So the default is 5
//! iterations, which differ from 30 by less than .005 in accuracy where γ is 0.1 or more and cost a tenth. The joint minimum is there
//! with [`Solver::Joint`]; docs/decisions/0015 compares them.

mod aligned_labels;
mod alternating;
mod choose;
mod columns;
mod compact;
mod curvature;
mod design;
mod distance;
mod error;
mod joint;
mod lbfgs;
mod linear;
mod loss;
mod method;
mod model;
mod prior;
mod settings;
mod ssce;
mod target;

pub use error::SsceError;
pub use method::{SSCE, SSCE_P};
pub use model::{FORMATS, Predictor, UnknownPredictor, learn, learn_soft, read_model};
pub use settings::{Solver, SsceSettings};
pub use ssce::{SsceDiagnostics, ssce, ssce_p};
