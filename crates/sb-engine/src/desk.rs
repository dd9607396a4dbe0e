//! To run things: profiles, tokens, sessions. What it changes holds at once.

use sb_core::model::{
    ChannelConfig, Choices, ConversationId, Ending, Entry, MessageId, Pending, Phase, Profile, ProfileName,
    Record, Rights, Secret, Seq, Session, SessionBrief, SessionId, TokenId,
};
use sb_store::TokenRecord;

use crate::Engine;
use crate::error::{EngineError, EngineErrorKind, Result};

/// One session with all that happened in it.
#[derive(Debug, Clone)]
pub struct SessionView {
    pub session: Session,
    pub conversation: ConversationId,
    pub profile: ProfileName,
    /// It is the conversation's current one.
    pub current: bool,
    pub choices: Choices,
    /// `idle`, `running` or `waiting`.
    pub state: &'static str,
    /// The request that waits for a person.
    pub pending: Option<Pending>,
    /// The message to follow for what runs or waits now.
    pub following: Option<MessageId>,
    /// The message that got the session's last answer.
    pub last: Option<MessageId>,
    pub log: Vec<Entry>,
}

/// How the engine is, for metrics and readiness.
#[derive(Debug, Clone, Copy)]
pub struct Health {
    pub awake: usize,
    pub waiting_for_place: usize,
}

impl Engine {
    /// All profiles, by name.
    pub async fn profiles(&self) -> Result<Vec<Profile>> {
        Ok(self.store().profiles().await?)
    }

    /// One profile.
    pub async fn profile(&self, name: &ProfileName) -> Result<Profile> {
        self.store().profile(name).await?.ok_or_else(|| EngineError::no_profile(name))
    }

    /// Whether there is such a profile; costs no look-up.
    pub fn has_profile(&self, name: &ProfileName) -> bool {
        self.inner().profiles.get(name).is_some()
    }

    /// Adds or changes a profile, with its own API key if given; holds from the next call on. One that names
    /// no agent gets one of its own.
    pub async fn put_profile(&self, mut profile: Profile, key: Option<Secret>) -> Result<()> {
        let bad = |said: String| EngineError::new(EngineErrorKind::Bad, said);
        if !profile.name.is_valid() {
            return Err(bad(format!(
                "{:?} is not a profile's name: use 1 to 64 of a-z, 0-9, - and _.",
                profile.name.0
            )));
        }
        self.inner().agents.check(&profile).map_err(bad)?;
        self.check_agent(&profile)?;
        if profile.agent.is_none() {
            profile.agent = self.agent_for(&profile.name).await;
        }
        if let Some(key) = key {
            self.store().put_secret(&sb_store::secret_name(&profile.name, "api_key"), &key).await?;
        }
        self.store().put_profile(&profile).await?;
        self.inner().agents.changed(&profile.name).await;
        self.inner().profiles.put(profile);
        Ok(())
    }

    /// Removes a profile with its tokens and secrets. Its sessions stay.
    pub async fn remove_profile(&self, name: &ProfileName) -> Result<()> {
        let uses = |c: &ChannelConfig| c.profile == *name || c.options.routes.values().any(|p| p == name);
        if let Some(channel) = self.store().channels().await?.iter().find(|c| uses(c)) {
            let said = format!(
                "The channel {} is answered by {name}. Give it another profile first: switchboard channel set {} --profile NAME",
                channel.slug, channel.slug
            );
            return Err(EngineError::new(EngineErrorKind::Bad, said));
        }
        if let Some(job) = self.job_of(name).await? {
            let said = format!("The job {job} asks {name}. Remove it first: switchboard job remove {job}");
            return Err(EngineError::new(EngineErrorKind::Bad, said));
        }
        if !self.store().remove_profile(name).await? {
            return Err(EngineError::no_profile(name));
        }
        self.inner().profiles.remove(name);
        self.inner().tokens.forget();
        self.inner().agents.changed(name).await;
        Ok(())
    }

