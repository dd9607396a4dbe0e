//! A table as lines with aligned columns, for platforms that have none.

use unicode_segmentation::UnicodeSegmentation;

use crate::doc::{Align, Cell, words_with};
use crate::links;

const GAP: &str = "  ";

/// The table's lines: the head, a line of dashes, the rows.
pub(super) fn aligned(columns: &[Align], head: &[Cell], rows: &[Vec<Cell>]) -> String {
    let texts: Vec<Vec<String>> = std::iter::once(head)
        .chain(rows.iter().map(Vec::as_slice))
        .map(|row| row.iter().map(shown).collect())
        .collect();
    let mut widths = vec![1; columns.len()];
    for row in &texts {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = (*most).max(width(cell));
        }
    }
    let mut table = String::new();
    for (i, row) in texts.iter().enumerate() {
        if i > 0 {
            table.push('\n');
        }
        push_row(&mut table, columns, &widths, row);
        if i == 0 {
            table.push('\n');
            let dashes: Vec<String> = widths.iter().map(|most| "-".repeat(*most)).collect();
            table.push_str(&dashes.join(GAP));
        }
    }
    table
}

fn push_row(table: &mut String, columns: &[Align], widths: &[usize], row: &[String]) {
    let start = table.len();
    for ((cell, most), align) in row.iter().zip(widths).zip(columns) {
        if table.len() > start {
            table.push_str(GAP);
        }
        let room = most.saturating_sub(width(cell));
        let before = match align {
            Align::Unset | Align::Left => 0,
            Align::Center => room / 2,
            Align::Right => room,
        };
        table.extend(std::iter::repeat_n(' ', before));
        table.push_str(cell);
        table.extend(std::iter::repeat_n(' ', room - before));
    }
    let end = table.trim_end_matches(' ').len().max(start);
    table.truncate(end);
}

/// A cell's words; an address stands behind its text.
fn shown(cell: &Cell) -> String {
    words_with(cell, |url, text| (!links::is_bare(url, text)).then(|| format!(" ({url})")))
}

/// How many cells of a terminal a text takes: two for what East Asian scripts and emoji take.
fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(|grapheme| grapheme.chars().next().map_or(0, cells)).sum()
}

fn cells(c: char) -> usize {
    match u32::from(c) {
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE4F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1F9FF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}
