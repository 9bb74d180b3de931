//! Actions: their sources exist, their destinations stay inside the workspace.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::PathKind;
use crate::config::paths::{beside, escaping_link, inside};
use crate::config::raw::{RawAction, RawCommand};
use crate::config::resolver::Resolver;
use crate::config::suite::{Action, DEFAULT_COMMAND_SECONDS, ShellCommand};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

pub(super) fn actions(
    raw: Vec<RawAction>,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Vec<Action> {
    raw.into_iter()
        .flat_map(|action| resolve(action, layers, resolver))
        .collect()
}

fn resolve(raw: RawAction, layers: &[Utf8PathBuf], resolver: &mut Resolver<'_>) -> Vec<Action> {
    match raw {
        RawAction::Copy(pairs) => pairs
            .into_iter()
            .filter_map(|(source, destination)| copy(&source, &destination, layers, resolver))
            .collect(),
        RawAction::Files(pairs) => pairs
            .into_iter()
            .filter_map(|(path, content)| {
                let destination = file_destination(&path, layers, resolver)?;
                Some(Action::Write {
                    destination,
                    content: content.value,
                })
            })
            .collect(),
        RawAction::Command(raw) => vec![Action::Run(command(raw, resolver))],
    }
}

pub(super) fn command(raw: RawCommand, resolver: &Resolver<'_>) -> ShellCommand {
    let seconds = raw
        .timeout_seconds
        .map_or(DEFAULT_COMMAND_SECONDS, |seconds| seconds.value);
    ShellCommand {
        dir: resolver.dir(raw.command.place).to_owned(),
        command: raw.command.value,
        timeout: Duration::from_secs_f64(seconds),
    }
}

fn copy(
    source: &Located<String>,
    written: &Located<String>,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Option<Action> {
    let found = resolver.existing(
        source,
        "copy source",
        &[PathKind::File, PathKind::Directory],
    );
    let mut destination = destination(written, layers, resolver);
    let source = found?;
    // `docs/` and `.` name the directory to put a file into.
    let into = written.value.ends_with('/')
        || destination
            .as_ref()
            .is_some_and(|path| path.as_str().is_empty());
    if into && resolver.surroundings.kind(&source) == PathKind::File {
        destination = destination.map(|dir| dir.join(source.file_name().unwrap_or("file")));
    }
    Some(Action::Copy {
        source,
        destination: destination?,
    })
}

fn file_destination(
    written: &Located<String>,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Option<Utf8PathBuf> {
    let path = destination(written, layers, resolver)?;
    if path.as_str().is_empty() || written.value.ends_with('/') {
        let message = format!("`{}` does not name a file", written.value);
        resolver.problems.push(
            Diagnostic::error(Code::InvalidName, message).at(written.place, "expected a file name"),
        );
        return None;
    }
    Some(path)
}

fn destination(
    written: &Located<String>,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Option<Utf8PathBuf> {
    let refuse = |label: String, resolver: &mut Resolver<'_>| {
        resolver.problems.push(
            Diagnostic::error(
                Code::OutsideWorkspace,
                format!("destination `{}` leaves the workspace", written.value),
            )
            .at(written.place, label)
            .help("a destination is a path inside the workspace, such as `src/app.js`"),
        );
    };
    match inside(&written.value) {
        Err(reason) => {
            refuse(reason.into(), resolver);
            None
        }
        Ok(path) => match escaping_link(&path, layers, resolver.surroundings) {
            Some(link) => {
                refuse(
                    format!("`{link}` is a symbolic link that leads out of the workspace"),
                    resolver,
                );
                None
            }
            None => Some(path),
        },
    }
}

/// A command whose program is a path relative to the YAML file (`./agent.sh --fast`), made absolute.
pub(super) fn anchored(command: &Located<String>, resolver: &mut Resolver<'_>) -> Option<String> {
    let text = command.value.trim_start();
    if !text.starts_with("./") && !text.starts_with("../") {
        return Some(command.value.clone());
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (program, rest) = text.split_at(end);
    let path = beside(resolver.dir(command.place), program);
    if resolver.surroundings.kind(&path) != PathKind::File {
        resolver.problems.push(
            Diagnostic::error(
                Code::MissingFile,
                format!("program `{program}` does not exist"),
            )
            .at(command.place, format!("looked for {path}"))
            .help("a relative path is relative to the file that names it"),
        );
        return None;
    }
    Some(format!("{}{rest}", shell_quoted(&path)))
}

fn shell_quoted(path: &Utf8Path) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if path.as_str().chars().all(safe) {
        path.to_string()
    } else {
        format!("'{}'", path.as_str().replace('\'', r"'\''"))
    }
}
