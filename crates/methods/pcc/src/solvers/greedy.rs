//! Greedy coordinate exchange, the papers' solver: the steepest exchange between two clusters of one object, with an exact step.

use partita_kernels::dispatch;

use super::iterate::{Iterate, Iteration};
use super::max_heap_tree::MaxHeapTree;
use super::newton_step::support;
use super::objective::{Model, Worker};
use crate::bregman::Bregman;
use crate::copy_pairs::{CopyLine, CopyPairs, Slope, rise};
use crate::kernels::{Combine, Extremes, Line, Shift, Weighted};
use crate::memberships::{Layout, Memberships, SNAP};

/// Work (objects × K) between two looks at the monitor.
const WATCHED: usize = 1 << 22;

/// The state of a greedy run between steps.
#[derive(Debug)]
pub(crate) struct Greedy {
    /// The gradient, kept up to date by every step.
    g: Memberships,
    /// The violation of every object, where tables lie by rows.
    best: MaxHeapTree,
    /// The violation of every object, where tables lie by columns.
    gaps: Vec<f64>,
    stale: bool,
    worker: Worker,
    b: Vec<f64>,
    change: Vec<f64>,
    weight: Vec<f64>,
}

/// An exchange: `step` of object `object`'s probability goes from cluster `from` to cluster `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) object: usize,
    pub(crate) to: usize,
    pub(crate) from: usize,
    pub(crate) step: f64,
}

impl Greedy {
    pub(crate) fn new<D: Bregman>(model: &Model<'_, D>, table: &Memberships) -> Self {
        let mut greedy = Self {
            g: Memberships::zeros(0, table.clusters, table.layout),
            best: MaxHeapTree::default(),
            gaps: vec![0.0; table.objects],
            stale: false,
            worker: Worker::new(table.clusters),
            b: Vec::new(),
            change: Vec::new(),
            weight: Vec::new(),
        };
        greedy.refresh(model, table);
        greedy
    }

    /// Computes the whole gradient afresh.
    fn refresh<D: Bregman>(&mut self, model: &Model<'_, D>, table: &Memberships) {
        let (gradient, _) = model.gradient(table);
        self.g = Memberships::of(gradient.view(), table.layout);
        self.stale = false;
        if self.g.layout == Layout::Rows {
            let gaps = (0..table.objects).map(|i| gap(&self.g, table, i));
            self.best = MaxHeapTree::new(gaps.collect());
        }
    }

