//! Base clusterings of resamples that R drew.

use extendr_api::prelude::*;
use partita::generate::{BaseKind, Dissimilarity, Resample, ResampledTable, cluster_resamples};
use partita::ndarray::ArrayView2;

use crate::call::{answer, answer_at_once};
use crate::values::{list, or_null};

/// For every number of clusters from 2 to `last` the codes (from 1, NA for objects that were not drawn) of every resample: `objects`, `columns`
/// (rows of `d`, whose columns are the objects) and `starts`, counted from 1. `by` is the dissimilarity, NULL where `d` has those of all pairs.
#[extendr]
fn native_cluster_resamples(
    d: Robj,
    by: Robj,
    base: &str,
    last: i32,
    resamples: List,
    how: Robj,
) -> Robj {
    let given = || {
        let base = base.parse::<BaseKind>();
        let base = base.map_err(|error| error.to_string())?;
        let by = by.as_str().map(str::parse::<Dissimilarity>).transpose();
        let by = by.map_err(|error| error.to_string())?;
        let numbers = d.as_real_slice().unwrap_or_default();
        // Columns of R one after the other are rows here.
        let rows = ArrayView2::from_shape((d.ncols(), d.nrows()), numbers)
            .map_err(|error| error.to_string())?;
        let resamples: Vec<Resample> = resamples.values().map(|of| resample(&of)).collect();
        let table = by.map_or(ResampledTable::Pairs(rows), |by| {
            ResampledTable::Rows(rows, by)
        });
        Ok::<_, String>((base, table, rows.nrows(), resamples))
    };
    let (base, table, n, resamples) = match given() {
        Ok(given) => given,
        Err(text) => return answer_at_once(Err(text.into())),
    };
    let clusters = 2..=last.max(2) as usize;
    answer(
        &how,
        |_, observer| {
            let monitor = observer.begin("base clusterings");
            let found = cluster_resamples(table, &resamples, clusters.clone(), base, &*monitor)?;
            Ok(found)
        },
        |found| {
            let codes = |run: &Vec<Vec<u16>>, resample: &Resample, at: usize| {
                let mut codes = vec![None; n];
                for (&object, &label) in resample.objects.iter().zip(&run[at]) {
                    codes[object] = Some(i32::from(label) + 1);
                }
                codes
            };
            let of_k = (0..clusters.clone().count()).map(|at| {
                let runs = found.iter().zip(&resamples);
                List::from_values(runs.map(|(run, resample)| codes(run, resample, at)))
            });
            Ok(List::from_values(of_k).into())
        },
    )
}

/// A resample of R: a list of `objects`, `columns` and `starts`.
fn resample(given: &Robj) -> Resample {
    let field = |name: &str| given.dollar(name).unwrap_or_else(|_| or_null(None::<i32>));
    let places = |of: &Robj| {
        let of = of.as_integer_slice().unwrap_or_default();
        of.iter().map(|&place| place as usize - 1).collect()
    };
    let columns = field("columns");
    let starts = list(&field("starts")).unwrap_or_default();
    let mut resample = Resample::default();
    resample.objects = places(&field("objects"));
    resample.columns = (!columns.is_null()).then(|| places(&columns));
    resample.starts = starts.values().map(|of| places(&of)).collect();
    resample
}

extendr_module! {
    mod resamples;
    fn native_cluster_resamples;
}
