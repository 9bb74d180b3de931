//! The server: listens, and knows which passages are open.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use terca_core::agent::mcp::McpServer;
use terca_core::agent::redirect::ServiceKey;
use terca_core::mcp_tap::{OfferedTool, ServerRecord};
use terca_core::wire::Exchange;
use terca_core::wire::network::{HostPattern, NetworkMode, TrialNetwork};
use terca_core::wire::sent_parts::Sought;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;

use crate::mcp::way::McpWay;
use crate::mcp::{NoAnswer, RemoteMcpServer, tools};
use crate::models::way::Way;
use crate::proxy::{HostRules, MOST_CONNECTIONS, NetworkExit};
use crate::server::{OpenPassages, OpenWay, PAUSE, random_token};
use crate::tape::{NewRecording, Played, Player, Recorder, Replay};
use crate::upstream::{BadAddress, Connector};

/// Threads for all connections: they wait far more than they work.
const THREADS: usize = 2;
/// The time between two looks at an interrupt.
const LOOK: Duration = Duration::from_millis(200);

/// A passage that cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// An origin is none.
    #[error(transparent)]
    Address(#[from] BadAddress),
    /// The recording cannot be begun.
    #[error("the recording cannot be written: {0}")]
    Recording(io::Error),
}

/// The part of recordings in a passage.
#[derive(Debug, Default)]
pub enum Playback {
    /// None.
    #[default]
    None,
    /// Exchanges are recorded.
    Record(NewRecording),
    /// Answers come from a recording.
    Replay(Box<Replay>),
}

