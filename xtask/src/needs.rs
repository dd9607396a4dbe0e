//! Programs of the machine that a task needs, in one list, and how to get them.
//!
//! Only root on a Debian-like system gets them installed; anybody else is told which are missing.

use anyhow::{Result, bail};

use crate::shell::{self, command, succeeds};

/// Something outside Cargo that a task cannot do without.
pub struct Need {
    /// Succeeds where the need is met.
    probe: &'static [&'static str],
    /// The Debian package that brings it.
    package: &'static str,
}

/// A C compiler, for SQLite and for the cryptography.
pub const C_COMPILER: Need = Need { probe: &["cc", "--version"], package: "gcc libc6-dev" };
/// A C++ compiler, for libFuzzer.
pub const CXX_COMPILER: Need = Need { probe: &["c++", "--version"], package: "g++" };
/// Used by the transcript as a client.
pub const CURL: Need = Need { probe: &["curl", "--version"], package: "curl" };
/// Used by the transcript to read answers.
pub const JQ: Need = Need { probe: &["jq", "--version"], package: "jq" };
/// Python with virtual environments, for the official SDKs.
pub const PYTHON: Need =
    Need { probe: &["python3", "-c", "import venv, ensurepip"], package: "python3 python3-venv" };

/// Node.js and its package manager, of whatever age, for agents that are run for real.
pub const NODE: Need =
    Need { probe: &["sh", "-c", "node --version && npm --version"], package: "nodejs npm" };

/// Real IRC servers, services and a bouncer, which the adapter is run on.
pub const IRC_SERVERS: Need = Need {
    probe: &[
        "sh",
        "-c",
        "for it in ngircd inspircd atheme-services znc openssl; do command -v $it || exit 1; done",
    ],
    package: "ngircd inspircd atheme-services znc openssl",
};

/// What an agent looks at videos with.
pub const FFMPEG: Need = Need { probe: &["ffmpeg", "-version"], package: "ffmpeg" };

/// What `cargo xtask test` needs.
pub const TESTS: &[Need] = &[C_COMPILER, FFMPEG];

/// Sees to it that all of them are there.
pub fn ensure(needs: &[Need]) -> Result<()> {
    let packages = missing(needs);
    if packages.is_empty() {
        return Ok(());
    }
    let line = format!("apt-get install -y --no-install-recommends {}", packages.join(" "));
    if !(is_root() && succeeds(&mut command("apt-get", &["--version"]))) {
        bail!("this machine lacks what the task needs; install it first: {line}");
    }
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(packages.iter().copied());
    shell::run(command("apt-get", &["update"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
    shell::run(command("apt-get", &install).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Sees to it that a component of the Rust toolchain is there: `cargo fmt`, `cargo clippy`.
pub fn ensure_component(subcommand: &str, component: &str) -> Result<()> {
    if succeeds(&mut shell::cargo(&[subcommand, "--version"])) {
        return Ok(());
    }
    if succeeds(&mut command("rustup", &["--version"])) {
        return shell::run(&mut command("rustup", &["component", "add", component]));
    }
    bail!(
        "cargo {subcommand} is missing; install the toolchain's component {component} (rustup component add {component})"
    );
}

fn missing(needs: &[Need]) -> Vec<&'static str> {
    needs
        .iter()
        .filter(|need| !succeeds(&mut command(need.probe[0], &need.probe[1..])))
        .flat_map(|need| need.package.split(' '))
        .collect()
}

fn is_root() -> bool {
    shell::output(&mut command("id", &["-u"])).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_by_its_packages() {
        let absent = Need { probe: &["no-such-program-here"], package: "one two" };
        let present = Need { probe: &["true"], package: "three" };
        assert_eq!(missing(&[absent, present]), ["one", "two"]);
    }
}
