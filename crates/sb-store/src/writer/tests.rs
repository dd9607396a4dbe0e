//! What holds of groups: one job's trouble is its own, and no job is left behind.

use std::time::Duration;

use super::*;

struct Desk {
    writer: Arc<Writer>,
    folder: tempfile::TempDir,
}

/// A writer over an empty table `notes(text)`.
fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("db");
    File::create(&file).unwrap();
    let db = dialect::open_writer(&file, crate::Durability::Power).unwrap();
    db.execute_batch("create table notes (text text not null unique)").unwrap();
    let lock = File::create(folder.path().join("lock")).unwrap();
    Desk { writer: Writer::new(db, lock), folder }
}

impl Desk {
    /// What is committed, as another connection sees it.
    fn notes(&self) -> Vec<String> {
        let db = dialect::open_reader(&self.folder.path().join("db")).unwrap();
        let mut found = db.prepare("select text from notes order by text").unwrap();
        found.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }
}

fn note(db: &Connection, text: &str) -> Result<()> {
    db.prepare_cached("insert into notes (text) values ($1)")?.execute([text])?;
    Ok(())
}

type Answer = oneshot::Receiver<Result<()>>;

fn job(work: impl FnOnce(&Connection) -> Result<()> + Send + 'static) -> (Box<dyn Job>, Answer) {
    let (to, answer) = oneshot::channel();
    (Box::new(Work { doing: "noting", work: Some(work), result: None, to: Some(to) }), answer)
}

/// Commits the jobs as one group; the kinds of their errors.
fn commit(desk: &Desk, jobs: Vec<(Box<dyn Job>, Answer)>) -> Vec<Option<StoreErrorKind>> {
    let (jobs, answers): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
    commit_all(locked(&desk.writer.seat).db.as_ref(), jobs);
    let results = answers.into_iter().map(|mut answer| answer.try_recv().expect("each is answered"));
    results.map(|result| result.err().map(|e| e.kind)).collect()
}

#[test]
fn one_that_fails_or_panics_leaves_no_trace_and_harms_no_other() {
    let desk = desk();
    let outcome = commit(
        &desk,
        vec![
            job(|db| note(db, "a")),
            job(|db| {
                note(db, "lost")?;
                Err(StoreError::not_found("x"))
            }),
            job(|db| {
                note(db, "lost too")?;
                panic!("on purpose")
            }),
            job(|db| note(db, "a")),
            job(|db| note(db, "b")),
        ],
    );
    use StoreErrorKind::{Contradiction, Io, NotFound};
    assert_eq!(outcome, [None, Some(NotFound), Some(Io), Some(Contradiction), None]);
    assert_eq!(desk.notes(), ["a", "b"]);
    for alone in [job(|db| note(db, "c").and(Err(StoreError::not_found("x")))), job(|_| panic!("on purpose"))]
    {
        assert!(commit(&desk, vec![alone])[0].is_some());
    }
    assert_eq!(commit(&desk, vec![job(|db| note(db, "d"))]), [None]);
    assert_eq!(desk.notes(), ["a", "b", "d"]);
}

#[test]
fn when_the_disk_fills_up_nobody_is_told_that_it_is_durable() {
    let desk = desk();
    dialect::limit_size(locked(&desk.writer.seat).db.as_ref().unwrap(), 1).unwrap();
    let big = || job(|db| note(db, &"x".repeat(1 << 20)));
    let outcome = commit(&desk, vec![job(|db| note(db, "a")), big(), job(|db| note(db, "b")), big()]);
    let kept = desk.notes();
    let claimed = outcome.iter().filter(|o| o.is_none()).count();
    assert_eq!(claimed, kept.len(), "{outcome:?} {kept:?}");
    let full = Some(StoreErrorKind::DiskFull);
    assert_eq!((outcome[1], outcome[3]), (full, full));
    dialect::limit_size(locked(&desk.writer.seat).db.as_ref().unwrap(), 1 << 30).unwrap();
    assert_eq!(commit(&desk, vec![big(), job(|db| note(db, "c"))]), [None, None]);
}

#[test]
fn a_commit_that_fails_fails_all_of_its_group() {
    let desk = desk();
    let all = "create table parents (id integer primary key);
        create table children (of integer references parents (id) deferrable initially deferred)";
    locked(&desk.writer.seat).db.as_ref().unwrap().execute_batch(all).unwrap();
    let orphan = job(|db| Ok(db.execute_batch("insert into children values (1)")?));
    let outcome = commit(&desk, vec![job(|db| note(db, "a")), orphan]);
    assert!(outcome.iter().all(Option::is_some), "{outcome:?}");
    assert_eq!(desk.notes(), Vec::<String>::new());
    assert_eq!(commit(&desk, vec![job(|db| note(db, "a"))]), [None]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_job_is_left_in_the_queue() {
    let desk = desk();
    // Single writes race with the end of a drain again and again.
    for round in 0..200 {
        let both = async {
            let one = desk.writer.write("noting", move |db| note(db, &format!("{round} a")));
            let two = desk.writer.write("noting", move |db| note(db, &format!("{round} b")));
            tokio::join!(one, two)
        };
        let (one, two) = tokio::time::timeout(Duration::from_secs(20), both).await.expect("served");
        one.and(two).unwrap();
    }
    assert_eq!(desk.notes().len(), 400);
}

#[tokio::test]
async fn a_drain_that_never_runs_tells_those_who_wait_and_blocks_no_other() {
    let desk = desk();
    let (lost, mut answer) = job(|db| note(db, "lost"));
    {
        let mut queue = locked(&desk.writer.queue);
        queue.jobs.push(lost);
        queue.draining = true;
    }
    // As when its runtime shuts down before the blocking pool came to it.
    drop(Drain { writer: Arc::clone(&desk.writer), done: false });
    assert!(answer.try_recv().is_err());
    desk.writer.write("noting", |db| note(db, "kept")).await.unwrap();
    assert_eq!(desk.notes(), ["kept"]);
}

#[tokio::test]
async fn what_was_accepted_before_closing_is_done_and_later_work_refused() {
    let desk = desk();
    let before = desk.writer.write("noting", |db| note(db, "before"));
    let closing = async { desk.writer.close() };
    let (before, closed) = tokio::join!(before, closing);
    before.and(closed).unwrap();
    let late = desk.writer.write("noting", |db| note(db, "late")).await.unwrap_err();
    assert_eq!(late.to_string(), "noting: the store is closed");
    assert_eq!(desk.notes(), ["before"]);
}
