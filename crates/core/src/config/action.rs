//! Actions: files that are copied or written and commands that are run before the agent starts.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::config::variables::Template;
use crate::reader::patterns::{in_workspace, refuse_glob};
use crate::reader::{
    Fields, Kind, Patch, PathKind, Reader, command_line, filled_text, list_of, object, or_map,
    pairs_of, plain_text, positive,
};
use crate::text::{Code, Diagnostic, Located, Place, globs, json};

const DEFAULT_COMMAND_SECONDS: f64 = 600.0;

/// A step of a workspace's set-up, before the agent starts.
///
/// In a suite the content of a file is a template; in a plan its variables are filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Action<T = String> {
    /// Copies a file or directory.
    Copy {
        /// The absolute path of the source.
        #[serde(rename = "copy")]
        source: Utf8PathBuf,
        /// The path in the workspace.
        #[serde(rename = "to")]
        destination: Utf8PathBuf,
    },
    /// Writes a file.
    Write {
        /// The path in the workspace.
        #[serde(rename = "file")]
        destination: Utf8PathBuf,
        /// The file's content.
        content: T,
    },
    /// Runs a command.
    Run(ShellCommand),
}

/// A shell command with a time limit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellCommand {
    /// The command.
    pub command: String,
    /// Its time limit.
    #[serde(rename = "timeoutSeconds", with = "json::seconds")]
    pub timeout: Duration,
    /// The directory of the YAML file that names it. It is at the end of `PATH`.
    pub dir: Utf8PathBuf,
    /// The place in that file, for messages. It is no part of what runs.
    #[serde(skip)]
    pub place: Place,
    /// The files outside of the suite that its result depends on. Fingerprints have their content.
    #[serde(skip)]
    pub inputs: Vec<Input>,
    /// The files of the workspace that it runs with; empty for all of them.
    #[serde(skip)]
    pub only_files: Vec<Utf8PathBuf>,
}

impl PartialEq for ShellCommand {
    fn eq(&self, other: &Self) -> bool {
        let ShellCommand {
            command,
            timeout,
            dir,
            place: _,
            inputs,
            only_files,
        } = self;
        *command == other.command
            && *timeout == other.timeout
            && *dir == other.dir
            && *inputs == other.inputs
            && *only_files == other.only_files
    }
}

/// An action as it is written.
type Written = Action<Template>;

/// How often actions run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// Once for all trials, as `prepare` does.
    Once,
    /// In every trial, as `before` does.
    InEveryTrial,
}

/// Declares a list of actions.
pub(super) fn actions(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    runs: Runs,
    about: &'static str,
) -> Vec<Written> {
    let actions = fields.list(key, one_action(runs), about);
    actions.into_iter().flatten().collect()
}

/// Declares a list of actions that add up with those of other levels.
pub(super) fn added_actions(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    about: &'static str,
) -> Patch<Vec<Written>> {
    let list = list_of(one_action(Runs::InEveryTrial))
        .map(|actions| actions.into_iter().flatten().collect());
    fields.added(key, list, Vec::is_empty, about)
}

fn one_action(runs: Runs) -> Kind<Vec<Written>> {
    object("action", "an action", move |fields| action(fields, runs))
        .about("One step of the setup: exactly one of `copy`, `files` and `command`.")
        .example("command: npm install")
        .linked("[action](eval-yaml.md#actions)")
        .kind()
}

/// The keys of a command that runs once, and why others do not have them.
const OF_PREPARE: [(&str, &str); 2] = [
    (
        "inputs",
        "here a file is an input already: it is read in every trial, or copied",
    ),
    ("onlyFiles", "here nothing is shared between evals"),
];

const KINDS: [&str; 3] = ["copy", "files", "command"];

