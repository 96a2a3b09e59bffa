//! The templates of the page, of the texts of figures and of their style, and what templates can call.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context, escape_formatter};

use sha2::{Digest, Sha256};

use crate::ReportError;
use crate::palette::{COLOURS, DARK, LIGHT, SHAPES};
use crate::text::{brief, count, cut, escape, number, percent, seconds, whole_percent};

const SOURCES: [(&str, &str); 17] = [
    ("page.html", include_str!("templates/page.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("summary.html", include_str!("templates/summary.html")),
    ("made.html", include_str!("templates/made.html")),
    ("methods.html", include_str!("templates/methods.html")),
    ("classes.html", include_str!("templates/classes.html")),
    ("evidence.html", include_str!("templates/evidence.html")),
    ("choice.html", include_str!("templates/choice.html")),
    ("sure.html", include_str!("templates/sure.html")),
    ("soft.html", include_str!("templates/soft.html")),
    ("features.html", include_str!("templates/features.html")),
    ("bases.html", include_str!("templates/bases.html")),
    ("map.html", include_str!("templates/map.html")),
    ("figures.txt", include_str!("templates/figures.txt")),
    ("figures.css", include_str!("templates/figures.css")),
    ("script.js", include_str!("templates/script.js")),
    ("style.css", include_str!("templates/style.css")),
];

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("these are the usual marks");
    templates.set_syntax(syntax);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_formatter(|out, state, value| match value.as_str() {
        // Names from outside may hold characters that no HTML may.
        Some(text) if *state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            out.write_str(&escape(text)).map_err(Into::into)
        }
        _ => escape_formatter(out, state, value),
    });
    templates.add_filter("number", |x: Value| number(float(&x)));
    templates.add_filter("percent", |x: Value| percent(float(&x)));
    templates.add_filter("whole_percent", |x: Value| whole_percent(float(&x)));
    templates.add_filter("brief", |x: Value| brief(float(&x)));
    templates.add_filter("seconds", |x: Value| seconds(float(&x)));
    templates.add_filter("count", |x: Value| count(float(&x) as i64));
    templates.add_filter("p_value", |x: Value| p_value(float(&x)));
    templates.add_filter("plain", |x: Value| plain(float(&x)));
    templates.add_filter("sha256", |text: &str| {
        let digest = BASE64_STANDARD.encode(Sha256::digest(text));
        Value::from_safe_string(format!("sha256-{digest}"))
    });
    templates.add_filter("cut", |text: &str, limit: usize| cut(text, limit));
    templates.add_global("SHAPES", SHAPES);
    templates.add_global("COLOURS", COLOURS);
    for (name, source) in SOURCES {
        let added = templates.add_template(name, source);
        added.expect("the tests render every template");
    }
    templates
});

/// A number, or none.
fn float(x: &Value) -> f64 {
    match x.kind() {
        ValueKind::Number => f64::try_from(x.clone()).unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// A number as scripts read it; nothing where there is none.
fn plain(x: f64) -> String {
    if x.is_finite() {
        x.to_string()
    } else {
        String::new()
    }
}

/// A p-value, by its power of ten where it is small.
fn p_value(p: f64) -> String {
    match p {
        p if p >= 0.001 || p.is_nan() => number(p),
        p if p < 1e-300 => "< 1e-300".into(),
        p => format!("{p:.0e}"),
    }
}

/// The page.
pub(crate) fn page(context: Value) -> Result<String, ReportError> {
    Ok(TEMPLATES.get_template("page.html")?.render(context)?)
}

/// Title, description and note of a figure: the macro of its name, given the figure's facts and those of the report.
pub(crate) fn texts(name: &str, facts: &Value, common: &Value) -> Result<[String; 3], ReportError> {
    let template = TEMPLATES.get_template("figures.txt")?;
    let mut rendered = template.render_captured(())?;
    let arguments = [facts.clone(), common.clone()];
    let text =
        rendered.with_state_mut(|state| state.call_macro(&name.replace('-', "_"), &arguments))?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut line = || lines.next().unwrap_or_default().to_owned();
    let (title, alt) = (line(), line());
    Ok([title, alt, lines.collect::<Vec<_>>().join(" ")])
}

/// The style sheet of a figure that stands alone: it follows the reader's theme.
pub(crate) fn style_alone() -> &'static str {
    static SHEET: LazyLock<String> = LazyLock::new(|| style(false));
    &SHEET
}

/// The style sheet of the figures of a page, where `data-theme` on the root may say otherwise.
pub(crate) fn style_on_page() -> &'static str {
    static SHEET: LazyLock<String> = LazyLock::new(|| style(true));
    &SHEET
}

fn style(page: bool) -> String {
    let colours =
        context! { light => Serde(LIGHT.as_slice()), dark => Serde(DARK.as_slice()), page };
    let sheet = TEMPLATES.get_template("figures.css");
    let rendered = sheet.and_then(|sheet| sheet.render(colours));
    rendered.expect("the style depends on nothing else")
}
