//! An allocator that counts, for tests of what is said of memory.
#![expect(
    unsafe_code,
    reason = "a global allocator that counts is unsafe by its trait"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the bytes held and their peak, as the global allocator of a test program.
#[derive(Debug)]
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

impl Counting {
    /// What `work` gives, and the most bytes that were held at once besides those held before. What other threads hold is counted too.
    pub fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
        let before = HELD.load(Relaxed);
        PEAK.store(before, Relaxed);
        let made = work();
        (made, PEAK.load(Relaxed).saturating_sub(before) as u64)
    }
}

fn taken(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(place, layout) }
    }
}