fn action(fields: &mut Fields<'_, '_>, runs: Runs) -> Option<Vec<Written>> {
    let given = fields.one_of(&KINDS);
    let copy = fields.filled(
        "copy",
        pairs_of(filled_text(), "a destination").then(|pairs, reader| {
            let pairs = pairs.iter();
            let copies = pairs.filter_map(|(source, written)| copy(source, written, reader));
            Some(copies.collect::<Vec<_>>())
        }),
        "Source → destination, files or directories. A source is relative to the YAML file, a destination to the \
         workspace. A file copied to `dir/` or `.` keeps its name.",
    );
    let files = fields.filled(
        "files",
        pairs_of(plain_text(), "the file's content")
            .then(|pairs, reader| {
                let files = pairs.into_iter().filter_map(|(path, content)| {
                    let destination = file_destination(&path, reader)?;
                    Some(Action::Write { destination, content })
                });
                Some(files.collect())
            }),
        "File name → content. [`${NAME}`](terca-yaml.md#variables) in it is replaced; `$${` is the text `${`.",
    );
    let command = fields.filled(
        "command",
        command(),
        "A shell command, run in the workspace with `sh -c`. The directory of the YAML file, then the workspace, \
         are at the end of `PATH`, so that a script beside the suite is found by its name.",
    );
    for (key, reason) in OF_PREPARE {
        let written = fields.peek(key).map(|node| node.place);
        if let (Some(place), [kind]) = (written, given.as_slice())
            && (kind.value != "command" || runs == Runs::InEveryTrial)
        {
            let message = format!("`{key}` belongs to a `command` of `prepare`");
            return fields.refuse(
                Diagnostic::error(Code::MisplacedKey, message)
                    .at(place, reason)
                    .help(format!("remove `{key}`, or move the command to `prepare`")),
            );
        }
    }
    let inputs = inputs(fields);
    let only_files = only_files(fields);
    let command = command.map(|command| ShellCommand {
        inputs,
        only_files,
        ..command
    });
    fields.only(Code::AsksNothing, &KINDS, given)?;
    copy.or(files)
        .or(command.map(|command| vec![Action::Run(command)]))
}

/// A shell command, or `{command, timeoutSeconds}`.
pub(super) fn command() -> Kind<ShellCommand> {
    let short = command_line()
        .then(|command, reader| Some(shell_command(command, DEFAULT_COMMAND_SECONDS, reader)));
    let long = object("command", "a command", |fields| {
        let command = fields.required("command", command_line(), "The shell command.");
        let seconds = fields.or(
            "timeoutSeconds",
            positive(),
            DEFAULT_COMMAND_SECONDS,
            "Its time limit.",
        );
        Some(shell_command(command?, seconds, fields.reader))
    });
    or_map(short, long.linked("[map](eval-yaml.md#actions)").kind())
}

fn shell_command(command: Located<String>, seconds: f64, reader: &Reader<'_>) -> ShellCommand {
    ShellCommand {
        dir: reader.dir(command.place).to_owned(),
        place: command.place,
        command: command.value,
        timeout: Duration::from_secs_f64(seconds),
        inputs: Vec::new(),
        only_files: Vec::new(),
    }
}

fn copy(
    source: &Located<String>,
    written: &Located<String>,
    reader: &mut Reader<'_>,
) -> Option<Written> {
    let found = reader.existing(
        source,
        "copy source",
        &[PathKind::File, PathKind::Directory],
    );
    let destination = in_workspace(written, reader);
    let source = found?;
    let mut destination = destination?;
    // `docs/` and `.` name the directory to put a file into.
    let names_directory = written.value.ends_with('/') || destination.as_str().is_empty();
    if names_directory && reader.surroundings.kind(&source) == PathKind::File {
        destination.push(source.file_name().unwrap_or("file"));
    }
    Some(Action::Copy {
        source,
        destination,
    })
}

