//! `job …`: make, look at, run and remove jobs.

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{AddJob, JobInfo, JobTimeInfo, RunInfo};

use crate::args::job::{self, JobCommand};
use crate::output;
use crate::usage::usage;

/// Runs a command about jobs.
pub async fn run(command: JobCommand, desk: &Desk) -> Result<()> {
    match command {
        JobCommand::Add(args) => add(args, desk).await,
        JobCommand::List { json } => list(&desk.jobs().await?, json),
        JobCommand::Show { name, json } => show(&desk.job(&name).await?, json),
        JobCommand::Run { name, json } => ran(&desk.run_job(&name).await?, json),
        JobCommand::Remove { name } => {
            desk.remove_job(&name).await?;
            output::line(&format!("Removed the job {name}."))
        }
    }
}

async fn add(args: job::AddJob, desk: &Desk) -> Result<()> {
    let time = match (args.cron, args.every, args.at) {
        (Some(cron), ..) => JobTimeInfo::Cron(cron),
        (_, Some(every), _) => JobTimeInfo::Every(every),
        (_, _, Some(at)) => JobTimeInfo::At(at),
        _ => return Err(usage("Say when: --cron, --every or --at.")),
    };
    let job = AddJob {
        name: args.name,
        profile: args.profile,
        conversation: args.to,
        prompt: args.prompt,
        time,
        zone: args.zone,
    };
    let made = desk.add_job(&job).await?;
    if args.json {
        return output::json(&made);
    }
    let next = made.next_shown.as_deref().unwrap_or("never");
    output::foreign(&format!("{} asks {} in {}, next {next}.", made.name, made.profile, made.conversation))?;
    made.notes.iter().try_for_each(|note| output::foreign(note))?;
    if !desk.server().await?.channels {
        output::line("Jobs run while `switchboard up` does.")?;
    }
    Ok(())
}

fn list(jobs: &[JobInfo], json: bool) -> Result<()> {
    if json {
        return output::json(&jobs);
    }
    if jobs.is_empty() {
        return output::line("There is no job. `switchboard job add --help` says how one is made.");
    }
    let heading = ["job", "profile", "conversation", "due", "next", "last run"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(jobs.iter().map(|job| {
        vec![
            job.name.clone(),
            job.profile.clone(),
            job.conversation.clone(),
            job.schedule.clone(),
            job.next_shown.clone().unwrap_or_else(|| "over".to_owned()),
            job.runs.first().map_or_else(|| "none yet".to_owned(), state),
        ]
    }));
    output::table(&rows)
}

fn show(job: &JobInfo, json: bool) -> Result<()> {
    if json {
        return output::json(job);
    }
    let next = job.next_shown.as_deref().unwrap_or("never more");
    output::foreign(&format!(
        "{}: asks {} in {}\ndue: {}; next: {next}\nprompt: {}",
        job.name, job.profile, job.conversation, job.schedule, job.prompt
    ))?;
    if job.runs.is_empty() {
        return output::line("It has not run yet.");
    }
    let told = job.runs.iter().map(|run| format!("{}  {}\n{}", run.due, state(run), indented(&run.said)));
    output::foreign(&told.collect::<Vec<_>>().join("\n"))
}

fn ran(job: &JobInfo, json: bool) -> Result<()> {
    if json {
        return output::json(job);
    }
    let Some(run) = job.runs.first() else { return output::line("It has not run yet.") };
    output::foreign(&run.said)?;
    output::foreign(&format!("({})", state(run)))
}

fn state(run: &RunInfo) -> String {
    match (run.state.as_str(), &run.delivered_as, &run.why) {
        ("unfinished", ..) => "not ended yet".to_owned(),
        ("sending", ..) => "answered, on its way".to_owned(),
        (_, Some(message), _) => format!("delivered as {message}"),
        (_, _, Some(why)) => format!("not sent: {why}"),
        (state, ..) => state.to_owned(),
    }
}

fn indented(words: &str) -> String {
    words.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
