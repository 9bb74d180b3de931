//! Maps the container of a task to a workspace: reads its Dockerfile, finds the files that it copies to the agent's directory, and
//! replaces its paths.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use regex::{Captures, Regex};

use super::losses::{Loss, Note};
use super::{Task, build_commands};
use crate::text::{excerpt, globs, prose};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instruction {
    /// The number of its first line, from 1.
    pub(super) line: usize,
    /// The name in capitals.
    pub(super) word: String,
    pub(super) rest: String,
    /// The directory that relative paths are relative to.
    pub(super) workdir: Option<Utf8PathBuf>,
}

pub(super) fn instructions(text: &str) -> Vec<Instruction> {
    let mut instructions: Vec<Instruction> = Vec::new();
    let mut workdir: Option<Utf8PathBuf> = None;
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        if first.trim().is_empty() || first.trim_start().starts_with('#') {
            continue;
        }
        let mut whole = first.trim().to_owned();
        while let Some(open) = whole.strip_suffix('\\') {
            let open = open.trim_end().to_owned();
            let next = lines
                .by_ref()
                .map(|(_, line)| line.trim())
                .find(|line| !line.starts_with('#'));
            whole = format!("{open} {}", next.unwrap_or_default());
        }
        for end in heredocs(&whole) {
            lines.by_ref().find(|(_, line)| line.trim() == end);
        }
        let (word, rest) = whole
            .split_once(char::is_whitespace)
            .unwrap_or((&whole, ""));
        let (word, rest) = (word.to_uppercase(), rest.trim().to_owned());
        if word == "FROM" {
            workdir = None;
        } else if word == "WORKDIR" {
            workdir = joined(workdir.as_deref(), rest.trim_matches(['"', '\'']));
        }
        instructions.push(Instruction {
            line: index + 1,
            word,
            rest,
            workdir: workdir.clone(),
        });
    }
    instructions
}

/// Returns the words that end texts after `<<EOF`.
fn heredocs(line: &str) -> Vec<String> {
    let ends = line.split("<<").skip(1).filter_map(|rest| {
        let word = rest.trim_start_matches('-').trim_start_matches(['"', '\'']);
        let end: String = word
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        (!end.is_empty() && !rest.starts_with('<')).then_some(end)
    });
    ends.collect()
}

