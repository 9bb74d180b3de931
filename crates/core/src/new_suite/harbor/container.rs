//! Maps the container of a task to a workspace: reads its Dockerfile, finds the files that it copies to the agent's directory, and
//! replaces its paths.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use regex::{Captures, Regex};

use super::build_commands;
use crate::config::dockerfile::{Instruction, joined};
use crate::new_suite::imported::{Loss, Note};
use crate::text::{excerpt, globs, prose};

/// The directory in which Harbor's agents work by default.
const DEFAULT_ROOT: &str = "/app";

/// Harbor's own directories, which are put aside.
pub(super) const MOVED: [&str; 3] = ["/tests", "/logs", "/solution"];

#[derive(Debug, Clone, PartialEq)]
pub(in crate::new_suite) struct Places {
    /// The directory that the workspace replaces.
    pub root: Utf8PathBuf,
    /// Whether that directory is only assumed.
    pub(super) is_assumed: bool,
    /// Whether the image that the Dockerfile begins with says it, and not the task.
    pub(super) is_of_image: bool,
    /// Whether there is a container, in which the workspace is at that directory.
    pub(super) is_container: bool,
}

impl Places {
    /// Returns whether it is the root, which cannot be a workspace.
    pub(super) fn new(workdir: Option<&Utf8Path>) -> Self {
        let said = workdir.filter(|path| path.is_absolute() && path.parent().is_some());
        Places {
            root: said.unwrap_or(Utf8Path::new(DEFAULT_ROOT)).to_owned(),
            is_assumed: said.is_none(),
            is_of_image: false,
            is_container: false,
        }
    }

    /// Returns a path relative to the workspace; `None` when it is elsewhere.
    pub(super) fn below_root<'a>(&self, path: &'a Utf8Path) -> Option<&'a Utf8Path> {
        path.strip_prefix(&self.root).ok()
    }

    /// Returns whether a script that names this path finds something there.
    pub(super) fn knows(&self, path: &Utf8Path) -> bool {
        self.below_root(path).is_some() || self.is_moved(path)
    }

    /// Returns whether a directory of the container is there from the beginning.
    pub(super) fn has_directory(&self, path: &str) -> bool {
        self.root.starts_with(path) || self.is_moved(Utf8Path::new(path))
    }

    /// Returns whether it is below one of Harbor's own directories.
    pub(super) fn is_moved(&self, path: &Utf8Path) -> bool {
        MOVED.iter().any(|from| path.starts_with(from))
    }

    /// Rewrites the prompt with paths that exist: `/app/src` becomes `./src`. The path is not a part of another one (`/apple`,
    /// `/app.py`), but may end a sentence. Two matches may share the character between them, so it is done twice.
    /// In a container there is nothing to do.
    pub(super) fn in_prompt(&self, text: &str) -> String {
        if self.is_container {
            return text.to_owned();
        }
        let root = regex::escape(self.root.as_str());
        let Ok(pattern) = Regex::new(&format!(r"(^|[^\w./~}})*-]){root}(/|[^\w./-]|\.\W|\.?$)"))
        else {
            return text.to_owned();
        };
        let here = |found: &Captures<'_>| format!("{}./{}", &found[1], found[2].trim_matches('/'));
        let once = pattern.replace_all(text, here);
        pattern.replace_all(&once, here).into_owned()
    }
}

/// Characters of an instruction that a note shows.
const LONGEST_SHOWN: usize = 100;
/// Files that a note names.
const FEW: usize = 4;
/// What a Dockerfile is without a container.
pub(super) struct Native<'a> {
    /// Files by destination: a later COPY replaces the files of an earlier one.
    copied: BTreeMap<Utf8PathBuf, &'a Utf8Path>,
    pub env: Vec<(String, String)>,
    pub differences: BTreeMap<Difference, Vec<&'a Instruction>>,
}

