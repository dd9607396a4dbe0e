//! Email: mail is read by IMAP and sent by SMTP.
//!
//! Translates and nothing else: [`feed`] waits for mail, [`parse`] reads it, [`verdict`] says who vouches for
//! its writer, [`compose`] writes, [`smtp`] sends. Invariant: nothing reaches the agent of a mail whose writer
//! the provider does not vouch for, and no mail of a program is ever answered.

mod address;
mod automatic;
mod compose;
mod facts;
mod feed;
mod imap;
mod parse;
mod report;
mod settings;
mod smtp;
#[cfg(feature = "standins")]
pub mod standin;
mod text;
mod thread;
mod tokens;
mod verdict;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_imap::types::NameAttribute;
use async_trait::async_trait;
use futures_util::StreamExt;
use mail_parser::MessageParser;
use sb_channel::model::text::Rendered;
use sb_channel::model::{Chat, Clock, Fault, FaultKind, FileRef, MessageRef};
use sb_channel::net::Http;
use sb_channel::{Account, Attempt, Channel, ChannelContext, Features, Inlet, Kind, OutFile, Piece, Result, Settings};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

use self::compose::Letter;
use self::feed::Inbox;
use self::imap::{Session, quoted, timed};
use self::settings::{Login, Mailbox};
use self::thread::Thread;
use self::tokens::{Key, Tokens};

/// This kind of messenger.
pub const KIND: Kind = Kind { manifest: facts::manifest, open };

/// One mailbox.
struct Email {
    http: Http,
    clock: Arc<dyn Clock>,
    mailbox: Mailbox,
    tokens: Tokens,
    /// The last mails we sent, by id and address: reports are judged by it.
    sent: Mutex<VecDeque<(String, String)>>,
}

/// Mails whose reports are still understood.
const MOST_SENT: usize = 1_000;
/// Keeping a copy and a flag is a service to people: sending does not wait for it longer than this.
const KEEPING: Duration = Duration::from_secs(20);

/// The same with its feed.
struct Post {
    email: Arc<Email>,
    inbox: Inbox,
}

fn open(context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
    let mailbox = Mailbox::read(settings)?;
    let email = Email { http: context.http, clock: context.clock, mailbox, tokens: Tokens::default(), sent: Mutex::default() };
    let email = Arc::new(email);
    Ok(Arc::new(Post { inbox: Inbox(Arc::clone(&email)), email }))
}

/// Where an attached file lies.
#[derive(Deserialize)]
struct Attached {
    v: u32,
    uid: u32,
    part: usize,
    id: String,
}

impl Email {
    async fn key(&self) -> Result<Key> {
        self.tokens.key(&self.http, self.clock.as_ref(), &self.mailbox.user, &self.mailbox.login).await
    }

    /// What is done with a key; one that is not taken is not used again, and told with what to look at.
    async fn tried<T>(&self, done: Result<T>) -> Result<T> {
        let fault = match done {
            Err(fault) if fault.kind == FaultKind::Auth => fault,
            other => return other,
        };
        self.tokens.forget().await;
        let look_at = match self.mailbox.login {
            Login::Password(_) => {
                "look at `user` and `password`: where people log in twice, it must be an app password"
            }
            Login::OAuth(_) => "look at `user` and what is set of `oauth_`",
        };
        Err(Fault { detail: format!("{}; {look_at}", fault.detail), ..fault })
    }

    async fn session(&self) -> Result<Session> {
        let key = self.key().await?;
        self.tried(imap::open(&self.http, &self.mailbox.imap, &key).await).await
    }

    async fn line(&self) -> Result<smtp::Line> {
        let key = self.key().await?;
        self.tried(smtp::Line::open(&self.http, &self.mailbox.smtp, &key).await).await
    }

