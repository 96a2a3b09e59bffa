//! The generated parts of documents that people write.

use anyhow::{Result, bail};

/// `text` with `content` between `<!-- name:begin -->` and `<!-- name:end -->`, one line each.
///
/// An error says which marker is missing.
pub(crate) fn replace(text: &str, name: &str, content: &str) -> Result<String> {
    let (begin, end) = (
        format!("<!-- {name}:begin -->"),
        format!("<!-- {name}:end -->"),
    );
    let Some((before, rest)) = text.split_once(&begin) else {
        bail!("the line {begin} is missing; put it back where the generated part starts");
    };
    let Some((_, after)) = rest.split_once(&end) else {
        bail!("the line {end} is missing; put it back where the generated part ends");
    };
    Ok(format!(
        "{before}{begin}\n{}\n{end}{after}",
        content.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let text = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n";
        let new = replace(text, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nb\n");
        assert_eq!(replace(&new, "x", "new").unwrap(), new);
    }

    #[test]
    fn a_missing_marker_is_named() {
        let error = |text| replace(text, "x", "").unwrap_err().to_string();
        assert!(error("a").starts_with("the line <!-- x:begin --> is missing"));
        assert!(error("<!-- x:begin -->").starts_with("the line <!-- x:end --> is missing"));
    }
}
