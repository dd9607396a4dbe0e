//! The soak of a messenger: `up` with an imitated Telegram in another process, killed with SIGKILL at random
//! moments while people keep writing in many chats, and judged by what they see.
//!
//! Every message must be answered, in its chat, in order, and once. Only what was being sent when the
//! program was killed may stand there twice: so a repeat counts as one only if a kill lies between the two.

mod people;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use sb_core::model::Dice;

pub use people::Verdict;

use super::Seeded;
use super::server::Server;
use super::telegram::Telegram;

/// How hard to try.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program under test.
    pub binary: PathBuf,
    pub kills: u32,
    pub chats: u32,
    pub seed: u64,
}

/// How long everything may take to be answered once it goes well.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the plan to its end and judges it.
///
/// # Errors
/// Of the set-up, or if the program does not come to rest; what it did wrong is in the verdict.
pub async fn run(plan: Plan) -> Result<Verdict> {
    let home = tempfile::tempdir()?;
    let dice = Arc::new(Seeded(std::sync::Mutex::new(plan.seed | 1)));
    let telegram = Arc::new(Telegram::start(&plan.binary).await?);
    let mut server = Server::prepare(&plan.binary, home.path(), "up").await?;
    let mut add = vec!["channel", "add", "telegram", "--profile", "soak", "--allow", "*", "--busy", "queue"];
    let flags = telegram.flags();
    add.extend(["--debounce", "0"]);
    add.extend(flags.iter().map(String::as_str));
    server.command(&add).await?;
    server.start().await?;
    let crowd = Arc::new(people::Crowd::meet(telegram, plan.chats).await?);
    let writing: Vec<_> = (0..plan.chats as usize)
        .map(|n| tokio::spawn(people::write(crowd.clone(), n, dice.clone())))
        .collect();
    let mut at_work = 0;
    for _ in 0..plan.kills {
        tokio::time::sleep(Duration::from_millis(150 + dice.roll() % 1_200)).await;
        at_work += u32::from(crowd.unanswered() > 0);
        server.kill().await?;
        // Whatever stands there now was put there before this kill.
        crowd.look_everywhere().await?;
        crowd.killed();
        server.start().await?;
    }
    crowd.close();
    for writer in writing {
        writer.await??;
    }
    let resting = async {
        while crowd.unanswered() > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            crowd.look_everywhere().await?;
        }
        // What comes twice comes before what is said last.
        crowd.say_last().await
    };
    match tokio::time::timeout(PATIENCE, resting).await {
        Ok(rested) => rested?,
        Err(_) => bail!("it never comes to rest: {:?} are not answered", crowd.open()),
    }
    let verdict = crowd.judge(plan.kills, at_work);
    server.stop().await?;
    Ok(verdict)
}
