//! One request to a service, of whose answer only the status matters.

use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use thiserror::Error;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

use crate::upstream::{Connector, Upstream};

/// The time between two looks at an interrupt.
const LOOK: Duration = Duration::from_millis(200);

/// A request to a service.
#[derive(Debug)]
pub struct Question<'a> {
    /// The whole address, by `http` or `https`.
    pub url: &'a str,
    /// Headers that are added. One that no request may have is left out.
    pub headers: Vec<(&'a str, &'a str)>,
    /// The body of a POST request. Without one, it is a GET request.
    pub body: Option<String>,
    /// The time until the answer begins.
    pub limit: Duration,
}

/// The reason why there is no answer.
#[derive(Debug, Error)]
pub enum NoAnswer {
    /// The address is none of a service.
    #[error("`{0}` is not an `http` or `https` address")]
    BadAddress(String),
    /// There is no connection.
    #[error("{service} cannot be reached: {why}")]
    Unreachable {
        /// The host and the port.
        service: String,
        /// The reason of the system, or of TLS.
        why: String,
    },
    /// The connection was there, and no answer came.
    #[error("it broke off: {0}")]
    BrokeOff(String),
    /// The service answered something else than was asked for.
    #[error("{0}")]
    Refused(String),
    /// The limit is over.
    #[error("there was no answer in time")]
    Silent,
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
    /// The request could not be sent from this machine.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Question<'_> {
    /// Asks, and returns the status of the answer. The variables name the proxy, if there is one.
    pub fn ask(
        self,
        variable: &dyn Fn(&str) -> Option<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<u16, NoAnswer> {
        let service = Service::of(self.url, variable)?;
        let request = self.request(&service.address)?;
        let answer = answered(&service, request);
        let answer = wait(self.limit, is_stopped, answer)?;
        Ok(answer.status().as_u16())
    }

    fn request(&self, address: &str) -> Result<Request<Full<Bytes>>, NoAnswer> {
        let (method, body) = match &self.body {
            Some(body) => (Method::POST, body.clone()),
            None => (Method::GET, String::new()),
        };
        request(method, address, &self.headers, body)
    }
}

/// A service by HTTP, and the way to it.
pub(crate) struct Service {
    upstream: Upstream,
    /// The address, without a name and a password.
    pub(crate) address: String,
    /// The host and the port.
    name: String,
}

impl Service {
    /// Finds the way to an address. The variables name the proxy, if there is one.
    pub(crate) fn of(
        url: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, NoAnswer> {
        let bad_address = || NoAnswer::BadAddress(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| bad_address())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(bad_address());
        };
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        let origin = format!("{scheme}://{host}");
        let upstream = Connector::new(variable).upstream(&origin);
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Service {
            upstream: upstream.map_err(|_| bad_address())?,
            address: format!("{origin}{path}"),
            name: service_of(&uri),
        })
    }
}

/// Returns a request. A header that no request may have is left out.
pub(crate) fn request(
    method: Method,
    address: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Result<Request<Full<Bytes>>, NoAnswer> {
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    let uri = address.parse();
    *request.uri_mut() = uri.map_err(|_| NoAnswer::BadAddress(address.to_owned()))?;
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            request.headers_mut().insert(name, value);
        }
    }
    Ok(request)
}

/// Sends a request, and waits until its answer begins.
pub(crate) async fn answered(
    service: &Service,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, NoAnswer> {
    let answer = service.upstream.send(request).await;
    answer.map_err(|error| match error.is_connect() {
        true => NoAnswer::Unreachable {
            service: service.name.clone(),
            why: root_of(&error),
        },
        false => NoAnswer::BrokeOff(root_of(&error)),
    })
}

/// Waits for an answer, until the limit is over or the caller stops it.
pub(crate) fn wait<T>(
    limit: Duration,
    is_stopped: &dyn Fn() -> bool,
    answer: impl Future<Output = Result<T, NoAnswer>>,
) -> Result<T, NoAnswer> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stopped = async {
            while !is_stopped() {
                sleep(LOOK).await;
            }
        };
        tokio::select! {
            answer = timeout(limit, answer) => answer.unwrap_or(Err(NoAnswer::Silent)),
            () = stopped => Err(NoAnswer::Stopped),
        }
    })
}

fn service_of(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    let usual = if uri.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    format!("{host}:{}", uri.port_u16().unwrap_or(usual))
}

/// Returns the innermost reason of an error: the outer ones say only where it was noticed.
fn root_of(error: &hyper_util::client::legacy::Error) -> String {
    let mut reason = error.to_string();
    let mut inner = error.source();
    while let Some(error) = inner {
        reason = error.to_string();
        inner = error.source();
    }
    reason
}
