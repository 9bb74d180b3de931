//! Connections to services: plain ones, by TLS, and through the proxy that the user has set.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

/// The time that a service has to accept a connection.
const CONNECT: Duration = Duration::from_secs(30);

type Direct = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;
type Proxied = Client<HttpsConnector<Tunnel<HttpConnector>>, Full<Bytes>>;

/// An address that is none of a service.
#[derive(Debug, Error)]
#[error("`{0}` is not the address of a service")]
pub struct BadAddress(pub(crate) String);

/// A service.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    /// The scheme and the host, without a path.
    pub origin: String,
    client: Connections,
}

#[derive(Debug, Clone)]
enum Connections {
    Direct(Direct),
    Proxied(Proxied),
}

impl Upstream {
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Error> {
        match &self.client {
            Connections::Direct(client) => client.request(request).await,
            Connections::Proxied(client) => client.request(request).await,
        }
    }
}

/// Makes connections, and keeps them open between requests.
#[derive(Debug)]
pub(crate) struct Connector {
    proxies: Matcher,
    tls: OnceLock<ClientConfig>,
    direct: OnceLock<Direct>,
}

impl Connector {
    /// Connects through the proxies that these variables name.
    pub(crate) fn new(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let named = |upper: &str| {
            let lower = upper.to_lowercase();
            variable(&lower)
                .or_else(|| variable(upper))
                .unwrap_or_default()
        };
        let proxies = Matcher::builder()
            .all(named("ALL_PROXY"))
            .http(named("HTTP_PROXY"))
            .https(named("HTTPS_PROXY"))
            .no(named("NO_PROXY"))
            .build();
        Connector {
            proxies,
            tls: OnceLock::new(),
            direct: OnceLock::new(),
        }
    }

    /// Returns the proxy that leads to an address, if there is one.
    pub(crate) fn proxy_to(&self, address: &Uri) -> Option<Intercept> {
        self.proxies.intercept(address)
    }

    /// Returns the service of an origin such as `https://api.openai.com`.
    pub(crate) fn upstream(&self, origin: &str) -> Result<Upstream, BadAddress> {
        let uri: Uri = origin.parse().map_err(|_| BadAddress(origin.to_owned()))?;
        let scheme = uri.scheme_str().unwrap_or_default();
        if uri.host().is_none() || !matches!(scheme, "http" | "https") {
            return Err(BadAddress(origin.to_owned()));
        }
        // A proxy is asked for a tunnel, which only TLS needs.
        let proxy = self.proxies.intercept(&uri).filter(|_| scheme == "https");
        let client = match proxy {
            None => {
                let direct = self.direct.get_or_init(|| self.client(http()));
                Connections::Direct(direct.clone())
            }
            Some(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), http());
                if let Some(auth) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(auth.clone());
                }
                Connections::Proxied(self.client(tunnel))
            }
        };
        Ok(Upstream {
            origin: origin.to_owned(),
            client,
        })
    }

    fn client<C>(&self, connector: C) -> Client<HttpsConnector<C>, Full<Bytes>>
    where
        HttpsConnector<C>: Connect + Clone,
    {
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(self.tls.get_or_init(tls).clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        Client::builder(TokioExecutor::new()).build(https)
    }
}

fn http() -> HttpConnector {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT));
    http
}

/// Trusts the authorities that browsers trust, and those of this machine.
fn tls() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider);
    match versions.with_safe_default_protocol_versions() {
        Ok(builder) => builder.with_root_certificates(roots).with_no_client_auth(),
        Err(error) => unreachable!("ring knows the usual versions of TLS: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_used_for_the_hosts_that_need_it() {
        let connector = Connector::new(&|name| match name {
            "https_proxy" => Some("http://proxy.example:3128".to_owned()),
            "NO_PROXY" => Some("inside.example".to_owned()),
            _ => None,
        });
        let is_proxied = |origin: &str| {
            let upstream = connector.upstream(origin).unwrap();
            matches!(upstream.client, Connections::Proxied(_))
        };
        assert!(is_proxied("https://api.openai.com"));
        assert!(!is_proxied("https://inside.example"));
        assert!(!is_proxied("http://127.0.0.1:9"));
        assert!(connector.upstream("ftp://files.example").is_err());
        assert!(connector.upstream("no address").is_err());
    }
}