    /// n steps.
    pub(crate) fn iteration<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>) -> Iteration {
        if self.stale {
            self.refresh(iterate.model, &iterate.table);
        }
        let objects = iterate.table.objects;
        let work = iterate.evidence.degree(0).max(1) * iterate.table.clusters;
        let watched = (WATCHED / work).max(1);
        for step in 0..objects {
            if step % watched == 0 && iterate.stop_after(watched as f64 / objects as f64) {
                return Iteration::Stopped;
            }
            if self.step(iterate).is_none() {
                // The kept gradient has drifted a little; the next iteration, if there is one, starts from the true one.
                self.stale = true;
                return Iteration::Done;
            }
        }
        Iteration::More
    }

    /// The steepest exchange, unless no violation is above the tolerance.
    pub(crate) fn step<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>) -> Option<Exchange> {
        let (object, gap) = match self.g.layout {
            Layout::Columns => dispatch(Extremes {
                g: &self.g,
                table: &iterate.table,
                gaps: &mut self.gaps,
            }),
            Layout::Rows => self.best.winner(),
        };
        if gap <= iterate.tolerance {
            return None;
        }
        let (to, from) = extremes(&self.g, &iterate.table, object);
        let bregman = iterate.bregman;
        let table = &iterate.table;
        let Worker { near, scratch, y } = &mut self.worker;
        table.read(object, y);
        support(y, &mut scratch.entries);
        let (others, counts) = iterate.evidence.pairs_of(object, table, near);
        scratch.resize(others.stride);
        for buffer in [&mut self.b, &mut self.change, &mut self.weight] {
            buffer.resize(others.stride, 0.0);
        }
        dispatch(Combine {
            others,
            y: &scratch.entries,
            out: &mut scratch.a,
        });
        dispatch(Combine {
            others,
            y: &[(to, 1.0), (from, -1.0)],
            out: &mut self.b,
        });
        let a = &scratch.a[..];
        let b = &self.b[..];
        let derivative = |t: f64| {
            dispatch(Line {
                bregman,
                counts,
                a,
                b,
                t,
            })
        };
        let among = iterate.evidence.copy_pairs(object);
        let step = if among.none() {
            line_search(derivative, -gap, y[from])
        } else {
            let line = CopyLine::new(y, &[(to, 1.0), (from, -1.0)]);
            search_with_copies(bregman, derivative, among, line, -gap, y[from])
        };
        let change = &mut self.change[..];
        let weight = &mut self.weight[..];
        dispatch(Shift {
            bregman,
            counts,
            a,
            b,
            step,
            change,
            weight,
        });
        dispatch(Weighted {
            others,
            w: &self.weight,
            g: &mut scratch.g,
        });
        let exchange = Exchange {
            object,
            to,
            from,
            step,
        };
        self.apply(iterate, exchange);
        Some(exchange)
    }

    /// Takes a step and brings the gradient up to date: `g_j += w_j′ y′ − w_j y` for all partners j.
    fn apply<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>, exchange: Exchange) {
        let Exchange {
            object,
            to,
            from,
            step,
        } = exchange;
        let partners = iterate.evidence.partners(object);
        let y = &mut self.worker.y;
        for k in 0..y.len() {
            let moved = if k == to { step } else { 0.0 } - if k == from { step } else { 0.0 };
            if y[k] == 0.0 && moved == 0.0 {
                continue;
            }
            match partners {
                None => {
                    let column = &mut self.g.values[k * self.g.stride..];
                    let changes = self.change.iter().zip(&self.weight);
                    for (g, (change, weight)) in column.iter_mut().zip(changes) {
                        *g += y[k] * change + moved * weight;
                    }
                }
                Some(partners) => {
                    for (at, &j) in partners.iter().enumerate() {
                        let place = self.g.place(j as usize, k);
                        self.g.values[place] += y[k] * self.change[at] + moved * self.weight[at];
                    }
                }
            }
        }
        y[to] += step;
        let left = y[from] - step;
        y[from] = if left <= SNAP { 0.0 } else { left };
        iterate.table.write(object, y);
        let among = iterate.evidence.copy_pairs(object);
        let g = &mut self.worker.scratch.g;
        among.add_gradient(iterate.bregman, y, g);
        self.g.write(object, g);
        let Some(partners) = partners else { return };
        for j in partners.iter().map(|&j| j as usize).chain([object]) {
            self.best.set(j, gap(&self.g, &iterate.table, j));
        }
    }
}

/// Where object `i` gains most and, among its clusters, loses most.
fn extremes(g: &Memberships, table: &Memberships, i: usize) -> (usize, usize) {
    let mut to = 0;
    let mut from = usize::MAX;
    for k in 0..g.clusters {
        let value = g.get(i, k);
        if value < g.get(i, to) {
            to = k;
        }
        if table.get(i, k) > SNAP && (from == usize::MAX || value > g.get(i, from)) {
            from = k;
        }
    }
    (to, from)
}

fn gap(g: &Memberships, table: &Memberships, i: usize) -> f64 {
    let (to, from) = extremes(g, table, i);
    g.get(i, from) - g.get(i, to)
}

