//! Label rows that pass by in groups give what rows in memory give.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, EnsembleBuilder, MemoryBudget, Model, ModelInput, Seed, Silent};
use partita_mixture::{
    LabelSource, MixtureError, MmSettings, NbceVbSettings, Rows, Streamed, StreamedLabels, mm, nbce_vb, stream_mm,
    stream_vb,
};
use rand::RngExt;

/// An ensemble in groups of so many objects.
struct Cut<'a>(&'a Ensemble, usize);

impl LabelSource for Cut<'_> {
    fn bases(&self) -> &[BaseClustering] {
        self.0.bases()
    }

    fn groups(&self) -> usize {
        self.0.objects().div_ceil(self.1)
    }

    fn rows(&self, group: usize) -> usize {
        self.1.min(self.0.objects() - group * self.1)
    }

    fn read(&self, group: usize) -> Result<Array2<u16>, String> {
        let label = |(i, u)| self.0.label(group * self.1 + i, u).map_or(u16::MAX, |j| j as u16);
        Ok(Array2::from_shape_fn((self.rows(group), self.0.bases().len()), label))
    }
}

/// Noisy copies of four groups; the last base clustering labels one object only.
fn ensemble(objects: usize) -> Ensemble {
    let mut rng = Seed::new(3).rng();
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..8u32 {
        let mut label = |i: usize| match rng.random_range(0..8) {
            0 => None,
            1 => Some(rng.random_range(0..4)),
            _ => Some((i as u32 + u) % 4),
        };
        let labels: Vec<Option<u32>> = (0..objects).map(&mut label).collect();
        builder.push_clusters(format!("u{u}"), labels, 4).unwrap();
    }
    let last = (0..objects).map(|i| (i + 2 == objects).then_some(0));
    builder.push_clusters("last", last, 1).unwrap();
    builder.finish().unwrap()
}

fn streamed(source: &dyn LabelSource, budget: MemoryBudget) -> (Streamed, Vec<u32>, Vec<f64>) {
    let (mut labels, mut certainty) = (Vec::new(), Vec::new());
    let mut sink = |found: StreamedLabels| {
        assert_eq!(found.first, labels.len() as u64);
        labels.extend(found.labels);
        certainty.extend(found.certainty);
        Ok(())
    };
    let settings = NbceVbSettings::default();
    let found = stream_vb(source, 6, Seed::new(1), &settings, budget, &Silent, &mut sink).unwrap();
    (found, labels, certainty)
}

#[test]
fn groups_give_what_the_whole_gives() {
    let ensemble = ensemble(3000);
    let whole = nbce_vb(&Rows::unfolded(&ensemble), 6, Seed::new(1), &NbceVbSettings::default(), &Silent).unwrap();
    let (found, labels, certainty) = streamed(&Cut(&ensemble, 700), MemoryBudget::UNLIMITED);
    let (one, other) = (found.objective.value, whole.objective.as_ref().unwrap().value);
    assert!((one / other - 1.0).abs() < 1e-6, "{one} and {other}");
    assert_eq!(labels, whole.partition.labels());
    assert!(certainty.iter().zip(&whole.certainty).all(|(a, b)| (a - b).abs() < 1e-2));
    let predicted = found.model.predict(&ModelInput::Labels(&ensemble)).unwrap().hard();
    let same = predicted.labels().iter().zip(&labels).filter(|(a, b)| a == b).count();
    assert!(same > 2950 && found.sizes.iter().sum::<u64>() == 3000, "{same}");
    let told = whole.details.fit.perplexity;
    assert!((found.details["perplexity"].as_f64().unwrap() / told - 1.0).abs() < 1e-4);
}

#[test]
fn neither_threads_nor_budget_change_a_bit() {
    let ensemble = ensemble(40_000);
    let source = Cut(&ensemble, 9000);
    let on = |threads: usize, budget| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| streamed(&source, budget))
    };
    let (one, labels, certainty) = on(1, MemoryBudget::UNLIMITED);
    assert!(one.objective.trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()));
    for (threads, budget) in [(3, MemoryBudget::UNLIMITED), (2, MemoryBudget::new(10 << 20))] {
        let (found, again, sure) = on(threads, budget);
        assert_eq!((&found.objective, &again, &sure), (&one.objective, &labels, &certainty));
    }
    let settings = NbceVbSettings::default();
    let refused = stream_vb(&source, 6, Seed::new(1), &settings, MemoryBudget::new(1 << 20), &Silent, &mut |_| Ok(()))
        .unwrap_err();
    assert!(
        matches!(&refused, MixtureError::Budget(error) if error.remedy.contains("smaller row groups")),
        "{refused}"
    );
}

#[test]
fn mm_streams_too() {
    let ensemble = ensemble(2000);
    let settings = MmSettings::default();
    let whole = mm(&Rows::unfolded(&ensemble), 4, Seed::new(1), &settings, &Silent).unwrap();
    let mut labels = Vec::new();
    let mut sink = |found: StreamedLabels| {
        labels.extend(found.labels);
        Ok(())
    };
    let budget = MemoryBudget::UNLIMITED;
    let found = stream_mm(&Cut(&ensemble, 500), 4, Seed::new(1), &settings, budget, &Silent, &mut sink).unwrap();
    assert!((found.objective.value / whole.objective.unwrap().value - 1.0).abs() < 1e-5);
    // The starts saw the rows in another order: clusters may have other numbers.
    let mut cells = [[0u32; 4]; 4];
    labels.iter().zip(whole.partition.labels()).for_each(|(&a, &b)| cells[a as usize][b as usize] += 1);
    let same: u32 = cells.iter().map(|row| row.iter().max().unwrap()).sum();
    assert!(same > 1990, "{cells:?}");
}

#[test]
fn what_either_side_says_ends_the_fit() {
    struct Broken<'a>(Cut<'a>);
    impl LabelSource for Broken<'_> {
        fn bases(&self) -> &[BaseClustering] {
            self.0.bases()
        }
        fn groups(&self) -> usize {
            self.0.groups()
        }
        fn rows(&self, group: usize) -> usize {
            self.0.rows(group)
        }
        fn read(&self, group: usize) -> Result<Array2<u16>, String> {
            let mut rows = self.0.read(group)?;
            rows[[0, 1]] = if group == 1 { 4 } else { rows[[0, 1]] };
            Ok(rows)
        }
    }
    let ensemble = ensemble(200);
    let (settings, budget) = (NbceVbSettings::default(), MemoryBudget::UNLIMITED);
    let fit = |source: &dyn LabelSource, sink: &mut dyn FnMut(StreamedLabels) -> Result<(), String>| {
        stream_vb(source, 4, Seed::new(1), &settings, budget, &Silent, sink).unwrap_err().to_string()
    };
    let message = fit(&Broken(Cut(&ensemble, 60)), &mut |_| Ok(()));
    assert_eq!(message, "group 1 of the label rows: label 4 of base clustering 'u1' is not below 4");
    assert_eq!(fit(&Cut(&ensemble, 60), &mut |_| Err("the disk is full".into())), "the disk is full");
}
