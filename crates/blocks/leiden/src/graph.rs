//! Graphs: every vertex's neighbours one after the other.

use rand::{Rng, RngExt};

use crate::objective::Objective;

/// Weights outside of these bounds are refused: products of their sums would not be finite numbers, or 0.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// By how much the two entries of a pair may differ, as a share of the larger: what single precision leaves of equal numbers.
const SYMMETRIC: f64 = 1e-5;

/// Edges that make no graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// More vertices than can be numbered.
    #[error(
        "a graph of {vertices} vertices cannot be clustered; {} are the most",
        u32::MAX
    )]
    TooManyVertices {
        /// Vertices asked for.
        vertices: usize,
    },
    /// An edge of a vertex that is not there.
    #[error(
        "edge {edge} names vertex {vertex} of a graph of {vertices} vertices; they count from 0"
    )]
    Vertex {
        /// Number of the edge, from 0.
        edge: usize,
        /// The vertex it names.
        vertex: usize,
        /// Vertices of the graph.
        vertices: usize,
    },
    /// Not a weight.
    #[error(
        "edge {edge} ({a} to {b}) weighs {weight}; a weight is a number from {:e} to {:e}, or 0 for no edge",
        WEIGHTS.start(),
        WEIGHTS.end()
    )]
    Weight {
        /// Number of the edge, from 0.
        edge: usize,
        /// One end.
        a: usize,
        /// The other end.
        b: usize,
        /// Its weight.
        weight: f64,
    },
    /// A matrix whose entries in the two orders differ.
    #[error(
        "row {row}, column {column} is {value}, and row {column}, column {row} is {mirrored}; the matrix of an undirected graph is symmetric: take the sum with its transpose"
    )]
    NotSymmetric {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry there.
        value: f64,
        /// The entry with row and column exchanged.
        mirrored: f64,
    },
}

/// A weighted undirected graph of n vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub(crate) links: Links,
    /// Weight of the edge of each vertex to itself, n.
    loops: Vec<f64>,
}

/// The neighbours of every vertex, itself not among them: every edge stands with both its ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Links {
    /// Where the neighbours of each vertex start, n + 1.
    pub(crate) starts: Vec<usize>,
    pub(crate) neighbours: Vec<u32>,
    pub(crate) weights: Vec<f64>,
}

impl Links {
    /// Of no vertex yet, with room for so many and their neighbours.
    pub(crate) fn with_room(vertices: usize, neighbours: usize) -> Self {
        let mut starts = Vec::with_capacity(vertices + 1);
        starts.push(0);
        Self {
            starts,
            neighbours: Vec::with_capacity(neighbours),
            weights: Vec::with_capacity(neighbours),
        }
    }

    /// The neighbours of the next vertex.
    pub(crate) fn push(&mut self, row: impl Iterator<Item = (u32, f64)>) {
        for (neighbour, weight) in row {
            self.neighbours.push(neighbour);
            self.weights.push(weight);
        }
        self.starts.push(self.neighbours.len());
    }

    pub(crate) fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    /// Neighbours of a vertex and the weights of the edges to them.
    pub(crate) fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[vertex]..self.starts[vertex + 1];
        let weights = self.weights[range.clone()].iter();
        let neighbours = self.neighbours[range].iter();
        neighbours.zip(weights).map(|(&u, &w)| (u as usize, w))
    }

    /// Where a neighbour stands in the row of a vertex whose neighbours rise.
    fn place(&self, vertex: usize, neighbour: usize) -> Option<usize> {
        let start = self.starts[vertex];
        let row = &self.neighbours[start..self.starts[vertex + 1]];
        let place = row.binary_search(&(neighbour as u32)).ok()?;
        Some(start + place)
    }
}

