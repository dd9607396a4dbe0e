//! The client's calls about channels, people, notes, outbox and inbox.

use reqwest::Method;

use super::{Desk, Result, json, query, segment};
use crate::local::wire::{
    ApprovePairing, ChannelInfo, EnableChannel, InboxInfo, KindInfo, MemoInfo, PairingInfo, PersonInfo,
    PostInfo, PutChannel, ReplayedInfo, TrustInfo,
};

impl Desk {
    /// The kinds of messengers there are.
    pub async fn kinds(&self) -> Result<Vec<KindInfo>> {
        self.get("/desk/kinds").await
    }

    /// All channels.
    pub async fn channels(&self) -> Result<Vec<ChannelInfo>> {
        self.get("/desk/channels").await
    }

    /// One channel.
    pub async fn channel(&self, slug: &str) -> Result<ChannelInfo> {
        self.get(&format!("/desk/channels/{}", segment(slug))).await
    }

    /// Adds or changes a channel; where it is to run, waits a while for its start.
    pub async fn put_channel(&self, put: &PutChannel) -> Result<ChannelInfo> {
        let path = format!("/desk/channels/{}", segment(put.channel.slug.as_str()));
        json(self.send(self.ask(Method::PUT, &path).json(put), !put.new).await?).await
    }

    /// Switches a channel on or off; where it is to run, waits a while for its start.
    pub async fn enable_channel(&self, slug: &str, enabled: bool) -> Result<ChannelInfo> {
        let path = format!("/desk/channels/{}/enabled", segment(slug));
        json(self.send(self.ask(Method::POST, &path).json(&EnableChannel { enabled }), true).await?).await
    }

    /// Removes a channel.
    pub async fn remove_channel(&self, slug: &str) -> Result<()> {
        self.delete(&format!("/desk/channels/{}", segment(slug))).await
    }

    /// Those who ask to be let in.
    pub async fn pairings(&self) -> Result<Vec<PairingInfo>> {
        self.get("/desk/pairings").await
    }

    /// Lets in whoever was shown the code.
    pub async fn approve_pairing(&self, code: &str, channel: Option<&str>) -> Result<PersonInfo> {
        let path = format!("/desk/pairings/{}", segment(code));
        let body = ApprovePairing { channel: channel.map(str::to_owned) };
        json(self.send(self.ask(Method::POST, &path).json(&body), false).await?).await
    }

    /// Takes back a code.
    pub async fn revoke_pairing(&self, code: &str) -> Result<()> {
        self.delete(&format!("/desk/pairings/{}", segment(code))).await
    }

    /// Those who were let in.
    pub async fn people(&self, channel: Option<&str>) -> Result<Vec<PersonInfo>> {
        self.get(&query("/desk/people", &[("channel", channel)])).await
    }

    /// Lets somebody out again.
    pub async fn remove_person(&self, channel: &str, id: &str) -> Result<()> {
        self.delete(&format!("/desk/people/{}/{}", segment(channel), segment(id))).await
    }

    /// What a profile's agent noted, newest first.
    pub async fn memos(&self, profile: &str) -> Result<Vec<MemoInfo>> {
        self.get(&format!("/desk/profiles/{}/memos", segment(profile))).await
    }

    /// Forgets one note, or all.
    pub async fn forget(&self, profile: &str, id: Option<i64>) -> Result<()> {
        let one = id.map(|id| format!("/{id}")).unwrap_or_default();
        self.delete(&format!("/desk/profiles/{}/memos{one}", segment(profile))).await
    }

    /// What is unsent or was refused; `all`: also what was sent.
    pub async fn outbox(&self, channel: Option<&str>, all: bool) -> Result<Vec<PostInfo>> {
        let all = all.then_some("true");
        self.get(&query("/desk/outbox", &[("channel", channel), ("all", all)])).await
    }

    /// Tries to send a post again.
    pub async fn retry_post(&self, number: i64) -> Result<()> {
        self.send(self.ask(Method::POST, &format!("/desk/outbox/{number}")), false).await.map(drop)
    }

    /// Gives a post up.
    pub async fn drop_post(&self, number: i64) -> Result<()> {
        self.delete(&format!("/desk/outbox/{number}")).await
    }

    /// What came and is not answered.
    pub async fn inbox(&self, channel: Option<&str>) -> Result<Vec<InboxInfo>> {
        self.get(&query("/desk/inbox", &[("channel", channel)])).await
    }

    /// Takes something in again.
    pub async fn replay(&self, number: i64) -> Result<ReplayedInfo> {
        json(self.send(self.ask(Method::POST, &format!("/desk/inbox/{number}")), false).await?).await
    }

    /// What the safety of this home rests on; `all`: of every kind there is.
    pub async fn trust(&self, all: bool) -> Result<Vec<TrustInfo>> {
        self.get(&query("/desk/trust", &[("all", all.then_some("true"))])).await
    }
}
