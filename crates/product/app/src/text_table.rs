//! Tables as text, for people.

/// Rows of text under headings; the first column is flush left, the others flush right.
#[derive(Clone, Debug)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these headings.
    pub fn new<T: ToString>(headings: impl IntoIterator<Item = T>) -> Self {
        Self {
            rows: vec![
                headings
                    .into_iter()
                    .map(|heading| heading.to_string())
                    .collect(),
            ],
        }
    }

    /// Adds a row.
    pub fn row<T: ToString>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows
            .push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }

    /// The table, its columns aligned.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|c| c.chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..columns)
            .map(|column| width(column).unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let cell = |(column, cell): (usize, &String)| match column {
                0 => format!("{cell:<0$}", widths[0]),
                _ => format!("{cell:>0$}", widths[column]),
            };
            let line: Vec<String> = row.iter().enumerate().map(cell).collect();
            text.push_str(line.join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = TextTable::new(["method", "h"]);
        table.row(["pcc", "0.91"]);
        assert_eq!(table.render(), "method     h\npcc     0.91\n");
    }
}
