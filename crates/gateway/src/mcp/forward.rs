//! A request of an agent to an MCP server: read, given its headers, and passed on.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use terca_core::mcp_tap::{RemoteRequest, Side};
use terca_core::wire::messages::Framing;

use crate::http::watched_body::WatchedBody;
use crate::http::{
    AnswerBody, TRIAL_IS_OVER, framing, is_encoded, make_readable, reason, refuse,
    remove_hop_by_hop, request_body, text,
};
use crate::mcp::answer::McpAnswer;
use crate::mcp::way::{McpPlace, McpWay, SESSION};

/// The headers of an answer that are not passed on: those that may have an address of the server, which may have a key in
/// it, and its length, which changes.
const NOT_PASSED: [HeaderName; 5] = [
    header::CONTENT_LENGTH,
    header::LOCATION,
    header::CONTENT_LOCATION,
    header::REFRESH,
    header::WWW_AUTHENTICATE,
];

/// Passes a request on, and its answer back.
pub(crate) async fn forward(
    way: Arc<McpWay>,
    place: McpPlace,
    request: Request<Incoming>,
) -> Response<AnswerBody> {
    let (parts, body) = request.into_parts();
    let (address, known) = match place {
        McpPlace::Server => (way.server.url.clone(), None),
        McpPlace::Messages(number) => match way.endpoint(number) {
            Some(endpoint) => endpoint,
            None => return refuse(StatusCode::NOT_FOUND, "the server named no such address"),
        },
    };
    let body = match request_body::read(body, &way.room).await {
        Ok(body) => body,
        Err((status, reason)) => return refuse(status, &reason),
    };
    if way.hides.is_some() && is_encoded(&parts.headers) {
        let why = "a compressed request cannot be searched for hidden tools";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    let session = text(&parts.headers, &SESSION);
    let asked = match parts.method == Method::POST {
        true => way.hear_line(&body, |talk, line| talk.asked(known, session, line)),
        false => way.hear(|talk| talk.listening(session)),
    };
    let changed = (way.hides.as_ref()).and_then(|hides| hides.changed(Side::Agent, &body));
    let body = changed.map_or(body, Bytes::from);
    let mut headers = parts.headers.clone();
    make_readable(&mut headers);
    let sent = tokio::select! {
        sent = way.server.send(&parts.method, address, headers, body) => sent,
        () = way.closing.closed() => return refuse(StatusCode::BAD_GATEWAY, TRIAL_IS_OVER),
    };
    let is_get = parts.method == Method::GET;
    match sent {
        Ok(response) => match way.server.redirect(&response) {
            Some(why) => {
                let why = way.masked(why.as_bytes());
                way.hear(|talk| match is_get {
                    true => talk.not_begun(&why),
                    false => talk.refused(&asked, &why),
                });
                refuse(StatusCode::BAD_GATEWAY, &why)
            }
            None => pass_back(&way, &parts, place, asked, response),
        },
        Err(error) => {
            let host = way.server.host();
            let message = format!("{host} could not be reached: {}", reason(&error));
            way.hear(|talk| match is_get {
                true => talk.not_begun(&message),
                false => talk.lost(&asked, &message),
            });
            refuse(StatusCode::BAD_GATEWAY, &message)
        }
    }
}

fn pass_back(
    way: &Arc<McpWay>,
    asked_by: &Parts,
    place: McpPlace,
    asked: RemoteRequest,
    response: Response<Incoming>,
) -> Response<AnswerBody> {
    let (mut parts, body) = response.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    let status = parts.status;
    let is_get = asked_by.method == Method::GET;
    way.hear(|talk| {
        if let Some(name) = text(&parts.headers, &SESSION) {
            talk.named(&asked, name);
        }
        if asked_by.method == Method::DELETE && status.is_success() {
            talk.ended(text(&asked_by.headers, &SESSION));
        }
        if is_get && (status.is_client_error() || status.is_server_error()) {
            talk.not_begun(&format!("HTTP {}", status.as_u16()));
        }
    });
    for name in NOT_PASSED {
        parts.headers.remove(name);
    }
    let is_encoded = is_encoded(&parts.headers);
    if is_encoded {
        let why = match way.hides {
            Some(_) => "a compressed answer cannot be searched for hidden tools",
            None => "the answer is compressed",
        };
        way.hear(|talk| talk.refused(&asked, why));
        if way.hides.is_some() {
            return refuse(StatusCode::BAD_GATEWAY, why);
        }
    }
    let framing = framing(&parts.headers);
    let is_listening = is_get && framing == Framing::Events;
    // An address for messages answers with nothing that counts, unless it refuses.
    let is_read = match place {
        McpPlace::Messages(_) => !status.is_success(),
        McpPlace::Server => asked_by.method == Method::POST && status != StatusCode::ACCEPTED,
    };
    let is_read = !is_encoded && (is_listening || is_read);
    let is_searched = is_read && is_listening && place == McpPlace::Server;
    let request = is_read.then_some(asked);
    let answer = McpAnswer::new(Arc::clone(way), request, status, framing, is_searched);
    let body = WatchedBody::new(body, &way.closing, answer);
    Response::from_parts(parts, body.boxed_unsync())
}
