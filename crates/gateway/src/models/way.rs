//! The way of one trial's agent to its models, and the log of what passed.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use terca_core::agent::redirect::ServiceKey;
use terca_core::text::excerpt::beginning;
use terca_core::text::mask::Mask;
use terca_core::wire::sent_parts::{Seen, Sought};
use terca_core::wire::{Exchange, ExchangeEnd, Parameters};

use crate::http::request_body::Room;
use crate::http::{Closing, LONGEST_TEXT, lock, milliseconds};
use crate::models::key_filter::mask_of;
use crate::models::paths;
use crate::tape::{Player, Recorder};
use crate::upstream::Upstream;

/// The most requests of one trial. An agent in a loop must not fill the memory.
pub(crate) const MOST_REQUESTS: usize = 10_000;

/// The most paths that are named in a remark.
const MOST_PATHS: usize = 5;

/// The way of one trial's agent to its models.
#[derive(Debug)]
pub(crate) struct Way {
    pub upstreams: Vec<Upstream>,
    /// The room for the bodies of its requests.
    pub room: Room,
    /// The tokens that the agent has, and the keys that they stand for.
    keys: Vec<(String, ServiceKey)>,
    /// Hides the keys in answers.
    pub mask: Mask,
    /// Further paths that the key is passed to.
    pub allow_paths: Vec<String>,
    /// The parts of the variant that are looked for in requests.
    sought: Vec<Sought>,
    /// Takes what passes, if it is to be kept.
    pub recorder: Option<Arc<Recorder>>,
    /// Answers requests from a recording.
    pub player: Option<Arc<Player>>,
    /// The moment from which requests are timed.
    pub opened: Instant,
    log: Mutex<Log>,
    pub closing: Closing,
}

#[derive(Debug, Default)]
struct Log {
    entries: Vec<Entry>,
    /// The services that were sent the token of another service's key.
    strays: BTreeSet<usize>,
    /// The paths that the key was not passed to.
    refused_paths: BTreeSet<String>,
}

/// A request to a model in the log.
#[derive(Debug)]
pub(crate) struct Entry {
    pub exchange: Exchange,
    pub started: Instant,
    is_over: bool,
    /// The hash of path and body, by which a request that is sent again is known.
    request: u64,
}

impl Way {
    pub(crate) fn new(
        upstreams: Vec<Upstream>,
        keys: Vec<(String, ServiceKey)>,
        sought: Vec<Sought>,
        recorder: Option<Recorder>,
        player: Option<Player>,
    ) -> Self {
        Way {
            upstreams,
            room: Room::default(),
            mask: mask_of(keys.iter().map(|(_, key)| &*key.key)),
            allow_paths: Vec::new(),
            keys,
            sought,
            recorder: recorder.map(Arc::new),
            player: player.map(Arc::new),
            opened: Instant::now(),
            log: Mutex::default(),
            closing: Closing::new(),
        }
    }

    /// Returns a text for a service with the key in the place of its token. A text without a token is `None`, and so is one
    /// with the token of a key that is for other services: those alone may have it.
    pub(crate) fn with_key(&self, text: &str, upstream: usize) -> Option<String> {
        let mut keys = self.keys.iter();
        let (token, key) = keys.find(|(token, _)| text.contains(&**token))?;
        if !key.origins.contains(&upstream) {
            lock(&self.log).strays.insert(upstream);
            return None;
        }
        Some(text.replace(&**token, &key.key))
    }

    /// Returns whether a text has one of the tokens in it.
    pub(crate) fn has_token(&self, text: &str) -> bool {
        self.keys.iter().any(|(token, _)| text.contains(&**token))
    }

    /// Notes a path that the key was not passed to.
    pub(crate) fn refuse_path(&self, path: &str) {
        let refused = &mut lock(&self.log).refused_paths;
        if refused.len() < MOST_PATHS {
            refused.insert(beginning(path, LONGEST_TEXT));
        }
    }

