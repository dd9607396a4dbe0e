//! `GET /v1/models`: the profiles a token reaches, as models; and one of them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use sb_wire::openai::{List, Model};

use super::aside;
use super::error::{Fault, Result};
use crate::http::{Door, Reach, Segments, Who};
use crate::model::ProfileName;

const OWNER: &str = "switchboard";

/// `GET /v1/models`
pub(super) async fn list(State(door): State<Arc<Door>>, Extension(who): Extension<Who>) -> Result<Response> {
    let names: Vec<ProfileName> = match &who.reach {
        Reach::Only(profile) => vec![profile.clone()],
        Reach::All => door.engine.profiles().await?.into_iter().map(|p| p.name).collect(),
    };
    let models = names.iter().flat_map(|name| [name.0.clone(), aside::model_of(name)]);
    Ok(Json(List::new(models.map(|id| Model::new(id, OWNER)).collect())).into_response())
}

/// `GET /v1/models/{id}`
pub(super) async fn one(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Who>,
    Segments(id): Segments<String>,
) -> Result<Response> {
    named(&door, &who, &id)?;
    Ok(Json(Model::new(id, OWNER)).into_response())
}

/// The profile that a model names, and whether it is the model for side requests. One that the token does not
/// reach is answered as one that is not there.
pub(super) fn named(door: &Door, who: &Who, model: &str) -> Result<(ProfileName, bool)> {
    let (name, is_aside) = match model.strip_suffix(aside::SUFFIX) {
        Some(name) => (name, true),
        None => (model, false),
    };
    let profile = ProfileName(name.to_owned());
    let is_reached = match &who.reach {
        Reach::Only(own) => *own == profile,
        Reach::All => true,
    };
    match is_reached && door.engine.has_profile(&profile) {
        true => Ok((profile, is_aside)),
        false => Err(Fault::no_model(model)),
    }
}
