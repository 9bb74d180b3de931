//! Answers requests from a recording.
//!
//! A request is looked up by its normal form, so that those of sub-agents and of other parallel work are found in whatever
//! order they come. Of several that are the same, the first that was not played yet is; when all were, the last is played
//! again. Requests of the recording are brought into the normal form when they are needed, since an agent that does what it
//! did asks for them in order.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use serde_json::Value;
use sha2::{Digest, Sha256};
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::wire::ExchangeEnd;
use terca_core::wire::recording::{NEXT_STEP, NormalForm, OnMiss, describe, distance, moved};

use crate::http::BodyError;
use crate::tape::recording::Recording;

/// The most recorded requests that one without an answer is compared with, to show the closest.
const MOST_COMPARED: usize = 50;
/// The most places that are counted of a difference.
const MOST_PLACES: usize = 40;

/// A recording that is to be played.
#[derive(Debug)]
pub struct Replay {
    /// The recording.
    pub recording: Recording,
    /// What becomes of a request that is not in it.
    pub on_miss: OnMiss,
    /// The directory of the trial.
    pub directory: String,
    /// The version of its agent.
    pub agent_version: Option<String>,
    /// The secrets of the run, which are masked in the recording.
    pub mask: Mask,
}

/// Answers the requests of one trial.
#[derive(Debug)]
pub(crate) struct Player {
    on_miss: OnMiss,
    directory: String,
    has_diverged: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recording: Recording,
    form: NormalForm,
    /// The keys of the first requests of the recording.
    keys: Vec<Key>,
    is_played: Vec<bool>,
    asked: u64,
    live: u64,
    /// The first request to a model that was not in the recording.
    divergence: Option<String>,
}

/// The hash of a request's normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key([u8; 32]);

/// An answer of the recording.
#[derive(Debug)]
pub(crate) struct PlayedAnswer {
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    pub(crate) end: ExchangeEnd,
    pub(crate) error: Option<String>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Found {
    /// The recording has its answer.
    Answer(PlayedAnswer),
    /// It is passed on to the service.
    Live,
    /// It is refused.
    Refused,
}

/// The figures of a recording that was played.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Played {
    /// The first request to a model that was not in the recording, and how it differs.
    pub divergence: Option<String>,
    /// The requests to models that went to the service.
    pub live: u64,
    /// The recorded requests that nobody asked for.
    pub left: usize,
}

impl Player {
    /// Prepares to play. These tokens are hidden, as they are in the recording.
    pub(crate) fn new(replay: Replay, tokens: &[String]) -> Self {
        let Replay {
            recording,
            on_miss,
            directory,
            agent_version,
            mask,
        } = replay;
        let directories = [recording.header.directory.as_str(), directory.as_str()];
        let recorded_version = recording.header.agent_version.as_deref();
        let versions: Vec<&str> = recorded_version
            .into_iter()
            .chain(agent_version.as_deref())
            .collect();
        let form = NormalForm::new(&directories, &versions, mask.with(tokens));
        let is_played = vec![false; recording.exchanges.len()];
        Player {
            on_miss,
            directory,
            has_diverged: AtomicBool::new(false),
            state: Mutex::new(State {
                recording,
                form,
                keys: Vec::new(),
                is_played,
                asked: 0,
                live: 0,
                divergence: None,
            }),
        }
    }

    /// Returns whether a request to a model was refused: the session is another one from there.
    pub(crate) fn has_diverged(&self) -> bool {
        self.has_diverged.load(Ordering::Relaxed)
    }

    /// Looks for the answer to a request.
    pub(crate) fn find(&self, method: &str, path: &str, body: &[u8], is_for_model: bool) -> Found {
        let mut state = self.state();
        state.asked += u64::from(is_for_model);
        let value = state.form.body(body);
        let key = key_of(method, &state.form.text(path), &value);
        let problem = match state.position(key) {
            Some(index) => {
                state.is_played[index] = true;
                match state.answer(index, &self.directory) {
                    Some(answer) => return Found::Answer(answer),
                    None => {
                        format!("the recording has this request, and not its answer; {NEXT_STEP}")
                    }
                }
            }
            None => state.difference(method, path, &value),
        };
        if is_for_model && state.divergence.is_none() {
            let asked = state.asked;
            state.divergence = Some(format!(
                "request {asked} to a model ({method} {path}): {problem}"
            ));
        }
        match self.on_miss {
            OnMiss::Live => {
                state.live += u64::from(is_for_model);
                Found::Live
            }
            OnMiss::Error => {
                if is_for_model {
                    self.has_diverged.store(true, Ordering::Relaxed);
                }
                Found::Refused
            }
        }
    }

