//! Answers requests from a recording.
//!
//! A request is looked up by its normal form, so that those of sub-agents and of other parallel work are found in whatever
//! order they come. Of several that are the same, the first that was not played yet is; when all were, the last is played
//! again. Requests of the recording are brought into the normal form when they are needed, since an agent that does what it
//! did asks for them in order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use serde_json::Value;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::wire::ExchangeEnd;
use terca_core::wire::recording::{
    NEXT_STEP, NormalForm, OnMiss, RecordedAnswer, first_difference, moved,
};

use crate::http::{BodyError, lock};
use crate::tape::recording::Recording;

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
    state: Mutex<PlayerState>,
}

#[derive(Debug)]
struct PlayerState {
    recording: Recording,
    form: NormalForm,
    /// The requests of the recording, in order.
    requests: Vec<PlayedRequest>,
    /// The requests to models so far.
    asked: u64,
    live: u64,
    /// The first request to a model that was not in the recording.
    divergence: Option<String>,
}

#[derive(Debug)]
struct PlayedRequest {
    number: u64,
    /// The hash of its normal form, once it was needed.
    key: Option<u64>,
    is_played: bool,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum LookUp {
    /// The recording has its answer, with this body.
    Played(RecordedAnswer, Bytes),
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
        let numbers = recording.exchanges.keys();
        let requests = numbers.map(|number| PlayedRequest {
            number: *number,
            key: None,
            is_played: false,
        });
        Player {
            on_miss,
            directory,
            state: Mutex::new(PlayerState {
                requests: requests.collect(),
                recording,
                form,
                asked: 0,
                live: 0,
                divergence: None,
            }),
        }
    }

    /// Returns whether a request to a model was refused: the session is another one from there.
    pub(crate) fn has_diverged(&self) -> bool {
        self.on_miss == OnMiss::Error && lock(&self.state).divergence.is_some()
    }

    /// Looks for the answer to a request.
    pub(crate) fn find(&self, method: &str, path: &str, body: &[u8], is_for_model: bool) -> LookUp {
        let mut state = lock(&self.state);
        state.asked += u64::from(is_for_model);
        let value = state.form.body(body);
        let key = key_of(method, &state.form.text(path), &value);
        let problem = match state.position(key) {
            Some(index) => {
                state.requests[index].is_played = true;
                match state.answer(index, &self.directory) {
                    Some((answer, body)) => return LookUp::Played(answer, body),
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
                LookUp::Live
            }
            OnMiss::Error => LookUp::Refused,
        }
    }

    /// Returns the figures.
    pub(crate) fn played(&self) -> Played {
        let state = lock(&self.state);
        Played {
            divergence: state.divergence.clone(),
            live: state.live,
            left: state.requests.iter().filter(|one| !one.is_played).count(),
        }
    }
}

impl PlayerState {
    /// Returns the recorded request with this key: the first that was not played, or else the last.
    fn position(&mut self, key: u64) -> Option<usize> {
        let mut last = None;
        for index in 0..self.requests.len() {
            if self.requests[index].key.is_none() {
                let (request, _) = &self.recording.exchanges[&self.requests[index].number];
                let body = self.form.body(&self.recording.body(&request.body));
                let path = self.form.text(&request.path);
                self.requests[index].key = Some(key_of(&request.method, &path, &body));
            }
            if self.requests[index].key == Some(key) {
                last = Some(index);
                if !self.requests[index].is_played {
                    break;
                }
            }
        }
        last
    }

    fn answer(&self, index: usize, directory: &str) -> Option<(RecordedAnswer, Bytes)> {
        let (_, answer) = &self.recording.exchanges[&self.requests[index].number];
        let answer = answer.clone().filter(|answer| !answer.too_large)?;
        let body = self.recording.body(&answer.body);
        let body = moved(&body, &self.recording.header.directory, directory);
        Some((answer, body.into()))
    }

    /// Describes how a request differs from the next one of the recording that was not played.
    fn difference(&mut self, method: &str, path: &str, now: &Value) -> String {
        let path = self.form.text(path);
        for PlayedRequest { number, .. } in self.requests.iter().filter(|one| !one.is_played) {
            let (request, _) = &self.recording.exchanges[number];
            if request.method == method && self.form.text(&request.path) == path {
                let recorded = self.form.body(&self.recording.body(&request.body));
                let place = first_difference(&recorded, now);
                return format!(
                    "it differs from the recording (- recorded request {number}, + now)\n{place}"
                );
            }
        }
        if let Some(reason) = &self.recording.stopped {
            return format!("the recording has no more: it ended early ({reason}); {NEXT_STEP}");
        }
        let requests = prose::count(self.requests.len(), "request");
        format!("the recording has no more of this kind, and {requests} in all; {NEXT_STEP}")
    }
}

fn key_of(method: &str, path: &str, body: &Value) -> u64 {
    let mut hash = DefaultHasher::new();
    (method, path, body.to_string()).hash(&mut hash);
    hash.finish()
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
