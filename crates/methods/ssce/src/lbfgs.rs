//! L-BFGS: limited-memory quasi-Newton descent with a starting matrix of the caller's.

use partita_core::ndarray::Array2;

/// Halvings of a step that does not lower the value enough.
const HALVINGS: usize = 30;

/// How far a descent goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The most steps.
    pub(crate) steps: usize,
    /// The share of the gradient's norm that may be left.
    pub(crate) share: f64,
    /// Pairs of steps and gradient changes that are remembered.
    pub(crate) memory: usize,
    /// By which share of it a value may rise in a step that shortens the gradient: what rounding hides.
    pub(crate) rounding: f64,
}

/// A point with its value and gradient.
pub(crate) struct Point {
    pub(crate) at: Array2<f64>,
    pub(crate) value: f64,
    pub(crate) gradient: Array2<f64>,
}

/// Goes down from `point` within `limits`, and says in how many steps. `solve` applies the inverse of an approximate Hessian. The value never rises but by rounding. Once `stop` says so, it stays at the point that it has
/// reached.
pub(crate) fn descend(
    mut point: Point,
    limits: Limits,
    evaluate: impl Fn(&Array2<f64>) -> (f64, Array2<f64>),
    solve: impl Fn(&Array2<f64>) -> Array2<f64>,
    stop: impl Fn() -> bool,
) -> (Point, usize) {
    let goal = limits.share * norm(&point.gradient);
    let mut memory: Vec<(Array2<f64>, Array2<f64>)> = Vec::new();
    for step in 0..limits.steps {
        if norm(&point.gradient) <= goal || stop() {
            return (point, step);
        }
        let mut direction = direction(&point.gradient, &memory, &solve);
        let mut slope = dot(&direction, &point.gradient);
        if slope >= 0.0 {
            memory.clear();
            direction = -solve(&point.gradient);
            slope = dot(&direction, &point.gradient);
        }
        let found = search(&point, &direction, slope, limits.rounding, &evaluate, &stop);
        let Some(next) = found else {
            return (point, step);
        };
        let moved = &next.at - &point.at;
        let change = &next.gradient - &point.gradient;
        if dot(&moved, &change) > 1e-12 * norm(&moved) * norm(&change) {
            if memory.len() == limits.memory {
                memory.remove(0);
            }
            memory.push((moved, change));
        }
        point = next;
    }
    (point, limits.steps)
}

/// The Euclidean norm of all entries.
pub(crate) fn norm(a: &Array2<f64>) -> f64 {
    dot(a, a).sqrt()
}

/// The sum of the products of all entries.
fn dot(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.flatten().dot(&b.flatten())
}

/// The two-loop recursion.
fn direction(
    gradient: &Array2<f64>,
    memory: &[(Array2<f64>, Array2<f64>)],
    solve: &impl Fn(&Array2<f64>) -> Array2<f64>,
) -> Array2<f64> {
    let mut left = gradient.clone();
    let mut shares = Vec::with_capacity(memory.len());
    for (step, change) in memory.iter().rev() {
        let rho = dot(step, change).recip();
        let share = rho * dot(step, &left);
        left.scaled_add(-share, change);
        shares.push((rho, share));
    }
    let mut solved = solve(&left);
    for ((step, change), (rho, share)) in memory.iter().zip(shares.into_iter().rev()) {
        let back = rho * dot(change, &solved);
        solved.scaled_add(share - back, step);
    }
    -solved
}

/// A point along the direction with sufficient decrease; none if rounding leaves none, or somebody wants to stop.
fn search(
    point: &Point,
    direction: &Array2<f64>,
    slope: f64,
    rounding: f64,
    evaluate: &impl Fn(&Array2<f64>) -> (f64, Array2<f64>),
    stop: &impl Fn() -> bool,
) -> Option<Point> {
    let mut length = 1.0;
    for _ in 0..HALVINGS {
        if stop() {
            return None;
        }
        let at = &point.at + &(direction * length);
        let (value, gradient) = evaluate(&at);
        let falls = value <= point.value + 1e-4 * length * slope && value < point.value;
        let flat = rounding > 0.0 && value - point.value <= rounding * value.abs();
        if falls || (flat && norm(&gradient) < norm(&point.gradient)) {
            return Some(Point {
                at,
                value,
                gradient,
            });
        }
        length *= 0.5;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use partita_core::ndarray::array;

    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        let evaluate = |x: &Array2<f64>| {
            let a = x[[0, 0]];
            let above = x[[0, 1]] - a * a;
            let slopes = array![[-2.0 * (1.0 - a) - 400.0 * a * above, 200.0 * above]];
            ((1.0 - a).powi(2) + 100.0 * above.powi(2), slopes)
        };
        let at = array![[-1.2, 1.0]];
        let (value, gradient) = evaluate(&at);
        let start = Point {
            at,
            value,
            gradient,
        };
        let limits = Limits {
            steps: 200,
            share: 1e-12,
            memory: 8,
            rounding: 0.0,
        };
        let (end, _) = descend(start, limits, evaluate, |g| g * 1e-3, || false);
        assert_abs_diff_eq!(end.at.as_slice().unwrap(), &[1.0, 1.0][..], epsilon = 1e-6);
    }
}
