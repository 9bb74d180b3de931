//! The calls of tools of MCP servers.

use std::collections::BTreeMap;

/// The calls of each server's tools, and those that have not ended.
#[derive(Debug, Default)]
pub(super) struct ServerCalls {
    counts: BTreeMap<String, Counts>,
    /// The ids of calls that have not ended, where they have one, with their servers.
    open: Vec<(Option<String>, String)>,
}

/// The calls of one server's tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) started: u64,
    pub(super) answered: u64,
    pub(super) failed: u64,
}

impl ServerCalls {
    /// Counts a call.
    pub(super) fn started(&mut self, server: &str, id: Option<&str>) {
        let counts = self.counts.entry(server.to_owned()).or_default();
        counts.started += 1;
        self.open.push((id.map(str::to_owned), server.to_owned()));
    }

    /// Counts the end of a call, if the result belongs to one.
    pub(super) fn ended(&mut self, id: Option<&str>, ok: bool) {
        let call = self.open.iter().position(|(open, _)| open.as_deref() == id);
        let Some(call) = call else { return };
        let (_, server) = self.open.remove(call);
        let counts = self.counts.entry(server).or_default();
        if ok {
            counts.answered += 1;
        } else {
            counts.failed += 1;
        }
    }

    /// Returns whether a call has not ended.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the calls of a server's tools.
    pub(super) fn of(&self, server: &str) -> Counts {
        self.counts.get(server).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_find_their_calls() {
        let mut calls = ServerCalls::default();
        calls.started("a", Some("1"));
        calls.started("b", Some("2"));
        calls.started("a", None);
        calls.ended(Some("2"), false);
        calls.ended(Some("of another tool"), false);
        calls.ended(Some("1"), true);
        assert!(calls.is_open());
        calls.ended(None, false);
        calls.ended(None, false);
        assert!(!calls.is_open());
        let [a, b, c] = ["a", "b", "c"].map(|server| calls.of(server));
        assert_eq!((a.started, a.answered, a.failed), (2, 1, 1));
        assert_eq!((b.started, b.answered, b.failed), (1, 0, 1));
        assert_eq!(c, Counts::default());
    }
}
