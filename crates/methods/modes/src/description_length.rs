//! Description length of modes (Peixoto, Physical Review X 11, 021003, 2021), in nats.
//!
//! ```text
//! S     = −Σ_i [ Σ_r ln n_ir! + ln (B−1)! − ln (n_i + B − 1)! ] + ln N            one mode; objects with n_i = 0 left out
//! total = Σ_modes S + ln M + ln C(M−1, R−1) + ln M! − Σ ln m_r!
//! ```
//! | here | there |
//! |---|---|
//! | n_ir, n_i | base clusterings of the mode that give object i the label r; any label |
//! | B, N | labels in use, objects |
//! | M, R, m_r | base clusterings, modes, base clusterings of a mode |

/// ln n! for n up to a bound.
pub(crate) struct LnFactorials(Vec<f64>);

impl LnFactorials {
    /// For all that occurs among so many base clusterings with so many labels.
    pub(crate) fn new(bases: usize, labels: usize) -> Self {
        let mut sum = 0.0;
        let mut table = vec![0.0];
        table.extend((1..=bases + labels).map(|n| {
            sum += (n as f64).ln();
            sum
        }));
        Self(table)
    }

    /// Description length of one mode from its F × width counts, of rows that stand for `weights` objects.
    pub(crate) fn mode(&self, counts: &[u32], width: usize, weights: &[f64]) -> f64 {
        if width == 0 {
            return 0.0;
        }
        let mut used = vec![false; width];
        for (at, &n) in counts.iter().enumerate() {
            used[at % width] |= n > 0;
        }
        let labels = used.iter().filter(|used| **used).count();
        let mut sum = 0.0;
        let mut objects = 0.0f64;
        for (row, weight) in counts.chunks_exact(width).zip(weights) {
            let seen: u32 = row.iter().sum();
            if seen > 0 {
                let own: f64 = row.iter().map(|&n| self.0[n as usize]).sum();
                sum += weight * (self.0[seen as usize + labels - 1] - self.0[labels - 1] - own);
                objects += weight;
            }
        }
        if objects > 0.0 {
            sum + objects.ln()
        } else {
            0.0
        }
    }

    /// What it takes to say which base clusterings are in which mode, given how many are in each.
    pub(crate) fn division(&self, sizes: &[usize]) -> f64 {
        let bases: usize = sizes.iter().sum();
        let choose = self.0[bases - 1] - self.0[sizes.len() - 1] - self.0[bases - sizes.len()];
        (bases as f64).ln() + choose + self.0[bases]
            - sizes.iter().map(|&size| self.0[size]).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three base clusterings of six objects whose labels are aligned as they stand.
    #[test]
    fn alignments_of_a_tiny_ensemble_to_their_printed_digits() {
        for (c, expected) in [
            ([0, 0, 0, 1, 2, 2], 18.903_107),
            ([1, 1, 1, 0, 2, 2], 22.198_944),
            ([0, 0, 0, 2, 1, 1], 17.804_495),
        ] {
            let mut counts = [0u32; 18];
            for column in [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], c] {
                for (i, label) in column.into_iter().enumerate() {
                    counts[3 * i + label] += 1;
                }
            }
            let found = LnFactorials::new(3, 3).mode(&counts, 3, &[1.0; 6]);
            let near = (found - expected).abs() < 1e-6;
            assert!(near, "{c:?}: {found} is not {expected}");
        }
    }
}
