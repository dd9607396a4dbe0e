//! What a door needs of the home besides conversations: files by digest, a backup, a check-up.
//!
//! Doors never name the store, so what they may do with it stands here. Nothing here changes a
//! conversation.

use std::io::SeekFrom;
use std::path::Path;

use bytes::Bytes;
use sb_core::model::text::counted;
use sb_core::model::{Attachment, Digest, Profile, ProfileName};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use crate::Engine;
use crate::error::{EngineError, EngineErrorKind, Result};

/// Bytes handed to the store at once.
const PIECE: usize = 64 * 1024;

/// What a check-up found: a sentence each, with what to do about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkup {
    pub problems: Vec<String>,
    /// Worth knowing, and no problem.
    pub notes: Vec<String>,
}

impl Engine {
    /// Keeps a file's bytes: durable, and readable by this digest, once it returns.
    pub async fn keep_blob(&self, bytes: &[u8]) -> Result<Digest> {
        let mut writer = self.store().blob_writer().await?;
        for piece in bytes.chunks(PIECE) {
            writer.write(piece).await?;
        }
        Ok(writer.finish().await?.0)
    }

    /// Bytes of a file from one place on: so many, or fewer at its end. Nothing stays open in between, so
    /// whoever reads a large one slowly holds neither it nor a file handle.
    pub async fn blob_piece(&self, file: &Attachment, at: u64, most: u32) -> Result<Bytes> {
        let unread = |why: std::io::Error| {
            EngineError::new(EngineErrorKind::Store, format!("The file {} cannot be read: {why}.", file.name))
        };
        let mut blob = self.store().open_blob(&file.digest).await?;
        blob.seek(SeekFrom::Start(at)).await.map_err(unread)?;
        let wanted = file.size.saturating_sub(at).min(most.into());
        let mut bytes = vec![0; usize::try_from(wanted).unwrap_or_default()];
        blob.read_exact(&mut bytes).await.map_err(unread)?;
        Ok(bytes.into())
    }

    /// Whether a profile has an API key of its own.
    pub async fn has_key(&self, profile: &ProfileName) -> Result<bool> {
        Ok(self.store().secret(&sb_store::secret_name(profile, "api_key")).await?.is_some())
    }

    /// Names of the tools a profile gives its agent.
    pub fn tools_of(&self, profile: &Profile) -> Vec<String> {
        self.inner().agents.tools(profile)
    }

    /// Copies the home, whole and consistent, to a path where nothing is yet.
    pub async fn backup(&self, to: &Path) -> Result<()> {
        Ok(self.store().backup(to).await?)
    }

    /// Looks the home over: the store's integrity, and whether every profile could run. Reads all of it.
    pub async fn checkup(&self) -> Result<Checkup> {
        let mut problems = self.store().check().await?;
        let profiles = self.profiles().await?;
        for profile in &profiles {
            if let Err(why) = self.inner().agents.check(profile) {
                problems.push(format!("Profile {} could not run: {why}", profile.name));
            }
        }
        let counts = self.store().counts().await?;
        let notes = vec![format!(
            "{}, {}, {}; {} {} for an answer.",
            counted(profiles.len() as u64, "profile"),
            counted(counts.conversations, "conversation"),
            counted(counts.sessions, "session"),
            counted(counts.unfinished, "message"),
            if counts.unfinished == 1 { "waits" } else { "wait" }
        )];
        Ok(Checkup { problems, notes })
    }
}
