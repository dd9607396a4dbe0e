//! Webhooks of tasks: who is to be told how a message of another agent's stands, and what was told last.
//!
//! Addresses and credentials are sealed among the secrets, by the profile; here is only what is looked for.

use rusqlite::{Row, params};
use sb_model::{ConversationId, MessageId, ProfileName, Secret, Timestamp};

use crate::error::Result;
use crate::rows;
use crate::secrets::{self, of_profile};
use crate::store::Store;

/// Webhooks that one look reads.
pub const HOOKS_AT_ONCE: usize = 500;

/// One webhook, without its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskHook {
    pub task: MessageId,
    pub id: String,
    pub profile: ProfileName,
    pub version: String,
    /// Empty: nothing yet.
    pub told: String,
    pub tries: u32,
    /// None: there is nothing more to tell.
    pub due: Option<Timestamp>,
}

impl TaskHook {
    fn secret(&self) -> String {
        of_profile(&self.profile, &format!("task-hook/{}/{}", self.task.0, self.id))
    }
}

const COLUMNS: &str = "task, id, profile, version, told, tries, due";

impl Store {
    /// Keeps a webhook in place of any of its id; false: its task has as many as it may.
    pub async fn put_task_hook(&self, hook: TaskHook, address: Secret, most: usize) -> Result<bool> {
        let sealed = self.seal_all(vec![(hook.secret(), address)]).await?;
        self.write("keeping a webhook", move |db| {
            let mut others =
                db.prepare_cached("select count(*) from task_hooks where task = $1 and id <> $2")?;
            let others: i64 = others.query_row(params![hook.task.0, hook.id], |row| row.get(0))?;
            if usize::try_from(others).unwrap_or(usize::MAX) >= most {
                return Ok(false);
            }
            db.prepare_cached(&format!(
                "insert into task_hooks ({COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)
                 on conflict (task, id) do update
                 set profile = excluded.profile, version = excluded.version, told = excluded.told,
                     tries = excluded.tries, due = excluded.due"
            ))?
            .execute(params![
                hook.task.0,
                hook.id,
                hook.profile.0,
                hook.version,
                hook.told,
                hook.tries,
                hook.due.map(|at| at.0)
            ])?;
            for (name, seal) in &sealed {
                secrets::keep(db, name, seal.as_deref())?;
            }
            Ok(true)
        })
        .await
    }

    /// The webhooks of a task, by their ids.
    pub async fn task_hooks(&self, task: MessageId) -> Result<Vec<TaskHook>> {
        self.read("listing webhooks", move |db| {
            let sql = format!("select {COLUMNS} from task_hooks where task = $1 order by id");
            rows::collect(&mut *db.prepare_cached(&sql)?, [task.0], hook)
        })
        .await
    }

    /// What a webhook leads to; none: it went with its profile.
    pub async fn task_hook_address(&self, hook: &TaskHook) -> Result<Option<Secret>> {
        self.secret(&hook.secret()).await
    }

    /// Forgets a webhook, and what it leads to; whether it was there.
    pub async fn remove_task_hook(&self, hook: &TaskHook) -> Result<bool> {
        let hook = hook.clone();
        self.write("removing a webhook", move |db| {
            secrets::keep(db, &hook.secret(), None)?;
            let mut gone = db.prepare_cached("delete from task_hooks where task = $1 and id = $2")?;
            Ok(gone.execute(params![hook.task.0, hook.id])? > 0)
        })
        .await
    }

    /// Forgets the webhooks, with what they lead to, that have nothing more to tell; how many.
    pub async fn remove_told_task_hooks(&self) -> Result<usize> {
        self.write("removing webhooks", move |db| {
            let sql = format!("select {COLUMNS} from task_hooks where due is null");
            let told = rows::collect(&mut *db.prepare_cached(&sql)?, [], hook)?;
            for hook in &told {
                secrets::keep(db, &hook.secret(), None)?;
            }
            db.prepare_cached("delete from task_hooks where due is null")?.execute([])?;
            Ok(told.len())
        })
        .await
    }

    /// When the next webhook that failed is to be tried again.
    pub async fn next_task_hook(&self) -> Result<Option<Timestamp>> {
        self.read("looking for the next webhook", move |db| {
            let mut first = db.prepare_cached("select min(due) from task_hooks where tries > 0")?;
            Ok(first.query_row([], |row| row.get::<_, Option<i64>>(0))?.map(Timestamp))
        })
        .await
    }

    /// Webhooks of which something is still to be told, now or later: at most [`HOOKS_AT_ONCE`], those that come
    /// after a task's and id. So all are come to, however many there are.
    pub async fn open_task_hooks(&self, after: (MessageId, &str)) -> Result<Vec<TaskHook>> {
        let (task, id) = (after.0.0, after.1.to_owned());
        self.read("looking for webhooks", move |db| {
            let sql = format!(
                "select {COLUMNS} from task_hooks
                 where due is not null and (task > $1 or (task = $1 and id > $2)) order by task, id limit $3"
            );
            let most = i64::try_from(HOOKS_AT_ONCE).unwrap_or(i64::MAX);
            rows::collect(&mut *db.prepare_cached(&sql)?, params![task, id, most], hook)
        })
        .await
    }

