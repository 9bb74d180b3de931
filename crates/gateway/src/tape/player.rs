//! Answers requests from a recording.
//!
//! A request is looked up by its normal form, so that those of sub-agents and of other parallel work are found in whatever
//! order they come. Of several that are the same, the first that was not played yet is; when all were, the last is played
//! again. Requests of the recording are brought into the normal form when they are needed, since an agent that does what it
//! did asks for them in order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use bytes::Bytes;
use serde_json::Value;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::wire::recording::{
    NEXT_STEP, NormalForm, OnMiss, RecordedAnswer, first_difference, moved,
};

use crate::http::lock;
use crate::tape::recording::{RecordedExchange, Recording};

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
pub(crate) struct Player(Mutex<PlayerState>);

#[derive(Debug)]
struct PlayerState {
    replay: Replay,
    form: NormalForm,
    /// The requests to models so far.
    asked: u64,
    played: Played,
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
        let header = &replay.recording.header;
        let directories = [header.directory.as_str(), replay.directory.as_str()];
        let versions = header.agent_version.iter().chain(&replay.agent_version);
        let versions: Vec<&str> = versions.map(String::as_str).collect();
        Player(Mutex::new(PlayerState {
            form: NormalForm::new(&directories, &versions, replay.mask.with(tokens)),
            replay,
            asked: 0,
            played: Played::default(),
        }))
    }

    /// Returns whether a request to a model was refused: the session is another one from there.
    pub(crate) fn has_diverged(&self) -> bool {
        let state = lock(&self.0);
        state.replay.on_miss == OnMiss::Error && state.played.divergence.is_some()
    }

    /// Looks for the answer to a request.
    pub(crate) fn find(&self, method: &str, path: &str, body: &[u8], is_for_model: bool) -> LookUp {
        let mut state = lock(&self.0);
        state.asked += u64::from(is_for_model);
        let value = state.form.body(body);
        let key = key_of(method, &state.form.text(path), &value);
        let problem = match state.position(key) {
            Some(index) => match state.play(index) {
                Some((answer, body)) => return LookUp::Played(answer, body),
                None => {
                    format!("the recording has this request, and not its answer; {NEXT_STEP}")
                }
            },
            None => state.difference(method, path, &value),
        };
        let is_live = state.replay.on_miss == OnMiss::Live;
        if is_for_model {
            let problem = format!(
                "request {} to a model ({method} {path}): {problem}",
                state.asked
            );
            state.played.divergence.get_or_insert(problem);
            state.played.live += u64::from(is_live);
        }
        if is_live {
            LookUp::Live
        } else {
            LookUp::Refused
        }
    }

    /// Returns the figures.
    pub(crate) fn played(&self) -> Played {
        let state = lock(&self.0);
        let exchanges = state.replay.recording.exchanges.iter();
        Played {
            left: exchanges.filter(|one| !one.is_played).count(),
            ..state.played.clone()
        }
    }
}

impl PlayerState {
    /// Returns the recorded request with this key: the first that was not played, or else the last.
    fn position(&mut self, key: u64) -> Option<usize> {
        let recording = &mut self.replay.recording;
        let mut last = None;
        for index in 0..recording.exchanges.len() {
            let RecordedExchange { request, .. } = &recording.exchanges[index];
            if recording.exchanges[index].key.is_none() {
                let body = self.form.body(&recording.body(&request.body));
                let path = self.form.text(&request.path);
                let key = key_of(&request.method, &path, &body);
                recording.exchanges[index].key = Some(key);
            }
            if recording.exchanges[index].key == Some(key) {
                last = Some(index);
                if !recording.exchanges[index].is_played {
                    break;
                }
            }
        }
        last
    }

    /// Returns the answer to a recorded request, and its body.
    fn play(&mut self, index: usize) -> Option<(RecordedAnswer, Bytes)> {
        let Replay {
            recording,
            directory,
            ..
        } = &mut self.replay;
        recording.exchanges[index].is_played = true;
        let answer = recording.exchanges[index].answer.clone();
        let answer = answer.filter(|answer| !answer.too_large)?;
        let body = recording.body(&answer.body);
        let body = moved(&body, &recording.header.directory, directory);
        Some((answer, body.into()))
    }

    /// Describes how a request differs from the next one of the recording that was not played.
    fn difference(&mut self, method: &str, path: &str, now: &Value) -> String {
        let path = self.form.text(path);
        let recording = &self.replay.recording;
        let left = recording.exchanges.iter().filter(|one| !one.is_played);
        for RecordedExchange { request, .. } in left {
            if request.method == method && self.form.text(&request.path) == path {
                let recorded = self.form.body(&recording.body(&request.body));
                let place = first_difference(&recorded, now);
                let number = request.number;
                return format!(
                    "it differs from the recording (- recorded request {number}, + now)\n{place}"
                );
            }
        }
        if let Some(reason) = &recording.stopped {
            return format!("the recording has no more: it ended early ({reason}); {NEXT_STEP}");
        }
        let requests = prose::count(recording.exchanges.len(), "request");
        format!("the recording has no more of this kind, and {requests} in all; {NEXT_STEP}")
    }
}

fn key_of(method: &str, path: &str, body: &Value) -> u64 {
    let mut hash = DefaultHasher::new();
    (method, path, body.to_string()).hash(&mut hash);
    hash.finish()
}
