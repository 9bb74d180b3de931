//! Notes about parts of a task that do not work without a container.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

use super::Task;
use super::places::Places;
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
    notes.extend(
        task.links
            .iter()
            .map(|link| format!("{link}: it is a symbolic link and was left out")),
    );
    let patterns = Patterns::new(places);
    let mut moved = BTreeSet::new();
    for file in task.files.iter().filter(|file| is_run_or_read(file)) {
        let Some(text) = (task.text)(file) else {
            continue;
        };
        of_text(file, &text, places, &patterns, notes);
        let named = patterns
            .absolute
            .captures_iter(&text)
            .filter_map(|found| found.get(1));
        moved.extend(
            named
                .map(|path| Utf8PathBuf::from(path.as_str()))
                .filter(|path| file != "instruction.md" && places.knows(path))
                .map(|path| first_parts(&path, places)),
        );
    }
    if !moved.is_empty() {
        let moved: Vec<String> = moved.into_iter().collect();
        notes.push(format!(
            "{}: tests and solution find these paths below the workspace (the scripts in .harbor replace them)",
            prose::list(&moved, "and")
        ));
    }
    let known = ["task.toml", "instruction.md"];
    let is_extra = |file: &&Utf8PathBuf| {
        !known.contains(&file.as_str())
            && !["environment", "tests", "solution"]
                .iter()
                .any(|dir| file.starts_with(dir))
    };
    let extra: Vec<&str> = task
        .files
        .iter()
        .filter(is_extra)
        .map(|file| file.as_str())
        .collect();
    if !extra.is_empty() {
        notes.push(format!("{}: not part of an eval", few(&extra)));
    }
}

fn is_run_or_read(file: &Utf8Path) -> bool {
    file == "instruction.md" || file.starts_with("tests") || file.starts_with("solution")
}

fn of_text(
    file: &Utf8Path,
    text: &str,
    places: &Places,
    patterns: &Patterns,
    notes: &mut Vec<String>,
) {
    let distinct = |pattern: &Regex| -> BTreeSet<String> {
        let found = pattern.captures_iter(text).filter_map(|found| found.get(1));
        found
            .map(|part| part.as_str().trim_end_matches('.').to_owned())
            .collect()
    };
    let list = |set: &BTreeSet<String>| few(&set.iter().map(String::as_str).collect::<Vec<&str>>());
    let elsewhere: BTreeSet<String> = distinct(&patterns.absolute)
        .into_iter()
        .filter(|path| !places.knows(Utf8Path::new(path)))
        .collect();
    if !elsewhere.is_empty() {
        notes.push(format!(
            "{file} names {}, which would be on this machine",
            list(&elsewhere)
        ));
    }
    if !distinct(&patterns.home).is_empty() {
        notes.push(format!(
            "{file} uses the home directory: agent and tests have separate ones"
        ));
    }
    let installers = distinct(&patterns.installers);
    if file != "instruction.md" && !installers.is_empty() {
        notes.push(format!(
            "{file} runs {}, which happens on this machine, because there is no container",
            list(&installers)
        ));
    }
}

/// Returns the first directory of a path: `/logs` for `/logs/verifier/reward.txt`.
fn first_parts(path: &Utf8Path, places: &Places) -> String {
    if places.below_root(path).is_some() {
        return places.root.to_string();
    }
    path.as_str()
        .split('/')
        .take(2)
        .collect::<Vec<&str>>()
        .join("/")
}

fn few(items: &[&str]) -> String {
    match items {
        [few @ .., _] if items.len() > MOST => format!("{} and more", few[..MOST].join(", ")),
        all => prose::list(all, "and"),
    }
}

struct Patterns {
    absolute: Regex,
    home: Regex,
    installers: Regex,
}

impl Patterns {
    #[allow(
        clippy::unwrap_used,
        reason = "but for a name that is escaped they are constants, and a test uses them"
    )]
    fn new(places: &Places) -> Self {
        let pattern = |text: &str| Regex::new(text).unwrap();
        let own = places
            .root
            .as_str()
            .split('/')
            .nth(1)
            .map(regex::escape)
            .unwrap_or_default();
        let absolute = format!(
            r#"(?m)(?:^|[\s"'`=(:,<>\[])(/(?:{DIRECTORIES}|{own})(?:/[\w.@+-]+)*)(?:$|[^\w-])"#
        );
        Patterns {
            absolute: pattern(&absolute),
            home: pattern(HOME),
            installers: pattern(INSTALLERS),
        }
    }
}
