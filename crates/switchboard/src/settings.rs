//! How the server runs: defaults, then `<home>/switchboard.toml`, then the environment, then flags.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use sb_doors::openai::check_origin;
use sb_engine::model::ProfileName;

use crate::args::server::{LogForm, ServerFlags, Survives};
use crate::environment::Environment;
use crate::usage::usage;

/// Where the server listens if nothing says otherwise.
pub const LISTEN: &str = "127.0.0.1:8790";
const PARALLEL: usize = 64;
const MOST_PARALLEL: usize = 10_000;

/// What all of it comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub listen: SocketAddr,
    pub parallel: usize,
    pub log: LogForm,
    pub durability: Survives,
    /// The certificate's file and its key's, where TLS is spoken.
    pub tls: Option<(PathBuf, PathBuf)>,
    pub behind_proxy: bool,
    /// Where platforms reach this server, without a slash at its end.
    pub public_url: Option<String>,
    /// Origins whose pages may use OpenAI's API.
    pub cors_origins: Vec<String>,
    /// Profiles offered to other agents.
    pub a2a: Vec<ProfileName>,
    pub a2a_push_private: bool,
    /// The first profile's model, where one is named.
    pub model: Option<String>,
}

impl Settings {
    /// Puts them together.
    pub fn find(flags: ServerFlags, environment: &Environment, file: &Path) -> Result<Self> {
        let from_environment = ServerFlags { model: environment.model.clone(), ..ServerFlags::default() };
        let all = flags.or(from_environment).or(read(file)?);
        let parallel = all.parallel.unwrap_or(PARALLEL);
        if !(1..=MOST_PARALLEL).contains(&parallel) {
            return Err(usage(format!("--parallel takes 1 to {MOST_PARALLEL}, not {parallel}.")));
        }
        let tls = match (all.tls_cert, all.tls_key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) => {
                return Err(usage("--tls-cert needs --tls-key, the certificate's key.".to_owned()));
            }
            (None, Some(_)) => {
                return Err(usage("--tls-key needs --tls-cert, the key's certificate.".to_owned()));
            }
        };
        Ok(Self {
            listen: address(all.listen.as_deref().unwrap_or(LISTEN))?,
            parallel,
            log: all.log.unwrap_or_default(),
            durability: all.durability.unwrap_or_default(),
            tls,
            behind_proxy: all.behind_proxy.unwrap_or(false),
            a2a: all.a2a.into_iter().map(ProfileName).collect(),
            a2a_push_private: all.a2a_push_private.unwrap_or_default(),
            public_url: all.public_url.as_deref().map(public_url).transpose()?,
            cors_origins: all.cors_origin.map(origins).transpose()?.unwrap_or_default(),
            model: all.model,
        })
    }
}

fn origins(given: Vec<String>) -> Result<Vec<String>> {
    match given.iter().find_map(|origin| check_origin(origin).err()) {
        Some(why) => Err(usage(why)),
        None => Ok(given),
    }
}

/// Where platforms reach us: nothing but scheme, host, port and a path to put ours behind.
pub fn public_url(text: &str) -> Result<String> {
    let rest = ["https://", "http://"].iter().find_map(|begins| text.strip_prefix(begins));
    let odd = |c: char| c.is_whitespace() || c.is_control() || "?#@".contains(c);
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') && !rest.contains(odd) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err(usage(format!(
            "{text:?} is no address that a platform can call; write --public-url https://HOST, as it is reached from outside."
        ))),
    }
}

/// An address as people write it; `localhost` is one of them.
pub fn address(text: &str) -> Result<SocketAddr> {
    let spelled = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    spelled.parse().map_err(|_| {
        usage(format!("{text:?} is no address to listen on; write address:port, such as --listen {LISTEN}."))
    })
}

fn read(file: &Path) -> Result<ServerFlags> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(ServerFlags::default()),
        Err(e) => return Err(anyhow!("{} cannot be read: {e}.", file.display())),
    };
    toml::from_str(&text).map_err(|why| {
        anyhow!("{} cannot be used: {}", file.display(), why.to_string().trim_end().replace('\n', "\n  "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, flags: ServerFlags, environment: &Environment) -> Result<Settings> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("switchboard.toml");
        std::fs::write(&file, text).expect("a file");
        Settings::find(flags, environment, &file)
    }

    #[test]
    fn a_flag_goes_before_the_environment_and_that_before_the_file() {
        let environment = Environment { model: Some("openai:e".into()), ..Environment::default() };
        let flags = ServerFlags { parallel: Some(2), ..ServerFlags::default() };
        let file =
            "listen = \"[::1]:9\"\nparallel = 3\nmodel = \"openai:f\"\nlog = \"json\"\nbehind_proxy = true";
        let settings = with(file, flags, &environment).expect("settings");
        assert_eq!((settings.listen.to_string().as_str(), settings.parallel), ("[::1]:9", 2));
        assert_eq!(settings.model.as_deref(), Some("openai:e"));
        assert!(
            settings.behind_proxy && settings.log == LogForm::Json && settings.durability == Survives::Power
        );
    }

    #[test]
    fn an_unknown_key_of_the_file_is_an_error_that_names_it() {
        let error =
            with("lisen = \"x\"", ServerFlags::default(), &Environment::default()).expect_err("unknown");
        assert!(error.to_string().contains("lisen") && error.to_string().contains("listen"), "{error}");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_remedy() {
        let flags = |listen: &str| ServerFlags { listen: Some(listen.into()), ..ServerFlags::default() };
        let none = Environment::default();
        for bad in ["8790", "nowhere:1", "127.0.0.1", "127.0.0.1:99999"] {
            let error = with("", flags(bad), &none).expect_err("no address");
            assert!(error.to_string().contains("--listen"), "{error}");
        }
        assert_eq!(
            with("", flags("localhost:1"), &none).expect("settings").listen.to_string(),
            "127.0.0.1:1"
        );
        for half in ["tls_cert = \"a\"", "tls_key = \"a\""] {
            let error = with(half, ServerFlags::default(), &none).expect_err("one without the other");
            assert!(
                error.to_string().contains("--tls-cert") && error.to_string().contains("--tls-key"),
                "{error}"
            );
        }
        for bad in ["bot.example.org", "https://", "https://u:p@x", "https://x/?a", "ftp://x", ""] {
            let flags = ServerFlags { public_url: Some(bad.into()), ..ServerFlags::default() };
            let error = with("", flags, &none).expect_err("no address");
            assert!(error.to_string().contains("--public-url"), "{error}");
        }
        let whole = with("public_url = \"https://x.example/sb/\"", ServerFlags::default(), &none);
        assert_eq!(whole.expect("settings").public_url.as_deref(), Some("https://x.example/sb"));
        let error = with("parallel = 0", ServerFlags::default(), &none).expect_err("none at once");
        assert!(error.to_string().contains("--parallel"), "{error}");
    }
}
