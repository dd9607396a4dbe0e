//! The door described for programs: OpenAPI 3.1, made from the types that are sent and the table of codes.
//!
//! One row here is one route; a test holds the document against the running server. Routes whose wire is
//! somebody else's are in [`dialects`].

mod dialects;

use std::collections::BTreeMap;

use utoipa::openapi::content::Content;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ComponentsBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr,
    Required, Response, ResponseBuilder, Schema, Type,
};
use utoipa::{IntoParams, ToSchema};

use super::answer::Answer;
use super::error::{Code, Problem};
use super::session::{SessionQuery, SessionShown};
use super::status::Status;
use super::stream::{DeltaEvent, SessionEvent, ToolEvent};

/// A message. A plain one is `{"text": …}`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct MessageRequest {
    /// What is said, or a command such as `/status`. Needed unless files come.
    text: Option<String>,
    /// The conversation's name, at most 256 bytes; left out: one of this token's own.
    conversation: Option<String>,
    /// At most 64.
    files: Option<Vec<FileRequest>>,
    /// Answer with server-sent events while the agent works.
    stream: Option<bool>,
    /// What the message does while the agent works: `steer`, `queue`, `collect`, `interrupt`, `refuse`.
    #[schema(default = "queue")]
    busy: Option<String>,
}

/// A file of a message.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct FileRequest {
    /// Its bytes.
    base64: String,
    /// A bare name, at most 255 bytes.
    name: Option<String>,
    /// Counts where its bytes do not tell.
    media_type: Option<String>,
}

/// One route, as the document shows it.
struct Route {
    method: HttpMethod,
    path: &'static str,
    summary: &'static str,
    token: bool,
    /// The schema of a success, or text.
    gives: Option<&'static str>,
    streams: bool,
    errors: &'static [Code],
}

const TOKEN_ERRORS: &[Code] = &[Code::NoToken, Code::BadToken, Code::TooManyGuesses];

fn routes() -> Vec<Route> {
    let plain = |path, summary, gives| Route {
        method: HttpMethod::Get,
        path,
        summary,
        token: false,
        gives,
        streams: false,
        errors: &[],
    };
    vec![
        Route {
            method: HttpMethod::Post,
            path: "/v1/profiles/{profile}/messages",
            summary: "Says something to a profile's agent, or gives a command, and answers with what came of it.",
            token: true,
            gives: Some("Answer"),
            streams: true,
            errors: &[
                Code::NotJson,
                Code::UnknownField,
                Code::BadField,
                Code::NoText,
                Code::BadConversation,
                Code::TooManyFiles,
                Code::BadFileName,
                Code::BadBase64,
                Code::BadPicture,
                Code::BadKey,
                Code::BadCommand,
                Code::OtherProfile,
                Code::MayNotDecide,
                Code::MayNotInstruct,
                Code::UnknownProfile,
                Code::Unknown,
                Code::SlowBody,
                Code::Busy,
                Code::NotWaiting,
                Code::Waiting,
                Code::TooLarge,
                Code::OtherBody,
                Code::Full,
                Code::Closing,
                Code::DiskFull,
            ],
        },
        Route {
            method: HttpMethod::Get,
            path: "/v1/sessions/{id}",
            summary: "A session as it stands, or what runs in it as a stream.",
            token: true,
            gives: Some("SessionShown"),
            streams: true,
            errors: &[Code::BadField, Code::OtherProfile, Code::UnknownSession, Code::Closing],
        },
        plain("/healthz", "Whether the process serves.", Some("Status")),
        Route {
            errors: &[Code::Closing, Code::Store],
            ..plain("/readyz", "Whether messages are taken.", Some("Status"))
        },
        plain("/openapi.json", "This document.", None),
        Route {
            token: true,
            errors: &[Code::NotFound],
            ..plain("/metrics", "Numbers for Prometheus; the machine's token only.", None)
        },
    ]
}

/// The document.
pub fn document() -> OpenApi {
    let mut paths = Paths::new();
    for route in routes() {
        let method = route.method.clone();
        let item = PathItem::new(method, operation(&route));
        paths.paths.insert(route.path.to_owned(), item);
    }
    for (path, item) in dialects::paths() {
        paths.paths.insert(path.to_owned(), item);
    }
    let about = "Talk to Switchboard's agents: messages in, answers or server-sent events out. Every error has a sentence and a code.";
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Switchboard")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(about))
                .build(),
        )
        .paths(paths)
        .components(Some(components()))
        .build()
}

