//! A parallel map over independent items: results in order, on the threads of rayon where there are some. Sums whose order matters, and
//! passes over label rows, are elsewhere.

/// What `work` makes of every item, in their order: on all threads of the pool where the feature `rayon` is on, one after the other where
/// it is not.
///
/// The loop over threads is one function for all callers. The parallel iterators of rayon are compiled anew for every closure, some four
/// thousand lines of LLVM code each, a third of the code of crates with many passes. An item should be worth more than a microsecond: it
/// takes a lock that nobody else asks for.
pub fn map_parallel<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    in_order(items.into_iter(), work)
}

#[cfg(feature = "rayon")]
fn in_order<I: Send, T: Send>(
    items: impl Iterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    use std::sync::{Mutex, PoisonError};

    enum Slot<I, T> {
        Waits(I),
        Taken,
        Made(T),
    }

    let slots: Vec<Mutex<Slot<I, T>>> = items.map(|item| Mutex::new(Slot::Waits(item))).collect();
    on_all_threads(slots.len(), &|at| {
        // A panic of `work` goes to the caller: nobody meets what it left.
        let mut slot = slots[at].lock().unwrap_or_else(PoisonError::into_inner);
        if let Slot::Waits(item) = std::mem::replace(&mut *slot, Slot::Taken) {
            *slot = Slot::Made(work(item));
        }
    });
    let made = slots.into_iter().map(|slot| {
        match slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Slot::Made(made) => made,
            Slot::Waits(_) | Slot::Taken => {
                unreachable!("every item was worked on, or a panic went to the caller")
            }
        }
    });
    made.collect()
}

#[cfg(feature = "rayon")]
#[inline(never)]
fn on_all_threads(items: usize, work: &(dyn Fn(usize) + Sync)) {
    use rayon::prelude::*;
    (0..items).into_par_iter().for_each(work);
}

#[cfg(not(feature = "rayon"))]
fn in_order<I, T>(items: impl Iterator<Item = I>, work: impl Fn(I) -> T) -> Vec<T> {
    items.map(work).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let squares = map_parallel(0..1000u64, |item| item * item);
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(at, square)| *square == (at * at) as u64)
                && squares.len() == 1000
        );
        assert!(map_parallel(Vec::<u8>::new(), |item| item).is_empty());
        // Items that are borrowed apart from each other.
        let mut numbers = [1, 2, 3, 4, 5];
        let sums = map_parallel(numbers.chunks_mut(2).zip([10, 20, 30]), |(some, more)| {
            some.iter_mut().for_each(|number| *number += more);
            some.iter().sum::<i32>()
        });
        assert_eq!((sums, numbers), (vec![23, 47, 35], [11, 12, 23, 24, 35]));
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_goes_to_the_caller() {
        map_parallel(0..9, |item| assert!(item != 3, "the third"));
    }
}
