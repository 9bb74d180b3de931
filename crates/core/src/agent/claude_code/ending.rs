//! What the result of a session means.

use super::errors::classify;
use super::wire::SessionResult;
use crate::agent::Ending;
use crate::trial_error::{ErrorKind, TrialError};

/// How the session ended, and what is worth a note although it changes no verdict.
pub(super) fn ending(result: &SessionResult) -> (Ending, Vec<String>) {
    let mut notes = Vec::new();
    if let Some(note) = denials(result) {
        notes.push(note);
    }
    let failed = |kind, message: String| Ending::Failed(TrialError::new(kind, message));
    let ending = match result {
        _ if ["error_max_turns", "error_max_budget_usd"].contains(&result.subtype.as_str()) => {
            notes.push(words(result));
            Ending::Completed
        }
        _ if result.is_error => {
            let words = words(result);
            let kind = classify(result.api_error_status, &words).unwrap_or(ErrorKind::Agent);
            failed(kind, words)
        }
        // It took the prompt for a command of its own.
        _ if result.num_turns == Some(0) => failed(ErrorKind::Agent, words(result)),
        _ if broke_off(result) => failed(
            ErrorKind::ModelApi,
            "the model's last answer broke off".to_owned(),
        ),
        _ => Ending::Completed,
    };
    (ending, notes)
}

/// A stream that breaks off passes for success, and what the model was about to do is lost. What shows it is
/// that the last answer has given no reason for its end: there is none, or the one of the answer before, which
/// called a tool.
fn broke_off(result: &SessionResult) -> bool {
    matches!(result.stop_reason.as_deref(), None | Some("tool_use"))
        || result.model_usage.is_empty()
}

fn words(result: &SessionResult) -> String {
    let errors = result.errors_for_people();
    match &result.result {
        Some(text) if !text.is_empty() => text.clone(),
        _ if !errors.is_empty() => errors,
        _ => format!("the session ended with `{}`", result.subtype),
    }
}

fn denials(result: &SessionResult) -> Option<String> {
    let mut tools: Vec<&str> = result
        .permission_denials
        .iter()
        .map(|denial| &*denial.tool_name)
        .collect();
    let count = tools.len();
    tools.sort_unstable();
    tools.dedup();
    let calls = crate::text::prose::count(count, "tool call");
    (count > 0).then(|| format!("no permission was given for {calls}: {}", tools.join(", ")))
}
