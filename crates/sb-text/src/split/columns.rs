//! How much a table can grow with a character, where columns are aligned: one long cell widens every row.
//!
//! A column is known to be at least as wide as the letters and digits of its widest cell, and at most as all of
//! its characters; a row takes at most what all columns take.

/// The lines with bars below each other, which are or may become a table.
#[derive(Default)]
pub(super) struct Columns {
    rows: usize,
    /// For each column, the width it has at least and at most.
    widths: Vec<(usize, usize)>,
    /// The cells of the line that is being read, likewise.
    line: Vec<(usize, usize)>,
    /// White space that counts if the cell goes on.
    spaces: usize,
    bars: bool,
}

impl Columns {
    /// Takes a character of a line; what it may add to the lines above.
    pub fn take(&mut self, c: char, first: bool) -> usize {
        if c.is_whitespace() {
            self.spaces += 1;
            return 0;
        }
        let spaces = std::mem::take(&mut self.spaces);
        if c == '|' {
            self.bars = true;
            // A bar before all cells divides none.
            if !first || !self.line.is_empty() {
                self.line.push((0, 0));
            }
            return 0;
        }
        let mut cells = if c.is_ascii() { 1 } else { 2 };
        if self.line.is_empty() {
            self.line.push((0, 0));
        }
        let column = self.line.len() - 1;
        let Some((least, most)) = self.line.last_mut() else { return 0 };
        if *most > 0 {
            cells += spaces;
        }
        *least += usize::from(c.is_alphanumeric());
        *most += cells;
        let known = self.widths.get(column).map_or(0, |(least, _)| *least);
        if self.rows > 0 && *most > known { cells * (self.rows + 2) } else { 0 }
    }

    /// Ends a line; what the next may take besides its own characters.
    pub fn end_line(&mut self) -> usize {
        let line = std::mem::take(&mut self.line);
        if self.bars || self.rows > 0 {
            self.rows += 1;
            for (i, (least, most)) in line.into_iter().enumerate() {
                match self.widths.get_mut(i) {
                    Some(width) => *width = (width.0.max(least), width.1.max(most)),
                    None => self.widths.push((least, most)),
                }
            }
        }
        self.bars = false;
        self.spaces = 0;
        self.widths.iter().map(|(_, most)| most + 3).sum()
    }

    /// Ends the table.
    pub fn end(&mut self) {
        *self = Columns::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_widens_a_column_adds_to_the_rows_above() {
        let mut columns = Columns::default();
        let mut read = |line: &str| {
            let added = line.char_indices().map(|(i, c)| columns.take(c, i == 0)).sum::<usize>();
            (added, columns.end_line())
        };
        assert_eq!(read("|name|no|"), (0, 4 + 2 + 9));
        assert_eq!(read("|----|--|").0, 0);
        assert_eq!(read("|abcd|12|").0, 0);
        assert_eq!(read("|abc  ef |1 |").0, 4 * 5);
    }
}
