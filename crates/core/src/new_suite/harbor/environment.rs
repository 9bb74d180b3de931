//! What the Dockerfile of a task becomes: files of the eval, or the image that the eval runs in.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::Task;
use super::build_commands::debian_packages;
use super::container::{
    Difference, MISSING, Native, Places, as_note, copy_words, matching, plain_source,
};
use crate::config::dockerfile::{Instruction, instructions};
use crate::new_suite::imported::{Loss, Note};
use crate::text::prose;

/// The directory of an eval with the files that its image is built from.
const PLACE: &str = "_image";

/// Files that make the container and are not part of it, although `COPY . .` copies them.
const BUILD_FILES: [&str; 5] = [
    "Dockerfile", ".dockerignore", "docker-compose.yaml", "docker-compose.yml", "compose.yaml",
];

/// What the container of a task becomes.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::new_suite) struct Environment {
    /// Where the agent works.
    pub places: Places,
    /// Files to copy: their path in the task and their path in the eval.
    pub copied: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    /// Files to write.
    pub written: Vec<(Utf8PathBuf, String)>,
    /// Variables of the container.
    pub env: Vec<(String, String)>,
    /// Debian packages that the tests install, and the image has.
    pub packages: BTreeSet<String>,
    /// `sandbox` of the eval, if only an image has what the task needs.
    pub sandbox: Option<serde_json::Value>,
    /// Differences from the task.
    pub notes: Vec<Note>,
}

/// Reads the Dockerfile of a task. What it copies and sets becomes files and variables of the eval, if that is all that
/// the task needs; else the eval has the Dockerfile, and runs in the image that is built from it. `workdir` takes
/// precedence over the Dockerfile's.
pub(in crate::new_suite) fn environment(
    task: &Task<'_>,
    dockerfile: &Utf8Path,
    workdir: Option<&str>,
) -> Environment {
    let text = (task.text)(dockerfile).unwrap_or_default();
    let instructions = instructions(&text);
    let last = instructions.last().and_then(|last| last.workdir.as_deref());
    let mut places = Places::new(workdir.map(Utf8Path::new).or(last));
    let dir = dockerfile.parent().unwrap_or(dockerfile);
    let is_build_file = |file: &&Utf8PathBuf| {
        let inside = file.strip_prefix(dir);
        inside.is_ok_and(|file| BUILD_FILES.contains(&file.as_str()))
    };
    let (build, files): (Vec<&Utf8PathBuf>, Vec<&Utf8PathBuf>) =
        task.files.iter().partition(is_build_file);
    let from = instructions.iter().rfind(|one| one.word == "FROM");
    let mut texts = task.files.iter().filter_map(|file| (task.text)(file));
    places.is_of_image = places.is_assumed
        && from.is_some_and(Instruction::is_from_own_image)
        && !texts.any(|text| text.contains(places.root.as_str()));
    let native = Native::read(&instructions, dir, &files, &places);
    places.is_container =
        (native.differences.keys()).any(|one| one.loss.is_some() && one.is_in_image);
    let mut notes = Vec::new();
    for file in build {
        match file.file_name() {
            Some("Dockerfile") => {}
            Some(".dockerignore") if places.is_container => {}
            Some(".dockerignore") => notes.push(Note::change(format!("{file}: it is not applied"))),
            _ => notes.push(Note::lost(
                Loss::Services,
                format!("{file}: no services are started"),
            )),
        }
    }
    let differences = native.differences.iter();
    let is_left = |one: &Difference| !one.is_in_image && *one != MISSING;
    let differences = differences.filter(|(one, _)| !places.is_container || is_left(one));
    notes.extend(differences.map(|difference| as_note(dockerfile, difference)));
    if places.is_container {
        let last = last.map(Utf8Path::to_owned);
        let image = Source {
            task,
            dockerfile,
            text: &text,
            instructions: &instructions,
            files: &files,
        };
        return image.environment(places, last.as_deref(), notes);
    }
    notes.extend(native.unused(dir, &files, instructions.is_empty()));
    Environment {
        places,
        copied: native.base(),
        written: Vec::new(),
        env: native.env,
        packages: BTreeSet::new(),
        sandbox: None,
        notes,
    }
}

/// Returns whether it is a script of the tests.
pub(super) fn is_test_script(file: &Utf8Path) -> bool {
    file.starts_with("tests") && file.extension() == Some("sh")
}

/// Returns whether a Dockerfile copies a file by its name, or by that of a directory, and not only with all others.
pub(in crate::new_suite) fn is_copied_by_name(dockerfile: &str, file: &Utf8PathBuf) -> bool {
    let all = instructions(dockerfile);
    let copies = all.iter().filter(|one| one.reads_context());
    let mut sources = copies
        .filter_map(copy_words)
        .flat_map(|(_, sources, _)| sources);
    sources.any(|source| {
        let found = matching(&source, Utf8Path::new(""), &[file], Utf8Path::new(""), true);
        !found.is_empty()
    })
}