impl<'a> Native<'a> {
    pub(super) fn read(
        instructions: &'a [Instruction],
        dir: &Utf8Path,
        files: &[&'a Utf8PathBuf],
        places: &Places,
    ) -> Self {
        let mut native = Native {
            copied: BTreeMap::new(),
            env: Vec::new(),
            differences: BTreeMap::new(),
        };
        for instruction in instructions {
            let difference = match instruction.word.as_str() {
                "COPY" | "ADD" => match copy(instruction, dir, files, places) {
                    Ok(pairs) => {
                        let pairs = pairs.into_iter().map(|(from, to)| (to, from));
                        native.copied.extend(pairs);
                        None
                    }
                    Err(difference) => Some(difference),
                },
                "ENV" => match variables(&instruction.rest) {
                    Some(variables) => {
                        native.env.extend(variables);
                        None
                    }
                    None => Some(Difference::in_image("not set; use `env` instead")),
                },
                _ => difference(instruction, places),
            };
            if let Some(difference) = difference {
                native
                    .differences
                    .entry(difference)
                    .or_default()
                    .push(instruction);
            }
        }
        native
    }

    pub(super) fn base(&self) -> Vec<(Utf8PathBuf, Utf8PathBuf)> {
        let pair = |(to, from): (&Utf8PathBuf, &&Utf8Path)| {
            ((*from).to_owned(), Utf8Path::new("_base").join(to))
        };
        self.copied.iter().map(pair).collect()
    }

    /// Returns a note about the files that no instruction copies, which are not in the container either.
    pub(super) fn unused(
        &self,
        dir: &Utf8Path,
        files: &[&Utf8PathBuf],
        is_loss: bool,
    ) -> Option<Note> {
        let used: BTreeSet<&Utf8Path> = self.copied.values().copied().collect();
        let unused = files
            .iter()
            .filter(|file| dir != "" && file.starts_with(dir) && !used.contains(file.as_path()));
        let unused: Vec<&&Utf8PathBuf> = unused.collect();
        (!unused.is_empty()).then(|| Note {
            loss: is_loss.then_some(Loss::Files),
            text: format!(
                "{}: not copied into the workspace",
                prose::few(&unused, FEW)
            ),
        })
    }
}

/// A difference from the container of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    /// What is lost, if anything.
    pub loss: Option<Loss>,
    /// Why.
    reason: &'static str,
    /// An image that is built from the Dockerfile has it.
    pub is_in_image: bool,
}

/// A file to copy that is not there.
pub(super) const MISSING: Difference = Difference {
    loss: Some(Loss::Files),
    reason: "there is no such file in the task",
    is_in_image: false,
};

impl Difference {
    /// Something that an eval without an image lacks.
    fn in_image(reason: &'static str) -> Self {
        Difference {
            loss: Some(Loss::Files),
            reason,
            is_in_image: true,
        }
    }
}

/// Returns one note about all instructions of a Dockerfile with the same difference.
pub(super) fn as_note(
    dockerfile: &Utf8Path,
    (difference, instructions): (&Difference, &Vec<&Instruction>),
) -> Note {
    let first = instructions[0];
    let more = match instructions.len() {
        1 => String::new(),
        many => format!(", and {} more", many - 1),
    };
    let text = format!(
        "{dockerfile}, line {}: {}{more}: {}",
        first.line,
        excerpt::beginning(&first.text(), LONGEST_SHOWN),
        difference.reason
    );
    Note {
        loss: difference.loss,
        text,
    }
}

/// Returns what an instruction would have done to the container.
fn difference(instruction: &Instruction, places: &Places) -> Option<Difference> {
    let change = |reason| {
        Some(Difference {
            loss: None,
            reason,
            is_in_image: true,
        })
    };
    let rest = instruction.rest.as_str();
    match instruction.word.as_str() {
        "WORKDIR" | "LABEL" | "MAINTAINER" | "ARG" => None,
        "FROM" if instruction.is_from_own_image() => Some(Difference::in_image(
            "the files and programs of this image are not there",
        )),
        "FROM" => change(
            "there is no container: the agent works on this machine, with its installed programs",
        ),
        "RUN" if build_commands::is_harmless(rest, |path| places.has_directory(path)) => {
            change("not run")
        }
        "RUN" => Some(Difference::in_image("not run")),
        "ENTRYPOINT" => Some(Difference {
            loss: Some(Loss::Services),
            reason: "it is not started",
            is_in_image: false,
        }),
        _ => change("there is no container"),
    }
}

