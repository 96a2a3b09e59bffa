//! Vertices by gain, the best first: an array of doubly linked lists.

/// Buckets that are there at most; wider ranges of gains share buckets.
const MOST: i64 = 1 << 14;

const NONE: u32 = u32::MAX;

/// Vertices in buckets of gain. Inserting, removing and moving a vertex cost O(1); the best is found from a marker that
/// sinks as buckets empty. The last inserted of a bucket is the first out.
pub(crate) struct Buckets {
    heads: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    bucket: Vec<u32>,
    range: i64,
    step: i64,
    top: usize,
}

impl Buckets {
    /// Empty buckets for so many vertices with gains from `−range` to `range`.
    pub(crate) fn new(vertices: usize, range: i64) -> Self {
        let step = (2 * range / MOST + 1).max(1);
        Self {
            heads: vec![NONE; (2 * range / step + 1) as usize],
            next: vec![NONE; vertices],
            previous: vec![NONE; vertices],
            bucket: vec![NONE; vertices],
            range,
            step,
            top: 0,
        }
    }

    /// Puts in a vertex that is not there.
    pub(crate) fn insert(&mut self, vertex: u32, gain: i64) {
        let v = vertex as usize;
        let bucket = ((gain + self.range) / self.step) as usize;
        let head = self.heads[bucket];
        (self.next[v], self.previous[v], self.bucket[v]) = (head, NONE, bucket as u32);
        if head != NONE {
            self.previous[head as usize] = vertex;
        }
        self.heads[bucket] = vertex;
        self.top = self.top.max(bucket);
    }

    /// Takes a vertex out; nothing happens if it is not there.
    pub(crate) fn remove(&mut self, vertex: u32) {
        let v = vertex as usize;
        if self.bucket[v] == NONE {
            return;
        }
        let (next, previous) = (self.next[v], self.previous[v]);
        if previous == NONE {
            self.heads[self.bucket[v] as usize] = next;
        } else {
            self.next[previous as usize] = next;
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
        self.bucket[v] = NONE;
    }

    /// Whether a vertex is in the bucket of this gain, or not there at all.
    pub(crate) fn holds(&self, vertex: u32, gain: i64) -> bool {
        let at = self.bucket[vertex as usize];
        at == NONE || i64::from(at) == (gain + self.range) / self.step
    }

    /// Puts a vertex into the bucket of its new gain, if it is there.
    pub(crate) fn update(&mut self, vertex: u32, gain: i64) {
        if !self.holds(vertex, gain) {
            self.remove(vertex);
            self.insert(vertex, gain);
        }
    }

    /// The first vertex of the best buckets that `fits`; of each bucket only a few are asked.
    pub(crate) fn best(&mut self, mut fits: impl FnMut(u32) -> bool) -> Option<u32> {
        const ASKED: usize = 8;
        while self.top > 0 && self.heads[self.top] == NONE {
            self.top -= 1;
        }
        let mut bucket = self.top + 1;
        let mut asked = 0;
        while bucket > 0 {
            bucket -= 1;
            let mut vertex = self.heads[bucket];
            for _ in 0..ASKED {
                if vertex == NONE {
                    break;
                }
                if fits(vertex) {
                    return Some(vertex);
                }
                asked += 1;
                vertex = self.next[vertex as usize];
            }
            if asked > ASKED * ASKED {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_comes_first_and_the_last_of_equals() {
        for range in [5, 5_000_000] {
            let mut buckets = Buckets::new(4, range);
            [(0, -range), (1, 0), (2, range), (3, 0)]
                .into_iter()
                .for_each(|(v, gain)| buckets.insert(v, gain));
            assert_eq!(buckets.best(|_| true), Some(2));
            assert_eq!(buckets.best(|v| v < 2), Some(1));
            buckets.remove(2);
            buckets.remove(2);
            assert_eq!(buckets.best(|_| true), Some(3));
            buckets.update(0, range);
            buckets.update(2, range);
            assert_eq!(buckets.best(|_| true), Some(0));
            assert_eq!(buckets.best(|_| false), None);
        }
    }
}