/// Returns the note about a file of the tests or the solution that an agent sees.
pub(in crate::new_suite) fn shown_to_the_agent(file: &Utf8Path) -> Note {
    Note::change(format!(
        "{file} and the like are copied into the image, where the agent can read them"
    ))
}

/// The files that an image is built from.
struct Source<'a> {
    task: &'a Task<'a>,
    dockerfile: &'a Utf8Path,
    text: &'a str,
    instructions: &'a [Instruction],
    /// Those of the task that an image may have.
    files: &'a [&'a Utf8PathBuf],
}

impl Source<'_> {
    /// Takes the Dockerfile and the files that it copies into the eval. `last` is where the Dockerfile ends.
    fn environment(
        &self,
        places: Places,
        last: Option<&Utf8Path>,
        mut notes: Vec<Note>,
    ) -> Environment {
        let dir = self.dockerfile.parent().unwrap_or(self.dockerfile);
        let of_task = Utf8Path::new("");
        let is_usual = self.missing(dir).is_empty() || !self.missing(of_task).is_empty();
        let context = if is_usual { dir } else { of_task };
        let missing = Some(self.missing(context)).filter(|missing| !missing.is_empty());
        notes.extend(missing.map(|missing| as_note(self.dockerfile, (&MISSING, &missing))));
        let inside = |file: &Utf8Path| {
            let file = file.strip_prefix(context).unwrap_or(file);
            Utf8Path::new(PLACE).join(file)
        };
        let ignored = context.join(".dockerignore");
        let files = self
            .copied_from(context)
            .into_iter()
            .chain([ignored.as_path()]);
        let files = files.filter(|file| self.task.files.iter().any(|known| known == file));
        let mut copied: Vec<(Utf8PathBuf, Utf8PathBuf)> =
            files.map(|file| (file.to_owned(), inside(file))).collect();
        let place = inside(self.dockerfile);
        let mut written = Vec::new();
        let packages = self.packages();
        let mut more = String::new();
        if last != Some(&places.root) && !places.is_of_image {
            more += &format!("WORKDIR {}\n", places.root);
        }
        if !packages.is_empty() {
            let names = prose::joined(&packages, " ");
            more += &format!(
                "# For the tests, which cannot install it.\nRUN apt-get update && apt-get install -y {names}\n"
            );
        }
        if more.is_empty() {
            copied.push((self.dockerfile.to_owned(), place.clone()));
        } else {
            written.push((place.clone(), format!("{}\n{more}", self.text.trim_end())));
        }
        let is_hidden = |from: &Utf8Path| from.starts_with("tests") || from.starts_with("solution");
        if let Some((shown, _)) = copied.iter().find(|(from, _)| is_hidden(from)) {
            notes.push(shown_to_the_agent(shown));
        }
        let build = match is_usual {
            true => json!(PLACE),
            false => json!({ "file": place, "context": PLACE }),
        };
        notes.push(Note::change(format!(
            "the agent works in a container of the image of {place}, which Docker or Podman builds before the run"
        )));
        Environment {
            places,
            copied,
            written,
            env: Vec::new(),
            packages,
            sandbox: Some(json!({ "build": build })),
            notes,
        }
    }

    /// Returns the packages that the image needs for the tests. Another user than the first may not install any.
    fn packages(&self) -> BTreeSet<String> {
        if self.instructions.iter().any(|one| one.word == "USER") {
            return BTreeSet::new();
        }
        let scripts = self.task.files.iter().filter(|file| is_test_script(file));
        let texts = scripts.filter_map(|file| (self.task.text)(file));
        texts
            .filter_map(|text| debian_packages(&text))
            .flatten()
            .collect()
    }

    /// Returns the sources of all instructions that copy files of the context.
    fn sources(&self) -> impl Iterator<Item = String> {
        let copies = self.instructions.iter().filter(|one| one.reads_context());
        copies
            .filter_map(copy_words)
            .flat_map(|(_, sources, _)| sources)
    }

    /// Returns the instructions that copy files which are not in a directory.
    fn missing(&self, context: &Utf8Path) -> Vec<&Instruction> {
        let is_there = |source: &String| {
            plain_source(source).is_empty() || !self.matching(source, context).is_empty()
        };
        let copies = self.instructions.iter().filter(|one| one.reads_context());
        let copies = copies.filter(|copy| {
            copy_words(copy).is_none_or(|(_, sources, _)| !sources.iter().all(is_there))
        });
        copies.collect()
    }

    fn copied_from(&self, context: &Utf8Path) -> BTreeSet<&Utf8Path> {
        let sources = self
            .sources()
            .flat_map(|source| self.matching(&source, context));
        sources.collect()
    }

    fn matching(&self, source: &str, context: &Utf8Path) -> Vec<&Utf8Path> {
        let found = matching(source, context, self.files, Utf8Path::new(""), true);
        found.into_iter().map(|(file, _)| file).collect()
    }
}