fn file_destination(written: &Located<String>, reader: &mut Reader<'_>) -> Option<Utf8PathBuf> {
    let path = in_workspace(written, reader)?;
    if !path.as_str().is_empty() && !written.value.ends_with('/') {
        return Some(path);
    }
    let message = format!("`{}` does not name a file", written.value);
    reader.refuse(
        Diagnostic::error(Code::InvalidName, message).at(written.place, "expected a file name"),
    )
}

/// A file or a directory that a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The path as its author would write it. It does not depend on the directory of the suite.
    pub name: String,
    /// The absolute path.
    pub path: Utf8PathBuf,
}

/// Declares the inputs of a command.
fn inputs(fields: &mut Fields<'_, '_>) -> Vec<Input> {
    let found = fields.list(
        "inputs",
        filled_text().then(|written, reader| one_input(&written, reader)),
        "Files, directories and globs that the `command` reads, relative to the YAML file; they may be outside of the \
         suite. The command runs again when one of them changes. In `prepare` only.",
    );
    found.into_iter().flatten().collect()
}

/// Declares the files that a command runs with.
fn only_files(fields: &mut Fields<'_, '_>) -> Vec<Utf8PathBuf> {
    fields.list(
        "onlyFiles",
        filled_text().then(|written, reader| in_workspace(&written, reader)),
        "Files and directories of the workspace that the `command` runs with, such as a lock file. It sees no others, and \
         evals in which these are equal share its result. In `prepare` only.",
    )
}

fn one_input(written: &Located<String>, reader: &mut Reader<'_>) -> Option<Vec<Input>> {
    let filled = reader.filled(written)?;
    if reader.surroundings.kind(&reader.beside(&filled)) == PathKind::Missing
        && globs::literal_names(&filled.value).is_some()
    {
        return matching(&filled, reader);
    }
    let path = reader.existing(written, "the input", &[PathKind::File, PathKind::Directory])?;
    if reader.dir(written.place).starts_with(&path) {
        let message = format!("the input `{}` contains the suite", filled.value);
        return reader.refuse(
            Diagnostic::error(Code::WrongValue, message)
                .at(written.place, "every run would change it")
                .help("name the files and directories that the command reads, such as `../src`"),
        );
    }
    Some(vec![Input {
        name: filled.value,
        path,
    }])
}

/// Returns the files that match a glob. There must be one.
fn matching(glob: &Located<String>, reader: &mut Reader<'_>) -> Option<Vec<Input>> {
    let (above, pattern) = split(&glob.value);
    let pattern = globs::literal_names(pattern).unwrap_or_default();
    let matcher = match globs::compiled(&pattern, true) {
        Ok(matcher) => matcher,
        Err(reason) => return refuse_glob(glob, reason, reader),
    };
    let dir = reader.beside(&Located::new(above.to_owned(), glob.place));
    let files = reader.surroundings.files_below(&dir);
    let found: Vec<Input> = files
        .iter()
        .filter_map(|path| Some((path, path.strip_prefix(&dir).ok()?)))
        .filter(|(_, relative)| matcher.is_match(relative))
        .map(|(path, relative)| Input {
            name: Utf8Path::new(above).join(relative).into_string(),
            path: path.clone(),
        })
        .collect();
    if found.is_empty() && !reader.surroundings.is_partial() {
        return reader.refuse(
            Diagnostic::error(
                Code::MissingFile,
                format!("the input `{}` matches no file", glob.value),
            )
            .at(glob.place, format!("looked for files in {dir}"))
            .help("a relative path is relative to the file that names it"),
        );
    }
    Some(found)
}

/// Splits a glob into the directory before the first wildcard, and the rest.
fn split(glob: &str) -> (&str, &str) {
    let mut end = 0;
    for (slash, _) in glob.match_indices('/') {
        if globs::literal_names(&glob[..slash]).is_some() {
            break;
        }
        end = slash + 1;
    }
    let (above, rest) = glob.split_at(end);
    if above.is_empty() {
        (".", rest)
    } else {
        (above, rest)
    }
}