    /// Makes a token for a profile; the secret is shown this once.
    pub async fn add_token(&self, profile: &ProfileName, rights: Rights) -> Result<(TokenRecord, Secret)> {
        if !self.has_profile(profile) {
            return Err(EngineError::no_profile(profile));
        }
        let inner = self.inner();
        Ok(inner.store.add_token(profile, rights, inner.clock.now(), inner.dice.as_ref()).await?)
    }

    /// The tokens of a profile, or of all.
    pub async fn tokens(&self, profile: Option<&ProfileName>) -> Result<Vec<TokenRecord>> {
        Ok(self.store().tokens(profile).await?)
    }

    /// Takes a token back.
    pub async fn remove_token(&self, profile: &ProfileName, id: &TokenId) -> Result<()> {
        let removed = self.store().remove_token(profile, id).await?;
        self.inner().tokens.forget();
        match removed {
            true => Ok(()),
            false => Err(EngineError::new(
                EngineErrorKind::NotFound,
                format!("Profile {profile} has no token {id}."),
            )),
        }
    }

    /// Whose token this is, if anybody's.
    pub async fn find_token(&self, secret: &Secret) -> Result<Option<TokenRecord>> {
        self.inner().tokens.find(self.store(), secret).await
    }

    /// Sessions, newest activity first.
    pub async fn sessions(&self, profile: Option<&ProfileName>, most: usize) -> Result<Vec<SessionBrief>> {
        Ok(self.store().sessions(None, profile, most).await?)
    }

    /// One session with its whole log.
    pub async fn session(&self, id: SessionId) -> Result<SessionView> {
        let not_found = || EngineError::new(EngineErrorKind::NotFound, format!("There is no session {id}."));
        let (session, conversation, profile) = self.store().session(id).await?.ok_or_else(not_found)?;
        let (snapshot, _) = self.store().load(&conversation).await?.ok_or_else(not_found)?;
        let turn = snapshot.turn.as_ref().filter(|t| t.session == id);
        let state = match turn.map(|t| t.phase) {
            None => "idle",
            Some(Phase::Parked) => "waiting",
            Some(_) => "running",
        };
        let current = snapshot.session.as_ref().is_some_and(|s| s.id == id);
        let at_work = turn.and_then(|t| t.messages.first()).map(|(m, _)| m.id);
        let next = snapshot.waiting.first().filter(|_| current && snapshot.turn.is_none()).map(|m| m.id);
        let log = self.store().log(id, Seq(1), Seq(i64::MAX)).await?;
        Ok(SessionView {
            current,
            pending: turn.and_then(|t| t.pending.clone()),
            following: at_work.or(next),
            last: self.last_answered(id, snapshot.newest, &log).await?,
            log,
            choices: snapshot.choices,
            session,
            conversation,
            profile,
            state,
        })
    }

    /// Whose answer is the session's last: the newest message's, or that of the last words said in it.
    async fn last_answered(
        &self,
        session: SessionId,
        newest: MessageId,
        log: &[Entry],
    ) -> Result<Option<MessageId>> {
        let ending = self.store().message(newest).await?.and_then(|m| m.ending);
        if ending.is_some_and(|e| e.session == Some(session) && e.turn.is_some()) {
            return Ok(Some(newest));
        }
        Ok(log.iter().rev().find_map(|e| match &e.record {
            Record::Said { message, .. } => Some(*message),
            _ => None,
        }))
    }

    /// The stretch of log that belongs to an ending, for its lines.
    pub async fn stretch(&self, ending: &Ending) -> Result<Vec<Entry>> {
        match (ending.session, ending.turn) {
            (Some(session), Some(turn)) if ending.from <= ending.to => {
                let log = self.store().log(session, ending.from, ending.to).await?;
                Ok(log.into_iter().filter(|e| e.turn == Some(turn)).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Conversations with messages that have no ending yet.
    pub async fn unfinished(&self) -> Result<usize> {
        Ok(self.store().unfinished().await?.len())
    }

    /// How it stands now.
    pub fn health(&self) -> Health {
        Health { awake: self.inner().actors.awake(), waiting_for_place: self.inner().places.waiting() }
    }
}
