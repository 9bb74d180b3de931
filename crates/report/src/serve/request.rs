//! The parts of a request that decide about its answer.

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, ORIGIN, TRANSFER_ENCODING};
use hyper::{Method, Request as HttpRequest, StatusCode};

/// The parts of a request that decide about its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The path as it was sent, without the query.
    pub path: String,
    /// The `Host` header: the name by which the browser found this server.
    pub host: Option<String>,
    /// The `Origin` header: the site whose page asks.
    pub origin: Option<String>,
    /// The `Sec-Fetch-Site` header: how that site relates to this server.
    pub site: Option<String>,
}

/// The reason why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The request is for another server, has a header twice, or has a body.
    Malformed,
    /// The method is neither GET nor HEAD.
    Method,
    /// Another site's page asks, or this server is called by another name.
    Stranger,
    /// There is nothing at this address.
    NotFound,
}

impl Refusal {
    /// Returns the status code.
    pub fn status(self) -> StatusCode {
        match self {
            Refusal::Malformed => StatusCode::BAD_REQUEST,
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Stranger => StatusCode::FORBIDDEN,
            Refusal::NotFound => StatusCode::NOT_FOUND,
        }
    }
}

impl Request {
    /// Picks the parts of a request. Nothing that is answered here has a body, so a request with one is refused.
    pub(super) fn of<B>(request: &HttpRequest<B>) -> Result<Self, Refusal> {
        if request.uri().authority().is_some() {
            return Err(Refusal::Malformed);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Refusal::Method);
        }
        let headers = request.headers();
        let length = only(headers, CONTENT_LENGTH.as_str())?;
        let has_encoding = headers.contains_key(TRANSFER_ENCODING);
        if has_encoding || length.is_some_and(|length| length != "0") {
            return Err(Refusal::Malformed);
        }
        Ok(Request {
            path: request.uri().path().to_owned(),
            host: only(headers, HOST.as_str())?,
            origin: only(headers, ORIGIN.as_str())?,
            site: only(headers, "sec-fetch-site")?,
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