/// The gateway of a run.
#[derive(Debug)]
pub struct Gateway {
    /// `None` once it ends.
    runtime: Option<Runtime>,
    handle: Handle,
    address: SocketAddr,
    passages: Arc<OpenPassages>,
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
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let passages = Arc::new(OpenPassages::new(Connector::new(variable)));
        runtime.spawn(accept(listener, Arc::clone(&passages)));
        Ok(Gateway {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
            address,
            passages,
        })
    }

    /// Opens a passage for one agent to these origins, with a token for each of these keys. In the requests to models it
    /// looks for these parts of the variant. Beside the paths of models' APIs, the keys are passed to `allow_paths`. It records what passes, or answers from a recording, if that is asked for.
    pub fn open(
        &self,
        origins: &[String],
        keys: &[ServiceKey],
        sought: Vec<Sought>,
        allow_paths: &[String],
        playback: Playback,
    ) -> Result<Passage, OpenError> {
        // Connections are made for the runtime that is entered.
        let _guard = self.handle.enter();
        let mut upstreams = Vec::new();
        for origin in origins {
            upstreams.push(self.passages.connector.upstream(origin)?);
        }
        let tokens: Vec<String> = keys.iter().map(|_| random_token()).collect();
        let token = random_token();
        let hidden: Vec<String> = tokens.iter().chain([&token]).cloned().collect();
        let mut recorder = None;
        let mut player = None;
        match playback {
            Playback::None => {}
            Playback::Record(new) => {
                recorder = Some(Recorder::begin(new, &hidden).map_err(OpenError::Recording)?);
            }
            Playback::Replay(replay) => player = Some(Player::new(*replay, &hidden)),
        }
        let pairs = tokens.iter().cloned().zip(keys.iter().cloned());
        let mut way = Way::new(upstreams, pairs.collect(), sought, recorder, player);
        way.allow_paths = allow_paths.to_vec();
        let way = Arc::new(way);
        let open = OpenWay::Models(Arc::clone(&way));
        self.passages.open(&token, open);
        let addresses = (0..origins.len())
            .map(|number| format!("http://{}/{token}/{number}", self.address))
            .collect();
        Ok(Passage {
            addresses,
            tokens,
            token,
            way,
            passages: Arc::clone(&self.passages),
        })
    }

    /// Opens a passage for one agent to an MCP server by HTTP.
    pub fn open_mcp(&self, server: RemoteMcpServer<'_>) -> Result<McpPassage, BadAddress> {
        // Connections are made for the runtime that is entered.
        let _guard = self.handle.enter();
        let token = random_token();
        let address = format!("http://{}/{token}", self.address);
        let way = Arc::new(McpWay::new(server, &self.passages.connector, address)?);
        let open = OpenWay::McpServer(Arc::clone(&way));
        self.passages.open(&token, open);
        Ok(McpPassage {
            token,
            way,
            passages: Arc::clone(&self.passages),
        })
    }

    /// Asks an MCP server by HTTP for its tools. Those of a server by `sse` are not known.
    pub fn ask_tools(
        &self,
        server: &McpServer<String>,
        limit: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<OfferedTool>>, NoAnswer> {
        self.handle.block_on(async {
            let stopped = async {
                while !is_stopped() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            let asked = tools::ask(server, &self.passages.connector);
            tokio::select! {
                tools = tokio::time::timeout(limit, asked) => tools.unwrap_or(Err(NoAnswer::Silent)),
                () = stopped => Err(NoAnswer::Stopped),
            }
        })
    }

    /// Opens a way out of a network of its own, to these hosts. `reaches_gateway` says that the agent has an address of the
    /// gateway: some clients ask the proxy for it.
    pub fn open_exit(
        &self,
        allowed: Vec<HostPattern>,
        reaches_gateway: bool,
        mode: NetworkMode,
    ) -> NetworkExit {
        let own = HostPattern::of_origin(&format!("http://{}", self.address));
        let rules = HostRules {
            allowed,
            gateway: own.filter(|_| reaches_gateway),
            passages: Arc::clone(&self.passages),
            seen: Mutex::new(TrialNetwork::new(mode)),
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        };
        NetworkExit::new(self.handle.clone(), rules)
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: TcpListener, passages: Arc<OpenPassages>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for instance: there will be room again.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        tokio::spawn(Arc::clone(&passages).serve(stream));
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
    passages: Arc<OpenPassages>,
}

/// Everything that is known of a passage that was closed.
#[derive(Debug, Default)]
pub struct Closed {
    /// The requests to models, in the order in which they were made.
    pub exchanges: Vec<Exchange>,
    /// Remarks about keys that were left out, and about the recording.
    pub notes: Vec<String>,
    /// The figures of the recording that was played, if one was.
    pub played: Option<Played>,
}

impl Passage {
    /// Returns the moment from which its requests are timed.
    pub fn opened(&self) -> Instant {
        self.way.opened
    }

    /// Returns whether a request to a model was not in the recording that is played, and was refused.
    pub fn has_diverged(&self) -> bool {
        let player = self.way.player.as_ref();
        player.is_some_and(|player| player.has_diverged())
    }

    /// Closes the passage, and returns everything that is known of it.
    pub fn close(self) -> Closed {
        let exchanges = self.end();
        let recorder = self.way.recorder.as_ref();
        let mut notes = self.way.remarks();
        notes.extend(recorder.and_then(|recorder| recorder.finish()));
        Closed {
            exchanges,
            notes,
            played: self.way.player.as_ref().map(|player| player.played()),
        }
    }

    fn end(&self) -> Vec<Exchange> {
        self.passages.close(&self.token);
        self.way.close()
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.end();
    }
}

/// The passage of one agent to an MCP server. It is closed when it is dropped.
#[derive(Debug)]
pub struct McpPassage {
    token: String,
    way: Arc<McpWay>,
    passages: Arc<OpenPassages>,
}

impl McpPassage {
    /// Returns the address that takes the place of the server's.
    pub fn address(&self) -> String {
        self.way.address()
    }

    /// Closes the passage. Returns the record, and whether there were more sessions than were read.
    pub fn close(self) -> (ServerRecord, bool) {
        self.way.close()
    }
}

impl Drop for McpPassage {
    fn drop(&mut self) {
        self.passages.close(&self.token);
        self.way.closing.close();
    }
}
