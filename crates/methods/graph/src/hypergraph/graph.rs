//! Vertices with weights, and nets that join any number of them.

/// A hypergraph in compressed rows, both ways: the pins of every net in ascending order, the nets of every vertex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hypergraph {
    vertices: Vec<i64>,
    nets: Vec<i64>,
    pin_starts: Vec<usize>,
    pins: Vec<u32>,
    net_starts: Vec<usize>,
    nets_of: Vec<u32>,
}

impl Hypergraph {
    /// A hypergraph of weighted vertices and of nets given one after the other: their weights, where the pins of each
    /// start (one number more than nets), and the pins, each a vertex that occurs once in its net.
    pub(crate) fn new(
        vertices: Vec<i64>,
        nets: Vec<i64>,
        pin_starts: Vec<usize>,
        mut pins: Vec<u32>,
    ) -> Self {
        for ends in pin_starts.windows(2) {
            pins[ends[0]..ends[1]].sort_unstable();
        }
        let mut net_starts = vec![0; vertices.len() + 1];
        pins.iter().for_each(|&v| net_starts[v as usize + 1] += 1);
        (0..vertices.len()).for_each(|v| net_starts[v + 1] += net_starts[v]);
        let mut free = net_starts.clone();
        let mut nets_of = vec![0; pins.len()];
        for (net, ends) in pin_starts.windows(2).enumerate() {
            for &v in &pins[ends[0]..ends[1]] {
                nets_of[free[v as usize]] = net as u32;
                free[v as usize] += 1;
            }
        }
        Self {
            vertices,
            nets,
            pin_starts,
            pins,
            net_starts,
            nets_of,
        }
    }

    /// Number of vertices.
    pub(crate) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Number of nets.
    pub(crate) fn nets(&self) -> usize {
        self.nets.len()
    }

    /// Pins of all nets.
    pub(crate) fn all_pins(&self) -> usize {
        self.pins.len()
    }

    /// Weights of the vertices.
    pub(crate) fn weights(&self) -> &[i64] {
        &self.vertices
    }

    /// Weight of a net.
    pub(crate) fn net_weight(&self, net: usize) -> i64 {
        self.nets[net]
    }

    /// Vertices of a net, ascending.
    pub(crate) fn pins(&self, net: usize) -> &[u32] {
        &self.pins[self.pin_starts[net]..self.pin_starts[net + 1]]
    }

    /// Nets of a vertex, ascending.
    pub(crate) fn nets_of(&self, vertex: usize) -> &[u32] {
        &self.nets_of[self.net_starts[vertex]..self.net_starts[vertex + 1]]
    }

    /// For every vertex and each of its nets, one after the other as [`nets_of`](Self::nets_of) lists them, the place of the vertex
    /// among the net's pins; and where those of each vertex start.
    pub(crate) fn places(&self) -> (Vec<u32>, &[usize]) {
        let mut free = self.net_starts.clone();
        let mut places = vec![0; self.pins.len()];
        for net in 0..self.nets() {
            for (place, &v) in self.pins(net).iter().enumerate() {
                places[free[v as usize]] = place as u32;
                free[v as usize] += 1;
            }
        }
        (places, &self.net_starts)
    }

    /// Weight of all vertices.
    pub(crate) fn total(&self) -> i64 {
        self.vertices.iter().sum()
    }

    /// Weight of the heaviest vertex; 0 without any.
    pub(crate) fn heaviest(&self) -> i64 {
        self.vertices.iter().copied().max().unwrap_or(0)
    }

    /// The hypergraph in which the vertices of every group are one. Nets inside a group are gone; nets that have become
    /// the same are one of their weight together.
    pub(crate) fn contracted(&self, group: &[u32], groups: usize) -> Self {
        let mut vertices = vec![0; groups];
        self.vertices
            .iter()
            .zip(group)
            .for_each(|(weight, &g)| vertices[g as usize] += weight);
        let mut seen = vec![u32::MAX; groups];
        let (mut starts, mut pins, mut weights) = (vec![0], Vec::new(), Vec::new());
        for net in 0..self.nets() {
            let start = pins.len();
            for &v in self.pins(net) {
                let g = group[v as usize];
                if seen[g as usize] != net as u32 {
                    seen[g as usize] = net as u32;
                    pins.push(g);
                }
            }
            if pins.len() - start < 2 {
                pins.truncate(start);
                continue;
            }
            pins[start..].sort_unstable();
            starts.push(pins.len());
            weights.push(self.nets[net]);
        }
        let (weights, starts, pins) = merged(&weights, &starts, &pins);
        Self::new(vertices, weights, starts, pins)
    }

