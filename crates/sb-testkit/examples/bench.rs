//! Measures the real program beside its floors and prints the page's body.
//! `bench BINARY [--folder DIR] [--only SECTION]… [--quick]`; `bench --echo SIZE` and
//! `bench --pass URL` are the floors it starts itself.

use sb_testkit::bench::{Plan, run, serve_echo, serve_pass};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let mut next = |what: &'static str| args.next().ok_or_else(|| anyhow::anyhow!("{what} is missing"));
    let first = next("BINARY")?;
    if first == "--echo" {
        return serve_echo(next("SIZE")?.parse()?).await;
    }
    if first == "--pass" {
        return serve_pass(next("URL")?).await;
    }
    let mut plan = Plan {
        binary: first.into(),
        own: std::env::current_exe()?,
        folder: std::env::temp_dir(),
        only: Vec::new(),
        quick: false,
    };
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or_else(|| anyhow::anyhow!("{flag} needs a value"));
        match flag.as_str() {
            "--folder" => plan.folder = value()?.into(),
            "--only" => plan.only.push(value()?),
            "--quick" => plan.quick = true,
            other => anyhow::bail!("what is {other}?"),
        }
    }
    print!("{}", run(&plan).await?);
    Ok(())
}
