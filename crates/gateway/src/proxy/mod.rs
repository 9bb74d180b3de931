//! The way out of a sandbox that has a network of its own.
//!
//! Inside there is nothing but loopback. Somebody inside listens there and passes the listening sockets out; connections to
//! them are accepted here, outside. A socket leads to one of three places: to a proxy for HTTP, which connects to hosts
//! that are allowed; to one service on this machine; or to the gateway.
//!
//! An agent may speak anything, as often as it likes: the connections of one exit are bounded, and all end with it.

mod requests;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use terca_core::wire::network::{HostPattern, TrialNetwork};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::http::lock;
use crate::server::{OpenPassages, PAUSE};

/// The most connections of one exit at a time. Others wait until one of them ends.
pub(crate) const MOST_CONNECTIONS: usize = 128;

/// The way out of one network. Everything that goes through it ends when it is dropped.
#[derive(Debug)]
pub struct NetworkExit {
    runtime: Handle,
    rules: Arc<HostRules>,
    /// The tasks that accept connections. Each owns the tasks of its connections.
    tasks: Mutex<JoinSet<()>>,
}

/// The place that a socket leads to.
#[derive(Debug, Clone, Copy)]
pub enum Door {
    /// A proxy for the hosts that are allowed.
    Proxy,
    /// A service on this machine.
    Service(SocketAddr),
    /// The gateway.
    Gateway,
}

impl NetworkExit {
    pub(crate) fn new(runtime: Handle, rules: HostRules) -> Self {
        NetworkExit {
            runtime,
            rules: Arc::new(rules),
            tasks: Mutex::default(),
        }
    }

    /// Returns the hosts that were refused so far.
    pub fn network(&self) -> TrialNetwork {
        lock(&self.rules.seen).clone()
    }

    /// Accepts connections from a socket, and leads them through a door.
    pub fn serve(&self, listener: TcpListener, door: Door) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let guard = self.runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let mut tasks = lock(&self.tasks);
        tasks.spawn(accept(listener, door, Arc::clone(&self.rules)));
        drop(guard);
        Ok(())
    }
}

async fn accept(listener: tokio::net::TcpListener, door: Door, rules: Arc<HostRules>) {
    let mut connections = JoinSet::new();
    loop {
        // Tasks that have ended are forgotten.
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&rules.room).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for instance: there will be room again.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let rules = Arc::clone(&rules);
        connections.spawn(async move {
            lead(stream, door, rules).await;
            drop(permit);
        });
    }
}

/// Serves one connection to its end.
async fn lead(mut stream: TcpStream, door: Door, rules: Arc<HostRules>) {
    let _ = stream.set_nodelay(true);
    match door {
        Door::Proxy => requests::serve(stream, rules).await,
        Door::Gateway => Arc::clone(&rules.passages).serve(stream).await,
        Door::Service(address) => {
            // A service that is not there looks like one that hangs up.
            if let Ok(mut service) = TcpStream::connect(address).await {
                let _ = service.set_nodelay(true);
                let _ = copy_bidirectional(&mut stream, &mut service).await;
            }
        }
    }
}

/// The hosts that are allowed, and those that were refused.
#[derive(Debug)]
pub(crate) struct HostRules {
    pub allowed: Vec<HostPattern>,
    /// The gateway's own address, if the agent has one of it. It is here, behind no proxy.
    pub gateway: Option<HostPattern>,
    /// The passages of the gateway.
    pub passages: Arc<OpenPassages>,
    pub seen: Mutex<TrialNetwork>,
    /// The room for connections.
    pub room: Arc<Semaphore>,
}

impl HostRules {
    /// Returns the pattern that allows a host. A host that none allows is noted.
    pub(crate) fn allows(&self, host: &str, port: u16) -> Option<&HostPattern> {
        let found = self
            .gateway
            .iter()
            .chain(&self.allowed)
            .find(|pattern| pattern.matches(host, port));
        if found.is_none() {
            lock(&self.seen).refuse(host, port);
        }
        found
    }

    /// Returns whether a pattern is that of the gateway.
    pub(crate) fn is_gateway(&self, pattern: &HostPattern) -> bool {
        self.gateway.as_ref() == Some(pattern)
    }
}
