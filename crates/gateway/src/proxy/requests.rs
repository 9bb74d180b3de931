//! A proxy for HTTP that connects to some hosts and refuses others: `CONNECT host:port`, and requests with a whole address.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::{TokioIo, TokioTimer};
use terca_core::wire::network::HostPattern;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::HostRules;
use crate::http::{AnswerBody, BodyError, answer, lock, remove_hop_by_hop};

/// The time that a client has to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time that a host has to accept a connection.
const CONNECT: Duration = Duration::from_secs(30);
/// The longest head of a request.
const LARGEST_HEAD: usize = 64 * 1024;
/// The address of a service that Azure has for its machines alone.
const OF_AZURE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);
/// The longest name of a host that is written down.
const LONGEST_HOST: usize = 253;

/// A stream to a host, through a proxy of the user or not.
trait HostStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> HostStream for T {}

/// A tunnel that was asked for: the client's end comes when the answer is sent.
struct Tunnel {
    client: OnUpgrade,
    host: Box<dyn HostStream>,
}

/// The one tunnel of a connection.
type TunnelSlot = Arc<Mutex<Option<Tunnel>>>;

/// Serves a connection to its end.
pub(crate) async fn serve(stream: TcpStream, rules: Arc<HostRules>) {
    let slot = TunnelSlot::default();
    let service = service_fn(|request| {
        let client = Client {
            rules: Arc::clone(&rules),
            slot: Arc::clone(&slot),
        };
        async move { Ok::<_, Infallible>(client.answer(request).await) }
    });
    // Clients speak what they like, and hang up as they like.
    let _ = server::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    let tunnel = lock(&slot).take();
    if let Some(Tunnel { client, mut host }) = tunnel
        && let Ok(client) = client.await
    {
        let _ = copy_bidirectional(&mut TokioIo::new(client), &mut host).await;
    }
}

/// A client of the proxy.
struct Client {
    rules: Arc<HostRules>,
    slot: TunnelSlot,
}

impl Client {
    async fn answer(&self, mut request: Request<Incoming>) -> Response<AnswerBody> {
        let uri = request.uri().clone();
        let Some((host, port)) = target(&uri) else {
            return refuse(StatusCode::BAD_REQUEST, "this is a proxy");
        };
        if !is_plain(host) {
            lock(&self.rules.seen).refuse("(not a name)", port);
            return refuse(StatusCode::FORBIDDEN, "this is not the name of a host");
        }
        let Some(allowed) = self.rules.allows(host, port) else {
            let message = format!("{host}:{port} cannot be reached from this sandbox");
            return refuse(StatusCode::FORBIDDEN, &message);
        };
        let result = if request.method() == Method::CONNECT {
            self.open_tunnel(&mut request, (host, port), allowed).await
        } else {
            self.pass_on(request, (host, port), allowed).await
        };
        result.unwrap_or_else(|error| {
            let mut status = StatusCode::BAD_GATEWAY;
            if error.kind() == io::ErrorKind::PermissionDenied {
                lock(&self.rules.seen).refuse(host, port);
                status = StatusCode::FORBIDDEN;
            }
            refuse(status, &format!("{host}:{port}: {error}"))
        })
    }

    /// Returns the user's proxy to an address, if there is one.
    fn proxy_to(&self, address: &Uri, allowed: &HostPattern) -> Option<Intercept> {
        let host = address.host().unwrap_or_default();
        // An address that only a domain allows is looked at here.
        let is_here = self.rules.is_gateway(allowed)
            || (allowed.is_domain() && host.parse::<IpAddr>().is_ok());
        let proxy = self.rules.passages.connector.proxy_to(address);
        proxy.filter(|_| !is_here)
    }