/// The zero of the cost's derivative in `[0, most]`, or `most` where it is still negative there. The derivative does
/// not fall, so Newton's steps are kept inside the bracket by halving it.
fn line_search(derivative: impl Fn(f64) -> (f64, f64), slope: f64, most: f64) -> f64 {
    let (end, _) = derivative(most);
    if end <= 0.0 {
        return most;
    }
    let mut left = 0.0;
    let mut right = most;
    let mut t = 0.0;
    let (mut first, mut second) = derivative(0.0);
    for _ in 0..100 {
        let newton = t - first / second;
        let inside = newton > left && newton < right;
        t = if inside { newton } else { 0.5 * (left + right) };
        (first, second) = derivative(t);
        if first.abs() <= 1e-7 * slope.abs() || right - left <= 1e-15 * most {
            break;
        }
        if first > 0.0 {
            right = t;
        } else {
            left = t;
        }
    }
    t
}

/// The same where `derivative` is that of the pairs with other objects, and the object's copies have pairs among themselves, with which the
/// cost need not be convex: what is found is taken where the cost is lower for sure, and else looked for nearer.
fn search_with_copies<D: Bregman>(
    bregman: &D,
    derivative: impl Fn(f64) -> (f64, f64),
    among: CopyPairs,
    line: CopyLine,
    slope: f64,
    mut most: f64,
) -> f64 {
    const TRIALS: usize = 50;
    let (first, second) = derivative(0.0);
    let start = Slope { first, second };
    let both = |t: f64| {
        let (first, second) = derivative(t);
        let own = among.along(bregman, line, t).1;
        (first + own, second + among.second_along(bregman, line, t))
    };
    for _ in 0..TRIALS {
        let t = line_search(both, slope, most);
        if rise(bregman, start, derivative(t).0, t) + among.along(bregman, line, t).0 <= 0.0 {
            return t;
        }
        most = 0.5 * t;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bregman::{Kl, L2, beta};
    use crate::evidence::Evidence;

    use partita_core::ndarray::Array2;
    use partita_core::{MemoryBudget, Silent};
    use serde_json::Value;

    fn close(found: f64, expected: &Value) {
        let expected = expected.as_f64().unwrap();
        let near = 1e-8 * expected.abs();
        assert!((found - expected).abs() <= near, "{found} {expected}");
    }

    fn first_step(bregman: &impl Bregman, name: &str) {
        let fixtures = partita_conformance::fixtures();
        let labels: Vec<Vec<i64>> = serde_json::from_value(fixtures["labels"].clone()).unwrap();
        let column = |column: Vec<i64>| column.into_iter().map(|label| u32::try_from(label).ok());
        let columns = labels.into_iter().zip(0..);
        let ensemble = partita_conformance::ensemble(
            columns.map(|(labels, u)| (format!("u{u}"), column(labels).collect())),
        );
        let evidence = Evidence::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
        let start: Vec<Vec<f64>> = serde_json::from_value(fixtures["Y0"].clone()).unwrap();
        let start = Array2::from_shape_fn((24, 4), |(i, k)| start[i][k]);
        let table = Memberships::of(start.view(), Layout::Columns);
        let model = Model::new(bregman, &evidence);
        let mut greedy = Greedy::new(&model, &table);
        let mut iterate = Iterate::new(&model, table, 1e-5, &Silent);
        let step = greedy.step(&mut iterate).unwrap();
        let expected = &fixtures["pcc"][name]["first_step"];
        for (place, found) in [("J", step.object), ("U", step.to), ("V", step.from)] {
            assert_eq!(expected[place], found);
        }
        close(step.step, &expected["eps"]);
        close(model.objective(&iterate.table), &expected["objective"]);
        let kept = greedy.g.clone();
        greedy.refresh(&model, &iterate.table);
        // The kept gradient is the true one.
        for (kept, fresh) in kept.values.iter().zip(&greedy.g.values) {
            assert!((kept - fresh).abs() < 1e-9 * (1.0 + fresh.abs()));
        }
    }

    #[test]
    fn the_first_step_is_the_papers() {
        first_step(&Kl, "kl");
        first_step(&L2, "l2");
        first_step(&beta(1.5).unwrap(), "beta:1.5");
    }
}
