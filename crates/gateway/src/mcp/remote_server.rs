//! An MCP server by HTTP: its address, its headers, and requests to it.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::client::legacy::Error;

use crate::http::text;
use crate::upstream::{BadAddress, Connector, Upstream};

/// The most addresses that one request is sent on to.
const MOST_REDIRECTS: usize = 5;

/// An MCP server by HTTP.
#[derive(Debug)]
pub(crate) struct RemoteServer {
    upstream: Upstream,
    pub url: Uri,
    /// The headers of the suite, which may be keys.
    headers: HeaderMap,
}

impl RemoteServer {
    pub(crate) fn new(
        url: &str,
        headers: &[(String, String)],
        connector: &Connector,
    ) -> Result<Self, BadAddress> {
        let bad = || BadAddress(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(bad());
        };
        // Clients differ in what they make of a name and a password there.
        if authority.as_str().contains('@') {
            return Err(bad());
        }
        let mut own = HeaderMap::new();
        for (name, value) in headers {
            let bad = || BadAddress(format!("a header `{name}`"));
            let key: HeaderName = name.parse().map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            own.append(key, value);
        }
        Ok(RemoteServer {
            upstream: connector.upstream(&format!("{scheme}://{authority}"))?,
            url: uri,
            headers: own,
        })
    }

    /// Returns the host.
    pub(crate) fn host(&self) -> &str {
        let authority = self.url.authority();
        authority.map_or("", |authority| authority.as_str())
    }

    /// Sends a request with the headers of the suite, and sends it on within the same host, as clients would: many
    /// servers want a slash at the end of their path.
    pub(crate) async fn send(
        &self,
        method: &Method,
        mut address: Uri,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, Error> {
        for name in self.headers.keys() {
            headers.remove(name);
        }
        headers.extend(self.headers.clone());
        let mut redirects = 0;
        loop {
            let mut onward = Request::new(Full::new(body.clone()));
            *onward.method_mut() = method.clone();
            *onward.uri_mut() = address.clone();
            *onward.headers_mut() = headers.clone();
            let response = self.upstream.send(onward).await?;
            let is_sent_on = match response.status().as_u16() {
                307 | 308 => true,
                301 | 302 => *method == Method::GET,
                _ => false,
            };
            let next = text(response.headers(), &header::LOCATION)
                .filter(|_| is_sent_on && redirects < MOST_REDIRECTS)
                .and_then(|text| resolve(&address, text));
            match next {
                Some(next) => address = next,
                None => return Ok(response),
            }
            redirects += 1;
        }
    }

    /// Returns why an answer is not passed on that sends to another address: it may have the key in it, and the headers of
    /// the suite are not for it.
    pub(crate) fn redirect(&self, response: &Response<Incoming>) -> Option<String> {
        let location = text(response.headers(), &header::LOCATION)?;
        let to = location.parse().ok();
        let to = to.and_then(|to: Uri| to.host().map(str::to_owned));
        let is_sent_on = response.status().is_redirection();
        is_sent_on.then(|| {
            format!(
                "{} redirects to {}, which the gateway does not follow: write the address of the server itself in `url`",
                self.url.host().unwrap_or_default(),
                to.as_deref().unwrap_or("another address"),
            )
        })
    }
}

/// Returns the address that a server means by a text, if it is at the same host as the server: clients use no other.
pub(crate) fn resolve(server: &Uri, text: &str) -> Option<Uri> {
    let scheme = server.scheme_str()?;
    let authority = server.authority()?;
    let path = server.path();
    let whole = if text.contains("://") {
        text.to_owned()
    } else if text.starts_with("//") {
        format!("{scheme}:{text}")
    } else if text.starts_with('/') {
        format!("{scheme}://{authority}{text}")
    } else if text.starts_with('?') {
        format!("{scheme}://{authority}{path}{text}")
    } else {
        let dir = path.rfind('/').map_or("/", |end| &path[..=end]);
        format!("{scheme}://{authority}{dir}{text}")
    };
    let found: Uri = whole.parse().ok()?;
    let is_same = found.scheme() == server.scheme()
        && found.host() == server.host()
        && port(&found) == port(server)
        && !found.authority()?.as_str().contains('@');
    is_same.then_some(found)
}

/// Returns the port of an address, which may be the usual one of its scheme.
pub(crate) fn port(uri: &Uri) -> Option<u16> {
    let usual = match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    };
    uri.port_u16().or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_resolved_as_clients_do() {
        let server: Uri = "https://docs.example/v1/sse?key=k".parse().unwrap();
        for (text, expected) in [
            ("/messages?id=1", Some("https://docs.example/messages?id=1")),
            ("messages", Some("https://docs.example/v1/messages")),
            ("?id=1", Some("https://docs.example/v1/sse?id=1")),
            (
                "https://docs.example:443/m",
                Some("https://docs.example:443/m"),
            ),
            ("//docs.example/m", Some("https://docs.example/m")),
            ("http://docs.example/m", None),
            ("https://other.example/m", None),
            ("https://docs.example:8443/m", None),
            ("https://me@docs.example/m", None),
            ("//other.example/m", None),
            ("/a b", None),
        ] {
            let found = resolve(&server, text).map(|found| found.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