    /// Sends it, and keeps a copy where people look for what was sent.
    async fn post(&self, letter: Letter<'_>, maybe_sent: bool) -> Result<()> {
        let (to, thread) = (letter.to.to_owned(), letter.thread.cloned());
        let own_id = compose::own_id(letter.key, &self.mailbox);
        let mail = letter.write(&self.mailbox)?;
        if maybe_sent {
            match self.is_filed(&own_id).await {
                Ok(true) => return Ok(()),
                // Where the provider files what it took, looking settles it: without a look nothing is repeated.
                Err(why) if self.mailbox.provider_files => return Err(why),
                Ok(false) | Err(_) => {}
            }
        }
        let mut line = self.line().await?;
        self.note(own_id, &to);
        line.submit(&self.mailbox.address, &to, &mail).await?;
        // It is sent; what follows is for people who look into the mailbox, and may fail.
        let _ = tokio::time::timeout(KEEPING, self.keep(&mail, thread.as_ref())).await;
        Ok(())
    }

    fn note(&self, own_id: String, to: &str) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.len() >= MOST_SENT {
            sent.pop_front();
        }
        sent.push_back((own_id, to.to_owned()));
    }

    /// Whether we sent a mail of that id to that address.
    fn is_sent(&self, own_id: &str, to: &str) -> bool {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.iter().any(|(id, address)| id == own_id && address == to)
    }

    /// Whether a mail of that id lies in the folder of what was sent.
    async fn is_filed(&self, own_id: &str) -> Result<bool> {
        let doing = "looking for a mail that was sent";
        let mut session = self.session().await?;
        let Some(folder) = sent_folder(&mut session).await? else { return Ok(false) };
        timed(doing, session.examine(&folder)).await?;
        let query = format!("HEADER Message-ID {}", quoted(own_id));
        let found = timed(doing, session.uid_search(query)).await?;
        let _ = session.logout().await;
        Ok(!found.is_empty())
    }

    async fn keep(&self, mail: &[u8], answers: Option<&Thread>) -> Result<()> {
        let mut session = self.session().await?;
        if !self.mailbox.provider_files
            && let Some(folder) = sent_folder(&mut session).await?
        {
            timed("keeping a copy", session.append(&folder, Some("(\\Seen)"), None, mail)).await?;
        }
        if let Some(answered) = answers.filter(|thread| thread.uid > 0) {
            let folder = timed("marking a mail", session.select(&self.mailbox.folder)).await?;
            if folder.uid_validity == Some(answered.validity) {
                let marking = async {
                    let flags = "+FLAGS.SILENT (\\Answered)";
                    let mut told = session.uid_store(answered.uid.to_string(), flags).await?;
                    while told.next().await.is_some() {}
                    Ok(())
                };
                timed("marking a mail", marking).await?;
            }
        }
        let _ = session.logout().await;
        Ok(())
    }

    /// The bytes of a mail, found by where it lies, or by its id if the mailbox was made anew.
    async fn mail(&self, at: &Attached) -> Result<Option<Vec<u8>>> {
        let mut session = self.session().await?;
        let doing = "reading a mail";
        let folder = timed(doing, session.examine(&self.mailbox.folder)).await?;
        let uid = match folder.uid_validity == Some(at.v) {
            true => Some(at.uid),
            false => {
                let query = format!("HEADER Message-ID {}", quoted(&at.id));
                timed(doing, session.uid_search(query)).await?.into_iter().max()
            }
        };
        let mail = match uid {
            Some(uid) => imap::body(&mut session, uid, None).await?,
            None => None,
        };
        let _ = session.logout().await;
        Ok(mail)
    }
}

/// The folder of what was sent, as the server says.
async fn sent_folder(session: &mut Session) -> Result<Option<String>> {
    let asking = async {
        let (mut sent, mut named) = (None, None);
        let mut folders = session.list(Some(""), Some("*")).await?;
        while let Some(folder) = folders.next().await {
            let folder = folder?;
            if folder.attributes().contains(&NameAttribute::Sent) {
                sent = Some(folder.name().to_owned());
            } else if folder.name().eq_ignore_ascii_case("sent") {
                named = Some(folder.name().to_owned());
            }
        }
        Ok(sent.or(named))
    };
    timed("looking for the folder of sent mail", asking).await
}

