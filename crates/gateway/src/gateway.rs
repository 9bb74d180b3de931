//! The server: listens, and knows which passages are open.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use terca_core::sought::Sought;
use terca_core::wire::Exchange;
use tokio::runtime::{Builder, Runtime};

use crate::forward::{AnswerBody, Target, forward, refuse};
use crate::passage::Way;
use crate::upstream::{BadAddress, Connector};

/// Threads for all connections: they wait far more than they work.
const THREADS: usize = 2;
/// The time to wait before the next attempt to accept a connection, if there is no room for it.
const PAUSE: Duration = Duration::from_millis(50);

/// The gateway of a run.
#[derive(Debug)]
pub struct Gateway {
    /// `None` once it ends.
    runtime: Option<Runtime>,
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connector: Connector,
    /// The open ways by their tokens.
    ways: Mutex<HashMap<String, Arc<Way>>>,
}

impl Shared {
    fn ways(&self) -> MutexGuard<'_, HashMap<String, Arc<Way>>> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(&self, request: Request<Incoming>) -> Response<AnswerBody> {
        let target = Target::of(request.uri().path());
        let way = target.and_then(|target| self.ways().get(target.token).cloned());
        match way {
            Some(way) => forward(way, request).await,
            None => refuse(StatusCode::UNAUTHORIZED, "the token is of no open trial"),
        }
    }
}

impl Gateway {
    /// Starts to listen on a free port of this machine. The variables name the proxy to the services, if there is one.
    pub fn start(variable: &dyn Fn(&str) -> Option<String>) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(THREADS)
            .thread_name("gateway")
            .enable_all()
            .build()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let gateway = Gateway {
            runtime: Some(runtime),
            address: listener.local_addr()?,
            shared: Arc::new(Shared {
                connector: Connector::new(variable),
                ways: Mutex::default(),
            }),
        };
        gateway.listen(listener)?;
        Ok(gateway)
    }

    /// Accepts connections from another listener, too. It may be one of another network namespace.
    pub fn listen(&self, listener: TcpListener) -> io::Result<()> {
        let Some(runtime) = &self.runtime else {
            return Ok(());
        };
        listener.set_nonblocking(true)?;
        let guard = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        drop(guard);
        runtime.spawn(accept(listener, Arc::clone(&self.shared)));
        Ok(())
    }

    /// Opens a passage for one agent to these origins, with a token for each of these keys.
    /// In the requests to models it looks for these parts of the variant.
    pub fn open(
        &self,
        origins: &[String],
        keys: &[String],
        sought: Vec<Sought>,
    ) -> Result<Passage, BadAddress> {
        // Connections are made for the runtime that is entered.
        let _guard = self.runtime.as_ref().map(Runtime::enter);
        let mut upstreams = Vec::new();
        for origin in origins {
            upstreams.push(self.shared.connector.upstream(origin)?);
        }
        let tokens: Vec<String> = keys.iter().map(|_| random_token()).collect();
        let pairs = tokens.iter().cloned().zip(keys.iter().cloned());
        let way = Arc::new(Way::new(upstreams, pairs.collect(), sought));
        let token = random_token();
        self.shared.ways().insert(token.clone(), Arc::clone(&way));
        let addresses = (0..origins.len())
            .map(|number| format!("http://{}/{token}/{number}", self.address))
            .collect();
        Ok(Passage {
            addresses,
            tokens,
            token,
            way,
            shared: Arc::clone(&self.shared),
        })
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for instance: there will be room again.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(shared.serve(request).await) }
            });
            // Agents hang up as they like, and services break off: both are in the log of the passage.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// The passage of one agent to its models. It is closed when it is dropped.
#[derive(Debug)]
pub struct Passage {
    /// The address that takes the place of each origin.
    pub addresses: Vec<String>,
    /// The token that takes the place of each key.
    pub tokens: Vec<String>,
    token: String,
    way: Arc<Way>,
    shared: Arc<Shared>,
}

impl Passage {
    /// Closes the passage, and returns the requests to models in the order in which they were made.
    pub fn close(self) -> Vec<Exchange> {
        self.end()
    }

    fn end(&self) -> Vec<Exchange> {
        self.shared.ways().remove(&self.token);
        self.way.close()
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.end();
    }
}

/// Makes a token that nobody can guess.
fn random_token() -> String {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            // The kernel has them as soon as it runs; a signal may come in between.
            Err(_) => continue,
        }
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("terca-{hex}")
}
