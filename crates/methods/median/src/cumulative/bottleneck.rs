//! Information bottleneck: columns of a soft partition are merged with the least loss of information (Jensen–Shannon divergence).

/// Merges columns until `clusters` are left, always the two of least `loss` (line a has the losses of a with those before it).
/// `join(a, b)` takes column a away, adds it to column b, and gives the losses of b with all columns that are left.
pub(crate) fn merge_cheapest<E>(
    mut loss: Vec<Vec<f64>>,
    clusters: usize,
    mut join: impl FnMut(usize, usize) -> Result<Vec<f64>, E>,
) -> Result<(), E> {
    while loss.len() > clusters {
        let (a, b) = cheapest(&loss);
        loss.remove(a);
        loss[a..].iter_mut().for_each(|line| {
            line.remove(a);
        });
        for (other, value) in join(a, b)?
            .into_iter()
            .enumerate()
            .filter(|(other, _)| *other != b)
        {
            loss[b.max(other)][b.min(other)] = value;
        }
    }
    Ok(())
}

/// The pair (larger, smaller) with the least loss; ties go to the smaller numbers.
fn cheapest(loss: &[Vec<f64>]) -> (usize, usize) {
    let mut best = (1, 0);
    for (a, line) in loss.iter().enumerate() {
        for (b, value) in line.iter().enumerate() {
            if *value < loss[best.0][best.1] {
                best = (a, b);
            }
        }
    }
    best
}

/// f(x) + f(y) − f(x + y) for f(x) = x ln x.
pub(crate) fn joint(x: f64, y: f64) -> f64 {
    let f = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
    f(x) + f(y) - f(x + y)
}
