//! The IMAP server: as much of it as mail programs use to read one mailbox.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_channel::net::Stream;
use sb_channel::standin::Breakage;
use tokio::io::{AsyncWriteExt, BufReader};

use super::command::{Wire, Word, command, line, say};
use super::folder::{Folder, Mail};
use super::{ADDRESS, PASSWORD, Provider, State};

const CAN: &str = "CAPABILITY IMAP4rev1 IDLE UIDPLUS SPECIAL-USE LITERAL+ AUTH=PLAIN AUTH=XOAUTH2";

/// What a connection is at.
struct Talk<'a> {
    provider: &'a Provider,
    wire: Wire,
    is_in: bool,
    /// The open folder is that of sent mail; none is open.
    at: Option<bool>,
    read_only: bool,
    /// Mails the client was told of.
    told: usize,
}

/// Serves one connection until it ends.
pub(super) async fn talk(provider: &Provider, stream: Box<dyn Stream>) -> io::Result<()> {
    let wire = BufReader::new(stream);
    let mut talk = Talk { provider, wire, is_in: false, at: None, read_only: false, told: 0 };
    say(&mut talk.wire, &format!("* OK [{CAN}] Ready")).await?;
    while let Some(words) = command(&mut talk.wire).await? {
        provider.change(|state| state.requests += 1);
        let Some(tag) = words.first().map(Word::text) else { continue };
        let mut rest = &words[1..];
        let mut name = rest.first().map(Word::text).unwrap_or_default().to_ascii_uppercase();
        rest = rest.get(1..).unwrap_or_default();
        let by_uid = name == "UID";
        if by_uid {
            name = rest.first().map(Word::text).unwrap_or_default().to_ascii_uppercase();
            rest = rest.get(1..).unwrap_or_default();
        }
        let ended = talk.act(&name, by_uid, rest).await?;
        say(&mut talk.wire, &format!("{tag} {ended}")).await?;
        if name == "LOGOUT" {
            return Ok(());
        }
    }
    Ok(())
}

