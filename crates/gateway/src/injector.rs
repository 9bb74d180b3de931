//! Faults of models that a suite asks for, to see what agents do about them.

use std::sync::{Mutex, PoisonError};

use hyper::StatusCode;
use serde_json::{Value, json};
use terca_core::config::gateway::Injection;

use crate::dialect::Dialect;

/// Decides which requests of a trial are struck.
#[derive(Debug)]
pub(crate) struct Injector {
    injections: Vec<Injection>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    asked: u64,
    /// The number of times that each has struck.
    struck: Vec<u32>,
}

impl Injector {
    pub(crate) fn new(injections: Vec<Injection>) -> Self {
        let state = State {
            asked: 0,
            struck: vec![0; injections.len()],
        };
        Injector {
            injections,
            state: Mutex::new(state),
        }
    }

    /// Returns the fault of the next request to a model: the first in the list that strikes.
    pub(crate) fn next(&self) -> Option<Injection> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let State { asked, struck } = &mut *state;
        let mut pairs = self.injections.iter().zip(struck);
        let (injection, struck) =
            pairs.find(|(injection, struck)| injection.strikes(*asked, **struck))?;
        *struck += 1;
        Some(*injection)
    }
}

/// Returns the body of an answer with a bad status, in the form of the service's own: agents read it.
pub(crate) fn error_body(dialect: Dialect, status: StatusCode) -> Value {
    let number = status.as_u16();
    let reason = status.canonical_reason().unwrap_or("Overloaded");
    let message = format!("{reason} (terca's gateway: the suite asks for this fault)");
    match dialect {
        Dialect::Anthropic => {
            let name = match number {
                401 => "authentication_error",
                403 => "permission_error",
                404 => "not_found_error",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                400..500 => "invalid_request_error",
                _ => "api_error",
            };
            json!({"type": "error", "error": {"type": name, "message": message}})
        }
        Dialect::Chat | Dialect::Responses => {
            let (name, code) = match number {
                401 => ("invalid_request_error", "invalid_api_key"),
                404 => ("invalid_request_error", "model_not_found"),
                429 => ("rate_limit_error", "rate_limit_exceeded"),
                400..500 => ("invalid_request_error", "invalid_request"),
                _ => ("server_error", "server_error"),
            };
            json!({"error": {"message": message, "type": name, "param": null, "code": code}})
        }
        Dialect::Gemini => {
            let name = match number {
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                503 => "UNAVAILABLE",
                400..500 => "INVALID_ARGUMENT",
                _ => "INTERNAL",
            };
            json!({"error": {"code": number, "message": message, "status": name}})
        }
    }
}
