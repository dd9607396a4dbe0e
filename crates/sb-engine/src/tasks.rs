//! A message as a task, for doors whose askers look instead of waiting: how it stands at this moment, and
//! who wants to be told.

use sb_core::model::{ConversationId, Ending, MessageId, ProfileName, Secret, Timestamp};
use sb_store::{StoredMessage, TaskHook};

use crate::Engine;
use crate::error::Result;
use crate::live::Shown;
use crate::stirred::Touched;

/// How a message stands.
#[derive(Debug, Clone)]
pub struct Looked {
    pub stored: StoredMessage,
    /// Its turn has begun.
    pub began: bool,
    /// The words of the answer so far; of one that has ended, those of the agent alone.
    pub words: String,
    /// How it ended, or that a person must decide.
    pub ending: Option<Ending>,
    /// When it last changed, as far as that is known.
    pub at: Timestamp,
}

impl Engine {
    /// How a message stands now; none: there is no such message.
    pub async fn look(&self, message: MessageId) -> Result<Option<Looked>> {
        let Some(stored) = self.store().message(message).await? else { return Ok(None) };
        if stored.ending.is_none()
            && let Some(live) = self.attach(message).await?
        {
            let (began, words, ending) = {
                let live = live.borrow();
                let text = |shown: &Shown| match shown {
                    Shown::Text(text) => Some(text.clone()),
                    Shown::Tool(_) => None,
                };
                let words: String = live.shown.iter().filter_map(text).collect();
                (live.session.is_some(), words, live.ending.clone())
            };
            // Of one that waits, the words stand in the log, and it has not changed since the last of them.
            let (words, at) = match &ending {
                Some(ending) => {
                    let entries = self.stretch(ending).await?;
                    let at = entries.last().map_or(stored.message.at, |entry| entry.at);
                    (sb_core::said_from(&entries, ending.from), at)
                }
                None => (words, self.now()),
            };
            return Ok(Some(Looked { stored, began, words, ending, at }));
        }
        // It may have ended since.
        let stored = match stored.ending {
            Some(_) => stored,
            None => self.store().message(message).await?.unwrap_or(stored),
        };
        let Some(ending) = stored.ending.clone() else {
            let at = stored.message.at;
            return Ok(Some(Looked { stored, began: false, words: String::new(), ending: None, at }));
        };
        let entries = self.stretch(&ending).await?;
        let words = sb_core::said_from(&entries, ending.from);
        let at = entries.last().map_or(stored.message.at, |entry| entry.at);
        Ok(Some(Looked { stored, began: true, words, ending: Some(ending), at }))
    }

    /// The newest messages that other agents sent to a profile, or in one conversation with it.
    pub async fn agents_messages(
        &self,
        profile: &ProfileName,
        conversation: Option<&ConversationId>,
        most: usize,
    ) -> Result<Vec<MessageId>> {
        Ok(self.store().agents_messages(profile, conversation, most).await?)
    }

    /// Keeps a webhook; false: its task has as many as it may.
    pub async fn put_task_hook(&self, hook: TaskHook, address: Secret, most: usize) -> Result<bool> {
        let task = hook.task;
        let kept = self.store().put_task_hook(hook, address, most).await?;
        self.inner().stirred.touch([task]);
        Ok(kept)
    }

    /// The webhooks of a task, each with what it leads to.
    pub async fn task_hooks(&self, task: MessageId) -> Result<Vec<(TaskHook, Secret)>> {
        let mut all = Vec::new();
        for hook in self.store().task_hooks(task).await? {
            if let Some(address) = self.store().task_hook_address(&hook).await? {
                all.push((hook, address));
            }
        }
        Ok(all)
    }

    /// Some of the webhooks of which something is still to be told, now or later: those after a task's and id, in
    /// that order; none after the last.
    pub async fn open_task_hooks(&self, after: (MessageId, &str)) -> Result<Vec<TaskHook>> {
        Ok(self.store().open_task_hooks(after).await?)
    }

    /// What a webhook leads to, if that is still known. One that cannot be opened must not hold up the others.
    pub async fn task_hook_address(&self, hook: &TaskHook) -> Option<Secret> {
        self.store().task_hook_address(hook).await.unwrap_or_default()
    }

    /// The webhooks of one task that may have something to tell.
    pub async fn task_hooks_to_tell(&self, task: MessageId) -> Result<Vec<TaskHook>> {
        let all = self.store().task_hooks(task).await?;
        Ok(all.into_iter().filter(|hook| hook.due.is_some()).collect())
    }

    /// Notes how telling a webhook went, if it is as it was read; none: it has nothing more to tell, and goes.
    pub async fn note_task_hook(&self, read: &TaskHook, now: Option<TaskHook>) -> Result<()> {
        Ok(self.store().note_task_hook(read, now).await?)
    }

    /// When the next webhook that could not be told is to be tried again.
    pub async fn next_task_hook(&self) -> Result<Option<Timestamp>> {
        Ok(self.store().next_task_hook().await?)
    }

    /// Forgets webhooks that have nothing more to tell; how many.
    pub async fn remove_told_task_hooks(&self) -> Result<usize> {
        Ok(self.store().remove_told_task_hooks().await?)
    }

    /// Waits until something may have changed about messages of other agents, since the last time this returned.
    pub async fn stirred(&self) -> Touched {
        self.inner().stirred.wait().await
    }

    /// Has [`stirred`](Self::stirred) tell of a message.
    pub fn stir(&self, message: MessageId) {
        self.inner().stirred.touch([message]);
    }

    /// The message that a way in's key stands for, while it is known.
    pub async fn message_of_key(&self, key: &str) -> Result<Option<MessageId>> {
        let found = self.store().message_by_key(key, self.now()).await?;
        Ok(found.map(|stored| stored.message.id))
    }

    /// Forgets a webhook; whether it was there.
    pub async fn remove_task_hook(&self, hook: &TaskHook) -> Result<bool> {
        Ok(self.store().remove_task_hook(hook).await?)
    }

    /// A name nobody else has: 32 hex digits.
    pub fn new_name(&self) -> String {
        let dice = &self.inner().dice;
        format!("{:016x}{:016x}", dice.roll(), dice.roll())
    }
}
