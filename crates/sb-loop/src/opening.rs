//! Putting the question to one model: what it is asked, and where.
//!
//! Asks once; what happens when it fails is decided by the caller. The one thing mended here is a
//! field some compatible servers refuse, since nothing was done yet when they say so.

use sb_harness::model::{Fault, ModelRef, TurnFault, TurnFaultKind};

use crate::calling::Purpose;
use crate::dialect::Question;
use crate::dialect::scripted::Scripted;
use crate::pictures;
use crate::providers::{self, Dialect, Documents, Provider};
use crate::quarantine::Marks;
use crate::source::{Place, Source};
use crate::transcript::{self, Item};
use crate::turn::{Exit, Run};

impl Run<'_> {
    /// Begins one attempt.
    pub async fn open(&mut self, model: &ModelRef, purpose: &Purpose) -> Result<Result<Source, Fault>, Exit> {
        let Some(provider) = providers::provider(&model.provider) else {
            let detail = providers::check_model(model).err().unwrap_or_default();
            return Err(Exit::Fault(TurnFault::new(TurnFaultKind::Refused, detail)));
        };
        if provider.dialect == Dialect::Scripted {
            return Ok(Ok(Source::Scripted(match purpose {
                Purpose::Answer => Scripted::answering(&self.view),
                Purpose::Summary(before) => Scripted::summing_up(before),
            })));
        }
        let (system, items, tools) = match purpose {
            Purpose::Answer => {
                let documents = self.takes_documents(provider, model);
                pictures::fill(&mut self.album, &self.view, &*self.spec.blobs, documents).await;
                (self.system(), self.items(), self.tools.clone())
            }
            Purpose::Summary(before) => {
                let asked = Item::Person { text: before.clone(), pictures: Vec::new() };
                (vec![crate::compact::INSTRUCTION.to_owned()], vec![asked], Vec::new())
            }
        };
        let family = provider.family(provider.id_of(model));
        let question = Question {
            id: provider.id_of(model),
            model: &model.to_string(),
            family: &family,
            system: system.iter().map(String::as_str).collect(),
            tools: &tools,
            items: &items,
        };
        self.open_wire(provider, model, &question).await
    }

    async fn open_wire(
        &mut self,
        provider: &Provider,
        model: &ModelRef,
        question: &Question<'_>,
    ) -> Result<Result<Source, Fault>, Exit> {
        let (context, quirks, profile) = (self.context, self.quirks, &self.spec.profile);
        let place = match Place::of(&*context.keys, &profile.name, profile.served_at(), provider, model) {
            Ok(place) => place,
            Err(fault) => return Ok(Err(fault)),
        };
        loop {
            let opened = Source::open(context, quirks, provider.dialect, &place, question);
            match self.unless_stopped(opened).await? {
                // Quirk: some compatibles refuse the field; it is dropped for good, and nothing was done yet.
                Err(fault)
                    if fault.status == Some(400)
                        && fault.detail.contains("stream_options")
                        && quirks.sends_stream_options(&place.base) =>
                {
                    quirks.drop_stream_options(&place.base);
                }
                opened => return Ok(opened),
            }
        }
    }

    /// Whether PDFs can be shown to this model as they are.
    fn takes_documents(&self, provider: &Provider, model: &ModelRef) -> bool {
        let profile = &self.spec.profile;
        let at_home = || {
            let place = Place::of(&*self.context.keys, &profile.name, profile.served_at(), provider, model);
            place.is_ok_and(|place| place.own_host)
        };
        match provider.documents {
            Documents::Nowhere => false,
            Documents::AtHome => at_home(),
            Documents::Everywhere => true,
        }
    }

    /// The conversation as the model is to see it.
    pub fn items(&self) -> Vec<Item> {
        let marks = Marks::new(self.context.marks.clone(), self.spec.session);
        transcript::items(&self.view, &self.album, &marks, self.spec.profile.workspace.is_none())
    }

    /// The operator's instructions, then what the chat asks for, then how tools from elsewhere stand.
    fn system(&self) -> Vec<String> {
        let chat = self.spec.choices.system.as_deref().unwrap_or_default();
        [self.spec.profile.instructions.as_str(), chat, &self.notes.join("\n")]
            .into_iter()
            .filter(|s| !s.trim().is_empty())
            .map(str::to_owned)
            .collect()
    }
}
