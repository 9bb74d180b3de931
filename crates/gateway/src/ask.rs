//! One request to a service, of whose answer only the status matters.

use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Uri};
use thiserror::Error;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

use crate::upstream::Connector;

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
        let uri: Uri = self.url.parse().map_err(|_| self.bad_address())?;
        let origin = match (uri.scheme_str(), uri.authority()) {
            (Some(scheme), Some(authority)) => {
                let host = authority.as_str().rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}")
            }
            _ => return Err(self.bad_address()),
        };
        let connector = Connector::new(variable);
        let upstream = connector
            .upstream(&origin)
            .map_err(|_| self.bad_address())?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let request = self.request(&format!("{origin}{path}"))?;
        let service = service_of(&uri);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let stopped = async {
                while !is_stopped() {
                    sleep(LOOK).await;
                }
            };
            tokio::select! {
                answer = timeout(self.limit, upstream.send(request)) => match answer {
                    Err(_) => Err(NoAnswer::Silent),
                    Ok(Ok(answer)) => Ok(answer.status().as_u16()),
                    Ok(Err(error)) if error.is_connect() => Err(NoAnswer::Unreachable {
                        service,
                        why: root_of(&error),
                    }),
                    Ok(Err(error)) => Err(NoAnswer::BrokeOff(root_of(&error))),
                },
                () = stopped => Err(NoAnswer::Stopped),
            }
        })
    }

    fn bad_address(&self) -> NoAnswer {
        NoAnswer::BadAddress(self.url.to_owned())
    }

    fn request(&self, url: &str) -> Result<Request<Full<Bytes>>, NoAnswer> {
        let (method, body) = match &self.body {
            Some(body) => (Method::POST, body.clone()),
            None => (Method::GET, String::new()),
        };
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = url.parse().map_err(|_| self.bad_address())?;
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(value)) =
                (name.parse::<HeaderName>(), HeaderValue::from_str(value))
            {
                request.headers_mut().insert(name, value);
            }
        }
        Ok(request)
    }
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
