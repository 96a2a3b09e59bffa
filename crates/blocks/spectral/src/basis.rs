//! Orthonormal basis that grows by blocks.

use partita_core::Seed;
use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};
use rand::RngExt;

/// What remains of a vector after orthogonalisation, relative to the operator, below which it counts as nothing.
const NOTHING: f64 = 1e-11;

/// Orthonormal vectors of one length, one after the other.
pub(crate) struct Basis {
    side: usize,
    vectors: Vec<f64>,
    seed: Seed,
    drawn: u64,
}

impl Basis {
    pub(crate) fn new(side: usize, seed: Seed) -> Self {
        Self {
            side,
            vectors: Vec::new(),
            seed,
            drawn: 0,
        }
    }

    /// Number of vectors, m.
    pub(crate) fn len(&self) -> usize {
        self.vectors.len() / self.side
    }

    /// All vectors, side × m.
    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        self.columns(0)
    }

    /// The vectors from `first` on.
    pub(crate) fn columns(&self, first: usize) -> ArrayView2<'_, f64> {
        let shape = (self.side, self.len() - first).f();
        ArrayView2::from_shape(shape, &self.vectors[first * self.side..])
            .expect("m vectors of one length")
    }

    /// Takes the basis' share out of a block (side × b), twice, and returns the coefficients (m × b).
    pub(crate) fn project_out(&self, block: &mut Array2<f64>) -> Array2<f64> {
        let basis = self.view();
        let mut coefficients = basis.t().dot(block);
        general_mat_mul(-1.0, &basis, &coefficients, 1.0, block);
        let correction = basis.t().dot(block);
        general_mat_mul(-1.0, &basis, &correction, 1.0, block);
        coefficients += &correction;
        coefficients
    }

    /// Adds the directions of a block that [`project_out`](Self::project_out) has seen, and returns the block in terms
    /// of the vectors added (added × b). A column that holds nothing new is replaced by a random direction, so that
    /// the basis grows by b until it is complete: a Krylov space that closes early must not end the search.
    pub(crate) fn extend(&mut self, block: &Array2<f64>, scale: f64) -> Array2<f64> {
        let first = self.len();
        let width = block.ncols().min(self.side - first);
        let mut triangle = Array2::zeros((width, block.ncols()));
        for (j, column) in block.columns().into_iter().enumerate() {
            let mut rest = column.to_owned();
            let added = self.columns(first);
            let mut shares = added.t().dot(&rest);
            subtract_combination(added, &shares, &mut rest);
            let correction = added.t().dot(&rest);
            subtract_combination(added, &correction, &mut rest);
            shares += &correction;
            triangle.slice_mut(s![..shares.len(), j]).assign(&shares);
            if self.len() == first + width {
                continue;
            }
            let length = rest.dot(&rest).sqrt();
            if length > NOTHING * scale && self.push(rest / length) {
                triangle[[self.len() - first - 1, j]] = length;
            } else {
                self.push_random();
            }
        }
        triangle
    }

    /// Puts combinations of the vectors (m × kept, orthonormal columns) in their place.
    pub(crate) fn keep(&mut self, combinations: ArrayView2<'_, f64>) {
        let first = self.view();
        let first = first.slice(s![.., ..combinations.nrows()]);
        let kept = first.dot(&combinations);
        self.vectors = kept.t().iter().copied().collect();
    }

    /// Adds a vector of length 1 after taking out what rounding has left of the basis; false if that is most of it.
    fn push(&mut self, mut vector: Array1<f64>) -> bool {
        let basis = self.view();
        subtract_combination(basis, &basis.t().dot(&vector), &mut vector);
        let length = vector.dot(&vector).sqrt();
        if length < 0.5 {
            return false;
        }
        self.vectors.extend(vector.iter().map(|x| x / length));
        true
    }

    /// Adds a random direction. There is one: the basis is not complete.
    pub(crate) fn push_random(&mut self) {
        loop {
            let mut rng = self.seed.child(self.drawn).rng();
            self.drawn += 1;
            let mut vector = Array1::from_shape_fn(self.side, |_| rng.random_range(-1.0..1.0));
            let basis = self.view();
            for _ in 0..2 {
                subtract_combination(basis, &basis.t().dot(&vector), &mut vector);
            }
            let length = vector.dot(&vector).sqrt();
            if length > 1e-8 && self.push(vector / length) {
                return;
            }
        }
    }
}

/// Subtracts a linear combination of vectors (side × m, column-major) from another, in blocks of entries that stay in the cache: the bits are
/// those of `vector - vectors · coefficients`, which would read the matrix row by row.
fn subtract_combination(
    vectors: ArrayView2<'_, f64>,
    coefficients: &Array1<f64>,
    vector: &mut Array1<f64>,
) {
    const ENTRIES: usize = 1024;
    let mut sums = [0.0; ENTRIES];
    for (chunk, mut part) in vector.axis_chunks_iter_mut(Axis(0), ENTRIES).enumerate() {
        let sums = &mut sums[..part.len()];
        sums.fill(0.0);
        for (column, share) in vectors.columns().into_iter().zip(coefficients) {
            let column = column.to_slice().expect("vectors one after the other");
            for (sum, x) in sums.iter_mut().zip(&column[chunk * ENTRIES..]) {
                *sum += x * share;
            }
        }
        part.iter_mut().zip(sums).for_each(|(x, sum)| *x -= *sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_is_subtracted_to_the_bit() {
        let mut rng = Seed::new(1).rng();
        for (side, count) in [(1, 1), (7, 0), (1024, 3), (2500, 40)] {
            let mut draw = |rows: usize, columns: usize| {
                Array2::from_shape_fn((rows, columns).f(), |_| rng.random_range(-1.0..1.0))
            };
            let vectors = draw(side, count);
            let coefficients = draw(count, 1).column(0).to_owned();
            let mut vector = draw(side, 1).column(0).to_owned();
            let plain = &vector - &vectors.dot(&coefficients);
            subtract_combination(vectors.view(), &coefficients, &mut vector);
            assert_eq!(vector, plain);
        }
    }

    #[test]
    fn a_basis_stays_orthonormal_until_it_is_complete() {
        let mut basis = Basis::new(7, Seed::new(3));
        let mut block = Array2::zeros((7, 3));
        block[[0, 0]] = 2.0;
        block[[0, 1]] = 2.0;
        block[[1, 2]] = 1e-13;
        let triangle = basis.extend(&block, 1.0);
        assert_eq!(triangle.row(0).to_vec(), [2.0, 2.0, 0.0]);
        assert_eq!(basis.len(), 3);
        while basis.len() < 7 {
            basis.extend(&Array2::zeros((7, 3)), 1.0);
        }
        assert_eq!(basis.len(), 7);
        let gram = basis.view().t().dot(&basis.view());
        let gap = gram - Array2::<f64>::eye(7);
        assert!(gap.iter().all(|x| x.abs() < 1e-14));
    }
}
