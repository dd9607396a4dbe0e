//! What is SQLite's alone: connections, pragmas, the words of the table definitions, copying, checking.
//!
//! Everything else in this crate is SQL that SQLite and PostgreSQL share, so that a second database
//! needs this file again and no other. Invariant: the writer is opened first and closed last, because
//! the write-ahead log is folded into the file by whoever closes last, which a reader cannot do.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::Result;

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power cut: the disk is waited for, once per group of commits.
    #[default]
    Power,
    /// The end of the process, however sudden; the last moments before a power cut may be lost.
    Process,
}

/// Prepared statements kept by each connection; the crate has fewer.
const STATEMENTS: usize = 128;
/// Pages a reader keeps for itself, in KiB; the system keeps the file in memory anyway.
const READER_KIB: i64 = 512;
/// The write-ahead log shrinks back to this once it has been folded in.
const LOG_BYTES: i64 = 64 * 1024 * 1024;

/// The one connection that writes.
pub(crate) fn open_writer(file: &Path, durability: Durability) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    let synchronous = match durability {
        Durability::Power => "full",
        Durability::Process => "normal",
    };
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", synchronous)?;
    // Only macOS heeds it: there an ordinary sync leaves the bytes in the disk's own memory.
    db.pragma_update(None, "fullfsync", durability == Durability::Power)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    // Savepoints keep what they may have to undo: in memory, not in a file.
    db.pragma_update(None, "temp_store", "memory")?;
    keep_plans(&db)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// A connection that only reads. It sees whatever was committed before its transaction began.
pub(crate) fn open_reader(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.pragma_update(None, "cache_size", -READER_KIB)?;
    keep_plans(&db)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// A prepared statement keeps its plan whatever is bound to it. Otherwise SQLite prepares statements with
/// ranges anew at every use, to look at the values: a seventh of a turn's time, for the same plan.
fn keep_plans(db: &Connection) -> Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// A migration in SQLite's words.
pub(crate) fn definitions(step: &str) -> String {
    step.replace("{number}", "integer not null primary key autoincrement")
        .replace("{keyed}", "without rowid")
        .replace("{search memos words}", MEMO_SEARCH)
}

/// The index of all words of the notes, and what keeps it as they are.
const MEMO_SEARCH: &str = "
    create virtual table memo_words using fts5 (words, content = 'memos', content_rowid = 'number',
        tokenize = \"unicode61 remove_diacritics 2\");
    create trigger memos_noted after insert on memos begin
        insert into memo_words (rowid, words) values (new.number, new.words);
    end;
    create trigger memos_forgotten after delete on memos begin
        insert into memo_words (memo_words, rowid, words) values ('delete', old.number, old.words);
    end;";

/// A profile's notes that hold any of the words asked for, the best fit first, then the newest.
pub(crate) const FIND_MEMOS: &str = "select m.number, m.at, m.words, m.outside
     from memo_words join memos m on m.number = memo_words.rowid
     where memo_words match $1 and m.profile = $2 order by memo_words.rank, m.number desc limit $3";

/// Some words as the search takes them: any of them, each as it is or as the beginning of a longer one.
/// Whatever else the search gives meaning to is quoted away. None if there is no word.
pub(crate) fn any_of(words: &str, most: usize) -> Option<String> {
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(most);
    let asked: Vec<String> = words.map(|word| format!("\"{word}\"*")).collect();
    (!asked.is_empty()).then(|| asked.join(" OR "))
}

/// How many migrations this home has had.
pub(crate) fn steps_done(db: &Connection) -> Result<u32> {
    Ok(db.query_row("pragma user_version", [], |row| row.get(0))?)
}

/// Records that a home has had `steps` migrations; within the transaction that made the last one.
pub(crate) fn set_steps_done(db: &Connection, steps: u32) -> Result<()> {
    Ok(db.pragma_update(None, "user_version", steps)?)
}

/// Folds the write-ahead log into the file, so that the home at rest is one file.
pub(crate) fn fold_log(db: &Connection) -> Result<()> {
    Ok(db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?)
}

/// Lets the file grow to about `bytes` and no further.
pub(crate) fn limit_size(db: &Connection, bytes: u64) -> Result<()> {
    let page: u32 = db.query_row("pragma page_size", [], |row| row.get(0))?;
    let pages = bytes.div_ceil(u64::from(page).max(1));
    Ok(db.query_row(&format!("pragma max_page_count = {pages}"), [], |_| Ok(()))?)
}

/// Copies all that `from` sees at one moment into the new file `to`, without holding up the writer.
pub(crate) fn copy_into(from: &Connection, to: &Path) -> Result<()> {
    let mut copy = Connection::open(to)?;
    // One step: several would begin anew whenever something is written between them.
    rusqlite::backup::Backup::new(from, &mut copy)?.step(-1)?;
    // The copy is one file, without a log beside it.
    copy.pragma_update(None, "journal_mode", "delete")?;
    copy.close().map_err(|(_, e)| e)?;
    Ok(())
}

/// What SQLite finds wrong with its own file; empty if nothing is.
pub(crate) fn integrity(db: &Connection) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut lines = db.prepare("pragma integrity_check")?;
    for line in lines.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            found.push(format!("database: {line}"));
        }
    }
    let mut rows = db.prepare("pragma foreign_key_check")?;
    let orphans = rows.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?)))?;
    for orphan in orphans {
        let (table, parent) = orphan?;
        found.push(format!("database: a row of {table} names one of {parent} that does not exist"));
    }
    Ok(found)
}
