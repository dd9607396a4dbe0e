//! House calls that cannot be done: found out before anybody is asked about them.

use sb_core::Input;
use sb_core::model::{Call, HarnessEvent, Profile, house_tool};
use sb_store::StoreError;

use crate::Engine;

impl Engine {
    /// A call that cannot be done is not put before anybody.
    pub(crate) async fn unless_it_cannot_be(
        &self,
        profile: &Profile,
        input: Input,
    ) -> Result<Input, StoreError> {
        let (turn, call) = match &input {
            Input::Harness(turn, HarnessEvent::Call(call) | HarnessEvent::CallBy(call, _)) => (*turn, call),
            _ => return Ok(input),
        };
        Ok(match self.cannot(profile, call).await? {
            Some(why) => Input::CannotBe(turn, call.clone(), why),
            None => input,
        })
    }

    async fn cannot(&self, profile: &Profile, call: &Call) -> Result<Option<String>, StoreError> {
        if house_tool(&call.tool).is_none() {
            return Ok(None);
        }
        match self.store().house_cannot(&profile.name, profile.agent, call).await? {
            Some(why) => Ok(Some(why)),
            None => self.cannot_be_reached(call).await,
        }
    }

    async fn cannot_be_reached(&self, call: &Call) -> Result<Option<String>, StoreError> {
        let to = call.input.get("to").and_then(|to| to.as_str()).filter(|_| call.tool == "send_message");
        let Some(to) = to else { return Ok(None) };
        let Some(place) = self.store().conversation_place(&to.into()).await? else { return Ok(None) };
        Ok(self.writes_first(&place).await.err().map(|why| format!("Nothing was sent. {why}")))
    }
}
