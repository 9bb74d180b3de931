//! The session of an ACP agent as Terca's client prints it: one event on a line. The client writes it inside of the trial,
//! and the decoder reads it outside.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::process::Exit;
use crate::trial_error::ErrorKind;

/// An event of the session. `time` is in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Event {
    /// The agent has said what it is.
    Agent {
        /// When.
        time: i64,
        /// Its name.
        name: Option<String>,
        /// Its version.
        version: Option<String>,
    },
    /// The session has begun.
    Session {
        /// When.
        time: i64,
        /// The model that the agent says it will use.
        model: Option<String>,
    },
    /// A `session/update` of the agent.
    Update {
        /// Its kind, in front, so that a flood of words is known by its beginning.
        of: String,
        /// When.
        time: i64,
        /// The update as the agent sent it.
        update: Value,
    },
    /// The agent asked for a permission, and this was the answer.
    Permission {
        /// When.
        time: i64,
        /// The tool call that it is for.
        call: Option<String>,
        /// The kind of the option that was chosen, such as `allow_always`; `null` if none of them allows the call.
        answer: Option<String>,
    },
    /// The agent asked for something that Terca does not do.
    Refused {
        /// When.
        time: i64,
        /// The method.
        method: String,
    },
    /// A line that is no message of the protocol, or that is too long.
    Noise {
        /// When.
        time: i64,
        /// The beginning of the line.
        text: String,
        /// Its length.
        bytes: u64,
    },
    /// The session cannot go on.
    Failed {
        /// When.
        time: i64,
        /// What the client was doing.
        stage: Stage,
        /// The code of the agent's error, if it answered with one.
        code: Option<i64>,
        /// The kind of the error, where the client knows it.
        kind: Option<ErrorKind>,
        /// The reason.
        message: String,
        /// The end of the agent's program, if it ended.
        exit: Option<Exit>,
    },
    /// The answer to the prompt.
    End {
        /// When.
        time: i64,
        /// The reason that the agent gives, such as `end_turn`.
        stop_reason: String,
        /// The figures of the session, where the agent gives them.
        usage: Option<Value>,
        /// What else the agent says, in a form of its own.
        meta: Option<Value>,
    },
    /// An event of a newer client.
    #[serde(other)]
    Other,
}

/// A step of the conversation between the client and the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// The agent's program is started.
    Start,
    /// Both say what they can do.
    Initialize,
    /// A session is made.
    Session,
    /// The model is chosen.
    Model,
    /// The agent works.
    Prompt,
}