    /// Returns remarks about keys that were not passed on.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = self.strays();
        remarks.extend(paths::note(&lock(&self.log).refused_paths));
        remarks
    }

    /// Returns a remark for each service that was sent the token of another service's key.
    fn strays(&self) -> Vec<String> {
        let log = lock(&self.log);
        let services = log.strays.iter().filter_map(|at| self.upstreams.get(*at));
        services
            .map(|service| {
                format!(
                    "the agent sent the key of another service to {}, and the gateway left it out",
                    service.origin
                )
            })
            .collect()
    }

    /// Notes a request. Returns its number, or `None` if the trial has had as many as it may.
    pub(crate) fn begin(
        &self,
        path: &str,
        (model_asked, mut parameters): (Option<String>, Parameters),
        body: &Bytes,
    ) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        body.hash(&mut hasher);
        let request = hasher.finish();
        let started = Instant::now();
        // It takes milliseconds, and models take seconds.
        let is_searched = !self.sought.is_empty();
        let seen = is_searched.then(|| Seen::search(body, &self.sought));
        let mut log = lock(&self.log);
        if log.entries.len() >= MOST_REQUESTS {
            return None;
        }
        let retry = log.entries.iter().any(|entry| {
            entry.request == request && entry.is_over && !entry.exchange.is_answered()
        });
        // All requests of a session offer the same tools, mostly.
        let before = log.entries.last().map(|entry| &entry.exchange.parameters);
        if let Some(before) = before.filter(|it| it.tool_names == parameters.tool_names) {
            parameters.tool_names = Arc::clone(&before.tool_names);
        }
        log.entries.push(Entry {
            exchange: Exchange {
                path: beginning(path, LONGEST_TEXT),
                model_asked: model_asked.map(|model| beginning(&model, LONGEST_TEXT)),
                parameters,
                retry,
                started_ms: milliseconds(started - self.opened),
                seen,
                ..Exchange::default()
            },
            started,
            is_over: false,
            request,
        });
        Some(log.entries.len() - 1)
    }

    /// Changes an entry of the log.
    pub(crate) fn change(&self, number: usize, change: impl FnOnce(&mut Entry)) {
        // A log that was taken is empty: what comes later is of no trial.
        if let Some(entry) = lock(&self.log).entries.get_mut(number) {
            change(entry);
        }
    }

    /// Notes the end of an exchange. One whose answer has come to its own end stays whole.
    pub(crate) fn end(&self, number: usize, end: ExchangeEnd, error: Option<String>) {
        self.change(number, |entry| {
            if entry.is_over {
                return;
            }
            entry.is_over = true;
            let exchange = &mut entry.exchange;
            exchange.total_ms = milliseconds(entry.started.elapsed());
            if exchange.end != ExchangeEnd::Whole {
                exchange.end = end;
            }
            if exchange.error.is_none() {
                exchange.error = error;
            }
        });
    }

    /// Ends everything that is on its way, and returns the log.
    pub(crate) fn close(&self) -> Vec<Exchange> {
        self.closing.close();
        let entries = std::mem::take(&mut lock(&self.log).entries);
        let mut exchanges = Vec::new();
        for mut entry in entries {
            if !entry.is_over && entry.exchange.end != ExchangeEnd::Whole {
                entry.exchange.total_ms = milliseconds(entry.started.elapsed());
            }
            exchanges.push(entry.exchange);
        }
        exchanges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_in_a_loop_is_stopped() {
        let way = Way::new(Vec::new(), Vec::new(), Vec::new(), None, None);
        for number in 0..MOST_REQUESTS {
            let body = Bytes::copy_from_slice(&number.to_le_bytes());
            assert_eq!(
                way.begin("/v1/messages", Default::default(), &body),
                Some(number)
            );
        }
        assert_eq!(
            way.begin(
                "/v1/messages",
                Default::default(),
                &Bytes::from_static(b"more")
            ),
            None
        );
        assert_eq!(way.close().len(), MOST_REQUESTS);
    }
}