    /// The part of the hypergraph inside some vertices: nets keep their pins there, at the weight that `weight` gives
    /// them, and are left out below two pins or where it gives none. Returns with it the net of this hypergraph that
    /// each net was.
    pub(crate) fn inside(
        &self,
        kept: &[u32],
        weight: impl Fn(usize) -> Option<i64>,
    ) -> (Self, Vec<u32>) {
        let mut place = vec![u32::MAX; self.len()];
        kept.iter()
            .enumerate()
            .for_each(|(at, &v)| place[v as usize] = at as u32);
        let (mut starts, mut pins, mut weights, mut origin) =
            (vec![0], Vec::new(), Vec::new(), Vec::new());
        for net in 0..self.nets() {
            let Some(weight) = weight(net) else { continue };
            let start = pins.len();
            pins.extend(
                self.pins(net)
                    .iter()
                    .map(|&v| place[v as usize])
                    .filter(|&at| at != u32::MAX),
            );
            if pins.len() - start < 2 {
                pins.truncate(start);
                continue;
            }
            starts.push(pins.len());
            weights.push(weight);
            origin.push(net as u32);
        }
        let vertices = kept.iter().map(|&v| self.vertices[v as usize]).collect();
        (Self::new(vertices, weights, starts, pins), origin)
    }
}

/// Nets with identical pins as one: sorted by a hash, equals compared pin by pin. The first of equals stays.
fn merged(weights: &[i64], starts: &[usize], pins: &[u32]) -> (Vec<i64>, Vec<usize>, Vec<u32>) {
    let of = |net: u32| &pins[starts[net as usize]..starts[net as usize + 1]];
    let hash = |pins: &[u32]| {
        let step = |hash: u64, &v: &u32| {
            (hash ^ u64::from(v))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(29)
        };
        pins.iter().fold(pins.len() as u64, step)
    };
    let mut order: Vec<(u64, u32)> = (0..weights.len() as u32)
        .map(|net| (hash(of(net)), net))
        .collect();
    order.sort_unstable();
    let mut sums = vec![0; weights.len()];
    for run in order.chunk_by(|a, b| a.0 == b.0) {
        let mut different: Vec<u32> = Vec::new();
        for &(_, net) in run {
            let same = different
                .iter()
                .copied()
                .find(|&other| of(other) == of(net));
            let head = same.unwrap_or_else(|| {
                different.push(net);
                net
            });
            sums[head as usize] += weights[net as usize];
        }
    }
    let (mut kept, mut kept_starts, mut kept_pins) = (Vec::new(), vec![0], Vec::new());
    for (net, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0) {
        kept.push(sum);
        kept_pins.extend_from_slice(of(net as u32));
        kept_starts.push(kept_pins.len());
    }
    (kept, kept_starts, kept_pins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Hypergraph {
        Hypergraph::new(
            vec![1, 2, 3, 4, 5],
            vec![1, 10, 100],
            vec![0, 3, 5, 8],
            vec![2, 0, 1, 3, 4, 4, 3, 0],
        )
    }

    #[test]
    fn pins_and_nets_are_each_others_transpose() {
        let graph = small();
        assert_eq!(
            (graph.pins(0), graph.pins(2)),
            (&[0, 1, 2][..], &[0, 3, 4][..])
        );
        assert_eq!(
            (graph.nets_of(0), graph.nets_of(3)),
            (&[0, 2][..], &[1, 2][..])
        );
        assert_eq!((graph.total(), graph.heaviest()), (15, 5));
        let (places, starts) = graph.places();
        for v in 0..5 {
            for (&net, &place) in graph.nets_of(v).iter().zip(&places[starts[v]..]) {
                assert_eq!(graph.pins(net as usize)[place as usize], v as u32);
            }
        }
    }

    #[test]
    fn contraction_drops_inner_nets_and_merges_equal_ones() {
        // Groups {0, 3}, {1, 2}, {4}: nets become {0,1}, {0,2}, {0,2}.
        let coarse = small().contracted(&[0, 1, 1, 0, 2], 3);
        assert_eq!(coarse.weights(), [5, 5, 5]);
        assert_eq!(
            (coarse.nets(), coarse.pins(0), coarse.pins(1)),
            (2, &[0, 1][..], &[0, 2][..])
        );
        assert_eq!((coarse.net_weight(0), coarse.net_weight(1)), (1, 110));
        assert_eq!(small().contracted(&[0; 5], 1).nets(), 0);
    }

    #[test]
    fn the_inside_of_some_vertices_keeps_nets_of_two_pins() {
        let (inner, origin) = small().inside(&[0, 2, 4], |net| (net != 2).then_some(7));
        assert_eq!(
            (inner.weights(), inner.nets(), inner.net_weight(0)),
            (&[1, 3, 5][..], 1, 7)
        );
        assert_eq!((inner.pins(0), origin), (&[0, 1][..], vec![0]));
    }
}