    async fn open_tunnel(
        &self,
        request: &mut Request<Incoming>,
        (host, port): (&str, u16),
        allowed: &HostPattern,
    ) -> io::Result<Response<AnswerBody>> {
        let address = format!("https://{host}:{port}");
        let address: Uri = address.parse().map_err(io::Error::other)?;
        let host: Box<dyn HostStream> = match self.proxy_to(&address, allowed) {
            Some(proxy) => Box::new(tunnel_through(&proxy, &address).await?),
            None => Box::new(connect(host, port, allowed).await?),
        };
        let client = hyper::upgrade::on(request);
        *lock(&self.slot) = Some(Tunnel { client, host });
        let nothing = Empty::new().map_err(|never| match never {});
        Ok(Response::new(nothing.boxed_unsync()))
    }

    async fn pass_on(
        &self,
        request: Request<Incoming>,
        (host, port): (&str, u16),
        allowed: &HostPattern,
    ) -> io::Result<Response<AnswerBody>> {
        let (mut parts, body) = request.into_parts();
        let proxy = self.proxy_to(&parts.uri, allowed);
        let stream = match &proxy {
            Some(proxy) => connect_to_proxy(proxy).await?,
            None => connect(host, port, allowed).await?,
        };
        remove_hop_by_hop(&mut parts.headers);
        // The host that was allowed, not another one on the same server.
        let authority = match port {
            80 => host.to_owned(),
            port => format!("{host}:{port}"),
        };
        let authority = HeaderValue::from_str(&authority).map_err(io::Error::other)?;
        parts.headers.insert(header::HOST, authority);
        match &proxy {
            Some(proxy) => {
                if let Some(auth) = proxy.basic_auth() {
                    let auth = auth.clone();
                    parts.headers.insert(header::PROXY_AUTHORIZATION, auth);
                }
            }
            None => {
                let path = parts.uri.path_and_query();
                let path = path.map_or("/", |path| path.as_str());
                parts.uri = path.parse().map_err(io::Error::other)?;
            }
        }
        let answer = speak(stream, Request::from_parts(parts, body)).await?;
        let (mut parts, body) = answer.into_parts();
        remove_hop_by_hop(&mut parts.headers);
        let body = body.map_err(BodyError::from).boxed_unsync();
        Ok(Response::from_parts(parts, body))
    }
}

/// Returns the host and the port that a request is for.
fn target(uri: &Uri) -> Option<(&str, u16)> {
    let host = uri.host()?;
    let port = match (uri.port_u16(), uri.scheme_str()) {
        (Some(port), _) => port,
        (None, Some("http")) => 80,
        (None, _) => return None,
    };
    // TLS is for tunnels.
    let is_plain = uri.scheme_str().is_none_or(|scheme| scheme == "http");
    is_plain.then_some((host, port))
}

/// Returns whether a text can be written down as the name of a host.
fn is_plain(host: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    host.len() <= LONGEST_HOST && host.chars().all(is_letter)
}

/// Connects to a host that is allowed.
async fn connect(host: &str, port: u16, allowed: &HostPattern) -> io::Result<TcpStream> {
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let mut addresses: Vec<SocketAddr> = tokio::net::lookup_host((name, port)).await?.collect();
    // Whoever names hosts below a domain could name this machine and those around it.
    if allowed.is_domain() && !addresses.is_empty() {
        addresses.retain(|address| !is_near(address.ip()));
        if addresses.is_empty() {
            let message =
                "this address is near the machine, and `allow` has to name the host itself";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
    }
    within(TcpStream::connect(&addresses[..])).await
}

/// Connects, if it does not take too long.
async fn within(connecting: impl Future<Output = io::Result<TcpStream>>) -> io::Result<TcpStream> {
    match timeout(CONNECT, connecting).await {
        Ok(connected) => {
            let stream = connected?;
            let _ = stream.set_nodelay(true);
            Ok(stream)
        }
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Speaks HTTP with a host. The connection ends with the answer, or with the client that no longer reads it.
async fn speak<B>(stream: TcpStream, request: Request<B>) -> io::Result<Response<Incoming>>
where
    B: hyper::body::Body<Data: Send, Error: Into<BodyError>> + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    tokio::spawn(connection.with_upgrades());
    let answer = sender.send_request(request).await;
    answer.map_err(io::Error::other)
}

/// Returns whether an address is this machine, one of a private network, or a service that a cloud has for its machines alone.
fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            v4.is_loopback()
                || v4.is_link_local()
                || v4.is_private()
                || first == 0
                || is_shared
                || v4 == OF_AZURE
        }
        IpAddr::V6(v6) => {
            // A network that has addresses of version 6 alone writes others so.
            let is_translated = v6.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
            let [.., a, b, c, d] = v6.octets();
            let translated = is_translated.then_some(Ipv4Addr::new(a, b, c, d));
            match v6.to_ipv4_mapped().or(translated) {
                Some(v4) => is_near(IpAddr::V4(v4)),
                None => {
                    v6.is_loopback()
                        || v6.is_unicast_link_local()
                        || v6.is_unique_local()
                        || v6.is_unspecified()
                }
            }
        }
    }
}

