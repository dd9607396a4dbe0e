//! The mode an agent works in, watched: it may leave the one in which it asks, and is set back.

use sb_harness::model::text::one_line;
use sb_harness::model::{Record, TurnFault, TurnFaultKind};
use serde_json::Value;

use super::turn::Run;
use crate::exit::Exit;

/// Modes in which an agent only plans.
const PLANNING: [&str; 2] = ["plan", "read-only"];
/// How often in a turn an agent's mode is set back.
const MOST_SET_BACK: usize = 20;

impl Run {
    /// It went to another mode. Is that one in which it does not ask, it is set back.
    pub async fn mode_is(&mut self, mode: &str) -> Result<(), Exit> {
        let Some(ours) = self.agent.asks_in.clone().filter(|ours| ours != mode) else { return Ok(()) };
        if PLANNING.contains(&mode) || self.agent.asking_modes().iter().any(|m| m == mode) {
            return Ok(());
        }
        let Some(setting) = self.agent.mode.clone().filter(|_| self.set_back < MOST_SET_BACK) else {
            return Err(self.does_not_ask());
        };
        self.set_back += 1;
        let (method, params) = setting.request(&self.agent.session, &ours);
        self.setting_back = Some(self.agent.link.ask(method, params).await);
        let text = format!("went to its mode {}, and was set back to {ours}, which asks", one_line(mode, 40));
        self.log(Record::Noted { text, by: self.by(), told: false }).await
    }

    pub fn mode_set(&mut self, id: &Value, is_set: bool) -> Result<(), Exit> {
        if self.setting_back.as_ref() != Some(id) {
            return Ok(());
        }
        self.setting_back = None;
        if is_set { Ok(()) } else { Err(self.does_not_ask()) }
    }

    fn does_not_ask(&self) -> Exit {
        let what = format!(
            "{} left the mode in which it asks before it acts, and could not be set back, so it was ended",
            self.agent.launch.label
        );
        Exit::Fault(TurnFault::new(TurnFaultKind::Refused, what))
    }
}
