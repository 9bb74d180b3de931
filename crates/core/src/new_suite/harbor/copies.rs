//! Finds the files of a new workspace: those that the Dockerfile copies to the agent's directory.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::Task;
use super::dockerfile::{Instruction, joined};
use super::places::Places;
use crate::text::{excerpt, globs};

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
    let files: Vec<&Utf8Path> = task
        .files
        .iter()
        .filter_map(|file| file.strip_prefix("environment").ok())
        .collect();
    for file in files
        .iter()
        .filter(|file| BUILD_FILES[1..].contains(&file.as_str()))
    {
        let lost = if *file == ".dockerignore" {
            "it is not applied"
        } else {
            "no services are started"
        };
        notes.push(format!("environment/{file}: {lost}"));
    }
    let context: Vec<&Utf8Path> = files
        .iter()
        .copied()
        .filter(|file| !BUILD_FILES.contains(&file.as_str()))
        .collect();
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
    let words = words(&instruction.rest).ok_or("it cannot be read")?;
    let (flags, words): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| word.starts_with("--"));
    if flags
        .iter()
        .any(|flag| flag.starts_with("--from") || flag.starts_with("--exclude"))
    {
        return Err("it copies from elsewhere");
    }
    let [sources @ .., to] = words.as_slice() else {
        return Err("it cannot be read");
    };
    let is_archive = |source: &String| {
        source.contains("://") || source.contains(".tar") || source.starts_with("git@")
    };
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
    let compiled = globs::compiled(source, true);
    let Ok(matcher) = compiled else {
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

/// Splits `COPY a b c` or `COPY ["a", "b c"]`.
fn words(rest: &str) -> Option<Vec<String>> {
    if rest.starts_with('[') {
        return serde_json::from_str(rest).ok();
    }
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
