//! The hosts that an agent may reach.

use std::sync::{Mutex, MutexGuard, PoisonError};

use terca_core::wire::network::{HostPattern, NetworkMode, TrialNetwork};

/// The hosts that are allowed, and those that were refused.
#[derive(Debug)]
pub(crate) struct HostRules {
    allowed: Vec<HostPattern>,
    /// The gateway's own address, if the agent has one of it. It is here, behind no proxy.
    gateway: Option<HostPattern>,
    seen: Mutex<TrialNetwork>,
}

impl HostRules {
    pub(crate) fn new(
        allowed: Vec<HostPattern>,
        gateway: Option<HostPattern>,
        mode: NetworkMode,
    ) -> Self {
        HostRules {
            allowed,
            gateway,
            seen: Mutex::new(TrialNetwork::new(mode)),
        }
    }

    /// Returns the pattern that allows a host. A host that none allows is noted.
    pub(crate) fn allows(&self, host: &str, port: u16) -> Option<&HostPattern> {
        let found = self
            .gateway
            .iter()
            .chain(&self.allowed)
            .find(|pattern| pattern.matches(host, port));
        if found.is_none() {
            self.seen().refuse(host, port);
        }
        found
    }

    /// Returns whether a pattern is that of the gateway.
    pub(crate) fn is_gateway(&self, pattern: &HostPattern) -> bool {
        self.gateway.as_ref() == Some(pattern)
    }

    /// Returns the hosts that were refused so far.
    pub(crate) fn seen(&self) -> MutexGuard<'_, TrialNetwork> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