    /// Returns the figures.
    pub(crate) fn played(&self) -> Played {
        let state = self.state();
        Played {
            divergence: state.divergence.clone(),
            live: state.live,
            left: state.is_played.iter().filter(|played| !**played).count(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the recorded request with this key: the first that was not played, or else the last.
    fn position(&mut self, key: Key) -> Option<usize> {
        let mut last = None;
        for index in 0..self.recording.exchanges.len() {
            if index == self.keys.len() {
                let request = &self.recording.exchanges[index].request;
                let body = self.recording.body(&request.body);
                let value = self.form.body(&body);
                let path = self.form.text(&request.path);
                self.keys.push(key_of(&request.method, &path, &value));
            }
            if self.keys[index] == key {
                if !self.is_played[index] {
                    return Some(index);
                }
                last = Some(index);
            }
        }
        last
    }

    fn answer(&self, index: usize, directory: &str) -> Option<PlayedAnswer> {
        let answer = self.recording.exchanges[index].answer.as_ref()?;
        if answer.too_large {
            return None;
        }
        let body = self.recording.body(&answer.body);
        let headers = answer.headers.iter();
        Some(PlayedAnswer {
            status: answer.status,
            headers: headers
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            body: moved(&body, &self.recording.header.directory, directory).into(),
            end: answer.end,
            error: answer.error.clone(),
        })
    }

    /// Describes how a request differs from the closest one of the recording that was not played.
    fn difference(&mut self, method: &str, path: &str, now: &Value) -> String {
        let path = self.form.text(path);
        let mut closest: Option<(usize, usize, Value)> = None;
        let mut compared = 0;
        for index in 0..self.recording.exchanges.len() {
            let request = &self.recording.exchanges[index].request;
            let is_like = request.method == method && self.form.text(&request.path) == path;
            if self.is_played[index] || !is_like {
                continue;
            }
            let body = self.recording.body(&request.body);
            let recorded = self.form.body(&body);
            let far = distance(&recorded, now, MOST_PLACES);
            if closest.as_ref().is_none_or(|(least, ..)| far < *least) {
                closest = Some((far, index, recorded));
            }
            compared += 1;
            if compared == MOST_COMPARED {
                break;
            }
        }
        match (closest, &self.recording.stopped) {
            (Some((_, index, recorded)), _) => {
                let number = self.recording.exchanges[index].request.number;
                let lines = describe(&recorded, now);
                format!(
                    "it differs from the recording (- recorded request {number}, + now)\n{lines}"
                )
            }
            (None, Some(reason)) => {
                format!("the recording has no more: it ended early ({reason}); {NEXT_STEP}")
            }
            (None, None) => {
                let number = self.recording.exchanges.len();
                let requests = prose::count(number, "request");
                format!(
                    "the recording has no more of this kind, and {requests} in all; {NEXT_STEP}"
                )
            }
        }
    }
}

fn key_of(method: &str, path: &str, body: &Value) -> Key {
    let mut hash = Sha256::new();
    for text in [method, "\n", path, "\n", &body.to_string()] {
        hash.update(text.as_bytes());
    }
    Key(hash.finalize().into())
}

/// The body of an answer from a recording.
pub(crate) struct PlayedBody {
    bytes: Option<Bytes>,
    end: ExchangeEnd,
}

impl PlayedBody {
    pub(crate) fn new(bytes: Bytes, end: ExchangeEnd) -> Self {
        PlayedBody {
            bytes: Some(bytes).filter(|bytes| !bytes.is_empty()),
            end,
        }
    }
}

impl Body for PlayedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match self.end {
            ExchangeEnd::Whole => Poll::Ready(None),
            ExchangeEnd::CutByService | ExchangeEnd::Unreachable => {
                let reason = "the service broke off when it was recorded";
                Poll::Ready(Some(Err(reason.into())))
            }
            // The agent did not wait for the rest, and hangs up now as it did then; or its trial ends.
            ExchangeEnd::LeftByAgent => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.end == ExchangeEnd::Whole && self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.bytes.as_ref().map_or(0, Bytes::len);
        if self.end == ExchangeEnd::Whole {
            SizeHint::with_exact(left as u64)
        } else {
            SizeHint::default()
        }
    }
}
