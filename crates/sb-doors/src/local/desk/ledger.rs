//! The `/desk` routes about the ledger: accounts, what is to be signed and what was.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;

use super::{Here, body};
use crate::engine::store::ledgers::{Account, Sort};
use crate::engine::{AccountView, EngineErrorKind, LedgerWish, Signed};
use crate::http::{Code, HttpError, Parameters, Result, Segments, rfc3339};
use crate::local::Desk;
use crate::local::wire::{AgentInfo, BeforeSigning, EntryInfo, KeptEntry, LedgerAccount, Verified, WishInfo};

/// Entries of one answer, where nobody says how many.
const ENTRIES: usize = 100;

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/desk/ledger/accounts", get(accounts))
        .route("/desk/ledger/accounts/{account}", get(account))
        .route("/desk/ledger/before", post(before))
        .route("/desk/ledger/entries", get(entries).post(sign))
        .route("/desk/ledger/kept", get(kept))
        .route("/desk/ledger/verify", post(verify))
}

pub(super) fn agent_info(account: &Account) -> AgentInfo {
    AgentInfo { name: account.name.clone(), key: account.key.to_string() }
}

async fn accounts(State(desk): Here) -> Result<Json<Vec<LedgerAccount>>> {
    Ok(Json(desk.door.engine.accounts().await?.into_iter().map(shown).collect()))
}

async fn account(State(desk): Here, Segments(named): Segments<String>) -> Result<Json<LedgerAccount>> {
    Ok(Json(shown(desk.door.engine.account(&named).await?)))
}

fn shown(of: AccountView) -> LedgerAccount {
    LedgerAccount {
        account: agent_info(&of.account),
        sort: match of.account.sort {
            Sort::Person => "person",
            Sort::Agent => "agent",
        }
        .to_owned(),
        parent: of.parent.as_ref().map(agent_info),
        budget_remaining_usd: of.account.balance.to_string(),
        suspended: of.suspended,
        profiles: of.profiles.into_iter().map(|p| p.0).collect(),
    }
}

async fn before(State(desk): Here, request: Request) -> Result<Json<BeforeSigning>> {
    let wished: WishInfo = body(request).await?;
    Ok(Json(BeforeSigning { said: desk.door.engine.before_signing(&wish(wished))? }))
}

async fn sign(State(desk): Here, request: Request) -> Result<Json<Vec<EntryInfo>>> {
    let wished: WishInfo = body(request).await?;
    let engine = desk.door.engine.clone();
    // To its end, also where the command that asked for it was ended meanwhile.
    let signed = tokio::spawn(async move { engine.sign(&wish(wished)).await }).await;
    let signed = signed
        .map_err(|_| HttpError::new(Code::Internal, "Signing failed. The server's log says more."))??;
    Ok(Json(signed.into_iter().map(entry).collect()))
}

fn wish(of: WishInfo) -> LedgerWish {
    match of {
        WishInfo::Open { name, person, parent, budget } => LedgerWish::Open { name, person, parent, budget },
        WishInfo::Fund { account, amount, from } => LedgerWish::Fund { account, amount, from },
        WishInfo::Suspend { by, agent } => LedgerWish::Suspend { by, agent },
        WishInfo::Resume { by, agent } => LedgerWish::Resume { by, agent },
    }
}

fn entry(of: Signed) -> EntryInfo {
    let Signed { entry, said } = of;
    EntryInfo {
        number: entry.number,
        at: rfc3339(entry.at),
        by: entry.by.to_string(),
        said,
        receipt: entry.receipt(),
        digest: entry.digest.to_string(),
        act: serde_json::to_value(&entry.act).unwrap_or_default(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct From {
    #[serde(default)]
    after: u64,
    most: Option<usize>,
}

async fn entries(State(desk): Here, Parameters(from): Parameters<From>) -> Result<Json<Vec<EntryInfo>>> {
    let found = desk.door.engine.ledger_log(from.after, from.most.unwrap_or(ENTRIES)).await?;
    Ok(Json(found.into_iter().map(entry).collect()))
}

async fn kept(State(desk): Here, Parameters(from): Parameters<From>) -> Result<Json<Vec<KeptEntry>>> {
    let found = desk.door.engine.ledger_entries(from.after, from.most.unwrap_or(ENTRIES)).await?;
    let kept =
        |s: crate::engine::store::ledgers::Sealed| KeptEntry { entry: s.entry, signature: s.signature };
    Ok(Json(found.into_iter().map(kept).collect()))
}

async fn verify(State(desk): Here) -> Result<Json<Verified>> {
    match desk.door.engine.verify_ledger().await {
        Ok(entries) => Ok(Json(Verified { entries })),
        // Which entry is wrong is what was to be found out.
        Err(why) if why.kind == EngineErrorKind::Store => Err(HttpError::new(Code::Store, why.said)),
        Err(why) => Err(why.into()),
    }
}
