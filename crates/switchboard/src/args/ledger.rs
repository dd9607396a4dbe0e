//! `agent …` and `ledger …`: accounts of people and agents, and the chain of what they signed.

use clap::Subcommand;

const NEW: &str = "\
An agent's account is signed for by its parent, a person's by itself. Money comes in at people's accounts only;
an agent has what it is given. Every profile gets an agent of its own, called as it is, under the person's
account `operator`; `profile set --agent` names another.

Examples:
  switchboard agent new alice --person --budget 100
  switchboard agent new helper --parent alice --budget 30
  switchboard agent new scout --parent helper";

const FUND: &str = "\
Amounts are US dollars as decimal strings with up to 6 digits after the point; there are no fees.

Examples:
  switchboard agent fund alice 100                 money comes in, to a person
  switchboard agent fund helper 12.50              out of its parent's account
  switchboard agent fund helper 5 --from bob       out of another's";

const SUSPEND: &str = "\
It covers every agent below: none of them signs a payment or answers anybody, from the next call on, until
it is lifted. Only an account above the agent can sign it.

Examples:
  switchboard agent suspend alice helper
  switchboard agent resume alice helper";

/// `agent …`.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Open an account for an agent, or for a person, with a new key
    #[command(after_help = NEW)]
    New {
        /// What it is called: 1 to 64 of a-z, 0-9, - and _
        name: String,
        /// Whose agent it is, by name or key [default: operator]
        #[arg(long, value_name = "ACCOUNT", conflicts_with = "person")]
        parent: Option<String>,
        /// A person's account, with no parent
        #[arg(long)]
        person: bool,
        /// What its parent gives it at once, or the person brings in
        #[arg(long, value_name = "USD")]
        budget: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the accounts: whose, what they have left, how they stand
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one account, with its whole key
    Show {
        /// Its name, its key, or the first eight digits of that or more
        account: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Give an agent money of its parent's, or bring money in to a person's account
    #[command(after_help = FUND)]
    Fund {
        account: String,
        /// US dollars, such as 12.50
        amount: String,
        /// Whose money an agent is given [default: its parent's]
        #[arg(long, value_name = "ACCOUNT")]
        from: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Suspend an agent and every agent below it
    #[command(after_help = SUSPEND)]
    Suspend {
        /// Who signs: an account above the agent
        account: String,
        agent: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Lift what an account, or one below it, had suspended
    #[command(after_help = SUSPEND)]
    Resume {
        /// Who signs: whoever suspended the agent, or an account above that
        account: String,
        agent: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `ledger …`.
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Follow the chain from its first entry, every digest and every signature
    #[command(
        after_help = "The exit code is 1 if an entry is not as it was signed; the first such is named."
    )]
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the entries in order: place, time, who signed what
    Log {
        /// Only those after this place
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        after: u64,
        /// At most so many
        #[arg(long, default_value_t = 100)]
        most: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the entries word for word as they were signed, one JSON object a line
    #[command(after_help = "docs/ledger.md says how to check them without this program.")]
    Export,
}
