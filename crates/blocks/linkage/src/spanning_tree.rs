//! Minimum spanning tree of the rows of a table by Euclidean distance (Prim's algorithm), in O(n) memory.

use partita_core::Monitor;
use partita_core::ndarray::{ArrayView2, Axis};
use partita_kernels::{Kernel, Simd, dispatch};

use crate::LinkageError;
use crate::rows::report;

/// An edge of a spanning tree: its length and two objects, the smaller first.
pub type Edge = (f64, u32, u32);

/// The minimum spanning tree of the rows of a table (n × d finite numbers) by Euclidean distance: n − 1 edges, the shortest
/// first; of the same length those of smaller objects first. Where several trees have the same length, the one that grows from
/// object 0 and reaches the smallest object first.
///
/// # Errors
/// [`LinkageError::Interrupted`] if the monitor asks to stop.
///
/// # Cost
/// O(n² d) time, n (d + 4) numbers.
#[doc(alias = "emst")]
#[doc(alias = "Prim")]
pub fn spanning_tree(
    rows: ArrayView2<'_, f64>,
    monitor: &dyn Monitor,
) -> Result<Vec<Edge>, LinkageError> {
    let (n, d) = rows.dim();
    let mut front = Front {
        columns: rows
            .axis_iter(Axis(1))
            .map(|column| column.to_vec())
            .collect(),
        objects: (0..n as u32).collect(),
        square: vec![f64::INFINITY; n],
        from: vec![0; n],
        scratch: vec![0.0; n],
    };
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    let mut place = 0;
    let mut point = vec![0.0; d];
    for reached in 1..n {
        let at = front.take(place, &mut point);
        place = dispatch(Reach {
            front: &mut front,
            at,
            point: &point,
        });
        let from = front.from[place];
        let to = front.objects[place];
        edges.push((front.square[place].sqrt(), from.min(to), from.max(to)));
        report(monitor, reached, n - 1)?;
    }
    edges.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    Ok(edges)
}

/// The objects that the tree has not reached, column by column, and the nearest that it has.
struct Front {
    columns: Vec<Vec<f64>>,
    objects: Vec<u32>,
    square: Vec<f64>,
    from: Vec<u32>,
    scratch: Vec<f64>,
}

impl Front {
    /// Takes out the object at a place, which the last takes, and copies its row.
    fn take(&mut self, place: usize, point: &mut [f64]) -> u32 {
        for (column, x) in self.columns.iter_mut().zip(point) {
            *x = column.swap_remove(place);
        }
        self.square.swap_remove(place);
        self.from.swap_remove(place);
        self.scratch.pop();
        self.objects.swap_remove(place)
    }
}

/// Squared distances of all objects at the front to one that was reached, and the place of the object that is now nearest.
struct Reach<'a> {
    front: &'a mut Front,
    at: u32,
    point: &'a [f64],
}

impl Kernel for Reach<'_> {
    type Output = usize;

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    fn run<S: Simd>(self, _: S) -> usize {
        let Front {
            columns,
            objects,
            square,
            from,
            scratch,
        } = self.front;
        let n = objects.len();
        let square = &mut square[..n];
        let from = &mut from[..n];
        let scratch = &mut scratch[..n];
        scratch.fill(0.0);
        for (column, &x) in columns.iter().zip(self.point) {
            for (sum, &y) in scratch.iter_mut().zip(&column[..n]) {
                *sum += (x - y) * (x - y);
            }
        }
        let mut least = f64::INFINITY;
        for j in 0..n {
            let nearer = scratch[j] < square[j];
            square[j] = if nearer { scratch[j] } else { square[j] };
            from[j] = if nearer { self.at } else { from[j] };
            least = if square[j] < least { square[j] } else { least };
        }
        // Of equals the smallest object.
        let equals = (0..n).filter(|&j| square[j] == least);
        equals.min_by_key(|&j| objects[j]).unwrap_or(0)
    }
}
