//! Who vouches for a mail's writer: the receiving provider's `Authentication-Results`, and nobody else's.
//!
//! Anybody can write that header too, so only the topmost one of a host the operator names counts, and only
//! if no more `Received` lines stand above it than that provider writes itself. Invariant: what cannot be
//! read vouches for nothing.

use sb_channel::{Result, Settings};

use super::settings::wrong;

/// Whose verdict is believed.
pub(super) struct Trusted {
    whose: Whose,
    /// `Received` lines that the provider puts above its verdict.
    received_above: usize,
    /// A signature of the writer's own domain is enough.
    by_signature: bool,
}

enum Whose {
    /// Of these hosts, in lower case.
    Hosts(Vec<String>),
    /// Of Microsoft's servers, which sign their verdict with no name.
    Microsoft,
}

/// What one method found.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    method: String,
    result: String,
    properties: Vec<(String, String)>,
}

impl Trusted {
    pub fn read(settings: &Settings) -> Result<Self> {
        let named = settings.needed("authserv")?.expose().to_ascii_lowercase();
        let hosts: Vec<String> = named.split([',', ' ']).filter(|host| !host.is_empty()).map(str::to_owned).collect();
        let odd = |host: &String| !host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b));
        if hosts.is_empty() || hosts.iter().any(odd) {
            return Err(wrong(
                "`authserv` must be the name that stands first in the Authentication-Results line your provider writes, such as mx.google.com; for Microsoft 365, which writes none, `microsoft`",
            ));
        }
        let above = settings.text("received_above").unwrap_or("0").trim();
        let above = above.parse().ok().filter(|lines| *lines <= 9);
        let received_above = above.ok_or_else(|| wrong("`received_above` must be a number from 0 to 9"))?;
        let whose = if hosts == ["microsoft"] { Whose::Microsoft } else { Whose::Hosts(hosts) };
        Ok(Self { whose, received_above, by_signature: settings.text("accept") == Some("dkim") })
    }

    /// Whether the provider vouches for a mail from this domain; else why not, and what to do. `head`: the mail's
    /// header fields from the top, unfolded or not.
    pub fn vouches(&self, head: &[(&str, &str)], from: &str) -> std::result::Result<(), String> {
        let found = self.found(head)?;
        if matches!(self.whose, Whose::Microsoft) && !all_pass(&found, "compauth") {
            return Err("its provider found it not authentic (compauth)".to_owned());
        }
        let dmarc: Vec<&Found> = found.iter().filter(|found| found.method == "dmarc").collect();
        let is_of = |found: &&Found| found.property("header.from").is_none_or(|of| of.eq_ignore_ascii_case(from));
        if !dmarc.is_empty() {
            return match dmarc.iter().find(|found| found.result != "pass" || !is_of(found)) {
                None => Ok(()),
                Some(found) if found.result != "pass" => Err(format!("its provider says dmarc={}", found.result)),
                Some(_) => Err("its provider's verdict is about another domain".to_owned()),
            };
        }
        let signed = found.iter().filter(|found| {
            found.method == "dkim" && found.property("header.d").is_some_and(|signer| are_aligned(signer, from))
        });
        let signed: Vec<&Found> = signed.collect();
        // Two verdicts on the same signer: the worse one counts.
        let good = |found: &&&Found| {
            let same = |other: &&&Found| other.property("header.d") == found.property("header.d");
            signed.iter().filter(same).all(|other| other.result == "pass")
        };
        match (self.by_signature, signed.iter().any(|found| good(&found))) {
            (true, true) => Ok(()),
            (true, false) => Err("its provider names no good signature of the writer's domain".to_owned()),
            (false, _) => Err("its provider says nothing of dmarc (if it never does: accept=dkim)".to_owned()),
        }
    }

    /// What the provider found: its topmost field, and those of the same group below it.
    fn found(&self, head: &[(&str, &str)]) -> std::result::Result<Vec<Found>, String> {
        let is_results = |name: &str| name.eq_ignore_ascii_case("authentication-results");
        let first = head.iter().position(|(name, value)| {
            is_results(name)
                && match self.whose {
                    Whose::Hosts(_) => self.said(value).is_some(),
                    Whose::Microsoft => true,
                }
        });
        let Some(first) = first else {
            let seen = head.iter().find(|(name, _)| is_results(name)).and_then(|(_, value)| items(value));
            let seen = seen.and_then(|items| items.into_iter().next()).and_then(word);
            return Err(match seen {
                Some(id) => format!("no verdict of the host that `authserv` names; the topmost one is of {id:?}"),
                None => "no verdict at all (Authentication-Results)".to_owned(),
            });
        };
        let above = head[..first].iter().filter(|(name, _)| name.eq_ignore_ascii_case("received")).count();
        if above > self.received_above {
            return Err(format!(
                "{above} Received lines stand above its verdict, where {} may (received_above)",
                self.received_above
            ));
        }
        let beside = |name: &str| {
            let name = name.to_ascii_lowercase();
            is_results(&name) || name == "received-spf" || name.starts_with("arc-") || name.starts_with("x-")
        };
        let group = head[first..].iter().take_while(|(name, _)| beside(name));
        let values = group.filter(|(name, _)| is_results(name)).map(|(_, value)| *value);
        let most = if matches!(self.whose, Whose::Microsoft) { 1 } else { usize::MAX };
        Ok(values.take(most).filter_map(|value| self.said(value)).flatten().collect())
    }

    /// What a field says, if it is of a host that is believed.
    fn said(&self, value: &str) -> Option<Vec<Found>> {
        let items = items(value)?;
        let mut parts = items.split(|item| *item == Item::Next);
        if let Whose::Hosts(hosts) = &self.whose {
            // Behind the name there may be a version, and nothing else.
            let id = match parts.next()? {
                [Item::Word(id)] => id,
                [Item::Word(id), Item::Word(version)] if version.bytes().all(|b| b.is_ascii_digit()) => id,
                _ => return None,
            };
            hosts.contains(&id.to_ascii_lowercase()).then_some(())?;
        }
        Some(parts.filter_map(Found::read).collect())
    }
}

