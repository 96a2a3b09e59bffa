//! The report of label rows that are not held: tables from counts of all objects, pictures of a sample that a hash draws.

use partita::extend::{Assigned, LabelCounts, LabelledMap, Row, RowBlock, RowBlocks};
use partita::ndarray::Array2;
use partita::{Ensemble, Partition, Seed};
use partita_report::{AgreementCounts, ClusterCurves, Counted, Rendered};
use serde::{Deserialize, Serialize};

use crate::analysis::agreement::Agreeing;
use crate::error::AppError;
use crate::output::page::{Shown, page};
use crate::output::record::RunRecord;
use crate::seeds;

/// Objects that the pictures show, about.
const SHOWN: u64 = 20_000;

/// What a report shows of label rows, taken from them as they get their labels.
#[derive(Clone, Debug)]
pub struct ReportRows {
    draw: Draw,
    bases: usize,
    shown: ShownRows,
    counts: Option<LabelCounts>,
}

/// What a report shows of some rows besides the counts of all; a part's travels with its sum.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShownRows {
    /// Numbers of the objects drawn, and their label rows one after the other.
    numbers: Vec<u64>,
    rows: Vec<u16>,
    labels: Vec<u32>,
    agreement: Vec<f64>,
    /// Agreement of the objects of every cluster.
    of_clusters: Vec<AgreementCounts>,
}

impl ReportRows {
    /// For rows of this source, whichever group they come in; which are drawn depends on the seed of the run and their numbers alone.
    pub fn new(rows: &dyn RowBlocks, run: Seed) -> Self {
        let draw = Draw::new(rows.rows(), seeds::shown(run));
        Self {
            draw,
            bases: rows.bases().len(),
            shown: ShownRows::default(),
            counts: None,
        }
    }

    /// Bytes that are held for a source of M base clusterings into K clusters, about.
    pub(crate) fn bytes(bases: usize, clusters: usize) -> u64 {
        (SHOWN + SHOWN / 10) * (2 * bases as u64 + 20) + clusters as u64 * AgreementCounts::BYTES
    }

    /// Takes the counts of all objects, before their labels come.
    pub fn count(&mut self, counts: LabelCounts) {
        self.shown.of_clusters = vec![AgreementCounts::default(); counts.sizes.len()];
        self.counts = Some(counts);
    }

    /// Takes the labels of consecutive objects, and those of them that were drawn.
    pub fn take(&mut self, first: u64, some: &Assigned, agreement: &[f64], drawn: Drawn) {
        let shown = &mut self.shown;
        for (&k, &sure) in some.labels.iter().zip(agreement) {
            // A model that somebody altered may label clusters that it does not count.
            shown
                .of_clusters
                .get_mut(k as usize)
                .into_iter()
                .for_each(|of| of.push(sure));
        }
        for at in &drawn.places {
            shown.numbers.push(first + *at as u64);
            shown.labels.push(some.labels[*at]);
            shown.agreement.push(agreement[*at]);
        }
        shown.rows.extend(drawn.rows);
    }

    /// What was taken, to be sent.
    pub fn into_shown(self) -> ShownRows {
        self.shown
    }

    /// Takes what was taken of the rows that follow.
    pub fn extend(&mut self, later: ShownRows) {
        let shown = &mut self.shown;
        shown.numbers.extend(later.numbers);
        shown.rows.extend(later.rows);
        shown.labels.extend(later.labels);
        shown.agreement.extend(later.agreement);
        shown
            .of_clusters
            .iter_mut()
            .zip(&later.of_clusters)
            .for_each(|(all, some)| all.add(some));
    }

    /// The page about the method at this place of a record, and its figures. Objects are called by their numbers, as in the file of
    /// labels.
    ///
    /// # Errors
    /// [`AppError::Report`].
    ///
    /// # Cost
    /// That of [`render`](partita_report::render) for 20,000 objects.
    pub fn page(
        self,
        record: &RunRecord,
        place: usize,
        rows: &dyn RowBlocks,
        choice: Option<ClusterCurves>,
    ) -> Result<Rendered, AppError> {
        let counts = self.counts.ok_or_else(AppError::nothing_finished)?;
        let shown = self.shown;
        let wrong = |error: String| AppError::request(error);
        let of_objects = Array2::from_shape_vec((shown.numbers.len(), self.bases), shown.rows)
            .map_err(|error| wrong(error.to_string()))?;
        let names = shown.numbers.iter().map(ToString::to_string).collect();
        let ensemble = Ensemble::from_words(of_objects, rows.bases().to_vec())
            .and_then(|ensemble| ensemble.with_object_names(names))?;
        let partition = Partition::new(shown.labels, counts.sizes.len())
            .map_err(|error| wrong(error.to_string()))?;
        let sample = Shown {
            partition: &partition,
            agreement: &shown.agreement,
            soft: None,
            tree: None,
            ensemble: &ensemble,
            features: None,
            truth: None,
            methods: Vec::new(),
            described: None,
            counted: Some(Counted {
                sizes: counts.sizes,
                of_base_clusters: counts.of_base_clusters,
                agreement: shown.of_clusters,
            }),
        };
        page(record, place, &sample, choice)
    }
}

/// Which objects are drawn: those whose hash is small.
#[derive(Clone, Copy, Debug)]
struct Draw {
    seed: Seed,
    below: u64,
}

impl Draw {
    fn new(objects: u64, seed: Seed) -> Self {
        let below = if objects <= SHOWN {
            u64::MAX
        } else {
            u64::MAX / objects * SHOWN
        };
        Self { seed, below }
    }

    fn has(self, object: u64) -> bool {
        self.seed.child(object).number() <= self.below
    }
}

/// Objects drawn of consecutive ones: how many come before each, and their label rows one after the other.
#[derive(Default)]
pub struct Drawn {
    places: Vec<usize>,
    rows: Vec<u16>,
}

/// Labels, their agreement, and what a report shows of the rows where there will be one.
pub struct WithDrawn<'a> {
    agreeing: Agreeing<'a>,
    draw: Option<Draw>,
}

impl<'a> WithDrawn<'a> {
    /// For a report, where there will be one.
    pub fn new(agreeing: Agreeing<'a>, shown: Option<&ReportRows>) -> Self {
        Self {
            agreeing,
            draw: shown.map(|shown| shown.draw),
        }
    }
}

impl LabelledMap for WithDrawn<'_> {
    type Out = (Assigned, Vec<f64>, Drawn);

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, assigned: Assigned) -> Self::Out {
        let (assigned, agreement) = self.agreeing.map(block, assigned);
        let mut drawn = Drawn::default();
        if let Some(draw) = self.draw {
            for (at, (row, _)) in block
                .rows()
                .enumerate()
                .filter(|(at, _)| draw.has(block.first + *at as u64))
            {
                drawn.places.push(at);
                drawn.rows.extend(row.words());
            }
        }
        (assigned, agreement, drawn)
    }
}
