//! Runs that somebody else made. The input makes the files, links and pipes of a run's folder; everything that reads,
//! continues, merges or removes a run is tried on it. It answers, it does not wait, and nothing beside the run changes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use terca_core::analysis::results::Results;
use terca_core::run::settings::RunSettings;
use terca_core::run::state::Trial;
use terca_engine::host::environment::Host;
use terca_engine::run::merge_runs::merge_runs;
use terca_engine::run::past_runs::{self, PastRun};
use terca_engine::run::resume::OpenRun;
use terca_engine::run::store::mend_results;
use terca_engine::run::verify::verify;
use terca_engine::run::{clean, load, trial_files};
use terca_report::html::{Bodies, Bound, Prompts, run_page, unpacked};

use crate::journal::sealed;

const RUN: &str = "2026-11-15-001";
const MOST_PARTS: usize = 40;
const SUITE: &str =
    "environments: [{name: e, agent: nop}]\nevals: [{name: a, prompt: x}, {name: b, prompt: x}]\n";

pub fn target(data: &[u8]) {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let root = Utf8Path::from_path(temporary.path()).expect("a UTF-8 path");
    let suite = root.join("suite");
    let runs = suite.join(".terca/runs");
    let run = runs.join(RUN);
    fs::create_dir_all(&run).expect("a directory");
    fs::create_dir_all(suite.join("victim/e.default.01/workspace")).expect("a directory");
    fs::write(suite.join("victim/precious"), "precious").expect("a file");
    fs::write(suite.join("terca.yaml"), SUITE).expect("a file");
    for part in parts(data) {
        make(&run, part);
    }
    let before = around(root);
    look(&suite, &run);
    assert_eq!(around(root), before, "looking changed something");
    continue_it(&suite, &run);
    assert_eq!(around(root), before, "continuing changed something");
    for removable in clean::removable(&suite, std::time::Duration::ZERO) {
        clean::remove(&suite, &removable);
    }
    assert_eq!(around(root), before, "removing changed something");
}

/// The parts of an input, each with its first line: `@@ KIND NAME TARGET`. The journal is sealed.
fn parts(data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        let head = line
            .strip_prefix(b"@@ ")
            .filter(|_| parts.len() < MOST_PARTS);
        if let Some(head) = head {
            parts.push((String::from_utf8_lossy(head).into_owned(), Vec::new()));
        } else if let Some((_, content)) = parts.last_mut() {
            content.extend_from_slice(line);
        }
    }
    let is_file = |head: &str, name: &str| head.trim_end() == format!("file {name}");
    let plan = parts.iter().find(|(head, _)| is_file(head, "run.json"));
    let plan = plan.map(|(_, plan)| plan.clone()).unwrap_or_default();
    for (head, content) in &mut parts {
        if is_file(head, "events.jsonl") {
            *content = sealed(content, &plan);
        }
    }
    parts
}

/// Makes an entry of the run, where it can be made without following a link.
fn make(run: &Utf8Path, (head, content): (String, Vec<u8>)) {
    let mut words = head.split_whitespace();
    let (Some(kind), Some(name)) = (words.next(), words.next()) else {
        return;
    };
    let name = Utf8PathBuf::from(name);
    let is_plain = |part| matches!(part, Utf8Component::Normal(_));
    if !name.components().all(is_plain) || name.as_str().contains('\0') {
        return;
    }
    let mut above = run.to_owned();
    for part in name.parent().into_iter().flat_map(Utf8Path::components) {
        above.push(part);
        // Fails where it is there already, and then it must be a directory.
        let _ = fs::create_dir(&above);
        if !above.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return;
        }
    }
    let place = run.join(&name);
    // What cannot be made is not there.
    match kind {
        "dir" => drop(fs::create_dir(place)),
        "link" => drop(symlink(words.next().unwrap_or("."), place)),
        "pipe" => drop(rustix::fs::mknodat(
            rustix::fs::CWD,
            place.as_str(),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )),
        _ => {
            if let Ok(mut file) = fs::File::create_new(place) {
                file.write_all(&content).expect("a file");
            }
        }
    }
}