impl Talk<'_> {
    /// Does a command; how it ended.
    async fn act(&mut self, name: &str, by_uid: bool, rest: &[Word]) -> io::Result<String> {
        let text = |at: usize| rest.get(at).map(Word::text).unwrap_or_default();
        Ok(match name {
            "CAPABILITY" => {
                say(&mut self.wire, &format!("* {CAN}")).await?;
                "OK Done".to_owned()
            }
            "NOOP" | "CHECK" => {
                self.tell().await?;
                "OK Done".to_owned()
            }
            "LOGOUT" => {
                say(&mut self.wire, "* BYE Farewell").await?;
                "OK Done".to_owned()
            }
            "LOGIN" => self.log_in(text(0) == ADDRESS && text(1) == PASSWORD),
            "AUTHENTICATE" => self.authenticate(&text(0), rest.get(1).map(Word::text)).await?,
            _ if !self.is_in => "BAD Log in first".to_owned(),
            "LIST" | "LSUB" => {
                say(&mut self.wire, "* LIST (\\HasNoChildren) \"/\" INBOX").await?;
                say(&mut self.wire, "* LIST (\\HasNoChildren \\Sent) \"/\" Sent").await?;
                "OK Done".to_owned()
            }
            "SELECT" | "EXAMINE" => self.select(&text(0), name == "EXAMINE").await?,
            "APPEND" => self.append(rest),
            _ if self.at.is_none() => "BAD Open a folder first".to_owned(),
            "SEARCH" => self.search(by_uid, rest).await?,
            "FETCH" => self.fetch(by_uid, &text(0), &text(1)).await?,
            "STORE" => self.store(by_uid, &text(0), &text(1), &text(2)).await?,
            "IDLE" => self.idle().await?,
            "CLOSE" | "UNSELECT" => {
                self.at = None;
                "OK Done".to_owned()
            }
            _ => "BAD No such command".to_owned(),
        })
    }

    fn log_in(&mut self, is_right: bool) -> String {
        match self.provider.change(|state| state.logins.pop_front()) {
            Some(Breakage::Revoked) => return "NO [AUTHENTICATIONFAILED] Not taken".to_owned(),
            Some(Breakage::RateLimit(_)) => return "NO [LIMIT] Too many".to_owned(),
            Some(_) => return "NO [UNAVAILABLE] Try again later".to_owned(),
            None if !is_right => return "NO [AUTHENTICATIONFAILED] Wrong user or password".to_owned(),
            None => {}
        }
        self.is_in = true;
        format!("OK [{CAN}] Logged in")
    }

    async fn authenticate(&mut self, way: &str, first: Option<String>) -> io::Result<String> {
        let said = match first {
            Some(said) => said.into_bytes(),
            None => {
                say(&mut self.wire, "+ ").await?;
                line(&mut self.wire).await?.unwrap_or_default()
            }
        };
        let said = String::from_utf8_lossy(&STANDARD.decode(said).unwrap_or_default()).into_owned();
        let is_right = match way.to_ascii_uppercase().as_str() {
            "PLAIN" => said == format!("\0{ADDRESS}\0{PASSWORD}"),
            "XOAUTH2" => said == format!("user={ADDRESS}\x01auth=Bearer {PASSWORD}\x01\x01"),
            _ => return Ok("NO No such way".to_owned()),
        };
        if !is_right && way.eq_ignore_ascii_case("XOAUTH2") {
            say(&mut self.wire, &format!("+ {}", STANDARD.encode("{\"status\":\"401\"}"))).await?;
            line(&mut self.wire).await?;
        }
        Ok(self.log_in(is_right))
    }

    fn folder<T>(&self, read: impl FnOnce(&Folder) -> T) -> T {
        let sent = self.at == Some(true);
        self.provider.look(|state| read(if sent { &state.sent } else { &state.inbox }))
    }

    async fn select(&mut self, name: &str, read_only: bool) -> io::Result<String> {
        self.at = match name.to_ascii_uppercase().as_str() {
            "INBOX" => Some(false),
            "SENT" => Some(true),
            _ => return Ok("NO [NONEXISTENT] No such folder".to_owned()),
        };
        self.read_only = read_only;
        let (count, validity, next) = self.folder(|folder| (folder.mails.len(), folder.validity, folder.next));
        self.told = count;
        for told in [
            "FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)".to_owned(),
            "OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*)] Flags".to_owned(),
            format!("{count} EXISTS"),
            "0 RECENT".to_owned(),
            format!("OK [UIDVALIDITY {validity}] Valid"),
            format!("OK [UIDNEXT {next}] Next"),
        ] {
            say(&mut self.wire, &format!("* {told}")).await?;
        }
        Ok(format!("OK [{}] Open", if read_only { "READ-ONLY" } else { "READ-WRITE" }))
    }

    /// Tells of mails the client does not know of.
    async fn tell(&mut self) -> io::Result<()> {
        let count = if self.at.is_some() { self.folder(|folder| folder.mails.len()) } else { self.told };
        if count != self.told {
            self.told = count;
            say(&mut self.wire, &format!("* {count} EXISTS")).await?;
        }
        Ok(())
    }

    fn append(&self, rest: &[Word]) -> String {
        let Some((Word::Bytes(raw), before)) = rest.split_last() else { return "BAD No mail".to_owned() };
        let flags = before.iter().map(Word::text).find(|word| word.starts_with('(')).unwrap_or_default();
        let flags: Vec<String> = flags.trim_matches(['(', ')']).split_whitespace().map(str::to_owned).collect();
        let name = before.first().map(Word::text).unwrap_or_default();
        let now = self.provider.0.clock.now();
        self.provider.change(|state| {
            let folder = match name.to_ascii_uppercase().as_str() {
                "INBOX" => &mut state.inbox,
                "SENT" => &mut state.sent,
                _ => return "NO [TRYCREATE] No such folder".to_owned(),
            };
            let uid = folder.add(raw.clone(), now, &flags);
            format!("OK [APPENDUID {} {uid}] Kept", folder.validity)
        })
    }

    async fn search(&mut self, by_uid: bool, rest: &[Word]) -> io::Result<String> {
        let found = self.folder(|folder| {
            let fits = |at: &usize| fits(folder, *at, rest);
            let all: Vec<usize> = (0..folder.mails.len()).filter(fits).collect();
            let number = |at: usize| if by_uid { folder.mails[at].uid as usize } else { at + 1 };
            all.into_iter().map(|at| format!(" {}", number(at))).collect::<String>()
        });
        say(&mut self.wire, &format!("* SEARCH{found}")).await?;
        if by_uid {
            self.tell().await?;
        }
        Ok("OK Done".to_owned())
    }

    async fn fetch(&mut self, by_uid: bool, set: &str, items: &str) -> io::Result<String> {
        let items = items.to_ascii_uppercase();
        let told = self.folder(|folder| {
            let chosen = folder.chosen(set, by_uid);
            chosen.into_iter().map(|at| fetched(&folder.mails[at], at + 1, &items, by_uid)).collect::<Vec<_>>()
        });
        for one in told {
            self.wire.write_all(&one).await?;
        }
        if !items.contains("PEEK") && !self.read_only && (items.contains("BODY[") || items.contains("RFC822)")) {
            self.put(by_uid, set, '+', &["\\Seen".to_owned()]);
        }
        if by_uid {
            self.tell().await?;
        }
        Ok("OK Done".to_owned())
    }

    async fn store(&mut self, by_uid: bool, set: &str, how: &str, flags: &str) -> io::Result<String> {
        if self.read_only {
            return Ok("NO [READ-ONLY] Nothing is changed here".to_owned());
        }
        let flags: Vec<String> = flags.trim_matches(['(', ')']).split_whitespace().map(str::to_owned).collect();
        self.put(by_uid, set, how.chars().next().unwrap_or('+'), &flags);
        if !how.to_ascii_uppercase().ends_with(".SILENT") {
            let told = self.folder(|folder| {
                let chosen = folder.chosen(set, by_uid);
                chosen.into_iter().map(|at| fetched(&folder.mails[at], at + 1, "(FLAGS)", by_uid)).collect::<Vec<_>>()
            });
            for one in told {
                self.wire.write_all(&one).await?;
            }
        }
        Ok("OK Done".to_owned())
    }

    fn put(&self, by_uid: bool, set: &str, how: char, flags: &[String]) {
        let sent = self.at == Some(true);
        self.provider.change(|state: &mut State| {
            let folder = if sent { &mut state.sent } else { &mut state.inbox };
            for at in folder.chosen(set, by_uid) {
                let known = &mut folder.mails[at].flags;
                match how {
                    '-' => known.retain(|flag| !flags.contains(flag)),
                    '+' => known.extend(flags.iter().cloned()),
                    _ => *known = flags.iter().cloned().collect(),
                }
            }
        });
    }

    async fn idle(&mut self) -> io::Result<String> {
        say(&mut self.wire, "+ idling").await?;
        let mut changed = self.provider.0.changed.subscribe();
        loop {
            self.tell().await?;
            tokio::select! {
                said = line(&mut self.wire) => return Ok(match said? {
                    Some(said) if said.eq_ignore_ascii_case(b"DONE") => "OK Done".to_owned(),
                    _ => "BAD Say DONE".to_owned(),
                }),
                _ = changed.changed() => {}
            }
        }
    }
}