impl Graph {
    /// The graph of these edges (one end, the other, weight). Edges of the same two vertices are one edge with the sum of their weights;
    /// an edge of weight 0 is none. The order of the edges, and of the ends of an edge, changes no bit.
    ///
    /// # Errors
    /// [`GraphError`] for a vertex that is not below `vertices`, and for a negative or not finite weight.
    pub fn from_edges(
        vertices: usize,
        edges: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, GraphError> {
        let mut entries = Entries::new(vertices)?;
        for (edge, (a, b, weight)) in edges.into_iter().enumerate() {
            entries.push(edge, a, b, weight)?;
            if a != b {
                entries.push(edge, b, a, weight)?;
            }
        }
        Ok(entries.graph())
    }

    /// The graph whose matrix has these entries (row, column, weight), every edge in both orders as SciPy's sparse matrices and
    /// AnnData's `obsp` hold it. An entry on the diagonal is twice the weight of an edge of a vertex to itself, so that the sum of a row is
    /// the strength of its vertex. Entries of the same place are added.
    ///
    /// # Errors
    /// As [`Graph::from_edges`], and [`GraphError::NotSymmetric`].
    pub fn from_symmetric(
        vertices: usize,
        matrix: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, GraphError> {
        let mut entries = Entries::new(vertices)?;
        for (edge, (row, column, weight)) in matrix.into_iter().enumerate() {
            let share = if row == column { 0.5 } else { 1.0 };
            entries.push(edge, row, column, share * weight)?;
        }
        let mut graph = entries.graph();
        let links = &mut graph.links;
        for row in 0..vertices {
            for place in links.starts[row]..links.starts[row + 1] {
                let (column, value) = (links.neighbours[place] as usize, links.weights[place]);
                let mirror = links.place(column, row);
                let mirrored = mirror.map_or(0.0, |mirror| links.weights[mirror]);
                if (value - mirrored).abs() > SYMMETRIC * value.max(mirrored) {
                    return Err(GraphError::NotSymmetric {
                        row,
                        column,
                        value,
                        mirrored,
                    });
                }
                if let Some(mirror) = mirror {
                    links.weights[mirror] = value;
                }
            }
        }
        Ok(graph)
    }

    /// Number of vertices, n.
    pub fn vertices(&self) -> usize {
        self.loops.len()
    }

    /// Number of edges between two vertices, m.
    pub fn edges(&self) -> usize {
        self.links.neighbours.len() / 2
    }

    /// Every edge once (smaller vertex, larger, weight); the first of each vertex is that to itself, of weight 0 where there is none.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.loops.iter().enumerate().flat_map(|(vertex, &own)| {
            let others = self.links.of(vertex).filter(move |&(u, _)| u > vertex);
            std::iter::once((vertex, own))
                .chain(others)
                .map(move |(u, weight)| (vertex, u, weight))
        })
    }

    /// The strength of every vertex, n: the sum of the weights of its edges, of an edge to itself twice.
    pub fn strengths(&self) -> Vec<f64> {
        let of = |(vertex, own): (usize, &f64)| {
            2.0 * own + self.links.of(vertex).map(|(_, weight)| weight).sum::<f64>()
        };
        self.loops.iter().enumerate().map(of).collect()
    }

    /// The graph between some of the vertices (rising numbers below n), which are numbered anew in this order.
    #[must_use]
    pub fn induced(&self, vertices: &[usize]) -> Self {
        let mut number = vec![u32::MAX; self.vertices()];
        for (new, &vertex) in vertices.iter().enumerate() {
            number[vertex] = new as u32;
        }
        let mut links = Links::with_room(vertices.len(), self.links.neighbours.len());
        for &vertex in vertices {
            let kept = self.links.of(vertex).map(|(u, weight)| (number[u], weight));
            links.push(kept.filter(|&(u, _)| u != u32::MAX));
        }
        let loops = vertices.iter().map(|&vertex| self.loops[vertex]).collect();
        Self { links, loops }
    }

    /// The graph with a share of its edges, each kept with this chance; edges of a vertex to itself stay.
    ///
    /// # Cost
    /// O(m log m) time; 48·m bytes while it is made.
    #[must_use]
    pub fn thinned(&self, share: f64, rng: &mut impl Rng) -> Self {
        let kept = |&(a, b, _): &(usize, usize, f64)| a == b || rng.random::<f64>() < share;
        Self::from_edges(self.vertices(), self.entries().filter(kept))
            .expect("edges of a graph make a graph")
    }

    /// What an objective says of a clustering, a label of every vertex (n).
    ///
    /// # Cost
    /// O(n + m) time; 16·n bytes.
    pub fn quality(&self, labels: &[u32], objective: Objective, resolution: f64) -> f64 {
        let clusters = labels.iter().max().map_or(0, |&most| most as usize + 1);
        let mut masses = vec![0.0; clusters];
        let mut inside = 0.0;
        let strengths = self.strengths();
        let total: f64 = strengths.iter().sum();
        for (vertex, &label) in labels.iter().enumerate() {
            let own = self.links.of(vertex).filter(|&(u, _)| labels[u] == label);
            inside += 2.0 * self.loops[vertex] + own.map(|(_, weight)| weight).sum::<f64>();
            masses[label as usize] += match objective {
                Objective::Cpm => 1.0,
                _ => strengths[vertex],
            };
        }
        if total == 0.0 && objective != Objective::Cpm {
            return 0.0;
        }
        let squares = |mass: &f64| match objective {
            Objective::Cpm => mass * (mass - 1.0),
            _ => mass / total * mass,
        };
        let twice = inside - resolution * masses.iter().map(squares).sum::<f64>();
        match objective {
            Objective::Modularity => twice / total,
            Objective::RbConfiguration => twice,
            Objective::Cpm => twice / 2.0,
        }
    }
}