fn components() -> Components {
    let mut all: Vec<(String, RefOr<Schema>)> = Vec::new();
    fn add<T: ToSchema>(all: &mut Vec<(String, RefOr<Schema>)>) {
        all.push((T::name().into_owned(), T::schema()));
        T::schemas(all);
    }
    add::<MessageRequest>(&mut all);
    add::<Answer>(&mut all);
    add::<SessionShown>(&mut all);
    add::<Problem>(&mut all);
    add::<Status>(&mut all);
    add::<SessionEvent>(&mut all);
    add::<DeltaEvent>(&mut all);
    add::<ToolEvent>(&mut all);
    dialects::schemas(&mut all);
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("The machine's token, or one of a profile's own (`sb_…`)."))
        .build();
    ComponentsBuilder::new()
        .schemas_from_iter(all)
        .security_scheme("token", SecurityScheme::Http(bearer))
        .build()
}

fn operation(route: &Route) -> OperationBuilder {
    let id: String = route.path.replace(['/', '{', '}', '.'], "_").trim_matches('_').to_owned();
    let mut operation = OperationBuilder::new().summary(Some(route.summary)).operation_id(Some(id));
    for name in route.path.split('/').filter_map(|p| p.strip_prefix('{')?.strip_suffix('}')) {
        operation = operation.parameter(text_parameter(name, ParameterIn::Path, Required::True));
    }
    if route.token {
        operation = operation.security(SecurityRequirement::new("token", Vec::<String>::new()));
    }
    if route.method == HttpMethod::Post {
        let body = RequestBodyBuilder::new()
            .required(Some(Required::True))
            .content("application/json", json("MessageRequest"))
            .build();
        operation = operation
            .parameter(text_parameter("Idempotency-Key", ParameterIn::Header, Required::False))
            .request_body(Some(body));
    } else if route.streams {
        operation = operation.parameters(Some(SessionQuery::into_params(|| Some(ParameterIn::Query))));
    }
    operation = operation.response("200", success(route));
    for (status, response) in failures(route) {
        operation = operation.response(status.to_string(), response);
    }
    operation
}

fn text_parameter(name: &str, place: ParameterIn, required: Required) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn json(schema: &str) -> Content {
    Content::new(Some(Ref::from_schema_name(schema)))
}

fn success(route: &Route) -> Response {
    let text = || Content::new(Some(ObjectBuilder::new().schema_type(Type::String)));
    let mut response = ResponseBuilder::new().description("Done.");
    response = match route.gives {
        Some(schema) => response.content("application/json", json(schema)),
        None if route.path.ends_with(".json") => {
            response.content("application/json", Content::new(Some(ObjectBuilder::new())))
        }
        None => response.content("text/plain", text()),
    };
    if route.streams {
        response = response
            .description(
                "Done. As a stream: events `session`, `delta` and `tool` as they come, then `done` with the whole answer, or `error`.",
            )
            .content("text/event-stream", text());
    }
    response.build()
}

/// The errors of a route, by status, each naming its codes.
fn failures(route: &Route) -> BTreeMap<u16, Response> {
    let everywhere = [Code::CrossOrigin, Code::WrongHost, Code::Internal];
    let tokens = if route.token { TOKEN_ERRORS } else { &[] };
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in everywhere.iter().chain(tokens).chain(route.errors) {
        by_status.entry(code.status()).or_default().push(code.word());
    }
    let response = |(status, words): (u16, Vec<&str>)| {
        let said = words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
        let mut response =
            ResponseBuilder::new().description(said).content("application/json", json("Problem"));
        let text = || ObjectBuilder::new().schema_type(Type::String).build();
        if status == 401 {
            response = response.header("WWW-Authenticate", HeaderBuilder::new().schema(Some(text())).build());
        }
        if matches!(status, 429 | 503) {
            response = response.header("Retry-After", HeaderBuilder::new().schema(Some(text())).build());
        }
        (status, response.build())
    };
    by_status.into_iter().map(response).collect()
}