/// Whether a mail fits all that is asked for.
fn fits(folder: &Folder, at: usize, asked: &[Word]) -> bool {
    let (mail, mut words) = (&folder.mails[at], asked.iter().map(Word::text));
    while let Some(word) = words.next() {
        let fits = match word.to_ascii_uppercase().as_str() {
            "ALL" => true,
            "UNSEEN" => !mail.flags.contains("\\Seen"),
            "SEEN" => mail.flags.contains("\\Seen"),
            "UNKEYWORD" => words.next().is_some_and(|flag| !mail.flags.contains(&flag)),
            "KEYWORD" => words.next().is_some_and(|flag| mail.flags.contains(&flag)),
            "UID" => words.next().is_some_and(|set| folder.chosen(&set, true).contains(&at)),
            "SINCE" => words.next().is_some_and(|day| mail.is_since(&day)),
            "CHARSET" => words.next().is_some(),
            "HEADER" => {
                let (name, held) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                mail.field(&name).to_ascii_lowercase().contains(&held.to_ascii_lowercase())
            }
            set => folder.chosen(set, false).contains(&at),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// A mail as it is told of.
fn fetched(mail: &Mail, number: usize, items: &str, by_uid: bool) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    if by_uid || items.contains("UID") {
        parts.push(format!("UID {}", mail.uid).into_bytes());
    }
    if items.contains("FLAGS") {
        parts.push(format!("FLAGS ({})", mail.flags()).into_bytes());
    }
    if items.contains("INTERNALDATE") {
        parts.push(format!("INTERNALDATE \"{}\"", mail.internal_date()).into_bytes());
    }
    if items.contains("RFC822.SIZE") {
        parts.push(format!("RFC822.SIZE {}", mail.raw.len()).into_bytes());
    }
    let header_end = mail.raw.windows(4).position(|four| four == b"\r\n\r\n").map_or(mail.raw.len(), |at| at + 4);
    let mut content = |name: String, bytes: &[u8]| {
        let mut part = format!("{name} {{{}}}\r\n", bytes.len()).into_bytes();
        part.extend_from_slice(bytes);
        parts.push(part);
    };
    if items.contains("BODY.PEEK[HEADER]") || items.contains("BODY[HEADER]") {
        content("BODY[HEADER]".to_owned(), &mail.raw[..header_end]);
    }
    if let Some(at) = items.find("[]") {
        let range = items[at + 2..].strip_prefix('<').and_then(|range| range.split_once('>'));
        let range = range.and_then(|(range, _)| range.split_once('.'));
        match range.and_then(|(from, most)| Some((from.parse::<usize>().ok()?, most.parse::<usize>().ok()?))) {
            Some((from, most)) => {
                let from = from.min(mail.raw.len());
                let to = from.saturating_add(most).min(mail.raw.len());
                content(format!("BODY[]<{from}>"), &mail.raw[from..to]);
            }
            None => content("BODY[]".to_owned(), &mail.raw),
        }
    }
    if items.contains("RFC822)") || items == "RFC822" {
        content("RFC822".to_owned(), &mail.raw);
    }
    let mut told = format!("* {number} FETCH (").into_bytes();
    told.extend(parts.join(&b' '));
    told.extend(b")\r\n");
    told
}
