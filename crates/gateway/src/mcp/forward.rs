//! A request of an agent to an MCP server: read, given its headers, and passed on.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde_json::{Value, json};
use terca_core::mcp_tap::{RemoteRequest, SessionOfRequest, Side};

use crate::http::event_stream::LONGEST;
use crate::http::{
    AnswerBody, TRIAL_IS_OVER, make_readable, reason, refuse, remove_hop_by_hop, request_body,
};
use crate::mcp::address::{EndpointSearch, resolve};
use crate::mcp::answer::{Hearing, McpAnswer};
use crate::mcp::hiding::HidingBody;
use crate::mcp::way::{McpWay, PROTECTED_RESOURCE, Place, WELL_KNOWN, line_of};

/// The name of a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The headers of an answer that have an address of the server, which may have a key in it.
const ADDRESSES: [HeaderName; 3] = [header::LOCATION, header::CONTENT_LOCATION, header::REFRESH];
/// The most addresses that one request is sent on to.
const MOST_REDIRECTS: usize = 5;
/// The longest document about signing in.
const LONGEST_DOCUMENT: usize = 1024 * 1024;

/// Passes a request on, and its answer back.
pub(crate) async fn forward(
    way: Arc<McpWay>,
    place: Place<'_>,
    request: Request<Incoming>,
) -> Response<AnswerBody> {
    let (parts, body) = request.into_parts();
    if parts.headers.contains_key(header::UPGRADE) {
        return refuse(StatusCode::NOT_IMPLEMENTED, "only HTTP is passed on");
    }
    let (address, known) = match place {
        Place::Server => (way.url.clone(), None),
        Place::Messages(number) => match way.endpoint(number) {
            Some(endpoint) => (endpoint.address, endpoint.session),
            None => return refuse(StatusCode::NOT_FOUND, "the server named no such address"),
        },
        Place::Document(document) => return pass_document(&way, document, &parts.headers).await,
    };
    let body = match request_body::read(body, &way.room).await {
        Ok(body) => body,
        Err(not_held) => return refuse(not_held.status, &not_held.reason),
    };
    if way.hides.is_some() && is_encoded(&parts.headers) {
        let why = "a compressed request cannot be searched for hidden tools";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    let session = text(&parts.headers, &SESSION);
    let asked = if parts.method == Method::POST {
        let line = way.masked(&body[..body.len().min(LONGEST)]);
        let line = line_of(&line, body.len());
        let session = match known {
            Some(number) => SessionOfRequest::Known(number),
            None => SessionOfRequest::Named(session),
        };
        way.hear(|talk, at_ms, events| talk.asked(at_ms, session, line, events))
    } else {
        way.hear(|talk, _, _| talk.listening(session))
    };
    let changed = (way.hides.as_ref()).and_then(|hides| hides.changed(Side::Agent, &body));
    let body = changed.map_or(body, Bytes::from);
    let mut headers = parts.headers.clone();
    make_readable(&mut headers);
    for name in way.headers.keys() {
        headers.remove(name);
    }
    headers.extend(way.headers.clone());
    let sent = tokio::select! {
        sent = send(&way, &parts, address, headers, body) => sent,
        () = way.closing.closed() => return refuse(StatusCode::BAD_GATEWAY, TRIAL_IS_OVER),
    };
    match sent {
        Ok((response, from)) => match location_of(&response) {
            Some(location) => {
                let to = (response.status(), location);
                send_on(&way, &parts.method, &asked, &from, to)
            }
            None => pass_back(&way, &parts, place, asked, response),
        },
        Err(why) => {
            let host = way
                .url
                .authority()
                .map_or("", |authority| authority.as_str());
            let message = format!("{host} could not be reached: {why}");
            let is_get = parts.method == Method::GET;
            way.hear(|talk, at_ms, events| match is_get {
                true => events.extend(talk.not_begun(at_ms, &message)),
                false => events.extend(talk.lost(&asked, at_ms, &message)),
            });
            refuse(StatusCode::BAD_GATEWAY, &message)
        }
    }
}

/// Sends a request, and sends it on within the same host, as clients would: many servers want a slash at the end of
/// their path. Returns the address that has answered, too.
async fn send(
    way: &McpWay,
    parts: &Parts,
    mut address: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(Response<Incoming>, Uri), String> {
    let mut redirects = 0;
    loop {
        let mut onward = Request::new(Full::new(body.clone()));
        *onward.method_mut() = parts.method.clone();
        *onward.uri_mut() = address.clone();
        *onward.headers_mut() = headers.clone();
        let response = way.upstream.send(onward).await;
        let response = response.map_err(|error| reason(&error))?;
        let is_sent_on = match response.status().as_u16() {
            307 | 308 => true,
            301 | 302 => parts.method == Method::GET,
            _ => false,
        };
        let next = text(response.headers(), &header::LOCATION)
            .filter(|_| is_sent_on && redirects < MOST_REDIRECTS)
            .and_then(|text| resolve(&address, text));
        match next {
            Some(next) => address = next,
            None => return Ok((response, address)),
        }
        redirects += 1;
    }
}

/// Returns the place that an answer sends the agent on to.
fn location_of(response: &Response<Incoming>) -> Option<String> {
    let location = text(response.headers(), &header::LOCATION)?;
    let is_sent_on = response.status().is_redirection();
    is_sent_on.then(|| location.to_owned())
}

/// Sends the agent on to another address of the same host, by an address of the gateway. Any other host is refused: its
/// address may have the key in it, and the headers of the suite are not for it.
fn send_on(
    way: &McpWay,
    method: &Method,
    asked: &RemoteRequest,
    from: &Uri,
    (status, location): (StatusCode, String),
) -> Response<AnswerBody> {
    let note = |why: &str| {
        way.hear(|talk, at_ms, events| {
            events.extend(if *method == Method::GET {
                talk.not_begun(at_ms, why)
            } else {
                talk.refused(asked, at_ms, why)
            });
        });
    };
    let next = resolve(from, &location);
    if let Some(ours) = next.and_then(|next| way.add_endpoint(next, None))
        && let Ok(ours) = HeaderValue::from_str(&ours)
    {
        note(&format!("HTTP {}", status.as_u16()));
        // The page that comes with it may name the address, too.
        let mut response = Response::new(
            Full::default()
                .map_err(|never| match never {})
                .boxed_unsync(),
        );
        *response.status_mut() = status;
        response.headers_mut().insert(header::LOCATION, ours);
        return response;
    }
    let host = |uri: &Uri| uri.host().unwrap_or("another address").to_owned();
    let to = location
        .parse()
        .map_or_else(|_| "another address".to_owned(), |uri| host(&uri));
    let message = format!(
        "{} redirects to {to}, which the gateway does not follow: write the address of the server itself in `url`",
        host(from)
    );
    let message = way.masked(message.as_bytes());
    note(&message);
    refuse(StatusCode::BAD_GATEWAY, &message)
}

fn pass_back(
    way: &Arc<McpWay>,
    asked_by: &Parts,
    place: Place<'_>,
    asked: RemoteRequest,
    response: Response<Incoming>,
) -> Response<AnswerBody> {
    let (mut parts, body) = response.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    let status = parts.status;
    if let Some(name) = text(&parts.headers, &SESSION) {
        way.hear(|talk, _, _| talk.named(&asked, name));
    }
    if asked_by.method == Method::DELETE && status.is_success() {
        let session = text(&asked_by.headers, &SESSION);
        way.hear(|talk, at_ms, events| events.extend(talk.ended(session, at_ms)));
    }
    let is_refused = status.is_client_error() || status.is_server_error();
    if asked_by.method == Method::GET && is_refused {
        let why = format!("HTTP {}", status.as_u16());
        way.hear(|talk, at_ms, events| events.extend(talk.not_begun(at_ms, &why)));
    }
    lead_to_documents(way, &mut parts.headers);
    for name in ADDRESSES {
        parts.headers.remove(name);
    }
    let content_type = text(&parts.headers, &header::CONTENT_TYPE).unwrap_or_default();
    let is_stream = content_type.starts_with("text/event-stream");
    let is_encoded = is_encoded(&parts.headers);
    if way.hides.is_some() && is_encoded {
        let why = "a compressed answer cannot be searched for hidden tools";
        way.hear(|talk, at_ms, events| events.extend(talk.refused(&asked, at_ms, why)));
        return refuse(StatusCode::BAD_GATEWAY, why);
    }
    let is_listening = asked_by.method == Method::GET && is_stream && !is_encoded;
    // An address for messages answers with nothing that counts, unless it refuses.
    let is_read = match place {
        Place::Messages(_) => !status.is_success(),
        Place::Server | Place::Document(_) => {
            asked_by.method == Method::POST && status != StatusCode::ACCEPTED
        }
    };
    let hearing = (is_listening || is_read)
        .then(|| Hearing::new(Arc::clone(way), asked, status, is_stream, is_encoded));
    if is_listening || way.hides.is_some() {
        // The address in the stream is replaced, and may be longer; tools are left out.
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    let search = (is_listening && place == Place::Server).then(EndpointSearch::default);
    let hiding = (way.hides.clone()).map(|hides| HidingBody::new(hides, is_stream));
    let body = McpAnswer::new(body, way, hearing, search, hiding);
    Response::from_parts(parts, body.boxed_unsync())
}

/// Puts the gateway's address in the place of that of the document about signing in.
fn lead_to_documents(way: &McpWay, headers: &mut HeaderMap) {
    const NAME: &str = "resource_metadata=\"";
    let led = headers
        .get_all(header::WWW_AUTHENTICATE)
        .iter()
        .map(|value| {
            let text = value.to_str().ok()?;
            let start = text.find(NAME)? + NAME.len();
            let end = start + text[start..].find('"')?;
            let address = resolve(&way.url, &text[start..end])?;
            way.set_protected_resource(address);
            let ours = way.document_address();
            HeaderValue::from_str(&format!("{}{ours}{}", &text[..start], &text[end..])).ok()
        });
    let led: Vec<Option<HeaderValue>> = led.collect();
    if let Some(value) = led.into_iter().flatten().next() {
        headers.insert(header::WWW_AUTHENTICATE, value);
    }
}

/// Passes a document about signing in back. Clients compare the address in it with the one that they were given.
async fn pass_document(way: &McpWay, document: &str, headers: &HeaderMap) -> Response<AnswerBody> {
    let path = way.url.path();
    let mut candidates = Vec::new();
    if document == PROTECTED_RESOURCE {
        candidates.extend(way.protected_resource());
    }
    for path in [path, ""] {
        candidates.extend(resolve(&way.url, &format!("{WELL_KNOWN}{document}{path}")));
    }
    let mut headers = headers.clone();
    make_readable(&mut headers);
    for address in candidates {
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.uri_mut() = address;
        *request.headers_mut() = headers.clone();
        let sent = tokio::select! {
            sent = way.upstream.send(request) => sent,
            () = way.closing.closed() => return refuse(StatusCode::BAD_GATEWAY, TRIAL_IS_OVER),
        };
        let response = match sent {
            Ok(response) if response.status() == StatusCode::OK => response,
            _ => continue,
        };
        let body = Limited::new(response.into_body(), LONGEST_DOCUMENT);
        let Ok(body) = body.collect().await else {
            continue;
        };
        let Ok(mut found) = serde_json::from_slice::<Value>(&body.to_bytes()) else {
            continue;
        };
        if document == PROTECTED_RESOURCE && found.get("resource").is_some() {
            found["resource"] = json!(way.address());
        }
        let body = Full::new(Bytes::from(found.to_string())).map_err(|never| match never {});
        let mut response = Response::new(body.boxed_unsync());
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        return response;
    }
    refuse(StatusCode::NOT_FOUND, "the server has no such document")
}

/// Returns whether a body is compressed.
fn is_encoded(headers: &HeaderMap) -> bool {
    text(headers, &header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