async fn connect_to_proxy(proxy: &Intercept) -> io::Result<TcpStream> {
    let uri = proxy.uri();
    let host = uri.host().unwrap_or_default();
    if uri.scheme_str() != Some("http") {
        return Err(io::Error::other(
            "the proxy of this machine is not an `http` proxy",
        ));
    }
    let address = (host, uri.port_u16().unwrap_or(80));
    within(TcpStream::connect(address)).await
}

/// Asks the user's proxy for a tunnel.
async fn tunnel_through(proxy: &Intercept, address: &Uri) -> io::Result<TokioIo<Upgraded>> {
    let stream = connect_to_proxy(proxy).await?;
    let authority = address
        .authority()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut request = Request::connect(&authority)
        .header(header::HOST, &authority)
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    if let Some(auth) = proxy.basic_auth() {
        let auth = auth.clone();
        request
            .headers_mut()
            .insert(header::PROXY_AUTHORIZATION, auth);
    }
    let answer = speak(stream, request).await?;
    if !answer.status().is_success() {
        let status = answer.status();
        return Err(io::Error::other(format!(
            "the proxy of this machine says {status}"
        )));
    }
    let upgraded = hyper::upgrade::on(answer).await.map_err(io::Error::other)?;
    Ok(TokioIo::new(upgraded))
}

fn refuse(status: StatusCode, message: &str) -> Response<AnswerBody> {
    let mut response = answer(status, "text/plain; charset=utf-8", format!("{message}\n"));
    // Room for others: there is little more to say to who was refused.
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_the_proxy_names_a_host_and_a_port() {
        for (uri, expected) in [
            ("example.com:443", Some(("example.com", 443))),
            ("[::1]:443", Some(("[::1]", 443))),
            ("http://example.com/path", Some(("example.com", 80))),
            ("http://example.com:8080/", Some(("example.com", 8080))),
            ("https://example.com/", None),
            ("/path", None),
        ] {
            let uri: Uri = uri.parse().unwrap();
            assert_eq!(target(&uri), expected, "{uri}");
        }
    }

    #[test]
    fn addresses_near_this_machine_are_known_in_every_form() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.8.8.8", true),
            ("169.254.169.254", true),
            ("0.0.0.0", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("fe80::1", true),
            ("10.0.0.1", true),
            ("172.16.0.1", true),
            ("172.32.0.1", false),
            ("192.168.1.1", true),
            ("100.100.100.200", true),
            ("100.128.0.1", false),
            ("168.63.129.16", true),
            ("fd00:ec2::254", true),
            ("fc00::1", true),
            ("64:ff9b::a9fe:a9fe", true),
            ("2606:4700::1111", false),
            ("93.184.216.34", false),
        ] {
            assert_eq!(is_near(address.parse().unwrap()), expected, "{address}");
        }
    }
}
