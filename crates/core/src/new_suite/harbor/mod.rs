//! Imports tasks in the format of Harbor and Terminal-Bench 2 as evals.
//!
//! ```text
//! hello/                          hello/
//!   task.toml                       eval.terca.yaml      time limits, tags, variables; what was not carried over
//!   instruction.md           ─►     instruction.md       the prompt, with paths of the workspace
//!   environment/Dockerfile          _base/               what the Dockerfile copies to where the agent works; or
//!                                   _image/              the Dockerfile and what it copies, if it does more than that
//!   tests/test.sh                   _tests/.harbor/      the tests as they are, and a script that runs them
//!   solution/solve.sh               _solution/.harbor/   the solution as it is; `_solution.sh` runs it
//! ```
//!
//! A Harbor task runs in a container: it works in `/app`, its tests are at `/tests` and leave a reward in
//! `/logs/verifier`. Here the workspace is all that lasts, and a container only where the Dockerfile makes one
//! necessary ([`environment`]). So the scripts that run tests and solution replace those paths by paths of the
//! workspace, in the copies that they run. The files of the suite stay unchanged. Parts that cannot be imported are
//! named in notes, never dropped in silence.

mod build_commands;
mod container;
pub(in crate::new_suite) mod environment;
mod notes;
mod scripts;
mod settings;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::imported::{self, Imported, Note, Task, folder};
use crate::text::json::yaml_line;
use environment::{Environment, environment};
use settings::Settings;

/// The tag of evals that run in an image.
const CONTAINER: &str = "container";

/// Turns a task into an eval, or says why that is impossible.
pub fn import(task: &Task<'_>) -> Result<Imported, String> {
    let text = |path: &str| (task.text)(Utf8Path::new(path));
    let has = |path: &str| task.files.iter().any(|file| file == path);
    let settings = Settings::read(&text("task.toml").ok_or("task.toml cannot be read")?)?;
    let instruction =
        text("instruction.md").ok_or("there is no instruction.md (or it is not UTF-8 text)")?;
    if instruction.trim().is_empty() {
        return Err("instruction.md is empty".into());
    }
    if !has("tests/test.sh") {
        return Err("there is no tests/test.sh, so nothing could be verified".into());
    }
    let workdir = settings.workdir.as_deref();
    let environment = environment(task, Utf8Path::new("environment/Dockerfile"), workdir);
    let places = &environment.places;
    let mut notes = settings.notes.clone();
    notes.extend(environment.notes.iter().cloned());
    let prompt = places.in_prompt(&instruction);
    notes::of_files(task, &environment, prompt != instruction, &mut notes);

    let folder = folder(task.name);
    if folder != task.name {
        notes.push(Note::change(format!(
            "the directory is named {folder}, because Terca finds no evals in {}",
            task.name
        )));
    }
    let mut copied = environment.copied.clone();
    let tests = below(task, "tests", "_tests/.harbor/tests");
    let list: String = tests
        .iter()
        .filter_map(|(_, to)| to.strip_prefix("_tests/.harbor").ok())
        .map(|file| format!("{file}\n"))
        .collect();
    copied.extend(tests);
    let mut written = vec![
        (Utf8PathBuf::from("instruction.md"), prompt),
        (
            "_tests/.harbor/run-tests.sh".into(),
            scripts::run_tests(places, !environment.packages.is_empty()),
        ),
        ("_tests/.harbor/tests.list".into(), list),
    ];
    written.extend(environment.written.iter().cloned());
    if has("solution/solve.sh") {
        copied.extend(below(task, "solution", "_solution/.harbor/solution"));
        written.push(("_solution.sh".into(), scripts::solution(places)));
    } else {
        notes.push(Note::change(
            "there is no solution/solve.sh, so it is not known whether the eval can be passed",
        ));
    }
    notes.sort_by_key(|note| note.loss.is_none());
    written.push((
        "eval.terca.yaml".into(),
        eval_file(task.name, &settings, &environment, &notes),
    ));
    Ok(Imported {
        folder,
        written,
        copied,
        has_image: environment.sandbox.is_some(),
        notes,
    })
}

fn eval_file(name: &str, settings: &Settings, environment: &Environment, notes: &[Note]) -> String {
    let mut text = imported::head(&format!("the Harbor task {name}"), notes);
    if let Some(description) = &settings.description {
        text += &format!("description: {}\n", yaml_line(&json!(description)));
    }
    text += &format!(
        "promptFile: \"instruction.md\"\ntimeoutSeconds: {}\n",
        settings.agent_seconds
    );
    let mut tags = settings.tags.clone();
    if let Some(sandbox) = &environment.sandbox {
        text += &format!("sandbox: {}\n", yaml_line(sandbox));
        tags.push(CONTAINER.to_owned());
    }
    if !tags.is_empty() {
        text += &format!("tags: {}\n", yaml_line(&json!(tags)));
    }
    let env = [environment.env.as_slice(), &settings.env].concat();
    if !env.is_empty() {
        let env = crate::text::json::object(&env);
        text += &format!("env: {}\n", yaml_line(&env));
    }
    text + &format!(
        "tests:\n  - name: harbor\n    commandScore: sh .harbor/run-tests.sh\n    timeoutSeconds: {}\n",
        settings.tests_seconds
    )
}

fn below(task: &Task<'_>, from: &str, to: &str) -> Vec<(Utf8PathBuf, Utf8PathBuf)> {
    let moved = |file: &Utf8PathBuf| {
        Some((
            file.clone(),
            Utf8Path::new(to).join(file.strip_prefix(from).ok()?),
        ))
    };
    task.files.iter().filter_map(moved).collect()
}

#[cfg(test)]
mod tests;
