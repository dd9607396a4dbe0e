//! Where a task's changes are posted to.

use serde_json::{Map, Value, json};

use super::{Unreadable, Version, field, needed, put, text};

/// A webhook of a task's. Credentials are read, and never written again.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Push {
    pub id: Option<String>,
    pub url: String,
    /// Sent along, so that the receiver knows what it is about.
    pub token: Option<String>,
    /// How we show who we are, such as `Bearer`, in any spelling.
    pub scheme: Option<String>,
    pub credentials: Option<String>,
}

impl std::fmt::Debug for Push {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Push").field("id", &self.id).field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl Push {
    /// Reads a webhook of either version.
    ///
    /// # Errors
    /// If it has no address.
    pub fn read(push: &Value) -> Result<Self, Unreadable> {
        let how = field(push, "authentication");
        let scheme = how.and_then(|how| {
            let first = field(how, "schemes").and_then(Value::as_array).and_then(|all| all.first());
            text(how, "scheme").or_else(|| first.and_then(Value::as_str)).map(str::to_owned)
        });
        Ok(Self {
            id: text(push, "id").map(str::to_owned),
            url: needed(push, "url")?,
            token: text(push, "token").map(str::to_owned),
            scheme,
            credentials: how.and_then(|how| text(how, "credentials")).map(str::to_owned),
        })
    }

    /// The parameters that set one: the task's id, and the webhook.
    ///
    /// # Errors
    /// Which field is wrong, and why.
    pub fn read_set(params: &Value) -> Result<(String, Self), Unreadable> {
        let task = needed(params, "taskId")?;
        match field(params, "pushNotificationConfig") {
            Some(push) => {
                Push::read(push).map(|push| (task, push)).map_err(|why| why.within("pushNotificationConfig"))
            }
            None => Push::read(params).map(|push| (task, push)),
        }
    }

    /// The parameters that name one: the task's id, and the webhook's if it is named.
    ///
    /// # Errors
    /// Which field is wrong, and why.
    pub fn read_named(params: &Value, version: Version) -> Result<(String, Option<String>), Unreadable> {
        match version {
            Version::V0_3 => {
                let id = text(params, "pushNotificationConfigId").map(str::to_owned);
                Ok((needed(params, "id")?, id))
            }
            Version::V1_0 => Ok((needed(params, "taskId")?, text(params, "id").map(str::to_owned))),
        }
    }

    /// The webhook of a task, as it is looked up.
    pub fn write(&self, task: &str, version: Version) -> Value {
        match version {
            Version::V0_3 => json!({"taskId": task, "pushNotificationConfig": self.shown(version)}),
            Version::V1_0 => {
                let mut push = self.shown(version);
                push["taskId"] = task.into();
                push
            }
        }
    }

    /// The webhook alone, its credentials with it: as whoever wants to be told gives it.
    pub fn write_bare(&self, version: Version) -> Value {
        let mut push = self.shown(version);
        if let Some(credentials) = &self.credentials {
            push["authentication"]["credentials"] = credentials.as_str().into();
        }
        push
    }

    fn shown(&self, version: Version) -> Value {
        let mut push = Map::new();
        put(&mut push, "id", self.id.as_deref());
        push.insert("url".to_owned(), self.url.as_str().into());
        put(&mut push, "token", self.token.as_deref());
        let how = |scheme: &String| match version {
            Version::V0_3 => json!({"schemes": [scheme]}),
            Version::V1_0 => json!({"scheme": scheme}),
        };
        put(&mut push, "authentication", self.scheme.as_ref().map(how));
        push.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push() -> Push {
        Push {
            id: Some("p1".into()),
            url: "https://x/hook".into(),
            token: Some("t0ken".into()),
            scheme: Some("Bearer".into()),
            credentials: Some("s3cret".into()),
        }
    }

    #[test]
    fn each_version_names_a_webhook_and_its_task_in_its_own_way() {
        let old = json!({"taskId": "t", "pushNotificationConfig": push().write_bare(Version::V0_3)});
        assert_eq!(Push::read_set(&old), Ok(("t".to_owned(), push())));
        let mut new = push().write_bare(Version::V1_0);
        new["task_id"] = "t".into();
        assert_eq!(Push::read_set(&new), Ok(("t".to_owned(), push())));
        let named = Ok(("t".to_owned(), Some("p".to_owned())));
        assert_eq!(
            Push::read_named(&json!({"id": "t", "pushNotificationConfigId": "p"}), Version::V0_3),
            named
        );
        assert_eq!(Push::read_named(&json!({"taskId": "t", "id": "p"}), Version::V1_0), named);
    }

    #[test]
    fn credentials_never_come_back() {
        for version in [Version::V0_3, Version::V1_0] {
            let shown = push().write("t", version).to_string();
            assert!(shown.contains("Bearer") && !shown.contains("s3cret"), "{shown}");
        }
        assert!(!format!("{:?}", push()).contains("s3cret"));
    }
}
