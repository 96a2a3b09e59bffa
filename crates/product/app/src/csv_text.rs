//! Small tables as CSV.

use partita_report::csv_field;

/// The text of a table; fields with commas, quotes or line ends are quoted.
pub(crate) fn csv_text<R: IntoIterator<Item = String>>(
    header: &str,
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut text = format!("{header}\n");
    for row in rows {
        let fields: Vec<String> = row.into_iter().map(|text| csv_field(&text)).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let rows = [
            ["a,b".to_owned(), "1".to_owned()],
            ["say \"x\"".to_owned(), String::new()],
        ];
        assert_eq!(
            csv_text("run,k", rows),
            "run,k\n\"a,b\",1\n\"say \"\"x\"\"\",\n"
        );
    }
}
