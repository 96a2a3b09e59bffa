//! Self-supervised consensus: classifiers learn the base clusterings, agree on one classifier, and that one labels
//! objects nobody has seen. Also models that label new objects for any other consensus.
//!
//! Pick this crate when new objects will arrive, or when the table behind the ensemble should take part in the
//! consensus.
//!
//! | item | what it is | time | memory |
//! |---|---|---|---|
//! | [`ssce`] | consensus from a table and label rows | rounds · n d M K | 10 n M + 64 n K bytes |
//! | [`ssce_p`] | consensus from label rows alone | rounds · n M² K | + 320 ΣJ M K bytes |
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
//! let outcome = ssce(&ensemble, &features, None, 2, Seed::new(1), &SsceSettings::default(), &Silent)?;
//!
//! let new = array![[0.8], [5.1]];
//! let input = ModelInput::Features(Features::new(&columns, new.view())?);
//! let labels = outcome.model.ok_or("there is a model")?.predict(&input)?.hard();
//! assert_ne!(labels.labels()[0], labels.labels()[1]);
//! # Ok(())
//! # }
//! ```

mod columns;
mod descent;
mod design;
mod distance;
mod error;
mod fit;
mod known;
mod linear;
mod loss;
mod method;
mod model;
mod prior;
mod ssce;
mod targets;

pub use distance::{CentroidModel, NeighbourModel};
pub use error::SsceError;
pub use fit::SsceSettings;
pub use linear::LinearModel;
pub use method::{SSCE, SSCE_P, Ssce, SsceP};
pub use model::{FORMATS, Predictor, UnknownPredictor, learn, learn_soft, read_model};
pub use ssce::{ssce, ssce_p};
