//! `agent …` and `ledger …`. Before something is signed, a line says who signs what; afterwards, where it
//! stands in the chain.

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{EntryInfo, LedgerAccount, WishInfo};

use crate::args::ledger::{AgentCommand, LedgerCommand};
use crate::output;

/// Entries asked for at once.
const PAGE: usize = 1000;

/// Runs a command about accounts.
pub async fn agent(command: AgentCommand, desk: &Desk) -> Result<()> {
    let (wish, json) = match command {
        AgentCommand::List { json } => return list(&desk.accounts().await?, json),
        AgentCommand::Show { account, json } => return show(&desk.account(&account).await?, json),
        AgentCommand::New { name, parent, person, budget, json } => {
            (WishInfo::Open { name, person, parent, budget }, json)
        }
        AgentCommand::Fund { account, amount, from, json } => {
            (WishInfo::Fund { account, amount, from }, json)
        }
        AgentCommand::Suspend { account, agent, json } => (WishInfo::Suspend { by: account, agent }, json),
        AgentCommand::Resume { account, agent, json } => (WishInfo::Resume { by: account, agent }, json),
    };
    let before = desk.before_signing(&wish).await?.said;
    // Where JSON is asked for, the output is that alone.
    if json {
        eprintln!("{before}")
    } else {
        output::foreign(&before)?
    }
    let signed = desk.sign(&wish).await?;
    if json {
        return output::json(&signed);
    }
    for entry in &signed {
        output::foreign(&format!("Entry {} of the ledger: {}.", entry.number, entry.said))?;
    }
    if let WishInfo::Open { name, .. } = &wish {
        let account = desk.account(name).await?.account;
        output::line(&format!("The key of {}: {}", account.name, account.key))?;
    }
    Ok(())
}

fn list(accounts: &[LedgerAccount], json: bool) -> Result<()> {
    if json {
        return output::json(&accounts);
    }
    if accounts.is_empty() {
        return output::line(
            "The ledger has no account. `switchboard agent new NAME --person` opens the first.",
        );
    }
    let heading = ["account", "key", "sort", "below", "left, USD", "stands", "profiles"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(accounts.iter().map(|a| {
        vec![
            a.account.name.clone(),
            a.account.key.get(..8).unwrap_or_default().to_owned(),
            a.sort.clone(),
            a.parent.as_ref().map(|p| p.name.clone()).unwrap_or_default(),
            a.budget_remaining_usd.clone(),
            if a.suspended.is_some() { "suspended" } else { "good" }.to_owned(),
            a.profiles.join(", "),
        ]
    }));
    output::table(&rows)
}

fn show(account: &LedgerAccount, json: bool) -> Result<()> {
    if json {
        return output::json(account);
    }
    let rows = [
        ("account", account.account.name.clone()),
        ("key", account.account.key.clone()),
        ("sort", account.sort.clone()),
        ("below", account.parent.as_ref().map(|p| p.short()).unwrap_or_default()),
        ("left", format!("{} USD", account.budget_remaining_usd)),
        ("stands", account.suspended.clone().unwrap_or_else(|| "good".to_owned())),
        ("profiles", account.profiles.join(", ")),
    ];
    let shown = rows.into_iter().filter(|(_, value)| !value.is_empty());
    output::foreign(&shown.map(|(name, value)| format!("{name:9} {value}")).collect::<Vec<_>>().join("\n"))
}

/// Runs a command about the chain.
pub async fn run(command: LedgerCommand, desk: &Desk) -> Result<()> {
    match command {
        LedgerCommand::Verify { json } => {
            let verified = desk.verify_ledger().await?;
            if json {
                return output::json(&verified);
            }
            output::line(&match verified.entries {
                0 => "The ledger is empty.".to_owned(),
                1 => "1 entry, and it is as it was signed.".to_owned(),
                n => format!("{n} entries, and every one is as it was signed."),
            })
        }
        LedgerCommand::Log { after, most, json } => {
            let entries = desk.ledger_log(after, most).await?;
            if json { output::json(&entries) } else { log(&entries) }
        }
        LedgerCommand::Export => export(desk).await,
    }
}

fn log(entries: &[EntryInfo]) -> Result<()> {
    if entries.is_empty() {
        return output::line("There is no entry there.");
    }
    let mut rows = vec![["entry", "signed", "who and what", "receipt"].map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|e| {
        vec![e.number.to_string(), e.at.clone(), e.said.clone(), e.receipt.clone().unwrap_or_default()]
    }));
    output::table(&rows)
}

async fn export(desk: &Desk) -> Result<()> {
    let mut after = 0;
    loop {
        let page = desk.ledger_kept(after, PAGE).await?;
        for kept in &page {
            output::line(&serde_json::to_string(kept)?)?;
        }
        after += page.len() as u64;
        if page.len() < PAGE {
            return Ok(());
        }
    }
}
