//! Sheets of spreadsheets (`.xlsx`, `.xls`, `.xlsb`, `.ods`), as the text that they would be saved as: what cells hold is decided as for any
//! text.

use std::fmt::Write as _;
use std::path::Path;

use calamine::{Data, ExcelDateTime, Range, Reader as _, open_workbook_auto};

use super::csv;
use super::description::{Format, OpenOptions, Writes, write_nothing};
use super::foreign::guarded;
use super::reader::Reader;
use crate::error::{FileError, Result};
use crate::number::Short;
use crate::open_file::open;
use partita_core::option;

pub(crate) const FORMAT: Format = Format {
    name: "a spreadsheet",
    endings: &[".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"],
    packed: false,
    magic: &[b"\xd0\xcf\x11\xe0"],
    grouped: false,
    open: open_sheet,
    writes: Writes::Nothing,
    write: write_nothing,
};

fn open_sheet(path: &Path, options: &OpenOptions) -> Result<Box<dyn Reader>> {
    let sheet = read(path, options.sheet.as_deref())?;
    let options = OpenOptions {
        delimiter: Some(','),
        ..options.clone()
    };
    csv::open_text(
        path,
        Some(sheet.text.into_bytes().into()),
        &options,
        sheet.remark,
    )
}

/// A sheet as text.
struct Sheet {
    /// Fields between commas, a line a row of the sheet.
    text: String,
    /// Which one it is, where there are several and none was asked for.
    remark: Option<String>,
}

/// Reads the first sheet that may be a table, or that of this name.
///
/// # Errors
/// [`FileError`] for what is no spreadsheet, and a sheet that is not there.
fn read(path: &Path, sheet: Option<&str>) -> Result<Sheet> {
    // What the system refuses is better said by ourselves.
    open(path)?;
    let refused = |reason: &str| FileError::damaged(path, reason);
    let read = || -> Result<Sheet> {
        let unread = |error: calamine::Error| {
            refused(&format!(
                "this is not a whole spreadsheet ({error}); save it again"
            ))
        };
        let mut book = open_workbook_auto(path).map_err(unread)?;
        let names = book.sheet_names();
        // A sheet of notes has one column; the first that has more is a table.
        let is_table = |name: &&String| {
            let cells = book.worksheet_range(name);
            cells.is_ok_and(|cells| cells.width() > 1 && cells.height() > 2)
        };
        let name = match sheet {
            Some(asked) => names.iter().find(|name| *name == asked),
            None if names.len() == 1 => names.first(),
            None => names.iter().find(is_table).or(names.first()),
        };
        let listed = || format!("'{}'", names.join("', '"));
        let name = name.ok_or_else(|| {
            let asked = sheet.unwrap_or_default();
            refused(&format!(
                "it has no sheet '{asked}'; its sheets are {}",
                listed()
            ))
        })?;
        let cells = book.worksheet_range(name).map_err(unread)?;
        let several = sheet.is_none() && names.len() > 1;
        Ok(Sheet {
            text: text(&cells),
            remark: several.then(|| {
                format!(
                    "its sheet '{name}' is read, of {}; {} takes another",
                    listed(),
                    option("sheet")
                )
            }),
        })
    };
    guarded(read).unwrap_or_else(|| Err(refused("this is not a whole spreadsheet; save it again")))
}

fn text(cells: &Range<Data>) -> String {
    let mut text = String::new();
    // Lines are the rows of the sheet, so that errors name these.
    let above = cells.start().map_or(0, |(row, _)| row as usize);
    text.extend(std::iter::repeat_n('\n', above));
    for row in cells.rows() {
        if row.iter().any(|cell| *cell != Data::Empty) {
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                push(&mut text, cell);
            }
        }
        text.push('\n');
    }
    text
}

fn push(text: &mut String, cell: &Data) {
    let _ = match cell {
        Data::Empty => Ok(()),
        Data::Int(value) => write!(text, "{value}"),
        Data::Float(value) => write!(text, "{}", Short(*value)),
        Data::Bool(value) => write!(text, "{value}"),
        Data::DateTime(time) => write!(text, "{}", iso(time)),
        Data::Error(error) => write!(text, "{error}"),
        Data::String(words) | Data::DateTimeIso(words) | Data::DurationIso(words) => {
            // A line of text stays one line of the sheet.
            let words = words.replace('"', "\"\"").replace(['\r', '\n'], " ");
            write!(text, "\"{words}\"")
        }
    };
}

/// A time as it is written everywhere; a duration as days.
fn iso(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        return Short(time.as_f64()).to_string();
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if hour == 0 && minute == 0 && second == 0 {
        date
    } else {
        format!("{date} {hour:02}:{minute:02}:{second:02}")
    }
}
