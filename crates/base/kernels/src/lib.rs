//! Numerical kernels with SIMD, and the dispatch that chooses instructions while the program runs.
//!
//! Pick this crate for the inner loops of clustering (inner products of columns, agreements of label rows, nearest centres) or
//! to compile a loop of your own for AVX2 and AVX-512 without writing `unsafe`: implement [`Kernel`] and call [`dispatch`].
//! It depends on no other crate.
//!
//! | kernel | what it computes | a step |
//! |---|---|---|
//! | [`dots`], [`accumulate`], [`combine`] | inner products with, and sums of, padded columns of `f64` | 8 numbers |
//! | [`agreements`], [`weighted_agreements`], [`pair_agreements`] | places where label rows are equal | 64 or 32 labels |
//! | [`common_bits`], [`pair_common_bits`] | bits that rows have in common | 64 bytes, 8 bytes |
//! | [`nearest`] | the two nearest of k centres, for 64 rows at once | 64 rows × 6 centres |
//! | [`nearest_rows`] | the same for single rows | 8 rows × 16 centres |
//! | [`responsibilities`] | the sums of one EM step of a mixture of columns | 256 numbers |
//!
//! **Same bits everywhere.** Sums run in a fixed number of lanes that are folded in a fixed order, and products are fused with
//! sums nowhere but in [`nearest`] and [`nearest_rows`]; results do not depend on whether a processor has AVX2 or AVX-512. Where a target has no
//! fused multiply-add (WebAssembly, x86-64 without AVX2) these two find the same centres by sums of rounded products, and compare those that are close anew.
//! Vectors of WebAssembly (`simd128`) are what the compiler makes of the plain loops.
//!
//! **Safety.** A [`Level`] can be made only by asking the processor. The tokens [`Avx2`] and [`Avx512`] inside are the proof
//! that its instructions may be used, and every function that uses them takes one.
//!
//! ```
//! use partita_kernels::{Kernel, Simd, dispatch, dots};
//!
//! struct SquaredLength<'a>(&'a [f64]);
//!
//! impl Kernel for SquaredLength<'_> {
//!     type Output = f64;
//!
//!     #[inline(always)]
//!     fn run<S: Simd>(self, simd: S) -> f64 {
//!         dots(simd, self.0, [self.0])[0]
//!     }
//! }
//!
//! assert_eq!(dispatch(SquaredLength(&[2.0; 8])), 32.0);
//! ```

#![expect(
    clippy::inline_always,
    reason = "loops are compiled for wider vectors only where they are inlined"
)]

mod agreements;
mod columns;
mod dispatch;
mod fused;
mod nearest;
mod nearest_rows;
mod responsibilities;

pub use agreements::{
    BLOCK, Tally, WIDTH, agreements, common_bits, pair_agreements, pair_common_bits,
    weighted_agreements,
};
pub use columns::{accumulate, combine, dots};
#[cfg(target_arch = "x86_64")]
pub use dispatch::{Avx2, Avx512};
pub use dispatch::{Baseline, Kernel, LANES, Level, Simd, dispatch};
pub use nearest::{Nearest, PANEL, nearest};
pub use nearest_rows::{Tiles, nearest_rows, prefetch};
pub use responsibilities::{Partners, log_likelihood, responsibilities};