/// Entries of a symmetric matrix on the way to a graph.
struct Entries {
    vertices: usize,
    all: Vec<(u32, u32, f64)>,
}

impl Entries {
    fn new(vertices: usize) -> Result<Self, GraphError> {
        if vertices >= u32::MAX as usize {
            return Err(GraphError::TooManyVertices { vertices });
        }
        let all = Vec::new();
        Ok(Self { vertices, all })
    }

    fn push(&mut self, edge: usize, a: usize, b: usize, weight: f64) -> Result<(), GraphError> {
        let vertices = self.vertices;
        if let Some(vertex) = [a, b].into_iter().find(|&vertex| vertex >= vertices) {
            return Err(GraphError::Vertex {
                edge,
                vertex,
                vertices,
            });
        }
        if weight != 0.0 && !WEIGHTS.contains(&weight) {
            return Err(GraphError::Weight { edge, a, b, weight });
        }
        if weight > 0.0 {
            self.all.push((a as u32, b as u32, weight));
        }
        Ok(())
    }

    /// With entries of the same place added, the smallest first whatever their order.
    fn graph(mut self) -> Graph {
        let place = |entry: &(u32, u32, f64)| (entry.0, entry.1);
        self.all
            .sort_unstable_by(|x, y| place(x).cmp(&place(y)).then(x.2.total_cmp(&y.2)));
        self.all.dedup_by(|next, kept| {
            let same = place(next) == place(kept);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut links = Links::with_room(self.vertices, self.all.len());
        let mut loops = vec![0.0; self.vertices];
        let mut rest = self.all.as_slice();
        for (vertex, own) in (0..).zip(&mut loops) {
            let (row, after) = rest.split_at(rest.partition_point(|entry| entry.0 == vertex));
            rest = after;
            let kept = row.iter().filter(|entry| entry.1 != vertex);
            links.push(kept.map(|&(_, u, weight)| (u, weight)));
            *own = row
                .iter()
                .filter(|entry| entry.1 == vertex)
                .map(|entry| entry.2)
                .sum();
        }
        Graph { links, loops }
    }
}
