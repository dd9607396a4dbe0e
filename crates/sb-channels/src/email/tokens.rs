//! What we log in with: a password, or a token that is got anew before it is over.

use std::time::Duration;

use sb_channel::Result;
use sb_channel::model::{Clock, Fault, FaultKind, Secret, Timestamp};
use sb_channel::net::{Content, Http, Method, Request};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::settings::{Grant, Login};

/// A token is got anew so long before it is over.
const EARLY_MS: i64 = 120_000;

/// What a server is shown.
#[derive(Clone)]
pub(super) enum Key {
    Password { user: String, password: Secret },
    Token { user: String, token: Secret },
}

impl Key {
    /// As XOAUTH2 has it.
    pub fn xoauth2(&self) -> String {
        match self {
            Key::Password { .. } => String::new(),
            Key::Token { user, token } => format!("user={user}\x01auth=Bearer {}\x01\x01", token.expose()),
        }
    }
}

/// The token that is good now, and until when.
#[derive(Default)]
pub(super) struct Tokens(Mutex<Option<(Secret, Timestamp)>>);

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    expires_in: Option<i64>,
}

impl Tokens {
    /// What to log in with.
    pub async fn key(&self, http: &Http, clock: &dyn Clock, user: &str, login: &Login) -> Result<Key> {
        let user = user.to_owned();
        let grant = match login {
            Login::Password(password) => return Ok(Key::Password { user, password: password.clone() }),
            Login::OAuth(grant) => grant,
        };
        let mut kept = self.0.lock().await;
        if let Some((token, until)) = &*kept
            && *until > clock.now()
        {
            return Ok(Key::Token { user, token: token.clone() });
        }
        let granted = ask(http, grant).await?;
        let lasts_ms = granted.expires_in.unwrap_or(3600).clamp(0, 86_400) * 1000 - EARLY_MS;
        let token = Secret::new(granted.access_token);
        *kept = Some((token.clone(), clock.now().plus_ms(lasts_ms.max(0))));
        Ok(Key::Token { user, token })
    }

    /// The token was not taken: the next one is got anew.
    pub async fn forget(&self) {
        *self.0.lock().await = None;
    }
}

async fn ask(http: &Http, grant: &Grant) -> Result<Granted> {
    let mut form = vec![("client_id", grant.client.as_str())];
    match &grant.refresh {
        Some(refresh) => form.extend([("grant_type", "refresh_token"), ("refresh_token", refresh.expose())]),
        None => form.push(("grant_type", "client_credentials")),
    }
    form.extend(grant.secret.iter().map(|secret| ("client_secret", secret.expose())));
    form.extend(grant.scope.iter().map(|scope| ("scope", scope.as_str())));
    let form = form.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let request = Request::new(Method::Post, Secret::new(grant.url.clone()), Content::Form(form));
    let reply = http.send(request.patient_for(Duration::from_secs(30))).await?;
    if !reply.is_success() {
        let fault = reply.fault();
        // What the grant's server does not take are credentials, whatever status it says so by.
        let kind = if matches!(fault.kind, FaultKind::Refused) { FaultKind::Auth } else { fault.kind };
        return Err(Fault { kind, doing: "getting a token".to_owned(), ..fault });
    }
    serde_json::from_slice(&reply.body).map_err(|_| reply.garbled("a token"))
}
