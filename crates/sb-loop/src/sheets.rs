//! The text of a spreadsheet of any office: its sheets, a line for each row, tabs between the cells.
//!
//! Such files are packed, and a small one may unfold to more than a machine has; the library that reads them takes no
//! bounds. So the loop reads none itself: [`LoopContext::own`](crate::LoopContext::own) does it, in a process of its own
//! that has little memory and little time, and that may die.

use std::fmt::Write;
use std::io::Cursor;

use calamine::{
    Data, DataRef, DataType, ExcelDateTime, Reader, Sheets, Xlsb, Xlsx, open_workbook_auto_from_rs,
};

/// The most text that is made of one.
pub const MOST: usize = 256 * 1024;

/// The library tells only that no form fits.
const UNKNOWN: &str = "it is of no form that is known here, or broken, or locked with a password";
const ENDINGS: [&str; 5] = ["xlsx", "xlsm", "xlsb", "xls", "ods"];

/// Whether a file is one, by its kind; what is only known to be packed, or an office's old form, by its name.
pub(crate) fn is_spreadsheet(media_type: &str, name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match media_type {
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        | "application/vnd.ms-excel"
        | "application/vnd.oasis.opendocument.spreadsheet" => true,
        "application/zip" | "application/x-ole-storage" => {
            ENDINGS.iter().any(|known| ending.as_deref() == Some(known))
        }
        _ => false,
    }
}

/// What the sheets say; what is beyond [`MOST`] bytes is left out and said so.
///
/// # Errors
/// In words, if it is no spreadsheet or a broken one.
pub fn text(file: Vec<u8>) -> Result<String, String> {
    let mut sheets = open_workbook_auto_from_rs(Cursor::new(file)).map_err(|_| UNKNOWN.to_owned())?;
    let mut page = Page::default();
    for name in sheets.sheet_names() {
        page.sheet(&name);
        match &mut sheets {
            Sheets::Xlsx(book) => streamed_xlsx(book, &name, &mut page)?,
            Sheets::Xlsb(book) => streamed_xlsb(book, &name, &mut page)?,
            whole => {
                let range = whole.worksheet_range(&name).map_err(|why| why.to_string())?;
                let (row, column) = range.start().unwrap_or_default();
                for (r, c, cell) in range.used_cells() {
                    page.cell((row + r as u32, column + c as u32), &shown(cell));
                }
            }
        }
        if page.is_full() {
            break;
        }
    }
    Ok(page.whole())
}

fn streamed_xlsx(book: &mut Xlsx<Cursor<Vec<u8>>>, name: &str, page: &mut Page) -> Result<(), String> {
    let mut cells = book.worksheet_cells_reader(name).map_err(|why| why.to_string())?;
    while let Some(cell) = cells.next_cell().map_err(|why| why.to_string())? {
        page.cell(cell.get_position(), &shown_ref(cell.get_value()));
        if page.is_full() {
            break;
        }
    }
    Ok(())
}

fn streamed_xlsb(book: &mut Xlsb<Cursor<Vec<u8>>>, name: &str, page: &mut Page) -> Result<(), String> {
    let mut cells = book.worksheet_cells_reader(name).map_err(|why| why.to_string())?;
    while let Some(cell) = cells.next_cell().map_err(|why| why.to_string())? {
        page.cell(cell.get_position(), &shown_ref(cell.get_value()));
        if page.is_full() {
            break;
        }
    }
    Ok(())
}

fn shown_ref(cell: &DataRef<'_>) -> String {
    match cell {
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::DateTime(moment) => moment_text(moment),
        DataRef::Empty => String::new(),
        other => shown(&Data::from(other.clone())),
    }
}

fn shown(cell: &Data) -> String {
    match cell {
        Data::DateTime(moment) => moment_text(moment),
        Data::Empty => String::new(),
        other => other.as_string().unwrap_or_else(|| other.to_string()),
    }
}

/// A date as `2026-11-30`, with the time where there is one; a length of time in hours.
fn moment_text(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        return format!("{:.4} h", moment.as_f64() * 24.0);
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    match (hour, minute, second) {
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}

/// The text as it grows, up to what may be made.
#[derive(Default)]
struct Page {
    text: String,
    /// Where the next cell would go without a new line or tab.
    at: Option<(u32, u32)>,
}

impl Page {
    fn sheet(&mut self, name: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n\n" };
        let _ = write!(self.text, "{gap}# {name}");
        self.at = None;
    }

    /// Adds a cell; those of a sheet come row by row, and a row's from left to right.
    fn cell(&mut self, (row, column): (u32, u32), words: &str) {
        if words.is_empty() || self.is_full() {
            return;
        }
        let from = match self.at {
            Some((at, next)) if at == row => next,
            _ => {
                let _ = write!(self.text, "\n{}", row + 1);
                0
            }
        };
        // One tab is before each cell; empty ones in between are kept, though not without end.
        let tabs = 1 + column.saturating_sub(from).min(64) as usize;
        self.text.extend(std::iter::repeat_n('\t', tabs));
        self.text.extend(words.chars().map(|c| if c.is_control() { ' ' } else { c }));
        self.at = Some((row, column + 1));
    }

    fn is_full(&self) -> bool {
        self.text.len() > MOST
    }

    fn whole(mut self) -> String {
        if self.is_full() {
            self.text.truncate(self.text.floor_char_boundary(MOST));
            self.text.push_str("\n[cut: there is more than this]");
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_in_their_rows_and_columns() {
        let mut page = Page::default();
        page.sheet("Plan");
        for (place, words) in [((0, 0), "item"), ((0, 1), "price"), ((4, 1), "3.5"), ((4, 3), "two\nlines")] {
            page.cell(place, words);
        }
        assert_eq!(page.whole(), "# Plan\n1\titem\tprice\n5\t\t3.5\t\ttwo lines");
    }

    #[test]
    fn what_is_too_much_is_cut_and_said_so() {
        let mut page = Page::default();
        page.sheet("Long");
        (0..100_000).for_each(|row| page.cell((row, 0), "äöü"));
        let text = page.whole();
        assert!(text.len() < MOST + 100 && text.ends_with("[cut: there is more than this]"));
    }

    #[test]
    fn what_is_no_spreadsheet_is_refused() {
        for junk in [&b"PK\x03\x04 and no more"[..], b"", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]
        {
            assert!(text(junk.to_vec()).is_err());
        }
    }
}