impl Found {
    fn read(part: &[Item]) -> Option<Self> {
        let [Item::Word(method), Item::Is, Item::Word(result), rest @ ..] = part else { return None };
        let method = method.split('/').next().unwrap_or_default().to_ascii_lowercase();
        let properties = rest.windows(3).filter_map(|three| match three {
            [Item::Word(name), Item::Is, Item::Word(value) | Item::Quoted(value)] => {
                Some((name.to_ascii_lowercase(), value.clone()))
            }
            _ => None,
        });
        Some(Self { method, result: result.to_ascii_lowercase(), properties: properties.collect() })
    }

    fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn all_pass(found: &[Found], method: &str) -> bool {
    let mut of_method = found.iter().filter(|found| found.method == method).peekable();
    of_method.peek().is_some() && of_method.all(|found| found.result == "pass")
}

/// Whether one organisation has both domains: where it begins is what the list of public endings says.
fn are_aligned(one: &str, other: &str) -> bool {
    let organisation = |domain: &str| psl::domain_str(domain).map(str::to_owned);
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    one == other || organisation(&one).is_some_and(|of| organisation(&other).as_ref() == Some(&of))
}

/// What a field's value is made of.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    Word(String),
    /// Between quotation marks: never a name or a result.
    Quoted(String),
    Is,
    Next,
}

fn word(item: Item) -> Option<String> {
    match item {
        Item::Word(word) => Some(word),
        _ => None,
    }
}

