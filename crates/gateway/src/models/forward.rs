//! A request of an agent: checked, given its key, and passed on.

use std::future::{pending, ready};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request;
use hyper::{Request, Response, StatusCode, Uri};
use terca_core::text::prose;
use terca_core::wire::ExchangeEnd;
use terca_core::wire::recording::RecordedAnswer;

use crate::http::watched_body::WatchedBody;
use crate::http::{
    AnswerBody, BodyError, TRIAL_IS_OVER, make_readable, reason, refuse, remove_hop_by_hop,
    request_body,
};
use crate::models::dialect::Dialect;
use crate::models::key_filter::KeyFilter;
use crate::models::metered::{Metered, Reading};
use crate::models::paths::is_of_api;
use crate::models::way::{MOST_REQUESTS, Way};
use crate::tape::{LookUp, Taking};

/// Headers that a key may be in.
const OF_KEY: [HeaderName; 4] = [
    header::AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// The answer to a request for an address that the gateway has given to nobody.
pub(crate) const NO_SERVICE: &str = "this address has no service";

/// The answer to a request that is not in the recording that is played.
const NOT_RECORDED: &str = "the recording that is replayed has no answer to this request";

/// The answer to a request with a key to a path that is not one of a model's API.
const NOT_OF_API: &str = "the key is passed to the paths that models are asked by alone; \
     `gateway: {allowPaths: [...]}` in terca.yaml names others";

/// The answer in the place of one that may have the key in it.
const ENCODED: &str = "the service's answer is compressed, though the gateway asks for none that is, and cannot be \
     searched for the key";

/// Divides `/TOKEN/0/v1/messages` into the number of a service, and the path there with its slash.
fn target(path: &str) -> Option<(usize, &str)> {
    let (_, rest) = path.strip_prefix('/')?.split_once('/')?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (number, path) = rest.split_at(end);
    let path = if path.is_empty() { "/" } else { path };
    Some((number.parse().ok()?, path))
}

/// Passes a request on, and its answer back.
pub(crate) async fn forward(way: Arc<Way>, request: Request<Incoming>) -> Response<AnswerBody> {
    let uri = request.uri().clone();
    let (service, path) = target(uri.path()).unwrap_or((usize::MAX, ""));
    let Some(upstream) = way.upstreams.get(service).cloned() else {
        return refuse(StatusCode::NOT_FOUND, NO_SERVICE);
    };
    let (parts, body) = request.into_parts();
    let body = match request_body::read(body, &way.room).await {
        Ok(body) => body,
        Err((status, reason)) => return refuse(status, &reason),
    };
    // Requests that ask no model are passed on and not counted.
    let mut reading = None;
    if let Some(dialect) = Dialect::of(parts.method.as_str(), path) {
        let asked = dialect.asked(path, &body);
        let Some(number) = way.begin(path, asked, &body) else {
            let message =
                format!("a trial may ask its models {MOST_REQUESTS} times, and has done so");
            return refuse(StatusCode::TOO_MANY_REQUESTS, &message);
        };
        reading = Some(Reading::new(Arc::clone(&way), number, dialect));
    }
    if let Some(player) = way.player.clone() {
        let (method, path, body) = (parts.method.to_string(), path.to_owned(), body.clone());
        let is_for_model = reading.is_some();
        // It takes a while, so no other connection waits for it.
        let found =
            tokio::task::spawn_blocking(move || player.find(&method, &path, &body, is_for_model));
        match found.await.unwrap_or(LookUp::Refused) {
            LookUp::Live => {}
            LookUp::Refused => {
                let status = match reading {
                    Some(_) => StatusCode::BAD_REQUEST,
                    None => StatusCode::NOT_FOUND,
                };
                return unanswered(reading.as_ref(), status, NOT_RECORDED, NOT_RECORDED.into());
            }
            LookUp::Played(answer, body) => {
                return play_back(&way, answer, body, reading, &upstream.origin);
            }
        }
    }
    if has_token(&way, &parts) && !is_of_api(parts.method.as_str(), path, &way.allow_paths) {
        way.refuse_path(path);
        return refuse(StatusCode::FORBIDDEN, NOT_OF_API);
    }
    let recorder = way.recorder.as_ref();
    let taking = recorder.map(|recorder| recorder.request(path, &parts, &body));
    let Some(onward) = onward(&way, service, path, parts, body) else {
        return refuse(StatusCode::BAD_REQUEST, "the path cannot be passed on");
    };
    let sent = tokio::select! {
        sent = upstream.send(onward) => sent,
        () = way.closing.closed() => return refuse(StatusCode::BAD_GATEWAY, TRIAL_IS_OVER),
    };
    match sent {
        Ok(response) => pass_back(&way, response, reading, taking),
        Err(error) => {
            let reason = reason(&error);
            if let Some(taking) = taking {
                taking.end(ExchangeEnd::Unreachable, Some(reason.clone()));
            }
            unreachable(reading.as_ref(), &upstream.origin, reason)
        }
    }
}

/// Returns whether a request has a token where a key may be.
fn has_token(way: &Way, parts: &request::Parts) -> bool {
    let headers = OF_KEY
        .into_iter()
        .flat_map(|name| parts.headers.get_all(name));
    let mut texts = headers.filter_map(|value| value.to_str().ok());
    texts.any(|text| way.has_token(text)) || way.has_token(parts.uri.query().unwrap_or_default())
}

/// Makes the request that the service is sent. `None` if its path cannot be passed on.
fn onward(
    way: &Way,
    service: usize,
    path: &str,
    parts: request::Parts,
    body: Bytes,
) -> Option<Request<Full<Bytes>>> {
    let query = parts.uri.query();
    let query = query.map(|query| with_key_in_query(way, service, query));
    let query = query.map_or(String::new(), |query| format!("?{query}"));
    let address = format!("{}{path}{query}", way.upstreams[service].origin);
    let mut onward = Request::new(Full::new(body));
    *onward.uri_mut() = address.parse::<Uri>().ok()?;
    *onward.method_mut() = parts.method;
    *onward.headers_mut() = onward_headers(way, service, parts.headers);
    Some(onward)
}

/// Answers as the service did when it was recorded.
fn play_back(
    way: &Arc<Way>,
    answer: RecordedAnswer,
    body: Bytes,
    reading: Option<Reading>,
    origin: &str,
) -> Response<AnswerBody> {
    if let Some(reading) = &reading {
        way.change(reading.number, |entry| entry.exchange.replayed = true);
    }
    let status = answer.status.map(StatusCode::from_u16);
    let Some(Ok(status)) = status else {
        return unreachable(reading.as_ref(), origin, answer.error.unwrap_or_default());
    };
    let body = Full::new(body).map_err(|never| -> BodyError { match never {} });
    // One that breaks off after its last byte has no length, which it loses by being mapped.
    let without_length = body.clone().map_frame(|frame| frame);
    let body = match answer.end {
        ExchangeEnd::Whole | ExchangeEnd::Refused => body.boxed_unsync(),
        ExchangeEnd::CutByService | ExchangeEnd::Unreachable => {
            let broken = "the service broke off when it was recorded";
            let end = ready(Some(Err(broken.into())));
            without_length.with_trailers(end).boxed_unsync()
        }
        // The agent did not wait for the rest, and hangs up now as it did then; or its trial ends.
        ExchangeEnd::LeftByAgent => without_length.with_trailers(pending()).boxed_unsync(),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in &answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    pass_back(way, response, reading, None)
}

/// Ends a request whose service did not answer.
fn unreachable(reading: Option<&Reading>, origin: &str, reason: String) -> Response<AnswerBody> {
    let message = format!("{origin} could not be reached: {reason}");
    unanswered(reading, StatusCode::BAD_GATEWAY, &message, reason)
}

fn unanswered(
    reading: Option<&Reading>,
    status: StatusCode,
    message: &str,
    reason: String,
) -> Response<AnswerBody> {
    if let Some(Reading { way, number, .. }) = reading {
        way.end(*number, ExchangeEnd::Unreachable, Some(reason));
    }
    refuse(status, message)
}

fn pass_back<B>(
    way: &Way,
    response: Response<B>,
    mut reading: Option<Reading>,
    taking: Option<Taking>,
) -> Response<AnswerBody>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BodyError>,
{
    let (mut parts, body) = response.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    let status = parts.status.as_u16();
    let Some(filter) = KeyFilter::new(&way.mask, &mut parts.headers) else {
        let status = StatusCode::BAD_GATEWAY;
        return unanswered(reading.as_ref(), status, ENCODED, ENCODED.to_owned());
    };
    if let Some(reading) = &mut reading {
        reading.begin(status, &parts.headers);
    }
    if let Some(taking) = &taking {
        taking.head(status, &parts.headers);
    }
    let metered = Metered {
        filter,
        reading,
        taking,
    };
    let body = WatchedBody::new(body, &way.closing, metered);
    Response::from_parts(parts, body.boxed_unsync())
}

/// Returns the headers for the service: with the key, without those of the connection, and without compression, which
/// would hide the figures.
fn onward_headers(way: &Way, upstream: usize, mut headers: HeaderMap) -> HeaderMap {
    make_readable(&mut headers);
    for name in &OF_KEY {
        // A client that sends a header twice means the same by both.
        let key = headers
            .get(name)
            .and_then(|value| way.with_key(value.to_str().ok()?, upstream))
            .and_then(|text| HeaderValue::from_str(&text).ok());
        if let Some(mut key) = key {
            key.set_sensitive(true);
            headers.insert(name, key);
        }
    }
    headers
}

/// Puts the key in the place of its token in `key=TOKEN`.
fn with_key_in_query(way: &Way, upstream: usize, query: &str) -> String {
    prose::joined(
        query.split('&').map(|part| {
            let value = part.strip_prefix("key=");
            value
                .and_then(|value| way.with_key(value, upstream))
                .map_or_else(|| part.to_owned(), |key| format!("key={key}"))
        }),
        "&",
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use terca_core::agent::redirect::ServiceKey;

    use super::*;

    #[test]
    fn paths_are_divided() {
        for (path, expected) in [
            ("/t/0/v1/messages", Some((0, "/v1/messages"))),
            ("/t/12", Some((12, "/"))),
            ("/t/0/", Some((0, "/"))),
            ("/t", None),
            ("/", None),
            ("/t/x/v1", None),
            ("/t/-1/v1", None),
        ] {
            assert_eq!(target(path), expected, "{path}");
        }
    }

    #[test]
    fn a_key_takes_the_place_of_its_token_where_keys_may_be() {
        let way = Way::new(
            Vec::new(),
            vec![(
                "tok".to_owned(),
                ServiceKey {
                    key: "sk-real".into(),
                    origins: BTreeSet::from([0]),
                },
            )],
            Vec::new(),
            None,
            None,
        );
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer tok"),
            ("x-api-key", "tok"),
            ("x-goog-api-key", "other"),
            ("x-note", "tok"),
            ("host", "127.0.0.1:1"),
            ("accept-encoding", "gzip"),
            ("connection", "keep-alive"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let elsewhere = onward_headers(&way, 1, headers.clone());
        assert_eq!(elsewhere["authorization"], "Bearer tok", "another service");
        assert_eq!(with_key_in_query(&way, 1, "key=tok"), "key=tok");
        let onward = onward_headers(&way, 0, headers);
        let text = |name: &str| onward.get(name).map(|value| value.to_str().unwrap());
        assert_eq!(text("authorization"), Some("Bearer sk-real"));
        assert_eq!(text("x-api-key"), Some("sk-real"));
        assert_eq!(text("x-goog-api-key"), Some("other"));
        assert_eq!(text("x-note"), Some("tok"), "the key is sent nowhere else");
        assert_eq!(text("accept-encoding"), Some("identity"));
        assert_eq!((text("host"), text("connection")), (None, None));
        assert_eq!(
            with_key_in_query(&way, 0, "alt=sse&key=tok&q=tok"),
            "alt=sse&key=sk-real&q=tok"
        );
    }
}
