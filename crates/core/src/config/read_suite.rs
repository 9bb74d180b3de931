//! Reads `terca.yaml`.

use crate::config::concurrency;
use crate::config::raw::{RawSandbox, RawSuite};
use crate::config::read::{self, Fields};
use crate::config::read_action::action;
use crate::config::read_eval::evals;
use crate::config::read_setup::{setup, variables};
use crate::config::repetitions;
use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::Diagnostics;
use crate::text::source::FileId;

pub(super) fn suite(file: FileId, node: Node, problems: &mut Diagnostics) -> Option<RawSuite> {
    let mut fields = Fields::open(node, "a suite", problems)?;
    let suite = RawSuite {
        file,
        name: fields.optional("name", read::filled_text),
        description: fields.optional("description", read::text),
        repetitions: fields.optional("repetitions", repetitions::read),
        concurrency: fields.optional("concurrency", concurrency::read),
        retries: fields.optional("retries", read::times),
        timeout_seconds: fields.optional("timeoutSeconds", read::positive),
        preamble: fields.optional("preamble", read::text),
        postamble: fields.optional("postamble", read::text),
        prepare: fields.list("prepare", action),
        before: fields.list("before", action),
        evals: evals(&mut fields),
        environments: fields.list("environments", setup),
        experiments: fields.list("experiments", setup),
        env: fields.optional("env", variables).unwrap_or_default(),
        sandbox: fields.optional("sandbox", sandbox),
        workspace_dir: fields.optional("workspaceDir", read::filled_text),
        track_ignored: fields.optional("trackIgnored", read::boolean),
    };
    fields.close();
    Some(suite)
}

/// A word, or a map of one key that needs a value. Whether it can be had is judged when it is resolved.
fn sandbox(node: Node, problems: &mut Diagnostics) -> Option<RawSandbox> {
    let kind = match &node.value {
        Value::Text(kind) if matches!(kind.as_str(), "none" | "bwrap") => Some(kind.clone()),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, _)| key.value.clone())
            .find(|kind| matches!(kind.as_str(), "docker" | "podman")),
        _ => None,
    };
    match kind {
        Some(kind) => Some(RawSandbox {
            place: node.place,
            kind,
        }),
        None => read::wrong_type(
            node,
            "`none`, `bwrap`, `{docker: IMAGE}` or `{podman: IMAGE}`",
            problems,
        ),
    }
}
