//! The figures, one file a kind.

use crate::Report;
use crate::agreement::Agreement;
use crate::clusters::{Clusters, sample};
use crate::figure::Drawn;
use crate::tracks::Tracks;

pub(crate) mod bases;
pub(crate) mod centres;
pub(crate) mod certainty;
pub(crate) mod choice;
pub(crate) mod flow;
pub(crate) mod heat;
pub(crate) mod map;
pub(crate) mod membership;
pub(crate) mod membership_by_k;
pub(crate) mod relations;
pub(crate) mod tree;

/// All figures that there is something for, in the order of the page.
pub(crate) fn all(
    report: &Report<'_>,
    clusters: &Clusters,
    agreement: Option<&Agreement>,
) -> Vec<Drawn> {
    let mut drawn = Vec::new();
    if let Some(ensemble) = report.ensemble {
        drawn.push(heat::objects(report, ensemble, clusters));
        drawn.extend(heat::clusters(clusters));
    }
    if let Some(choice) = &report.choice {
        drawn.extend(
            [
                choice::measure(choice),
                choice::pac(choice),
                choice::cdf(choice),
                choice::delta(choice),
            ]
            .into_iter()
            .flatten(),
        );
        drawn.extend(
            [choice::certainty(choice), choice::objective(choice)]
                .into_iter()
                .flatten(),
        );
        if let Some(tracks) = Tracks::of(choice, report.partition) {
            let by_k = membership_by_k::figure(report, choice, &tracks);
            drawn.extend([
                tree::figure(choice, &tracks),
                by_k,
                flow::figure(choice, &tracks),
            ]);
        }
    }
    drawn.extend([
        certainty::histogram(report),
        certainty::by_cluster(report, clusters),
    ]);
    drawn.extend(report.soft.map(|soft| membership::bars(soft, clusters)));
    drawn.extend(relations::graph(report.soft, clusters));
    if let Some(table) = report.features.filter(|table| table.values().ncols() > 0) {
        let means = centres::means(report, &table, clusters);
        drawn.push(centres::figure(&table, &means, clusters));
    }
    if let (Some(ensemble), Some(agreement)) = (report.ensemble, agreement) {
        drawn.extend([
            bases::matrix(ensemble, agreement),
            bases::spread(ensemble, agreement),
        ]);
    }
    let points = sample(clusters, map::POINTS);
    if let Some(table) = report.features.filter(|table| table.values().ncols() > 0) {
        drawn.extend(map::principal(report, &table, &points));
    }
    drawn.extend(
        report
            .ensemble
            .and_then(|ensemble| map::evidence(report, ensemble, &points)),
    );
    drawn
}
