//! [`Kept`]: the current session's log, as an actor keeps it while its conversation is lively.
//!
//! What was just committed need not be read back: a turn begins, and an answer is told, from here. It
//! holds exactly what the store holds (it is fed the committed changes), is dropped when it grows
//! large or the conversation goes quiet, and is then read again: never a second truth, only a shorter way.

use sb_core::model::{Change, Entry, Record, Seq, SessionId, TurnId};

/// Bytes of words that are kept for one conversation.
const MOST: usize = 512 * 1024;

/// See the module.
#[derive(Debug)]
pub(crate) struct Kept {
    session: SessionId,
    entries: Vec<Entry>,
    bytes: usize,
}

impl Kept {
    /// What the store gave for the view of a session; nothing if it is too much to keep.
    pub fn of(session: SessionId, entries: &[Entry]) -> Option<Self> {
        let bytes = entries.iter().map(weight).sum();
        (bytes <= MOST).then(|| Self { session, entries: entries.to_vec(), bytes })
    }

    /// Follows what was committed.
    pub fn follow(kept: &mut Option<Self>, changes: &[Change]) {
        for change in changes {
            match change {
                Change::SessionBegan { id, .. } => {
                    *kept = Some(Self { session: *id, entries: Vec::new(), bytes: 0 });
                }
                Change::SessionResumed(session) if kept.as_ref().is_some_and(|k| k.session != session.id) => {
                    *kept = None
                }
                // What came of it is known only once it is stored.
                Change::House { session, .. } if kept.as_ref().is_some_and(|k| k.session == *session) => {
                    *kept = None
                }
                Change::Logged { session, entry } => {
                    if let Some(own) = kept.as_mut().filter(|k| k.session == *session) {
                        own.bytes += weight(entry);
                        own.entries.push(entry.clone());
                    }
                }
                _ => {}
            }
        }
        if kept.as_ref().is_some_and(|k| k.bytes > MOST) {
            *kept = None;
        }
    }

    /// All that the agent's view of this session is made from, if it is this session that is kept.
    pub fn log(&self, session: SessionId) -> Option<&[Entry]> {
        (self.session == session).then_some(self.entries.as_slice())
    }

    /// The entries of a turn from one place to another, if all of them are here.
    pub fn stretch(&self, session: SessionId, turn: TurnId, from: Seq, to: Seq) -> Option<Vec<Entry>> {
        let first = self.log(session)?.iter().find(|e| !matches!(e.record, Record::Summary { .. }))?.seq;
        let within = |e: &&Entry| e.turn == Some(turn) && e.seq >= from && e.seq <= to;
        (first <= from).then(|| self.entries.iter().filter(within).cloned().collect())
    }
}

/// About how much memory an entry takes: its words, and a little for the rest.
fn weight(entry: &Entry) -> usize {
    let words = match &entry.record {
        Record::Said { text, .. } | Record::Result { text, .. } | Record::Summary { text, .. } => text.len(),
        Record::Answered { text, calls, kept, .. } => {
            let inputs: usize = calls.iter().map(|c| c.input.to_string().len()).sum();
            text.len() + inputs + kept.as_ref().map_or(0, |k| k.to_string().len())
        }
        _ => 0,
    };
    words + 200
}

#[cfg(test)]
mod tests {
    use sb_core::model::{EndKind, Timestamp};

    use super::*;

    const A: SessionId = SessionId(1);
    const T: TurnId = TurnId(7);

    fn logged(session: SessionId, seq: i64, record: Record) -> Change {
        Change::Logged { session, entry: Entry { seq: Seq(seq), at: Timestamp(0), turn: Some(T), record } }
    }
    fn ended() -> Record {
        Record::Ended { how: EndKind::Replied, fault: None, declined: false }
    }
    fn seqs(entries: &[Entry]) -> Vec<i64> {
        entries.iter().map(|e| e.seq.0).collect()
    }

    #[test]
    fn what_was_committed_is_kept_for_the_current_session_only() {
        let mut kept = None;
        let began = Change::SessionBegan { id: A, at: Timestamp(0) };
        Kept::follow(&mut kept, &[logged(SessionId(9), 1, ended())]);
        assert!(kept.is_none(), "what came before was never read");
        Kept::follow(
            &mut kept,
            &[began, logged(A, 1, ended()), logged(A, 2, ended()), logged(SessionId(9), 1, ended())],
        );
        let own = kept.as_ref().expect("kept");
        assert_eq!(own.log(A).map(seqs), Some(vec![1, 2]));
        assert_eq!(own.log(SessionId(9)), None);
        assert_eq!(own.stretch(A, T, Seq(2), Seq(2)).as_deref().map(seqs), Some(vec![2]));
    }

    #[test]
    fn a_stretch_that_began_before_what_is_kept_is_not_given() {
        let summary = Entry {
            seq: Seq(9),
            at: Timestamp(0),
            turn: None,
            record: Record::Summary { text: "s".into(), covers: Seq(5) },
        };
        let six = Entry { seq: Seq(6), at: Timestamp(0), turn: Some(T), record: ended() };
        let kept = Kept::of(A, &[summary, six]).expect("little");
        assert_eq!(kept.stretch(A, T, Seq(4), Seq(6)), None);
        assert!(kept.stretch(A, T, Seq(6), Seq(6)).is_some());
    }

    #[test]
    fn too_much_is_not_kept() {
        let long = Record::Result {
            call: "c".into(),
            ok: true,
            text: "x".repeat(MOST),
            files: vec![],
            outside: false,
        };
        let mut kept = Kept::of(A, &[]);
        Kept::follow(&mut kept, &[logged(A, 1, long)]);
        assert!(kept.is_none());
    }
}
