//! Notes about parts of a task that do not work without a container.

use std::collections::BTreeSet;

use camino::Utf8Path;
use regex::Regex;

use super::Task;
use super::container::Places;
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
    places: &Places,
    prompt_changed: bool,
    notes: &mut Vec<String>,
) {
    let root = &places.root;
    if places.is_assumed {
        notes.push(format!(
            "the task does not say where the agent works; {root} becomes the workspace"
        ));
    }
    if prompt_changed {
        notes.push(format!(
            "instruction.md: paths below {root} are relative to the workspace now"
        ));
    }
    let links = task.links.iter();
    notes.extend(links.map(|link| format!("{link}: it is a symbolic link and was left out")));
    let own = root.as_str().split('/').nth(1).map(regex::escape);
    let own = own.unwrap_or_default();
    let absolute = format!(
        r#"(?m)(?:^|[\s"'`=(:,<>\[])(/(?:{DIRECTORIES}|{own})(?:/[\w.@+-]+)*)(?:$|[^\w-])"#
    );
    let [absolute, home, installers] = [absolute.as_str(), HOME, INSTALLERS].map(Regex::new);
    let mut extra = BTreeSet::new();
    for file in task.files {
        let is_prompt = file == "instruction.md";
        let is_run = file.starts_with("tests") || file.starts_with("solution");
        if !is_prompt && !is_run {
            if file != "task.toml" && !file.starts_with("environment") {
                extra.insert(file.to_string());
            }
            continue;
        }
        let text = (task.text)(file).unwrap_or_default();
        let mut elsewhere = named(&absolute, &text);
        elsewhere.retain(|path| !places.knows(Utf8Path::new(path)));
        if !elsewhere.is_empty() {
            let named = few(elsewhere);
            notes.push(format!(
                "{file} names {named}, which would be on this machine"
            ));
        }
        if !named(&home, &text).is_empty() {
            notes.push(format!(
                "{file} uses the home directory: agent and tests have separate ones"
            ));
        }
        let installers = named(&installers, &text);
        if is_run && !installers.is_empty() {
            let named = few(installers);
            notes.push(format!(
                "{file} runs {named}, which happens on this machine, because there is no container"
            ));
        }
    }
    if !extra.is_empty() {
        notes.push(format!("{}: not part of an eval", few(extra)));
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

fn few(items: BTreeSet<String>) -> String {
    let items = Vec::from_iter(items);
    match items.get(..MOST) {
        Some(few) if items.len() > MOST => format!("{} and more", few.join(", ")),
        _ => prose::list(&items, "and"),
    }
}
