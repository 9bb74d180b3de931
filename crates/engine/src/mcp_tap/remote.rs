//! The taps of MCP servers by HTTP, which are in the gateway.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use terca_core::agent::mcp::McpServer;
use terca_core::mcp_tap::HiddenTools;
use terca_core::text::mask::Mask;
use terca_gateway::{Gateway, McpPassage, RemoteMcpServer};

use super::record::{Tapped, TappedServer};

/// The taps of a trial's servers by HTTP, while its agent runs.
#[derive(Debug, Default)]
pub struct RemoteTaps {
    servers: Vec<RemoteTap>,
}

#[derive(Debug)]
struct RemoteTap {
    name: String,
    passage: McpPassage,
    seen: Arc<Mutex<TappedServer>>,
}

impl RemoteTaps {
    /// Opens a passage to a server, and puts the gateway's address in the place of the server's. The agent gets no header:
    /// the gateway adds them. A server that the gateway cannot ask stays as it is, and the reason is returned.
    pub fn lead(
        &mut self,
        gateway: &Gateway,
        name: &str,
        server: &mut McpServer<String>,
        hides: Option<HiddenTools>,
        mask: &Mask,
    ) -> Result<(), String> {
        let McpServer::Remote { url, headers, .. } = server else {
            return Ok(());
        };
        let seen = Arc::new(Mutex::new(TappedServer::default()));
        let record = Arc::clone(&seen);
        let passage = gateway.open_mcp(RemoteMcpServer {
            url,
            headers,
            hides,
            mask,
            sink: Box::new(move |events| lock(&record).add(events)),
        });
        let passage = passage.map_err(|error| error.to_string())?;
        *url = passage.address();
        headers.clear();
        self.servers.push(RemoteTap {
            name: name.to_owned(),
            passage,
            seen,
        });
        Ok(())
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Ends what is on its way, and adds what the taps have seen.
    pub fn close(self, tapped: &mut Tapped) {
        for RemoteTap {
            name,
            passage,
            seen,
        } in self.servers
        {
            tapped.has_too_many |= passage.close();
            let server = std::mem::take(&mut *lock(&seen));
            tapped.servers.insert(name, server);
        }
    }
}

fn lock(server: &Mutex<TappedServer>) -> MutexGuard<'_, TappedServer> {
    server.lock().unwrap_or_else(PoisonError::into_inner)
}
