//! Migrations: one file per step, applied in order, each in a transaction with its mark.
//!
//! Invariant: a step that was released is never changed. A home that has had more steps than this
//! program knows was written by a newer one and is left alone.

use rusqlite::Connection;

use crate::dialect;
use crate::error::{Result, StoreError, StoreErrorKind};

const STEPS: &[&str] = &[
    include_str!("../migrations/0001_first.sql"),
    include_str!("../migrations/0002_instruct.sql"),
    include_str!("../migrations/0003_messengers.sql"),
    include_str!("../migrations/0004_ledger.sql"),
    include_str!("../migrations/0005_memory.sql"),
    include_str!("../migrations/0006_jobs_and_budgets.sql"),
    include_str!("../migrations/0007_task_hooks.sql"),
    include_str!("../migrations/0008_points.sql"),
    include_str!("../migrations/0009_openings.sql"),
];

/// Brings the home's tables up to what this program knows.
pub(crate) fn migrate(db: &mut Connection) -> Result<()> {
    let done = usize::try_from(dialect::steps_done(db)?).unwrap_or(usize::MAX);
    if done > STEPS.len() {
        let cause = format!("it has had {done} migrations, this program knows {}", STEPS.len());
        return Err(StoreError::new(StoreErrorKind::Newer, cause));
    }
    for (step, number) in STEPS.iter().zip(1u32..).skip(done) {
        let transaction = db.transaction()?;
        transaction.execute_batch(&dialect::definitions(step))?;
        dialect::set_steps_done(&transaction, number)?;
        transaction.commit()?;
    }
    Ok(())
}
