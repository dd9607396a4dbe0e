//! The soak: the real binary under load, killed with SIGKILL at random moments, started again, and judged.
//!
//! The judge is the clients' own record of what was acknowledged to them, never the store's. A message
//! counts as acknowledged once its first event has arrived. At the end each must have been answered
//! once: the same answer whenever it is asked for, its words once in the log, its deed done once.

mod book;
mod client;
mod judge;
pub mod messenger;
mod server;
pub mod telegram;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use sb_core::model::Dice;

pub use judge::Report;

/// How hard to try.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program under test.
    pub binary: PathBuf,
    pub kills: u32,
    /// Conversations, each written to by two clients.
    pub conversations: u32,
    pub seed: u64,
}

/// Seeded chance; the moments of the kills follow from it, what they meet does not.
struct Seeded(std::sync::Mutex<u64>);

impl Dice for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().expect("no holder panics");
        for byte in bytes {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *byte = (*state >> 24) as u8;
        }
    }
}

/// Runs the plan to its end and judges it. Errors are of the set-up; what the program did wrong is in the report.
pub async fn run(plan: Plan) -> Result<Report> {
    let home = tempfile::tempdir()?;
    let dice = Arc::new(Seeded(std::sync::Mutex::new(plan.seed | 1)));
    let mut server = server::Server::prepare(&plan.binary, home.path(), "serve").await?;
    server.start().await?;
    let book = Arc::new(book::Book::default());
    let clients: Vec<_> = (0..plan.conversations * 2)
        .map(|n| tokio::spawn(client::write(server.client(), book.clone(), dice.clone(), n / 2, n)))
        .collect();
    let mut at_work = 0;
    for _ in 0..plan.kills {
        let pause = 150 + dice.roll() % 1200;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        // Counted right before the kill: turns that were acknowledged and not answered yet.
        at_work += u32::from(book.unanswered() > 0);
        server.kill().await?;
        server.start().await?;
    }
    book.close();
    for client in clients {
        client.await??;
    }
    let report = judge::judge(&server, &book, plan.kills, at_work).await;
    server.stop().await?;
    report
}
