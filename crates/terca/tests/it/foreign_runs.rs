//! Runs that somebody else made, or that an agent changed: nothing outside of them is touched, and nothing hangs.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::common::viewer::View;
use crate::common::{forge, project};
use camino::{Utf8Path, Utf8PathBuf};
use terca_report::html::unpacked;
use terca_testkit::{Outcome, Project};

/// A suite of one eval, with something beside it that nobody may touch.
fn suite() -> Project {
    let project = project()
        .agent("echo done > done.txt")
        .file(
            "a/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: done.txt}]\n",
        )
        .file("victim/keep", "precious")
        .file("victim/default.default.01/keep", "precious")
        .file("victim/default.default.01/workspace/keep", "precious");
    project.terca(&["--format", "plain"]).expect_status(0);
    project
}

const FOLDER: &str = "a/default.default.01";

/// Leaves nothing of a journal but the beginning, with another folder for its trial.
fn interrupted_with(project: &Project, folder: &str) {
    forge(&project.run_dir(), |events| {
        events.truncate(1);
        events[0]["trials"][0]["dir"] = folder.into();
    });
}

/// Everything below a directory, with the content of files.
fn below(dir: &Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in next.read_dir_utf8().unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            let shown = entry.path().strip_prefix(dir).unwrap().to_string();
            if kind.is_dir() {
                open.push(entry.path().to_owned());
            }
            let content = if kind.is_file() {
                std::fs::read_to_string(entry.path()).unwrap_or_default()
            } else {
                String::new()
            };
            found.push(format!("{shown} {content}"));
        }
    }
    found.sort();
    found
}

/// The files of the suite that no run is allowed to touch, and the run's own but for those that a resume writes.
fn outside(project: &Project) -> Vec<String> {
    let mut all = below(&project.dir());
    all.retain(|path| !path.starts_with(".terca"));
    all
}

fn refused(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert!(
        outcome.stderr.starts_with("error[") && outcome.stderr.contains(words),
        "{words}: {}",
        outcome.stderr
    );
}

const EVERY: [&[&str]; 7] = [
    &["resume", "--format", "plain"],
    &["regrade"],
    &["show"],
    &["report", "--html", "-"],
    &["report", "--csv", "-"],
    &["compare"],
    &["merge", "1"],
];

#[test]
fn a_folder_that_is_not_the_trials_is_refused_by_every_command() {
    for folder in [
        "", ".", "..", "a", "a/..", "a/default.default.01/..", "a/../../../../victim",
        "./a/default.default.01", "a//default.default.01", "a/default.default.01/",
        "a/default.default.02", "/VICTIM", "victim\u{0}x",
    ] {
        let project = suite();
        let folder = folder.replace("/VICTIM", project.path("victim").as_str());
        interrupted_with(&project, &folder);
        let before = (outside(&project), below(&project.run_dir()));
        for args in EVERY {
            let outcome = project.terca(args);
            if args[0] == "merge" {
                assert_ne!(outcome.status, 0, "{folder:?} {args:?}");
                continue;
            }
            refused(&outcome, "events.jsonl, line 1: trial 1 has the directory");
        }
        project.terca(&["list"]).expect_status(0);
        project.terca(&["verify"]).expect_status(1);
        assert_eq!(
            (outside(&project), below(&project.run_dir())),
            before,
            "{folder:?}"
        );
    }
}

#[test]
fn two_trials_in_one_folder_are_refused() {
    let project = suite();
    for id in [1, 2] {
        forge(&project.run_dir(), |events| {
            events.truncate(1);
            let mut head = events[0]["trials"][0].clone();
            head["id"] = id.into();
            let trials = events[0]["trials"].as_array_mut().unwrap();
            trials.truncate(1);
            trials.push(head);
        });
        refused(&project.terca(&["resume"]), "is there twice");
    }
}

/// Puts a link in the place of something in the run. What was there is gone.
fn planted(project: &Project, place: &str, to: &str) {
    let place = project.run_dir().join(place);
    if place.is_dir() && !place.is_symlink() {
        std::fs::remove_dir_all(&place).unwrap();
    } else {
        let _ = std::fs::remove_file(&place);
    }
    symlink(project.path(to), place).unwrap();
}

