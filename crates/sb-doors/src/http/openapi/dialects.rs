//! The routes of the document whose wire others have made: OpenAI's chat API and A2A.
//!
//! Their makers describe those wires in full. Here stands what this server reads of a request, and which
//! statuses it answers with; an answer's fields are the makers'.

use utoipa::openapi::path::{HttpMethod, OperationBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, ObjectBuilder, PathItem, RefOr, Required, ResponseBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::{json, text_parameter};

/// A request to the chat. All other fields are taken and change nothing.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct ChatRequest {
    /// A profile's name.
    model: String,
    /// All that was said, at most 2,048 messages; the last one is a person's.
    messages: Vec<serde_json::Value>,
    /// Answer in chunks while the agent works.
    stream: Option<bool>,
    /// `{"include_usage": true}` adds a chunk that counts tokens.
    stream_options: Option<serde_json::Value>,
}

/// The same in the newer API's words. All other fields are taken and change nothing.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct ResponseRequest {
    /// A profile's name.
    model: String,
    /// What is said, or a list of all that was said.
    input: serde_json::Value,
    /// The chat's system text.
    instructions: Option<String>,
    /// The id of the answer to go on from.
    previous_response_id: Option<String>,
    /// Answer with events while the agent works.
    stream: Option<bool>,
}

/// A refusal in OpenAI's shape.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what another type writes")]
struct AppError {
    error: AppErrorDetail,
}

/// What was refused, and why.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what another type writes")]
struct AppErrorDetail {
    /// A sentence.
    message: String,
    #[schema(rename = "type")]
    kind: String,
    /// The field it is about.
    param: Option<String>,
    code: Option<String>,
}

/// Statuses that any route with a token may answer with.
const ASKED: &[u16] = &[401, 403, 421, 429, 500, 503];
/// Those of a route that takes a message, besides.
const TAKING: &[u16] = &[400, 404, 408, 409, 413, 422, 507];

/// One route of another's wire.
struct Route {
    method: HttpMethod,
    path: &'static str,
    summary: &'static str,
    token: bool,
    /// The schema of the body, or any JSON object.
    body: Option<&'static str>,
    /// Media types of a success.
    gives: &'static [&'static str],
    errors: &'static [u16],
    /// The schema of a refusal.
    refusal: &'static str,
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

fn routes() -> Vec<Route> {
    let app = |path, summary, gives, errors| Route {
        method: HttpMethod::Get,
        path,
        summary,
        token: true,
        body: None,
        gives,
        errors,
        refusal: "AppError",
    };
    let card =
        |path, summary| Route { token: false, refusal: "Problem", ..app(path, summary, &[JSON], &[404]) };
    vec![
        app("/v1/models", "The profiles a token reaches, as OpenAI's models.", &[JSON], &[]),
        app("/v1/models/{id}", "One of them.", &[JSON], &[404]),
        Route {
            method: HttpMethod::Post,
            body: Some("ChatRequest"),
            ..app("/v1/chat/completions", "OpenAI's chat completions.", &[JSON, EVENTS], TAKING)
        },
        Route {
            method: HttpMethod::Post,
            body: Some("ResponseRequest"),
            ..app("/v1/responses", "OpenAI's responses.", &[JSON, EVENTS], TAKING)
        },
        app("/v1/files/{id}", "A file the agent shared, by the link of its answer.", &["*/*"], &[404]),
        app("/v1/files/{id}/content", "The same.", &["*/*"], &[404]),
        card("/.well-known/agent-card.json", "The A2A card of the first profile that is offered."),
        card("/v1/profiles/{profile}/agent-card.json", "The A2A card of a profile that is offered."),
        card("/v1/profiles/{profile}/.well-known/agent-card.json", "The same."),
        Route {
            method: HttpMethod::Post,
            path: "/v1/profiles/{profile}/a2a",
            summary: "A2A over JSON-RPC, for a profile that is offered.",
            body: Some("A2aRequest"),
            gives: &[JSON, EVENTS],
            errors: &[400, 404, 408, 413],
            refusal: "Problem",
            ..app("", "", &[], &[])
        },
    ]
}

/// These routes.
pub(super) fn paths() -> impl Iterator<Item = (&'static str, PathItem)> {
    routes().into_iter().map(|route| (route.path, PathItem::new(route.method.clone(), operation(&route))))
}

/// What they name.
pub(super) fn schemas(all: &mut Vec<(String, RefOr<Schema>)>) {
    for (name, schema) in [
        (ChatRequest::name(), ChatRequest::schema()),
        (ResponseRequest::name(), ResponseRequest::schema()),
        (AppError::name(), AppError::schema()),
        (AppErrorDetail::name(), AppErrorDetail::schema()),
    ] {
        all.push((name.into_owned(), schema));
    }
    let call = ObjectBuilder::new().description(Some("A call of JSON-RPC 2.0, as A2A has it.")).build();
    all.push(("A2aRequest".to_owned(), RefOr::T(Schema::Object(call))));
}

fn operation(route: &Route) -> OperationBuilder {
    let id: String = route.path.replace(['/', '{', '}', '.', '-'], "_").trim_matches('_').to_owned();
    let mut operation = OperationBuilder::new().summary(Some(route.summary)).operation_id(Some(id));
    for name in route.path.split('/').filter_map(|p| p.strip_prefix('{')?.strip_suffix('}')) {
        operation = operation.parameter(text_parameter(name, ParameterIn::Path, Required::True));
    }
    if route.token {
        operation = operation.security(SecurityRequirement::new("token", Vec::<String>::new()));
    }
    if let Some(schema) = route.body {
        let body =
            RequestBodyBuilder::new().required(Some(Required::True)).content(JSON, json(schema)).build();
        operation = operation.request_body(Some(body));
    }
    let mut done = ResponseBuilder::new().description("Done.");
    for media in route.gives {
        let kind = if *media == JSON { Type::Object } else { Type::String };
        done = done.content(*media, Content::new(Some(ObjectBuilder::new().schema_type(kind))));
    }
    operation = operation.response("200", done.build());
    let asked = if route.token { ASKED } else { &[403, 421, 500] };
    for status in asked.iter().chain(route.errors) {
        let refused = ResponseBuilder::new().description("Refused.").content(JSON, json(route.refusal));
        operation = operation.response(status.to_string(), refused.build());
    }
    operation
}
