//! The hosts that an agent may reach.

use std::sync::{Mutex, MutexGuard, PoisonError};

use terca_core::network::{HostPattern, NetworkMode, TrialNetwork};

/// The hosts that are allowed, and those that were refused.
#[derive(Debug)]
pub(crate) struct HostRules {
    allowed: Vec<HostPattern>,
    seen: Mutex<TrialNetwork>,
}

impl HostRules {
    pub(crate) fn new(allowed: Vec<HostPattern>, mode: NetworkMode) -> Self {
        HostRules {
            allowed,
            seen: Mutex::new(TrialNetwork::new(mode)),
        }
    }

    /// Returns the pattern that allows a host. A host that none allows is noted.
    pub(crate) fn allows(&self, host: &str, port: u16) -> Option<&HostPattern> {
        let found = self
            .allowed
            .iter()
            .find(|pattern| pattern.matches(host, port));
        if found.is_none() {
            self.refuse(host, port);
        }
        found
    }

    /// Notes a connection that was refused.
    pub(crate) fn refuse(&self, host: &str, port: u16) {
        self.seen().refuse(host, port);
    }

    /// Returns the hosts that were refused so far.
    pub(crate) fn network(&self) -> TrialNetwork {
        self.seen().clone()
    }

    fn seen(&self) -> MutexGuard<'_, TrialNetwork> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
