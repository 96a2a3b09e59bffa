//! Settings as texts and as JSON: read, refused in one line, or valid, and then said with all their names.

use arbitrary::Unstructured;
use partita::extend::{BaseClustering, ProblemSize, SettingMap};
use partita::{Clusters, METHODS};
use serde_json::{Map, Value};

use crate::choices::{below, choose, one_in};
use crate::readers::fine;
use crate::saved_files::small_ensemble;

/// The first byte says which method, the second how many clusters; the rest are `name=value` lines or one JSON object.
pub(crate) fn settings(bytes: &[u8]) {
    let mut from = Unstructured::new(bytes);
    let method = choose(&mut from, METHODS);
    let name = method.info().name;
    let clusters = if one_in(&mut from, 8) {
        Clusters::Auto
    } else {
        Clusters::Exactly(below(&mut from, 6))
    };
    let text = String::from_utf8_lossy(from.take_rest()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let parsed = fine(SettingMap::parse(&lines));
    let object = serde_json::from_str::<Map<String, Value>>(&text)
        .ok()
        .map(SettingMap::from);
    let (ensemble, default) = (small_ensemble(), method.default_settings());
    for map in parsed.into_iter().chain(object) {
        for size in [ProblemSize::of(&ensemble, clusters), huge(clusters)] {
            let Some(all) = fine(method.validate(&map, &size)) else {
                continue;
            };
            assert!(
                all.keys().eq(default.keys()),
                "{name}: all settings are said"
            );
            let again = method.validate(&SettingMap::from(all.clone()), &size);
            assert_eq!(again.ok(), Some(all), "{name}: settings survive JSON");
            fine(method.bytes(&map, &size));
            fine(method.row_bytes(&map, &size));
        }
        method.fixed_clusters(&map, ensemble.bases());
    }
}

/// The size of a problem at which arithmetic on sizes goes wrong first.
fn huge(clusters: Clusters) -> ProblemSize {
    let values = (0..60_000).map(|label: u32| label.to_string());
    let base = BaseClustering::new("a", values.collect::<Vec<_>>());
    ProblemSize::of_bases(u32::MAX as usize, &[base], clusters)
}
