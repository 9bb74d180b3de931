//! The recording of a session: every request of an agent that passed the gateway, and its answer.
//!
//! A recording is a file of JSON lines, compressed by gzip. The first line says which format it is. Bodies are lists of
//! parts, and each part is in the file once, under the hash of its content: an agent sends the whole conversation with
//! every request, so most of a body is in the one before it. A line is written as soon as its exchange allows it, so that
//! a recording without its end has all exchanges up to there.

mod body_parts;
mod difference;
mod masking;
mod moved;
mod normal_form;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::wire::ExchangeEnd;
pub use body_parts::{part_name, parts_of};
pub use difference::first_difference;
pub use masking::masked_body;
pub use moved::moved;
pub use normal_form::NormalForm;

/// The name of a recording among the artifacts of its agent.
pub const FILE: &str = "exchanges.jsonl.gz";
/// The name of the format, in the first line.
pub const FORMAT: &str = "terca-exchanges";
/// The version of the format.
pub const VERSION: u32 = 1;
/// The most bytes of a recording before compression. A longer one is ended there.
pub const LARGEST: u64 = 256 * 1024 * 1024;

/// The next step of somebody whose recording cannot be used.
pub const NEXT_STEP: &str = "record the run again with `gateway: record`";

/// What becomes of a request that is not in the recording that is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnMiss {
    /// The trial ends in an error.
    #[default]
    Error,
    /// The service is asked, with the key.
    Live,
}

/// A line of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RecordingLine {
    /// The first line.
    Header(Header),
    /// A part of bodies.
    Part(BodyPart),
    /// A request of the agent.
    Request(RecordedRequest),
    /// The answer to a request.
    Answer(RecordedAnswer),
    /// The reason why nothing follows, although the session went on.
    Stopped {
        /// The reason.
        reason: String,
    },
}

/// The first line of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The directory that the trial had while it ran: paths in it are in requests and answers.
    pub directory: String,
    /// The version of the agent, which names itself in its requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The addresses of services that the caller's shell named, by variable: the paths of requests follow from them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
}

/// A part of bodies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BodyPart {
    /// The hash of its bytes.
    pub name: String,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes as hexadecimal digits, where they are no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
}

/// A request of the agent. The headers are those that matter to a service; no key is among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRequest {
    /// Its number, from 1.
    pub number: u64,
    /// The time since the beginning of the session, in milliseconds.
    pub at_ms: u64,
    /// The method of HTTP.
    pub method: String,
    /// The path at the service, without a query.
    pub path: String,
    /// The query.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
    /// The parts of its body, in order.
    pub body: Vec<String>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedAnswer {
    /// The number of its request.
    pub number: u64,
    /// The HTTP status; `None` if there was no answer.
    pub status: Option<u16>,
    /// Its headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The parts of its body, in order.
    pub body: Vec<String>,
    /// The way it ended.
    pub end: ExchangeEnd,
    /// The reason why it ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// True if it was too large to be kept: its body is not there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_large: bool,
}