    /// Notes how telling a webhook went; none: it has nothing more to tell, and goes with what it leads to. One
    /// that was set anew or removed since it was read stays as it is.
    pub async fn note_task_hook(&self, read: &TaskHook, now: Option<TaskHook>) -> Result<()> {
        let read = read.clone();
        self.write("noting a webhook", move |db| {
            let due = read.due.map(|at| at.0);
            match now {
                Some(now) => {
                    db.prepare_cached(
                        "update task_hooks set told = $1, tries = $2, due = $3
                         where task = $4 and id = $5 and told = $6 and tries = $7 and due is $8",
                    )?
                    .execute(params![
                        now.told,
                        now.tries,
                        now.due.map(|at| at.0),
                        read.task.0,
                        read.id,
                        read.told,
                        read.tries,
                        due
                    ])?;
                }
                None => {
                    let sql = "delete from task_hooks
                               where task = $1 and id = $2 and told = $3 and tries = $4 and due is $5";
                    let gone = db.prepare_cached(sql)?.execute(params![
                        read.task.0,
                        read.id,
                        read.told,
                        read.tries,
                        due
                    ])?;
                    if gone > 0 {
                        secrets::keep(db, &read.secret(), None)?;
                    }
                }
            }
            Ok(())
        })
        .await
    }

    /// The newest messages that other agents sent to a profile, or in one conversation with it.
    pub async fn agents_messages(
        &self,
        profile: &ProfileName,
        conversation: Option<&ConversationId>,
        most: usize,
    ) -> Result<Vec<MessageId>> {
        let (from, to) = match conversation {
            Some(one) => (one.0.clone(), one.0.clone()),
            // Whatever follows the colon.
            None => (format!("a2a:{profile}:"), format!("a2a:{profile}:\u{10ffff}")),
        };
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read("listing tasks", move |db| {
            let mut found = db.prepare_cached(
                "select id from messages where conversation >= 'a2a:' and conversation < 'a2a;'
                 and conversation >= $1 and conversation <= $2 order by id desc limit $3",
            )?;
            rows::collect(&mut found, params![from, to, most], |row| Ok(MessageId(row.get(0)?)))
        })
        .await
    }
}

fn hook(row: &Row<'_>) -> Result<TaskHook> {
    Ok(TaskHook {
        task: MessageId(row.get(0)?),
        id: row.get(1)?,
        profile: ProfileName(row.get(2)?),
        version: row.get(3)?,
        told: row.get(4)?,
        tries: row.get(5)?,
        due: row.get::<_, Option<i64>>(6)?.map(Timestamp),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Durability;

    fn of(id: &str) -> TaskHook {
        let (task, profile) = (MessageId(7), ProfileName::from("p"));
        let version = "1.0".to_owned();
        TaskHook {
            task,
            id: id.into(),
            profile,
            version,
            told: String::new(),
            tries: 0,
            due: Some(Timestamp(0)),
        }
    }

    #[tokio::test]
    async fn a_webhook_is_kept_sealed_limited_told_and_forgotten_with_its_address() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Durability::Process).await.expect("a store");
        let address = Secret::new("https://x.example/s3cret");
        for at in 0..8 {
            assert!(store.put_task_hook(of(&at.to_string()), address.clone(), 8).await.expect("kept"));
        }
        assert!(!store.put_task_hook(of("8"), address.clone(), 8).await.expect("refused"));
        assert!(store.put_task_hook(of("7"), address.clone(), 8).await.expect("replaced"));
        store.close().await.expect("closed");
        let store = Store::open(folder.path(), Durability::Process).await.expect("opened again");
        assert_eq!(store.open_task_hooks((MessageId(0), "")).await.expect("open").len(), 8);
        let opened = store.task_hook_address(&of("0")).await.expect("read").map(|s| s.expose().to_owned());
        assert_eq!(opened.as_deref(), Some("https://x.example/s3cret"));
        let failed = TaskHook { tries: 1, due: Some(Timestamp(9)), ..of("1") };
        store.note_task_hook(&of("1"), Some(failed.clone())).await.expect("noted");
        assert_eq!(store.next_task_hook().await.expect("next"), Some(Timestamp(9)));
        assert_eq!(store.open_task_hooks((MessageId(7), "5")).await.expect("open").len(), 2, "6 and 7");
        assert!(store.remove_task_hook(&of("2")).await.expect("gone"));
        assert!(store.task_hook_address(&of("2")).await.expect("read").is_none());
        // What was set anew since it was read stays.
        store.note_task_hook(&of("1"), None).await.expect("noted");
        assert_eq!(store.task_hooks(MessageId(7)).await.expect("listed").len(), 7);
        store.note_task_hook(&failed, None).await.expect("noted");
        assert!(store.task_hook_address(&of("1")).await.expect("read").is_none(), "it went with its row");
        assert_eq!(store.next_task_hook().await.expect("next"), None);
        let told = TaskHook { due: None, told: "done".into(), ..of("0") };
        store.note_task_hook(&of("0"), Some(told)).await.expect("noted");
        assert_eq!(store.remove_told_task_hooks().await.expect("gone"), 1);
        assert!(store.task_hook_address(&of("0")).await.expect("read").is_none());
        assert_eq!(store.task_hooks(MessageId(7)).await.expect("listed").len(), 5);
    }
}
