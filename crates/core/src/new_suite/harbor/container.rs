//! Maps the container of a task to a workspace: reads its Dockerfile, finds the files that it copies to the agent's directory, and
//! replaces its paths.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use regex::{Captures, Regex};

use super::Task;
use crate::text::{excerpt, globs};

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
        self.below_root(path).is_some() || MOVED.iter().any(|(from, _)| path.starts_with(from))
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
/// Files that make the container and are not part of it, although `COPY . .` copies them.
const BUILD_FILES: [&str; 5] = [
    "Dockerfile", ".dockerignore", "docker-compose.yaml", "docker-compose.yml", "compose.yaml",
];

pub(super) fn base(
    task: &Task<'_>,
    dockerfile: &[Instruction],
    places: &Places,
    notes: &mut Vec<String>,
) -> Vec<(Utf8PathBuf, Utf8PathBuf)> {
    let files = task.files.iter();
    let files = files.filter_map(|file| file.strip_prefix("environment").ok());
    let (build, context): (Vec<&Utf8Path>, Vec<&Utf8Path>) =
        files.partition(|file| BUILD_FILES.contains(&file.as_str()));
    for file in build {
        match file.as_str() {
            "Dockerfile" => {}
            ".dockerignore" => notes.push(format!("environment/{file}: it is not applied")),
            _ => notes.push(format!("environment/{file}: no services are started")),
        }
    }
    // By destination: a later COPY replaces the files of an earlier one.
    let mut copied = BTreeMap::new();
    for instruction in dockerfile {
        match copies(instruction, &context, places) {
            Ok(pairs) => copied.extend(pairs.into_iter().map(|(from, to)| (to, from))),
            Err(reason) => notes.push(format!(
                "environment/Dockerfile, line {}: {}: {reason}",
                instruction.line,
                excerpt::beginning(
                    &format!("{} {}", instruction.word, instruction.rest),
                    LONGEST_SHOWN,
                )
            )),
        }
    }
    let used: BTreeSet<&Utf8Path> = copied.values().copied().collect();
    for file in context.iter().filter(|file| !used.contains(*file)) {
        notes.push(format!(
            "environment/{file}: it is not copied into the workspace"
        ));
    }
    let pair = |(to, from): (Utf8PathBuf, &Utf8Path)| {
        (
            Utf8Path::new("environment").join(from),
            Utf8Path::new("_base").join(to),
        )
    };
    copied.into_iter().map(pair).collect()
}

/// Returns the files that an instruction puts into the workspace, or a note about what is lost.
fn copies<'a>(
    instruction: &Instruction,
    context: &[&'a Utf8Path],
    places: &Places,
) -> Result<Vec<(&'a Utf8Path, Utf8PathBuf)>, &'static str> {
    match instruction.word.as_str() {
        "COPY" | "ADD" => copy(instruction, context, places),
        "WORKDIR" | "LABEL" | "MAINTAINER" => Ok(Vec::new()),
        "FROM" => Err(
            "there is no container: the agent works on this machine, with its installed programs",
        ),
        "RUN" => Err("it is not run; use `prepare` or `before` instead"),
        "ENV" | "ARG" => Err("it is not set; use `env` instead"),
        _ => Err("there is no container"),
    }
}

fn copy<'a>(
    instruction: &Instruction,
    context: &[&'a Utf8Path],
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
    let below = places
        .below_root(&whole)
        .ok_or("its destination is outside of where the agent works")?;
    let into =
        to.ends_with('/') || to.ends_with("/.") || to == "." || sources.len() > 1 || below == "";
    let mut pairs = Vec::new();
    for source in sources {
        let found = matching(source, context, below, into);
        if found.is_empty() {
            return Err("there is no such file in environment/");
        }
        pairs.extend(found);
    }
    Ok(pairs)
}

/// Returns the path of a copied file. A directory's content goes into the destination; a file goes there under
/// its name, or becomes it.
fn matching<'a>(
    source: &str,
    context: &[&'a Utf8Path],
    to: &Utf8Path,
    into: bool,
) -> Vec<(&'a Utf8Path, Utf8PathBuf)> {
    let source = source
        .trim_start_matches("./")
        .trim_start_matches('/')
        .trim_end_matches('/');
    if source.is_empty() || source == "." {
        return context.iter().map(|file| (*file, to.join(file))).collect();
    }
    let Ok(matcher) = globs::compiled(source, true) else {
        return Vec::new();
    };
    let is_pattern = source.contains(['*', '?', '[']);
    let mut found = Vec::new();
    for file in context {
        for part in file
            .ancestors()
            .filter(|part| !part.as_str().is_empty() && matcher.is_match(part))
        {
            let rest = file.strip_prefix(part).unwrap_or(file);
            let is_file = rest.as_str().is_empty();
            let destination = match file.file_name() {
                Some(name) if is_file && (into || is_pattern) => to.join(name),
                _ if is_file => to.to_owned(),
                _ => to.join(rest),
            };
            found.push((*file, destination));
        }
    }
    found
}
