//! The cards of KC, QMI and IPVC.

use partita_core::{MethodCard, MissingLabels, Reads};

use crate::LabelMeansSettings;
use crate::labels::{SETTINGS, bytes, ipvc, kc, qmi};
use crate::method::method;

const KC_CARD: MethodCard = MethodCard {
    name: "kc",
    family: "median",
    summary: "k-means on labels: fast at any size, takes missing labels",
    reference: "Topchy, Jain, Punch, Clustering ensembles: models of consensus and weak partitions, PAMI 2005",
    reads: Reads::Labels,
    missing: MissingLabels::Handled,
    soft: false,
    chooses_clusters: false,
    clusters_is_maximum: false,
    weighted: true,
    seeded: true,
    certainty: "mean share of the object's labels among the labels of its cluster",
    time: "restarts · rounds · n M K",
    memory: "40 n + 24 ΣJ K bytes",
    bytes,
    remedy: "ask for fewer clusters",
    settings: SETTINGS,
};

method! {
    /// KC, k-means on labels.
    KC: Kc = kc, LabelMeansSettings, KC_CARD
}

method! {
    /// QMI, the largest category utility.
    QMI: Qmi = qmi, LabelMeansSettings, MethodCard {
        name: "qmi",
        summary: "the most quadratic mutual information with the base clusterings, by k-means on labels",
        reference: "Topchy, Jain, Punch, Combining multiple weak clusterings, ICDM 2003",
        ..KC_CARD
    }
}

method! {
    /// IPVC, iterative probabilistic voting.
    IPVC: Ipvc = ipvc, LabelMeansSettings, MethodCard {
        name: "ipvc",
        summary: "every object joins the cluster in which its labels are most common, until that stands still",
        reference: "Nguyen, Caruana, Consensus clusterings, ICDM 2007",
        ..KC_CARD
    }
}