#[async_trait]
impl Channel for Post {
    async fn check(&self) -> Result<Account> {
        let mailbox = &self.email.mailbox;
        let mut session = self.email.session().await?;
        timed("opening the folder", session.examine(&mailbox.folder)).await?;
        let sent = sent_folder(&mut session).await?;
        let _ = session.logout().await;
        self.email.line().await?.leave().await;
        let mut account = Account::new(mailbox.address.clone(), mailbox.address.clone());
        account.link = Some(format!("mailto:{}", mailbox.address));
        if sent.is_none() {
            account.notes.push("There is no folder of sent mail: no copies are kept, and a mail whose answer is lost cannot be found there.".to_owned());
        }
        Ok(account)
    }

    fn features(&self, _: &Chat) -> Features {
        facts::features(self.email.mailbox.provider_files)
    }

    fn inlet(&self) -> Inlet<'_> {
        Inlet::Feeds(vec![("inbox", &self.inbox)])
    }

    async fn send(&self, to: &Chat, piece: Piece<'_>, attempt: &Attempt) -> Result<MessageRef> {
        let named = Rendered { text: named(&piece), spans: Vec::new() };
        let (words, files, answers) = match piece {
            Piece::Text { words, answers, .. } => (words, Vec::new(), answers),
            Piece::Files { files, answers, .. } => (&named, read(files).await?, answers),
        };
        let handle = attempt.handle.as_ref().map(|handle| handle.token.as_str());
        let thread = handle.or(answers.map(|at| at.0.as_str())).and_then(Thread::read);
        let at = self.email.clock.now();
        let letter = Letter { to: &to.id, key: &attempt.key, thread: thread.as_ref(), words, files, at };
        self.email.post(letter, attempt.maybe_sent).await?;
        Ok(MessageRef(compose::own_id(&attempt.key, &self.email.mailbox)))
    }

    async fn fetch(&self, file: &FileRef, into: &mut (dyn AsyncWrite + Unpin + Send), most: u64) -> Result<u64> {
        let refused = |detail: &str| Fault::new(FaultKind::Refused, "reading an attached file", detail);
        let at: Attached =
            serde_json::from_str(&file.reference).map_err(|_| refused("this is no file of a mail"))?;
        let gone = || refused("its mail is not in the mailbox any more");
        let mail = self.email.mail(&at).await?.ok_or_else(gone)?;
        let mail = MessageParser::default().parse(&mail).ok_or_else(gone)?;
        let part = mail.attachments().nth(at.part).ok_or_else(gone)?;
        let bytes = parse::content(part);
        if bytes.len() as u64 > most {
            return Err(refused("it is larger than is taken"));
        }
        let passing = |why: std::io::Error| {
            Fault::new(FaultKind::Passing { wait_ms: None }, "keeping an attached file", why.to_string())
        };
        into.write_all(bytes).await.map_err(passing)?;
        Ok(bytes.len() as u64)
    }
}

/// What stands in a mail that brings files.
fn named(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Files { files, .. } => {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            sb_channel::text::one_line(&names.join(", "), 500)
        }
        Piece::Text { .. } => String::new(),
    }
}

async fn read(files: &[OutFile]) -> Result<Vec<(String, String, Vec<u8>)>> {
    let passing = |why: std::io::Error| {
        Fault::new(FaultKind::Passing { wait_ms: None }, "reading a file to send", why.to_string())
    };
    let mut all = Vec::new();
    for file in files {
        let mut bytes = Vec::new();
        let opened = file.content.open().await.map_err(passing)?;
        opened.take(facts::LARGEST_OUT).read_to_end(&mut bytes).await.map_err(passing)?;
        all.push((file.name.clone(), file.media_type.clone(), bytes));
    }
    Ok(all)
}
