//! The parts of a request that decide about its answer.

use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, ORIGIN, TRANSFER_ENCODING};
use hyper::{Method, Request as HttpRequest, StatusCode};

/// The parts of a request that decide about its answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// The path as it was sent, without the query.
    pub path: String,
    /// The `Host` header: the name by which the browser found this server.
    pub host: Option<String>,
    /// The `Origin` header: the site whose page asks.
    pub origin: Option<String>,
    /// The `Sec-Fetch-Site` header: how that site relates to this server.
    pub site: Option<String>,
    /// The request brings something to be kept.
    pub is_post: bool,
}

/// A request that may be answered.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The parts of its path below the secret one.
    pub parts: &'a [&'a str],
    /// A document in JSON that is to be kept, if the request brings one.
    pub posted: Option<&'a [u8]>,
}

/// The most bytes that a request may bring.
pub(super) const LARGEST_POST: usize = 64 * 1024;

/// The reason why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The request is for another server, has a header twice, or has a body.
    Malformed,
    /// The method is none of GET, HEAD and POST.
    Method,
    /// The request brings more than is kept.
    TooLarge,
    /// Another site's page asks, or this server is called by another name.
    Stranger,
    /// There is nothing at this address.
    NotFound,
}

impl Refusal {
    /// Returns the status code, and the reason in words.
    pub fn told(self) -> (StatusCode, &'static str) {
        match self {
            Refusal::Malformed => (StatusCode::BAD_REQUEST, "This request is not understood."),
            Refusal::Method => (
                StatusCode::METHOD_NOT_ALLOWED,
                "This address cannot be used in this way.",
            ),
            Refusal::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "This is too long to be kept.",
            ),
            Refusal::Stranger => (
                StatusCode::FORBIDDEN,
                "This page is only for the person who started it.",
            ),
            Refusal::NotFound => (StatusCode::NOT_FOUND, "There is no page at this address."),
        }
    }
}

impl Request {
    /// Picks the parts of a request. A request has a body only if it brings a document in JSON, and says how long it is.
    pub(super) fn of<B>(request: &HttpRequest<B>) -> Result<Self, Refusal> {
        if request.uri().authority().is_some() {
            return Err(Refusal::Malformed);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
            return Err(Refusal::Method);
        }
        let headers = request.headers();
        let is_post = *request.method() == Method::POST;
        let length = only(headers, CONTENT_LENGTH.as_str())?;
        let length: Option<usize> = match length {
            Some(text) => Some(text.parse().map_err(|_| Refusal::Malformed)?),
            None => None,
        };
        let has_encoding = headers.contains_key(TRANSFER_ENCODING);
        if has_encoding || (!is_post && length.is_some_and(|length| length > 0)) {
            return Err(Refusal::Malformed);
        }
        if is_post {
            // A page of another site can send forms and plain text without being asked, and no JSON.
            let is_json =
                only(headers, CONTENT_TYPE.as_str())?.as_deref() == Some("application/json");
            match length {
                Some(1..=LARGEST_POST) if is_json => {}
                Some(length) if is_json && length > LARGEST_POST => return Err(Refusal::TooLarge),
                _ => return Err(Refusal::Malformed),
            }
        }
        Ok(Request {
            path: request.uri().path().to_owned(),
            host: only(headers, HOST.as_str())?,
            origin: only(headers, ORIGIN.as_str())?,
            site: only(headers, "sec-fetch-site")?,
            is_post,
        })
    }
}

/// Returns the value of a header. A request that has it twice is refused: two readers could choose differently.
fn only(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refusal> {
    let mut found = headers.get_all(name).iter();
    let Some(value) = found.next() else {
        return Ok(None);
    };
    let value = value.to_str().map_err(|_| Refusal::Malformed)?;
    match found.next() {
        None => Ok(Some(value.trim().to_owned())),
        Some(_) => Err(Refusal::Malformed),
    }
}