#[test]
fn links_in_a_run_are_not_followed_by_resume() {
    for (place, to) in [
        ("a", "victim"),
        ("a/default.default.01", "victim/default.default.01"),
        ("a/default.default.01/workspace", "victim"),
        ("a/default.default.01/run.log", "victim/keep"),
        ("a/default.default.01/changes.diff", "victim/keep"),
        ("a/default.default.01/transcript.jsonl", "victim/keep"),
        ("a/default.default.01/artifacts", "victim"),
        ("a/default.default.01/attempts", "victim"),
        ("results.json", "victim/keep"),
        (".results.json.new", "victim/keep"),
    ] {
        let project = suite();
        interrupted_with(&project, FOLDER);
        planted(&project, place, to);
        let before = outside(&project);
        let outcome = project.terca(&["resume", "--format", "plain"]);
        assert!([0, 3].contains(&outcome.status), "{}", outcome.stderr);
        assert_eq!(outside(&project), before, "{place}: {}", outcome.stderr);
        // A link above the trial's folder is refused, and any other is replaced by what belongs there.
        assert_eq!(outcome.status == 3, place == "a", "{place}");
        if place != "a" {
            let found = project.run_dir().join(place).symlink_metadata();
            assert!(found.is_err() || !found.unwrap().is_symlink(), "{place}");
        }
    }
}

