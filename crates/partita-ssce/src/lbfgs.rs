//! L-BFGS: limited-memory quasi-Newton descent with a starting matrix of the caller's.

use partita_core::ndarray::Array2;

/// Pairs of steps and gradient changes that are remembered.
const MEMORY: usize = 8;

/// Halvings of a step that does not lower the value enough.
const HALVINGS: usize = 30;

/// A point with its value and gradient.
pub(crate) struct Point {
    pub(crate) at: Array2<f64>,
    pub(crate) value: f64,
    pub(crate) gradient: Array2<f64>,
}

/// Goes down from `point` for at most `rounds` rounds, or until the gradient has shrunk to `shrink` of what it was.
/// `solve` applies the inverse of an approximate Hessian. The value never rises. Once `stop` says so, it stays at the point that it has
/// reached.
pub(crate) fn descend(
    mut point: Point,
    (rounds, shrink): (usize, f64),
    evaluate: impl Fn(&Array2<f64>) -> (f64, Array2<f64>),
    solve: impl Fn(&Array2<f64>) -> Array2<f64>,
    stop: impl Fn() -> bool,
) -> Point {
    let goal = shrink * norm(&point.gradient);
    let mut memory: Vec<(Array2<f64>, Array2<f64>)> = Vec::new();
    for _ in 0..rounds {
        if norm(&point.gradient) <= goal || stop() {
            break;
        }
        let mut direction = direction(&point.gradient, &memory, &solve);
        let mut slope = dot(&direction, &point.gradient);
        if slope >= 0.0 {
            memory.clear();
            direction = -solve(&point.gradient);
            slope = dot(&direction, &point.gradient);
        }
        let Some(next) = search(&point, &direction, slope, &evaluate, &stop) else { break };
        let (step, change) = (&next.at - &point.at, &next.gradient - &point.gradient);
        if dot(&step, &change) > 1e-12 * norm(&step) * norm(&change) {
            if memory.len() == MEMORY {
                memory.remove(0);
            }
            memory.push((step, change));
        }
        point = next;
    }
    point
}

fn norm(a: &Array2<f64>) -> f64 {
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
        if value <= point.value + 1e-4 * length * slope && value < point.value {
            return Some(Point { at, value, gradient });
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
            let (a, b) = (x[[0, 0]], x[[0, 1]]);
            let value = (1.0 - a).powi(2) + 100.0 * (b - a * a).powi(2);
            (value, array![[-2.0 * (1.0 - a) - 400.0 * a * (b - a * a), 200.0 * (b - a * a)]])
        };
        let at = array![[-1.2, 1.0]];
        let (value, gradient) = evaluate(&at);
        let end = descend(Point { at, value, gradient }, (200, 1e-12), evaluate, |g| g * 1e-3, || false);
        assert_eq!(end.at.dim(), (1, 2));
        end.at.iter().for_each(|found| assert_abs_diff_eq!(*found, 1.0, epsilon = 1e-6));
    }
}