/// Everything below the root but for the run itself, the directory of runs, and the runs that are made.
fn around(root: &Utf8Path) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(next) = open.pop() {
        for entry in next.read_dir_utf8().expect("a directory") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a kind");
            if entry.file_name() == ".terca" {
                continue;
            }
            if kind.is_dir() {
                open.push(entry.path().to_owned());
            }
            let content = if kind.is_file() {
                fs::read(entry.path()).expect("a file")
            } else {
                Vec::new()
            };
            found.insert(entry.path().to_owned(), content);
        }
    }
    found
}

fn look(suite: &Utf8Path, run: &Utf8Path) {
    let names = past_runs::names(suite).expect("a list");
    assert!(names.len() <= 1);
    let _ = past_runs::folders(suite).expect("a list");
    let _ = past_runs::find(suite, None);
    let _ = past_runs::latest_interrupted(suite);
    let _ = past_runs::run_file(run);
    let _ = past_runs::history(suite);
    let verified = verify(run);
    let strict = past_runs::read(run);
    if let Ok(verified) = &verified
        && verified.sound
    {
        assert!(strict.is_ok(), "{:?}", strict.err());
    }
    if let Ok((past, fault)) = past_runs::read_sound_part(run) {
        assert_eq!(fault.is_none(), strict.is_ok());
        page(&past);
        let results = serde_json::to_string(&Results::of(&past.state)).expect("results");
        assert!(!results.contains("precious"));
    }
    if let Ok(past) = strict {
        let _ = mend_results(&past);
        let again = verify(run).expect("it was read before");
        // Results that were edited stay for somebody to look at.
        let of_results = |file: &str| file == "results.json";
        assert!(again.problems.iter().all(|one| of_results(&one.file)));
    }
}

fn page(run: &PastRun) {
    let prompts = match past_runs::run_file(&run.dir) {
        Ok(file) => Prompts::from(&file),
        Err(_) => Prompts::default(),
    };
    let read = |trial: &Trial, limit: usize| trial_files::read(&run.dir, &trial.head.dir, limit);
    let bodies = Bodies {
        run_dir: &run.dir,
        prompts: &prompts,
        read: &read,
        is_full: false,
    };
    let page = run_page(&run.state, &Bound::Within(bodies));
    assert!(
        !unpacked(&page).contains("precious"),
        "something from outside is shown"
    );
}

fn continue_it(suite: &Utf8Path, run: &Utf8Path) {
    let host = Host::new(BTreeMap::new());
    if let Ok(mut open) = OpenRun::open(run) {
        let settings = RunSettings {
            selection: open.settings().selection,
            ..RunSettings::default()
        };
        let loaded = load::load(suite, &settings, &host).expect("the suite is there");
        if let Some(mut plan) = loaded.plan {
            let remaining = open.keep_remaining(&mut plan, true);
            assert!(remaining.to_run <= plan.trials.len());
            for trial in &plan.trials {
                let is_plain = |part| matches!(part, Utf8Component::Normal(_));
                assert!(trial.dir.components().all(is_plain), "{}", trial.dir);
            }
        }
        let _ = open.write_results();
    }
    let today = jiff::civil::date(2026, 11, 16);
    let _ = merge_runs(suite, today, &[run.to_owned()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mutations of a corpus that is refused at its first line would find nothing.
    #[test]
    fn the_corpus_is_of_sound_runs() {
        for (text, is_complete) in [
            (
                &include_bytes!("../corpus/foreign_run/complete.txt")[..],
                true,
            ),
            (include_bytes!("../corpus/foreign_run/killed.txt"), false),
            (include_bytes!("../corpus/foreign_run/links.txt"), false),
        ] {
            let temporary = tempfile::tempdir().expect("a temporary directory");
            let run = Utf8Path::from_path(temporary.path()).expect("a UTF-8 path");
            for part in parts(text) {
                make(run, part);
            }
            let past = past_runs::read(run).expect("a sound run");
            assert_eq!(past.state.trials().len(), 2);
            let status = past.state.status();
            assert_eq!(
                status == terca_core::run::event::RunStatus::Complete,
                is_complete
            );
            if is_complete {
                let verified = verify(run).expect("a sound run");
                assert!(verified.sound && verified.notes.is_empty(), "{verified:?}");
            }
        }
    }
}
