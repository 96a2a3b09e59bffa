//! Files of draws from a posterior: bounds of the credible ball, memberships, the draws themselves, similar pairs of objects.

use std::io::Write;
use std::path::Path;

use partita::extend::Posterior;
use partita::files;
use partita::{Ensemble, EnsembleBuilder};

use crate::csv_text::csv_text;
use crate::error::AppError;

/// Names of the files in the folder of a run.
const BOUNDS: &str = "credible_bounds.csv";
const MEMBERSHIPS: &str = "posterior.csv";

/// Writes the bounds of the credible ball and the memberships into the folder of a run; those of an earlier run go.
pub(crate) fn write_posterior(
    folder: &Path,
    names: Option<&[String]>,
    posterior: Option<&Posterior>,
) -> Result<(), AppError> {
    let (bounds, memberships) = (folder.join(BOUNDS), folder.join(MEMBERSHIPS));
    let Some(posterior) = posterior else {
        files::remove_whole(&bounds)?;
        return Ok(files::remove_whole(&memberships)?);
    };
    let (ball, draws) = (posterior.ball(), posterior.draws());
    let edges =
        [ball.horizontal, ball.upper, ball.lower].map(|bound| draws[bound.draw].by_appearance());
    let line = |object: usize| {
        let name = names.map_or_else(|| object.to_string(), |names| names[object].clone());
        std::iter::once(name)
            .chain(
                edges
                    .iter()
                    .map(move |edge| edge.labels()[object].to_string()),
            )
            .collect::<Vec<_>>()
    };
    let lines = (0..posterior.memberships().objects()).map(line);
    let text = csv_text("object,horizontal,upper,lower", lines);
    files::write_whole(&bounds, |out| out.write_all(text.as_bytes()))?;
    Ok(files::write_soft(
        &memberships,
        names,
        posterior.memberships().rows(),
    )?)
}

/// Writes the draws as an ensemble, a base clustering a draw, which every command reads that reads ensembles.
pub(crate) fn write_draws(
    path: &Path,
    ensemble: &Ensemble,
    posterior: &Posterior,
) -> Result<(), AppError> {
    let mut builder = EnsembleBuilder::new(ensemble.objects());
    for (s, draw) in posterior.draws().iter().enumerate() {
        let draw = draw.by_appearance();
        builder.push_clusters(
            format!("draw{s}"),
            draw.labels().iter().map(|&label| Some(label)),
            draw.clusters(),
        )?;
    }
    let mut draws = builder.finish()?;
    if let Some(names) = ensemble.object_names() {
        draws = draws.with_object_names(names.to_vec())?;
    }
    Ok(files::write_ensemble(path, &draws, None)?)
}

/// Writes the pairs of objects that at least such a share of the draws puts together (`first,second,similarity`).
pub(crate) fn write_similarity(
    path: &Path,
    ensemble: &Ensemble,
    posterior: &Posterior,
    share: f64,
) -> Result<(), AppError> {
    let written = files::write_whole(path, |out| {
        let mut lines = csv_writer(out)?;
        let name = |object: usize| ensemble.object_name(object);
        posterior.similar(share, |i, j, found| {
            lines([name(i), name(j), found.to_string()])
        })
    });
    Ok(written?)
}

/// Writes a heading, and gives what writes a line.
fn csv_writer(
    out: &mut dyn Write,
) -> std::io::Result<impl FnMut([String; 3]) -> std::io::Result<()>> {
    out.write_all(b"first,second,similarity\n")?;
    Ok(move |fields: [String; 3]| {
        let line = csv_text("", [fields]);
        out.write_all(&line.as_bytes()[1..])
    })
}