/// Its items, without comments; none if a comment or a quotation does not end.
fn items(value: &str) -> Option<Vec<Item>> {
    let (mut items, mut chars) = (Vec::new(), value.chars().peekable());
    while let Some(next) = chars.next() {
        match next {
            '(' => {
                let mut depth = 1_u32;
                while depth > 0 {
                    match chars.next()? {
                        '\\' => drop(chars.next()?),
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                }
            }
            '"' => {
                let mut text = String::new();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => text.push(chars.next()?),
                        other => text.push(other),
                    }
                }
                items.push(Item::Quoted(text));
            }
            '=' => items.push(Item::Is),
            ';' => items.push(Item::Next),
            space if space.is_whitespace() => {}
            first => {
                let mut text = String::from(first);
                while let Some(more) = chars.next_if(|c| !c.is_whitespace() && !"()\"=;".contains(*c)) {
                    text.push(more);
                }
                items.push(Item::Word(text));
            }
        }
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use sb_channel::model::Secret;

    use super::*;

    fn trusting(pairs: &[(&str, &str)]) -> Trusted {
        let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), Secret::new((*value).to_owned())));
        Trusted::read(&Settings::new(pairs)).expect("settings")
    }
    fn mx() -> Trusted {
        trusting(&[("authserv", "mx.example.test")])
    }
    fn found(value: &str) -> Option<Vec<String>> {
        let said = |found: Vec<Found>| found.into_iter().map(|f| format!("{}={}", f.method, f.result)).collect();
        mx().said(value).map(said)
    }
    const AR: &str = "Authentication-Results";

    /// Holds: T-21.
    #[test]
    fn a_verdict_is_read_as_its_host_meant_it() {
        let whole = "mx.example.test; dmarc=pass (p=reject dis=none) header.from=example.com; spf=pass smtp.mailfrom=a@example.com; dkim=pass header.d=example.com header.s=s1";
        assert_eq!(found(whole).expect("read"), ["dmarc=pass", "spf=pass", "dkim=pass"]);
        let reason = "mx.example.test 1; dkim=fail reason=\"bad; really dmarc=pass\"";
        assert_eq!(found(reason).expect("read"), ["dkim=fail"]);
        assert_eq!(found("mx.example.test; none").expect("read"), [""; 0]);
        let hidden = "mx.example.test (; dmarc=pass header.from=evil.test); dmarc=fail header.from=evil.test";
        assert_eq!(found(hidden).expect("read"), ["dmarc=fail"]);
        let folded = "mx.example.test;\r\n (comment; with\r\n semicolon) dkim=pass header.d=a.test";
        assert_eq!(found(folded).expect("read"), ["dkim=pass"]);
        for other in [
            "evil.test; dmarc=pass header.from=example.com",
            "mx.example.test.evil.test; dmarc=pass",
            "\"mx.example.test\"; dmarc=pass",
            "mx.example.test (never ends; dmarc=pass",
            "spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=a.test; dmarc=pass action=none header.from=a.test;compauth=pass reason=100",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    /// Holds: T-21, M-email-04.
    #[test]
    fn only_the_topmost_verdict_of_the_named_host_counts() {
        let good = "mx.example.test; dmarc=pass header.from=a.test";
        let bad = "mx.example.test; dmarc=fail header.from=a.test";
        let (received, from) = (("Received", "from x by y"), ("From", "ann@a.test"));
        let mx = mx();
        assert!(mx.vouches(&[(AR, good), received, from], "a.test").is_ok());
        assert!(mx.vouches(&[(AR, "other.test; dmarc=fail"), (AR, good), received], "a.test").is_ok());
        // What a stranger wrote stands below what the provider did.
        assert!(mx.vouches(&[(AR, bad), received, (AR, good), from], "a.test").is_err());
        assert!(mx.vouches(&[received, (AR, good), from], "a.test").is_err());
        assert!(mx.vouches(&[received, from], "a.test").is_err());
        assert!(mx.vouches(&[(AR, good), ("X-Spam", "no"), (AR, bad)], "a.test").is_err(), "all must pass");
        assert!(mx.vouches(&[(AR, good)], "b.test").is_err(), "it is about another domain");
        for result in ["bestguesspass", "none", "temperror", "permerror", "neutral", "policy", "fail"] {
            let verdict = format!("mx.example.test; dmarc={result}; spf=pass smtp.mailfrom=a.test");
            assert!(mx.vouches(&[(AR, &verdict)], "a.test").is_err(), "{result}");
        }
        assert!(mx.vouches(&[(AR, "mx.example.test; spf=pass smtp.mailfrom=a.test")], "a.test").is_err());
        let one_above = trusting(&[("authserv", "MX.example.test"), ("received_above", "1")]);
        assert!(one_above.vouches(&[received, (AR, good)], "a.test").is_ok());
        assert!(one_above.vouches(&[received, received, (AR, good)], "a.test").is_err());
    }

    /// Holds: M-email-05.
    #[test]
    fn a_signature_counts_for_the_domains_of_its_organisation() {
        let by_dkim = trusting(&[("authserv", "mx.example.test"), ("accept", "dkim")]);
        let signed = |by: &str, result: &str| format!("mx.example.test; dkim={result} header.d={by}");
        let vouches = |verdicts: &[String], from: &str| {
            let head: Vec<_> = verdicts.iter().map(|verdict| (AR, verdict.as_str())).collect();
            by_dkim.vouches(&head, from).is_ok()
        };
        assert!(vouches(&[signed("example.com", "pass")], "example.com"));
        assert!(vouches(&[signed("example.com", "pass")], "news.example.com"));
        assert!(vouches(&[signed("mail.example.com", "pass")], "example.com"));
        // Anybody gets a domain below these.
        assert!(!vouches(&[signed("co.uk", "pass")], "bank.co.uk"));
        assert!(!vouches(&[signed("evil.co.uk", "pass")], "bank.co.uk"));
        assert!(!vouches(&[signed("evil.github.io", "pass")], "ann.github.io"));
        assert!(!vouches(&[signed("myexample.com", "pass")], "example.com"));
        assert!(!vouches(&[signed("a.test", "pass"), signed("a.test", "fail")], "a.test"));
        assert!(mx().vouches(&[(AR, &signed("a.test", "pass"))], "a.test").is_err(), "not unless asked for");
    }

    #[test]
    fn microsofts_nameless_verdict_needs_its_own_mode() {
        let microsoft = trusting(&[("authserv", "microsoft")]);
        let said = "spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=a.test; dmarc=pass action=none header.from=a.test;compauth=pass reason=100";
        assert!(microsoft.vouches(&[(AR, said)], "a.test").is_ok());
        let unsure = said.replace("compauth=pass", "compauth=fail");
        assert!(microsoft.vouches(&[(AR, &unsure)], "a.test").is_err());
        assert!(microsoft.vouches(&[(AR, &unsure), (AR, said)], "a.test").is_err(), "only the topmost");
    }
}