/// Returns the variables that an `ENV` sets; `None` where a shell, another variable or a path decides about a value.
fn variables(rest: &str) -> Option<Vec<(String, String)>> {
    let pairs: Vec<(&str, &str)> = match rest.split_whitespace().next()?.contains('=') {
        true => rest
            .split_whitespace()
            .map(|word| word.split_once('='))
            .collect::<Option<_>>()?,
        false => vec![rest.split_once(char::is_whitespace)?],
    };
    let pairs = pairs.into_iter().map(|(name, value)| {
        let value = value.trim().trim_matches('"');
        let is_plain = !value.contains(['$', '/', '\\', '"', '\'']);
        is_plain.then(|| (name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// Returns the flags of a `COPY`, its sources, and its destination.
pub(super) fn copy_words(instruction: &Instruction) -> Option<(Vec<String>, Vec<String>, String)> {
    let rest = &instruction.rest;
    let words: Vec<String> = match rest.starts_with('[') {
        true => serde_json::from_str(rest).ok()?,
        false => (rest.split_whitespace())
            .map(|word| word.trim_matches(['"', '\'']).to_owned())
            .collect(),
    };
    let (flags, mut words): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| word.starts_with("--"));
    let to = words.pop()?;
    Some((flags, words, to))
}

fn copy<'a>(
    instruction: &Instruction,
    dir: &Utf8Path,
    files: &[&'a Utf8PathBuf],
    places: &Places,
) -> Result<Vec<(&'a Utf8Path, Utf8PathBuf)>, Difference> {
    let (flags, sources, to) = copy_words(instruction).ok_or(MISSING)?;
    let is_elsewhere = |flag: &String| flag.starts_with("--from") || flag.starts_with("--exclude");
    let is_archive = |source: &String| {
        source.contains("://") || source.contains(".tar") || source.starts_with("git@")
    };
    if flags.iter().any(is_elsewhere) {
        return Err(Difference::in_image("it copies from elsewhere"));
    }
    if instruction.word == "ADD" && sources.iter().any(is_archive) {
        return Err(Difference::in_image("it is not fetched or unpacked"));
    }
    if sources.iter().any(|source| source.contains("<<")) {
        return Err(Difference::in_image("its text is not imported"));
    }
    let whole = joined(instruction.workdir.as_deref(), &to)
        .ok_or(Difference::in_image("its destination depends on variables"))?;
    if places.is_moved(&whole) {
        // The task's own tests, which come with the eval.
        return Ok(Vec::new());
    }
    let below = places.below_root(&whole).ok_or(Difference::in_image(
        "its destination is outside of where the agent works",
    ))?;
    let into =
        to.ends_with('/') || to.ends_with("/.") || to == "." || sources.len() > 1 || below == "";
    let mut pairs = Vec::new();
    for source in &sources {
        let found =
            [dir, Utf8Path::new("")].map(|context| matching(source, context, files, below, into));
        match found.into_iter().find(|found| !found.is_empty()) {
            Some(found) => pairs.extend(found),
            // Of all files, none is a loss.
            None if plain_source(source).is_empty() => {}
            None => return Err(MISSING),
        }
    }
    Ok(pairs)
}

/// Returns a source without the signs that it may begin or end with. It is empty for the whole context.
pub(super) fn plain_source(source: &str) -> &str {
    let source = source.trim_start_matches("./").trim_start_matches('/');
    let source = source.trim_end_matches("/.").trim_end_matches('/');
    if source == "." { "" } else { source }
}

/// Returns the path of a copied file. A directory's content goes into the destination; a file goes there under
/// its name, or becomes it.
pub(super) fn matching<'a>(
    source: &str,
    context: &Utf8Path,
    files: &[&'a Utf8PathBuf],
    to: &Utf8Path,
    into: bool,
) -> Vec<(&'a Utf8Path, Utf8PathBuf)> {
    let inside = files
        .iter()
        .filter_map(|file| Some((file.as_path(), file.strip_prefix(context).ok()?)));
    let source = plain_source(source);
    if source.is_empty() {
        // Nobody copies the task with its tests and its solution.
        let inside = inside.filter(|_| context != "");
        return inside.map(|(file, name)| (file, to.join(name))).collect();
    }
    let Ok(matcher) = globs::compiled(source, true) else {
        return Vec::new();
    };
    let is_pattern = source.contains(['*', '?', '[']);
    let mut found = Vec::new();
    for (file, name) in inside {
        for part in name
            .ancestors()
            .filter(|part| !part.as_str().is_empty() && matcher.is_match(part))
        {
            let rest = name.strip_prefix(part).unwrap_or(name);
            let is_file = rest.as_str().is_empty();
            let destination = match file.file_name() {
                Some(name) if is_file && (into || is_pattern) => to.join(name),
                _ if is_file => to.to_owned(),
                _ => to.join(rest),
            };
            found.push((file, destination));
        }
    }
    found
}
