//! Pages of other origins: only those that were named.

use reqwest::Method;
use serde_json::json;

use super::{Talk, is_error, post};
use crate::server::{MACHINE, Server, reply};

const PAGE: &str = "https://chat.example.org";

#[tokio::test]
async fn a_page_may_ask_only_if_its_origin_is_named() {
    for (allowed, may) in
        [(vec![], false), (vec![PAGE], true), (vec!["*"], true), (vec!["https://x.example"], false)]
    {
        let server = Server::allowing(&allowed).await;
        let ahead = server
            .request(Method::OPTIONS, "/v1/chat/completions")
            .header("origin", PAGE)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,content-type,x-stainless-lang");
        let ahead = reply(ahead).await;
        let asked = post(&server, MACHINE, &Talk::new().with("hello").body()).header("origin", PAGE);
        let asked = reply(asked).await;
        if may {
            assert_eq!(ahead.status, 204);
            assert_eq!(ahead.headers["access-control-allow-origin"], PAGE);
            assert_eq!(
                ahead.headers["access-control-allow-headers"],
                "authorization,content-type,x-stainless-lang"
            );
            assert!(ahead.headers.contains_key("access-control-max-age"));
            assert_eq!(asked.succeeded().headers["access-control-allow-origin"], PAGE);
            let refused = post(&server, "nobody's-token", &json!({})).header("origin", PAGE);
            let refused = reply(refused).await;
            assert_eq!(
                (refused.status, &refused.headers["access-control-allow-origin"]),
                (401, &PAGE.parse().unwrap())
            );
        } else {
            is_error(&ahead, 403, "permission_error", json!(null), json!(null));
            is_error(&asked, 403, "permission_error", json!(null), json!(null));
        }
        // The other doors are for no page.
        let other = server.post(MACHINE, json!({"text": "hello"})).header("origin", PAGE);
        reply(other).await.is_error(403, "cross_origin");
    }
}
