//! Wall seconds by phase of a computation: the time in the `tracing` spans of the libraries, summed by name.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Wall seconds by name of the span. A span that several threads are in at once counts once for each.
static SECONDS: Mutex<BTreeMap<&'static str, f64>> = Mutex::new(BTreeMap::new());

/// Takes what has been summed so far and starts anew.
pub fn taken() -> BTreeMap<&'static str, f64> {
    SECONDS
        .lock()
        .map(|mut seconds| std::mem::take(&mut *seconds))
        .unwrap_or_default()
}

/// Sums the time between the opening and the closing of spans.
#[derive(Debug)]
pub struct Phases;

struct Opened(Instant);

impl<S: tracing::Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Phases {
    fn on_new_span(
        &self,
        _: &tracing::span::Attributes<'_>,
        id: &tracing::span::Id,
        context: Context<'_, S>,
    ) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Opened(Instant::now()));
        }
    }

    fn on_close(&self, id: tracing::span::Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let Some(seconds) = span
            .extensions()
            .get::<Opened>()
            .map(|opened| opened.0.elapsed().as_secs_f64())
        else {
            return;
        };
        if let Ok(mut sums) = SECONDS.lock() {
            *sums.entry(span.name()).or_default() += seconds;
        }
    }
}