#[test]
fn links_in_a_run_are_not_followed_by_regrade() {
    for (place, to) in [
        ("a", "victim"),
        ("a/default.default.01", "victim/default.default.01"),
        ("a/default.default.01/workspace", "victim"),
        ("a/default.default.01/gradings", "victim"),
        ("a/default.default.01/artifacts", "victim"),
        (
            "a/default.default.01/artifacts/agent-work.json",
            "victim/keep",
        ),
        ("a/default.default.01/transcript.jsonl", "victim/keep"),
        ("gradings", "victim"),
        ("results.json", "victim/keep"),
        (".results.json.new", "victim/keep"),
    ] {
        let project = suite();
        planted(&project, place, to);
        let before = outside(&project);
        let outcome = project.terca(&["regrade"]);
        assert_eq!(outside(&project), before, "{place}: {}", outcome.stderr);
        let is_replaced = place.ends_with("results.json") || place.ends_with(".new");
        assert_eq!(
            outcome.status == 0,
            is_replaced,
            "{place}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn links_for_the_runs_own_files_are_refused() {
    for name in ["events.jsonl", "run.json"] {
        let project = suite();
        let dir = project.run_dir();
        std::fs::rename(dir.join(name), project.path("elsewhere")).unwrap();
        symlink(project.path("elsewhere"), dir.join(name)).unwrap();
        let before = std::fs::read(project.path("elsewhere")).unwrap();
        for args in [&["resume"][..], &["regrade"], &["show"], &["compare"]] {
            let outcome = project.terca(args);
            assert_eq!(outcome.status, 3, "{name} {args:?}: {}", outcome.stderr);
        }
        project.terca(&["list"]).expect_status(0);
        assert_eq!(std::fs::read(project.path("elsewhere")).unwrap(), before);
    }
}

#[test]
fn a_link_is_no_run() {
    let project = suite();
    let run = project.run_dir();
    let elsewhere = project.path("elsewhere");
    std::fs::rename(&run, &elsewhere).unwrap();
    symlink(&elsewhere, &run).unwrap();
    let before = below(&elsewhere);
    for args in EVERY {
        assert_eq!(project.terca(args).status, 2, "{args:?}");
    }
    let listed = project.terca(&["list"]).expect_status(0).stderr;
    assert!(listed.contains("not runs, and left out: "), "{listed}");
    // Named by its path, it is refused for what it is, with and without a slash.
    for path in [".terca/runs/link", ".terca/runs/link/"] {
        std::fs::remove_file(&run).ok();
        std::fs::remove_file(project.path(".terca/runs/link")).ok();
        symlink(&elsewhere, project.path(".terca/runs/link")).unwrap();
        let outcome = project.terca(&["verify", path]);
        refused(&outcome, "cannot be read");
    }
    project
        .terca(&["clean", "--older-than", "0d", "--yes"])
        .expect_status(0);
    assert_eq!(below(&elsewhere), before);
}

/// Two parts of a plan, beside the suite, as a job would hand them to another.
fn parts() -> (Project, [Utf8PathBuf; 2]) {
    let project = suite().file(
        "b/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done.txt}]\n",
    );
    std::fs::remove_dir_all(project.path(".terca")).unwrap();
    let parts = [1, 2].map(|number| {
        project
            .terca(&["--shard", &format!("{number}/2"), "--format", "plain"])
            .expect_status(0);
        let place = project.path(&format!("part-{number}"));
        std::fs::rename(project.run_dir(), &place).unwrap();
        place
    });
    (project, parts)
}

#[test]
fn parts_that_lead_elsewhere_are_not_merged() {
    for (folder, link) in [
        ("d/../../../../../home", Some("d")),
        ("/VICTIM", None),
        ("..", None),
        ("victim", None),
    ] {
        let (project, [one, two]) = parts();
        let folder = folder.replace("/VICTIM", project.path("victim").as_str());
        if let Some(link) = link {
            std::fs::create_dir_all(project.path("1/2/3/4/5/6")).unwrap();
            symlink(project.path("1/2/3/4/5/6"), one.join(link)).unwrap();
        }
        let plan = std::fs::read_to_string(one.join("run.json")).unwrap();
        std::fs::write(one.join("run.json"), plan.replace(FOLDER, &folder)).unwrap();
        forge(&one, |events| events[0]["trials"][0]["dir"] = folder.into());
        let before = outside(&project);
        let outcome = project.terca(&["merge", "part-1", "part-2"]);
        refused(&outcome, "line 1: trial 1 has the directory");
        assert_eq!(outside(&project), before);
        assert!(!project.has_run(), "nothing was made");
        drop(two);
    }
}

#[test]
fn links_and_pipes_in_a_part_are_not_copied_from() {
    let (project, [one, _]) = parts();
    std::fs::remove_dir_all(one.join("a/default.default.01")).unwrap();
    symlink(project.path("victim"), one.join("a/default.default.01")).unwrap();
    let before = outside(&project);
    let outcome = project.terca(&["merge", "part-1", "part-2"]);
    refused(&outcome, "could not be copied");
    assert!(
        outcome.stderr.contains("symbolic link"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outside(&project), before);
    // A link that a trial left stays a link, and a pipe is left out.
    std::fs::remove_file(one.join("a/default.default.01")).unwrap();
    std::fs::create_dir(one.join("a/default.default.01")).unwrap();
    symlink(
        project.path("victim"),
        one.join("a/default.default.01/link"),
    )
    .unwrap();
    pipe(&one.join("a/default.default.01/pipe"));
    project
        .terca(&["merge", "part-1", "part-2"])
        .expect_status(0);
    let merged = project.run_dir().join("a/default.default.01");
    assert!(merged.join("link").is_symlink());
    let pipe = merged.join("pipe").symlink_metadata();
    assert!(pipe.is_err(), "nothing was read from it");
    project.terca(&["verify"]).expect_status(1);
}

fn pipe(path: &Utf8Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Commands that hang are ended by `timeout`, with a status of its own.
fn within_a_minute(project: &Project, args: &[&str]) -> Outcome {
    let program = project.command(&[]).get_program().to_owned();
    let program = program.to_str().unwrap();
    let all = [&["60", program][..], args].concat();
    let outcome: Outcome = project.other("timeout", &all).output().unwrap().into();
    assert_ne!(outcome.status, 124, "{args:?} hangs");
    outcome
}

#[test]
fn pipes_and_devices_in_the_place_of_files_make_nothing_hang() {
    for name in ["events.jsonl", "run.json", "results.json"] {
        let project = suite();
        let place = project.run_dir().join(name);
        std::fs::remove_file(&place).unwrap();
        pipe(&place);
        for args in [
            &["list"][..],
            &["show"],
            &["resume"],
            &["regrade"],
            &["compare"],
            &["report", "--html", "-"],
            &["verify"],
            &["merge", "1"],
            &["--dry-run"],
            &["clean", "--older-than", "0d", "--yes"],
        ] {
            within_a_minute(&project, args);
        }
        // `clean` has removed it, or left it; a new run is made beside it.
        within_a_minute(&project, &["--format", "plain"]);
    }
    // In the place of what a trial left, for those who read that.
    let project = suite();
    for name in ["run.log", "changes.diff", "transcript.jsonl"] {
        let place = project.run_dir().join(FOLDER).join(name);
        std::fs::remove_file(&place).unwrap();
        pipe(&place);
    }
    within_a_minute(&project, &["report", "--html", "-"]);
    within_a_minute(&project, &["regrade"]);
    let gradings = project.run_dir().join(FOLDER).join("gradings");
    std::fs::create_dir_all(&gradings).unwrap();
    let _ = std::fs::remove_file(gradings.join("02.log"));
    pipe(&gradings.join("02.log"));
    within_a_minute(&project, &["regrade"]);
}

#[test]
fn a_report_of_a_foreign_run_shows_nothing_from_outside() {
    let project = suite().file("victim/run.log", "precious words");
    planted(&project, "a/default.default.01", "victim");
    let page = project.terca(&["report", "--html", "-"]).expect_status(0);
    assert!(!unpacked(&page.stdout).contains("precious"));
    let project = suite().file("victim/run.log", "precious words");
    planted(&project, "a/default.default.01/run.log", "victim/run.log");
    let page = project.terca(&["report", "--html", "-"]).expect_status(0);
    assert!(!unpacked(&page.stdout).contains("precious"));
}

#[test]
fn the_view_of_a_foreign_run_serves_nothing_from_outside() {
    for (place, to) in [
        ("a", "victim"),
        ("a/default.default.01", "victim/default.default.01"),
        ("a/default.default.01/run.log", "victim/keep"),
    ] {
        let project = suite().file("victim/default.default.01/run.log", "precious");
        let run = project.run_dir().file_name().unwrap().to_owned();
        planted(&project, place, to);
        let view = View::open(&project, &[]);
        let page = view.get(&format!("runs/{run}/trials/1"));
        assert!(page.starts_with("HTTP/1.1 200") && !page.contains("precious"));
        let file = view.get(&format!("runs/{run}/trials/1/run.log"));
        assert!(file.starts_with("HTTP/1.1 404"), "{place}: {file}");
    }
    let project = suite();
    let run = project.run_dir().file_name().unwrap().to_owned();
    let log = project.run_dir().join(FOLDER).join("run.log");
    std::fs::remove_file(&log).unwrap();
    pipe(&log);
    let view = View::open(&project, &[]);
    let file = view.get(&format!("runs/{run}/trials/1/run.log"));
    assert!(file.starts_with("HTTP/1.1 404"), "a pipe: {file}");
}

#[test]
fn clean_removes_a_run_and_not_what_its_links_lead_to() {
    let project = suite();
    planted(&project, "a/default.default.01/workspace", "victim");
    symlink(project.path("victim"), project.run_dir().join("link")).unwrap();
    let before = outside(&project);
    project
        .terca(&["clean", "--older-than", "0d", "--yes"])
        .expect_status(0);
    assert!(!project.has_run());
    assert_eq!(outside(&project), before);
}

/// An agent that puts links where Terca is about to write: what they lead to stays, and its work is judged.
#[test]
fn links_that_an_agent_plants_in_its_trials_folder_are_not_followed() {
    for mischief in [
        "rm changes.diff; ln -s VICTIM/keep changes.diff",
        "rm changes.diff; mkfifo changes.diff",
        "rm -r changes.diff; mkdir changes.diff",
        "rm transcript.jsonl; ln -s VICTIM/keep transcript.jsonl",
        "rm -r artifacts; ln -s VICTIM artifacts",
        "rm -r artifacts; touch artifacts",
        "for f in stdout.log stderr.log agent-work.json trajectory.json; do ln -sf VICTIM/keep artifacts/$f; done",
        "rm artifacts/stdout.log; mkfifo artifacts/stdout.log artifacts/agent-work.json",
        "rm workspace; ln -s VICTIM workspace",
        "rm workspace; mkdir workspace; touch workspace/x",
        "rm workspace",
        "rm run.log; ln -s VICTIM/keep run.log",
        "cd ..; rm -r default.default.01; ln -s VICTIM/default.default.01 default.default.01",
        "cd ../..; rm -r a; ln -s VICTIM a",
        "cd ../..; mv a elsewhere",
    ] {
        let project = project();
        let mischief = mischief.replace("VICTIM", project.path("victim").as_str());
        let folder = project.path(".terca/runs");
        let project = project
            .agent(&format!(
                "(cd {folder}/*/a/default.default.01/ && {mischief}) || exit 1\necho done > done.txt"
            ))
            .file(
                "a/eval.terca.yaml",
                "prompt: go\ntests: [{fileExists: done.txt}]\n",
            )
            .file("victim/keep", "precious")
            .file("victim/default.default.01/keep", "precious");
        let before = outside(&project);
        let outcome = within_a_minute(&project, &["--format", "plain"]);
        assert_eq!(outcome.status, 0, "{mischief}: {}", outcome.stderr);
        assert_eq!(outside(&project), before, "{mischief}");
        let dir = project.run_dir().join(FOLDER);
        assert!(
            project.workspace_of(&dir).join("done.txt").is_file(),
            "{mischief}"
        );
        for name in ["artifacts", "changes.diff", "transcript.jsonl"] {
            assert!(!dir.join(name).is_symlink(), "{mischief}: {name}");
        }
        project.terca(&["verify"]).expect_status(0);
    }
}
