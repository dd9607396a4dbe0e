//! What an agent noted for itself, to be found again in any session of its profile.

use crate::Timestamp;

/// One thing noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memo {
    pub id: i64,
    pub at: Timestamp,
    pub words: String,
    /// It was noted in a session that had read content from outside, so it is such content itself.
    pub outside: bool,
}

impl Memo {
    /// The longest that is kept, in bytes.
    pub const LONGEST: usize = 4000;
    /// The most that a profile keeps; then one must be forgotten for each that is noted.
    pub const MOST: usize = 1000;
}
