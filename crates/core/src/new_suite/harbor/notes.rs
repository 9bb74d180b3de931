//! Notes about parts of a task that do not work without a container.

use std::collections::BTreeSet;

use camino::Utf8Path;
use regex::Regex;

use super::Task;
use super::build_commands::debian_packages;
use super::environment::{Environment, is_test_script};
use crate::new_suite::imported::{Loss, Note};
use crate::text::prose;

/// Longer lists do not help.
const MOST: usize = 5;

/// Commands that change the machine they run on, or need more of it than a workspace.
const INSTALLERS: &str = r"(?m)(?:^|[;&|(\s])(apt-get|apt|apk|yum|dnf|pacman|brew|service|systemctl|docker|useradd|sudo)\s+[a-z-]";
/// Directories of containers, beside the one in which the task works.
const DIRECTORIES: &str =
    "app|tests|logs|solution|root|home|workspace|workdir|data|opt|srv|mnt|etc|var";
const HOME: &str = r#"(?m)(?:^|[\s"'`=(:,>])(~/|\$HOME\b|\$\{HOME\})"#;

pub(super) fn of_files(
    task: &Task<'_>,
    environment: &Environment,
    prompt_changed: bool,
    notes: &mut Vec<Note>,
) {
    let places = &environment.places;
    let root = &places.root;
    if places.is_of_image {
        notes.push(Note::change("the agent works where its image says it"));
    } else if places.is_assumed {
        notes.push(Note::change(format!(
            "the task does not say where the agent works; {root} becomes the workspace"
        )));
    }
    if prompt_changed {
        notes.push(Note::change(format!(
            "instruction.md: paths below {root} are relative to the workspace now"
        )));
    }
    if !task.links.is_empty() {
        let links = prose::few(task.links, MOST);
        notes.push(Note::lost(
            Loss::Files,
            format!("{links}: symbolic links are left out"),
        ));
    }
    of_texts(task, environment, notes);
}

/// Adds notes about what the texts of a task say.
fn of_texts(task: &Task<'_>, environment: &Environment, notes: &mut Vec<Note>) {
    let places = &environment.places;
    let own = places.root.as_str().split('/').nth(1).map(regex::escape);
    let own = own.unwrap_or_default();
    let absolute = format!(
        r#"(?m)(?:^|[\s"'`=(:,<>\[])(/(?:{DIRECTORIES}|{own})(?:/[\w.@+-]+)*)(?:$|[^\w-])"#
    );
    let [absolute, home, installers] = [absolute.as_str(), HOME, INSTALLERS].map(Regex::new);
    let (mut extra, mut has_reward) = (BTreeSet::new(), false);
    for file in task.files {
        let is_prompt = file == "instruction.md";
        let is_run = file.starts_with("tests") || file.starts_with("solution");
        if !is_prompt && !is_run {
            let is_copied = environment.copied.iter().any(|(from, _)| from == file);
            if file != "task.toml" && !file.starts_with("environment") && !is_copied {
                extra.insert(file.to_string());
            }
            continue;
        }
        let text = (task.text)(file).unwrap_or_default();
        has_reward |= file.starts_with("tests") && text.contains("reward");
        let mut elsewhere = named(&absolute, &text);
        elsewhere.retain(|path| !places.knows(Utf8Path::new(path)));
        if !elsewhere.is_empty() {
            let named = prose::few(elsewhere, MOST);
            let where_it_is = match places.is_container {
                true => "which cannot be changed in the container",
                false => "which would be on this machine",
            };
            notes.push(Note::change(format!("{file} names {named}, {where_it_is}")));
        }
        if !named(&home, &text).is_empty() {
            notes.push(Note::change(format!(
                "{file} uses the home directory: agent and tests have separate ones"
            )));
        }
        let mut installers = named(&installers, &text);
        let packages = debian_packages(&text).filter(|_| is_test_script(file));
        if packages.is_some_and(|packages| packages.is_subset(&environment.packages)) {
            installers.retain(|word| !["apt-get", "apt"].contains(&word.as_str()));
        }
        if is_run && !installers.is_empty() {
            let named = prose::few(installers, MOST);
            let where_it_is = match places.is_container {
                true => "and the programs of the container cannot be changed",
                false => "which happens on this machine, because there is no container",
            };
            notes.push(Note {
                // In other files it may be a word like others.
                loss: is_test_script(file).then_some(Loss::Packages),
                text: format!("{file} runs {named}, {where_it_is}"),
            });
        }
    }
    if !environment.packages.is_empty() {
        let packages = prose::few(&environment.packages, MOST);
        notes.push(Note::change(format!(
            "{packages}: installed in the image, and no longer by the tests"
        )));
    }
    if !has_reward {
        notes.push(Note::lost(
            Loss::Tests,
            "tests/: no file names a reward, so there may be no score",
        ));
    }
    if !extra.is_empty() {
        let extra = prose::few(extra, MOST);
        notes.push(Note::change(format!("{extra}: not part of an eval")));
    }
}

/// Returns what a pattern finds in a text. The patterns are constants but for an escaped name, so that all are right.
fn named(pattern: &Result<Regex, regex::Error>, text: &str) -> BTreeSet<String> {
    let found = pattern
        .iter()
        .flat_map(|pattern| pattern.captures_iter(text));
    found
        .map(|found| found[1].trim_end_matches('.').to_owned())
        .collect()
}