/// Makes a path absolute; `None` when it depends on variables.
fn joined(workdir: Option<&Utf8Path>, path: &str) -> Option<Utf8PathBuf> {
    if path.contains('$') {
        return None;
    }
    let whole = workdir.unwrap_or(Utf8Path::new("/")).join(path);
    let mut clean = Utf8PathBuf::from("/");
    for part in whole.components().skip(1) {
        match part.as_str() {
            ".." => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    Some(clean)
}

/// The directory in which Harbor's agents work by default.
const DEFAULT_ROOT: &str = "/app";

/// Harbor's own directories, and their replacements below the workspace.
pub(super) const MOVED: [(&str, &str); 3] = [
    ("/tests", "/.harbor/tests"),
    ("/logs", "/.harbor/logs"),
    ("/solution", "/.harbor/solution"),
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Places {
    /// The directory that the workspace replaces.
    pub(super) root: Utf8PathBuf,
    /// Whether that directory is only assumed.
    pub(super) is_assumed: bool,
}

impl Places {
    /// Returns whether it is the root, which cannot be a workspace.
    pub(super) fn new(workdir: Option<&Utf8Path>) -> Self {
        let said = workdir.filter(|path| path.is_absolute() && path.parent().is_some());
        Places {
            root: said.unwrap_or(Utf8Path::new(DEFAULT_ROOT)).to_owned(),
            is_assumed: said.is_none(),
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
    fn is_moved(&self, path: &Utf8Path) -> bool {
        MOVED.iter().any(|(from, _)| path.starts_with(from))
    }

    /// Rewrites the prompt with paths that exist: `/app/src` becomes `./src`. The path is not a part of another one (`/apple`,
    /// `/app.py`), but may end a sentence. Two matches may share the character between them, so it is done twice.
    pub(super) fn in_prompt(&self, text: &str) -> String {
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
/// Files that make the container and are not part of it, although `COPY . .` copies them.
const BUILD_FILES: [&str; 5] = [
    "Dockerfile", ".dockerignore", "docker-compose.yaml", "docker-compose.yml", "compose.yaml",
];

/// The directories that a Dockerfile may copy from: the usual one, and that of the task.
const CONTEXTS: [&str; 2] = ["environment", ""];

pub(super) fn base(
    task: &Task<'_>,
    dockerfile: &[Instruction],
    places: &Places,
    notes: &mut Vec<Note>,
) -> Vec<(Utf8PathBuf, Utf8PathBuf)> {
    let is_build_file = |file: &&Utf8PathBuf| {
        let inside = file.strip_prefix("environment");
        inside.is_ok_and(|file| BUILD_FILES.contains(&file.as_str()))
    };
    let (build, files): (Vec<&Utf8PathBuf>, Vec<&Utf8PathBuf>) =
        task.files.iter().partition(is_build_file);
    for file in build {
        match file.file_name() {
            Some("Dockerfile") => {}
            Some(".dockerignore") => notes.push(Note::change(format!("{file}: it is not applied"))),
            _ => notes.push(Note::lost(
                Loss::Services,
                format!("{file}: no services are started"),
            )),
        }
    }
    // By destination: a later COPY replaces the files of an earlier one.
    let mut copied = BTreeMap::new();
    let mut differences: BTreeMap<Difference, Vec<&Instruction>> = BTreeMap::new();
    for instruction in dockerfile {
        let found = match instruction.word.as_str() {
            "COPY" | "ADD" => match copy(instruction, &files, places) {
                Ok(pairs) => {
                    copied.extend(pairs.into_iter().map(|(from, to)| (to, from)));
                    Vec::new()
                }
                Err(reason) => vec![(Some(Loss::Files), reason)],
            },
            _ => differences_by(instruction, places),
        };
        for difference in found {
            differences.entry(difference).or_default().push(instruction);
        }
    }
    notes.extend(differences.iter().map(as_note));
    let used: BTreeSet<&Utf8Path> = copied.values().copied().collect();
    let unused = files
        .into_iter()
        .filter(|file| file.starts_with("environment") && !used.contains(file.as_path()));
    let unused: Vec<&Utf8PathBuf> = unused.collect();
    if !unused.is_empty() {
        // What no instruction copies is not in the container either.
        notes.push(Note {
            loss: dockerfile.is_empty().then_some(Loss::Files),
            text: format!(
                "{}: not copied into the workspace",
                prose::few(&unused, FEW)
            ),
        });
    }
    let pair =
        |(to, from): (Utf8PathBuf, &Utf8Path)| (from.to_owned(), Utf8Path::new("_base").join(to));
    copied.into_iter().map(pair).collect()
}

/// What is lost, if anything, and why.
type Difference = (Option<Loss>, &'static str);

/// Returns one note about all instructions of a Dockerfile with the same difference.
fn as_note((difference, instructions): (&Difference, &Vec<&Instruction>)) -> Note {
    let (loss, reason) = *difference;
    let first = instructions[0];
    let shown = format!("{} {}", first.word, first.rest);
    let more = match instructions.len() {
        1 => String::new(),
        many => format!(", and {} more", many - 1),
    };
    let text = format!(
        "environment/Dockerfile, line {}: {}{more}: {reason}",
        first.line,
        excerpt::beginning(&shown, LONGEST_SHOWN)
    );
    Note { loss, text }
}

/// Returns what an instruction would have done to the container.
fn differences_by(instruction: &Instruction, places: &Places) -> Vec<Difference> {
    let rest = instruction.rest.as_str();
    match instruction.word.as_str() {
        "WORKDIR" | "LABEL" | "MAINTAINER" => Vec::new(),
        // Images with a plain name are those of systems and languages.
        "FROM" if rest.contains('/') => {
            vec![(
                Some(Loss::Files),
                "the files and programs of this image are not there",
            )]
        }
        "FROM" => vec![(
            None,
            "there is no container: the agent works on this machine, with its installed programs",
        )],
        "RUN" => {
            let losses = build_commands::losses(rest, |path| places.has_directory(path));
            if losses.is_empty() {
                return vec![(None, "not run")];
            }
            let told = |loss| match loss {
                Loss::Packages => "packages are not installed; install them on your machine",
                _ => "not run; use `prepare` or `before` instead",
            };
            losses
                .into_iter()
                .map(|loss| (Some(loss), told(loss)))
                .collect()
        }
        "ENV" | "ARG" => vec![(None, "not set; use `env` instead")],
        "ENTRYPOINT" => vec![(
            Some(Loss::Services),
            "not started, because there is no container",
        )],
        _ => vec![(None, "there is no container")],
    }
}

fn copy<'a>(
    instruction: &Instruction,
    files: &[&'a Utf8PathBuf],
    places: &Places,
) -> Result<Vec<(&'a Utf8Path, Utf8PathBuf)>, &'static str> {
    let rest = &instruction.rest;
    let words: Vec<String> = match rest.starts_with('[') {
        true => serde_json::from_str(rest).map_err(|_| "it cannot be read")?,
        false => rest.split_whitespace().map(str::to_owned).collect(),
    };
    let (flags, words): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| word.starts_with("--"));
    let [sources @ .., to] = words.as_slice() else {
        return Err("it cannot be read");
    };
    let is_elsewhere = |flag: &String| flag.starts_with("--from") || flag.starts_with("--exclude");
    let is_archive = |source: &String| {
        source.contains("://") || source.contains(".tar") || source.starts_with("git@")
    };
    if flags.iter().any(is_elsewhere) {
        return Err("it copies from elsewhere");
    }
    if instruction.word == "ADD" && sources.iter().any(is_archive) {
        return Err("it is not fetched or unpacked");
    }
    if sources.iter().any(|source| source.contains("<<")) {
        return Err("its text is not imported");
    }
    let whole =
        joined(instruction.workdir.as_deref(), to).ok_or("its destination depends on variables")?;
    if places.is_moved(&whole) {
        // The task's own tests, which come with the eval.
        return Ok(Vec::new());
    }
    let below = places
        .below_root(&whole)
        .ok_or("its destination is outside of where the agent works")?;
    let into =
        to.ends_with('/') || to.ends_with("/.") || to == "." || sources.len() > 1 || below == "";
    let mut pairs = Vec::new();
    for source in sources {
        let found = CONTEXTS.map(|context| matching(source, context, files, below, into));
        match found.into_iter().find(|found| !found.is_empty()) {
            Some(found) => pairs.extend(found),
            // Of all files, none is a loss.
            None if plain_source(source).is_empty() => {}
            None => return Err("there is no such file in the task"),
        }
    }
    Ok(pairs)
}

/// Returns a source without the signs that it may begin or end with. It is empty for the whole context.
fn plain_source(source: &str) -> &str {
    let source = source.trim_start_matches("./").trim_start_matches('/');
    let source = source.trim_end_matches("/.").trim_end_matches('/');
    if source == "." { "" } else { source }
}

/// Returns the path of a copied file. A directory's content goes into the destination; a file goes there under
/// its name, or becomes it.
fn matching<'a>(
    source: &str,
    context: &str,
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
        let inside = inside.filter(|_| !context.is_empty());
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
