//! Multilevel bisection: coarsen, cut the coarsest, refine on the way back.

use partita_core::Seed;
use rand::RngExt;

use super::Stop;
use super::coarsen::coarsen;
use super::fm::{Bisection, Bounds};
use super::graph::Hypergraph;

/// Vertices of the hypergraph that is cut from scratch.
const COARSEST: usize = 300;

/// Attempts to cut it.
const ATTEMPTS: u64 = 18;

/// Passes of refinement a level, and moves without a gain that end one.
const PASSES: usize = 8;
const PATIENCE: usize = 350;

/// Cuts a hypergraph into two sides within the bounds, as far as the weights of its vertices allow, with little net
/// weight cut. Returns whether each vertex is on the second side; nothing if somebody wants to stop.
pub(crate) fn bisect(
    graph: &Hypergraph,
    bounds: &Bounds,
    seed: Seed,
    stop: Stop<'_>,
) -> Option<Vec<bool>> {
    let target = COARSEST.max(4 * (bounds.least[0] + bounds.least[1]));
    let levels = coarsen(graph, None, target, &mut seed.rng(), stop);
    let coarsest = levels.last().map_or(graph, |level| &level.graph);
    let mut side = attempts(coarsest, bounds, seed, stop)?;
    for (at, level) in levels.iter().enumerate().rev() {
        let fine = if at == 0 {
            graph
        } else {
            &levels[at - 1].graph
        };
        side = level.group.iter().map(|&g| side[g as usize]).collect();
        let mut state = Bisection::new(fine, side);
        state.refine(bounds, PASSES, PATIENCE.max(fine.len() / 50), stop);
        side = state.into_sides();
    }
    (!stop()).then_some(side)
}

/// The best of several cuts from scratch, refined; the earlier of equals.
fn attempts(graph: &Hypergraph, bounds: &Bounds, seed: Seed, stop: Stop<'_>) -> Option<Vec<bool>> {
    let attempt = |number: u64| {
        let seed = seed.child(number);
        let side = match number % 3 {
            0 => scattered(graph, bounds, seed),
            1 => grown(graph, bounds, seed),
            _ => grown_by_nets(graph, bounds, seed),
        };
        let mut state = Bisection::new(graph, side);
        state.refine(bounds, PASSES, PATIENCE, stop);
        (state.cost(bounds), state.into_sides())
    };
    let better = |best: ((i64, i64), Vec<bool>), next: ((i64, i64), Vec<bool>)| {
        if next.0 < best.0 { next } else { best }
    };
    let best = (0..ATTEMPTS)
        .take_while(|_| !stop())
        .map(attempt)
        .reduce(better);
    best.map(|(_, side)| side)
}

/// Weight that the first side shall have.
fn share(graph: &Hypergraph, bounds: &Bounds) -> f64 {
    let [first, second] = bounds.most.map(|most| most as f64);
    graph.total() as f64 * first / (first + second)
}

/// Every vertex on a side drawn by its share.
fn scattered(graph: &Hypergraph, bounds: &Bounds, seed: Seed) -> Vec<bool> {
    let mut rng = seed.rng();
    let first = share(graph, bounds) / graph.total().max(1) as f64;
    (0..graph.len())
        .map(|_| !rng.random_bool(first.clamp(0.0, 1.0)))
        .collect()
}

/// The first side grown from a random vertex: always the vertex that shares most with it, nets weighed by the share of
/// their pins that is there.
fn grown(graph: &Hypergraph, bounds: &Bounds, seed: Seed) -> Vec<bool> {
    let n = graph.len();
    let mut side = vec![true; n];
    let mut shared = vec![0.0; n];
    let target = share(graph, bounds);
    let mut weight = 0.0;
    let mut next = seed.rng().random_range(0..n);
    loop {
        let own = graph.weights()[next] as f64;
        if weight > 0.0 && weight + own / 2.0 > target {
            return side;
        }
        side[next] = false;
        weight += own;
        for &net in graph.nets_of(next) {
            let pins = graph.pins(net as usize);
            let part = graph.net_weight(net as usize) as f64 / (pins.len() - 1) as f64;
            pins.iter().for_each(|&w| shared[w as usize] += part);
        }
        let better = |best: usize, v: usize| if shared[v] > shared[best] { v } else { best };
        match (0..n).filter(|&v| side[v]).reduce(better) {
            Some(v) => next = v,
            None => return side,
        }
    }
}

/// The first side grown from a random net: always the whole net that asks for the least weight that is not there yet, for
/// its own; nets that no longer fit are passed over.
fn grown_by_nets(graph: &Hypergraph, bounds: &Bounds, seed: Seed) -> Vec<bool> {
    let mut side = vec![true; graph.len()];
    let target = share(graph, bounds) as i64;
    if graph.nets() == 0 {
        return side;
    }
    let of = |net: usize| {
        graph
            .pins(net)
            .iter()
            .map(|&v| graph.weights()[v as usize])
            .sum::<i64>()
    };
    let mut lacks: Vec<i64> = (0..graph.nets()).map(of).collect();
    let mut open = vec![true; graph.nets()];
    let mut weight = 0;
    let mut next = Some(seed.rng().random_range(0..graph.nets()));
    while let Some(net) = next {
        open[net] = false;
        let pins = if weight + lacks[net] <= target {
            graph.pins(net)
        } else {
            &[]
        };
        for &v in pins {
            if std::mem::replace(&mut side[v as usize], false) {
                let own = graph.weights()[v as usize];
                weight += own;
                graph
                    .nets_of(v as usize)
                    .iter()
                    .for_each(|&other| lacks[other as usize] -= own);
            }
        }
        let price = |net: usize| lacks[net] as f64 / graph.net_weight(net) as f64;
        let better = |best: usize, net: usize| if price(net) < price(best) { net } else { best };
        next = (0..graph.nets())
            .filter(|&net| open[net] && weight + lacks[net] <= target)
            .reduce(better);
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clouds_of_nets_joined_by_one_are_cut_there() {
        let mut rng = Seed::new(4).rng();
        let (n, mut starts, mut pins) = (1000u32, vec![0], Vec::new());
        for net in 0..3000 {
            let half = net % 2 * (n / 2);
            let mut net: Vec<u32> = (0..4).map(|_| half + rng.random_range(0..n / 2)).collect();
            net.sort_unstable();
            net.dedup();
            pins.extend(net);
            starts.push(pins.len());
        }
        pins.extend([0, n - 1]);
        starts.push(pins.len());
        let graph = Hypergraph::new(vec![1; n as usize], vec![1; starts.len() - 1], starts, pins);
        let bounds = Bounds {
            most: [510; 2],
            least: [1; 2],
        };
        let side = bisect(&graph, &bounds, Seed::new(1), &|| false).unwrap();
        assert_eq!(Bisection::new(&graph, side.clone()).cost(&bounds), (0, 1));
        assert_eq!(Some(side), bisect(&graph, &bounds, Seed::new(1), &|| false));
        assert_eq!(bisect(&graph, &bounds, Seed::new(1), &|| true), None);
    }
}
