//! Every error that a command can give, met as a user meets it. Read the snapshots as one would: does it say what
//! happened, where, and what to do next?

use std::net::TcpListener;

use crate::common::project;
use terca_core::text::Code;
use terca_testkit::{Outcome, Project};

/// What is met on the way through one topic.
struct Tour {
    project: Project,
    met: Vec<String>,
}

impl Tour {
    fn of(project: Project) -> Self {
        Tour {
            project,
            met: Vec::new(),
        }
    }

    /// Types a command that is refused with these codes.
    fn meets(&mut self, args: &[&str], status: i32, codes: &[Code]) -> &mut Self {
        let outcome = self.project.terca(args).expect_status(status);
        let said = &outcome.stderr;
        for code in codes {
            assert!(
                said.contains(&format!("[{}]: ", code.as_str())),
                "{code:?}: {said}"
            );
        }
        if codes == [Code::Usage] && said.contains("try '--help'") {
            assert!(
                !said.contains("terca explain"),
                "one hint is enough: {said}"
            );
        } else {
            let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
            let more = format!("more: terca explain {}\n", words.join(" "));
            assert!(
                outcome.stdout.contains(&more) || said.ends_with(&more),
                "{args:?}: {said}"
            );
            assert!(
                said.contains("help: ") || codes[0] == Code::Usage || status == 3,
                "{args:?}: {said}"
            );
        }
        self.met
            .push(format!("━━ terca {}\n{}", args.join(" "), said.trim_end()));
        self
    }

    fn does(&mut self, args: &[&str], status: i32) -> &mut Self {
        self.project.terca(args).expect_status(status);
        self
    }

    fn changes(self, change: impl FnOnce(Project) -> Project) -> Self {
        Tour {
            project: change(self.project),
            met: self.met,
        }
    }

    fn ends(self, topic: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"\d{4}-\d\d-\d\d-(\d{3})", "[day]-$1");
        settings.add_filter(r"/var/tmp/terca-test-\w+", "[tmp]");
        settings.add_filter(r"port \d+", "port [port]");
        settings.add_filter(r"--port \d+", "--port [port]");
        settings.bind(|| insta::assert_snapshot!(topic, self.met.join("\n\n")));
    }
}

fn two_evals() -> Project {
    project()
        .file(
            "terca.yaml",
            "environments: [{name: default, agent: nop}]\nexperiments: [{name: plain}, {name: with-rules}]\n",
        )
        .file("fib/eval.terca.yaml", "prompt: go\ntags: [slow]\nallowWarnings: no-tests\n")
        .file("fizz/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n")
}

#[test]
fn where_there_is_no_suite() {
    let mut tour = Tour::of(
        two_evals()
            .file("other/terca.yml", "name: x\n")
            .directory("bare")
            .file(
                "latin/eval.terca.yaml",
                b"prompt: gr\xfcn\nallowWarnings: no-tests\n",
            ),
    );
    tour.meets(&["-C", "fibb", "check"], 2, &[Code::NoDirectory])
        .meets(&["-C", "nowhere/at-all", "show"], 2, &[Code::NoDirectory])
        .meets(&["-C", "terca.yaml"], 2, &[Code::NoDirectory])
        .meets(&["-C", "../home"], 2, &[Code::NoSuite])
        .meets(&["-C", "..", "check"], 2, &[Code::NoSuite])
        .meets(&["-C", "other", "check"], 2, &[Code::NoSuite])
        .meets(&["check"], 2, &[Code::UnreadableFile]);
    let outcome = tour
        .project
        .terca(&["-C", "..", "create-eval", "x"])
        .expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("error[no-suite]: no suite here: neither "),
        "{}",
        outcome.stderr
    );
    tour.ends("no_suite");
}

#[test]
fn wrong_words_on_the_command_line() {
    let mut tour = Tour::of(two_evals());
    for args in [
        &["chek"][..],
        &["--repetition", "3"],
        &["--shard", "4/3"],
        &["--fail-under", "90"],
        &["-n", "0"],
        &["-t", "fib", "check"],
        &["merge"],
        &["schema", "suite"],
        &["view", "--port", "0"],
        &["clean", "--older-than", "soon"],
        &["plan", "--detect", "0"],
        &["--budget-usd", "free"],
        &["man", "runn"],
        &["explain", "unknwon-key"],
        &["explain", "everything"],
        &["report"],
        &["compare", "--only-unchanged"],
    ] {
        if args == ["compare", "--only-unchanged"] {
            tour.does(&[], 0);
        }
        tour.meets(args, 2, &[Code::Usage]);
    }
    tour.ends("usage");
}

#[test]
fn selections_and_agents() {
    let mut tour = Tour::of(two_evals());
    tour.meets(&["-t", "fibb"], 2, &[Code::NoMatch])
        .meets(&["-t", "slow"], 2, &[Code::NoMatch])
        .meets(
            &["-e", "node", "-x", "rules", "-t", "tag:fast"],
            2,
            &[Code::NoMatch],
        )
        .meets(&["--agent", "gemnini"], 2, &[Code::UnknownAgent])
        .meets(&["--agent", "hal9000"], 2, &[Code::UnknownAgent])
        .meets(&["--agent", "command"], 2, &[Code::Usage]);
    let adaptive = "repetitions: {min: 1, max: 3, until: conclusive}\nenvironments: [{name: default, agent: nop}]\n";
    let mut tour = tour.changes(|project| project.file("terca.yaml", adaptive));
    tour.meets(&["--shard", "1/2"], 2, &[Code::NotInParts]);
    tour.ends("selections");
}

#[test]
fn what_is_there_already() {
    let mut tour = Tour::of(
        two_evals()
            .file("tasks/a/task.yaml", "")
            .directory("new")
            .file("new/file", ""),
    );
    tour.meets(&["create", "x", "--yes"], 2, &[Code::AlreadyThere])
        .meets(&["create-eval", "fib"], 2, &[Code::AlreadyThere])
        .meets(&["create-eval"], 2, &[Code::NobodyToAsk])
        .meets(&["create-eval", "_base"], 2, &[Code::Usage])
        .meets(&["create-eval", "../up"], 2, &[Code::Usage])
        .meets(&["import", "harbor", "fib"], 2, &[Code::NotATask])
        .meets(&["import", "harbor", "tasks"], 2, &[Code::NotATask])
        .meets(&["import", "harbor", "task"], 2, &[Code::NoDirectory])
        .meets(&["import", "harbor", "terca.yaml"], 2, &[Code::NoDirectory]);
    tour.does(&[], 0)
        .meets(&["clean", "--older-than", "0d"], 2, &[Code::NobodyToAsk]);
    let mut tour = tour.changes(|project| {
        std::fs::remove_file(project.path("terca.yaml")).unwrap();
        project
    });
    tour.meets(&["create"], 2, &[Code::NobodyToAsk])
        .meets(
            &["create", "x", "--agent", "cluade", "--yes"],
            2,
            &[Code::UnknownAgent],
        )
        .meets(&["create", "new/file", "--yes"], 2, &[Code::Usage])
        .meets(
            &["create", ".", "--eval", "fib", "--agent", "oracle", "--yes"],
            2,
            &[Code::AlreadyThere],
        );
    tour.ends("already_there");
}

#[test]
fn runs_that_are_not_there_or_not_whole() {
    let mut tour = Tour::of(two_evals());
    for args in [
        &["show"][..],
        &["resume"],
        &["regrade"],
        &["compare"],
        &["report", "--html", "x.html"],
        &["view"],
        &["merge", "1"],
    ] {
        tour.meets(args, 2, &[Code::NoRuns]);
    }
    tour.does(&["-x", "plain", "--keep", "none"], 0)
        .does(&[], 0);
    for args in [&["show", "7"][..], &["merge", "1", "parts/2"]] {
        tour.meets(args, 2, &[Code::UnknownRun]);
    }
    tour.meets(&["compare", "1"], 2, &[Code::NothingToCompare])
        .meets(&["compare", "1", "1"], 2, &[Code::NothingToCompare])
        .meets(
            &["compare", "--baseline", "plane"],
            2,
            &[Code::NothingToCompare],
        )
        .meets(
            &["compare", "1", "2", "--baseline", "3"],
            2,
            &[Code::UnknownBaseline],
        )
        .meets(
            &["compare", "1", "2", "--by", "environment"],
            2,
            &[Code::Usage],
        )
        .meets(&["regrade", "1"], 2, &[Code::NothingToGrade])
        .meets(&["workspace", "1", "fib"], 2, &[Code::NoWorkspace])
        .meets(&["merge", "1", "2"], 2, &[Code::CannotMerge]);
    let [first, second] = [1, 2].map(|number| {
        let latest = tour.project.run_dir();
        let name = latest.file_name().unwrap();
        latest.with_file_name(format!("{}{number}", &name[..name.len() - 1]))
    });
    std::fs::write(second.join("events.jsonl"), "{}\n{}\n").unwrap();
    std::fs::write(first.join("run.json"), "{}").unwrap();
    // A run that tells no time is as old as this file: the other one stays the latest.
    let file = std::fs::File::open(first.join("run.json")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    tour.meets(&["show"], 3, &[Code::DamagedRun])
        .meets(&["resume", "1"], 3, &[Code::DamagedRun])
        .meets(&["merge", "1", "2"], 2, &[Code::DamagedRun]);
    std::fs::remove_file(second.join("events.jsonl")).unwrap();
    tour.meets(&["show"], 3, &[Code::DamagedRun])
        .meets(&["resume"], 3, &[Code::DamagedRun]);
    tour.ends("runs");
}

#[test]
fn parts_that_do_not_belong_together() {
    let mut tour = Tour::of(two_evals());
    tour.does(&["--shard", "1/2"], 0)
        .does(&["--shard", "2/2", "-n", "2"], 0)
        .does(&["--shard", "1/3"], 0);
    tour.meets(&["merge", "1"], 2, &[Code::CannotMerge])
        .meets(&["merge", "1", "1"], 2, &[Code::CannotMerge])
        .meets(&["merge", "1", "2"], 2, &[Code::CannotMerge])
        .meets(&["merge", "1", "3"], 2, &[Code::CannotMerge]);
    let mut tour = tour.changes(|project| {
        project.file(
            "fib/eval.terca.yaml",
            "prompt: go away\nallowWarnings: no-tests\n",
        )
    });
    tour.does(&["--shard", "2/2"], 0)
        .meets(&["merge", "1", "4"], 2, &[Code::CannotMerge]);
    tour.ends("parts");
}

#[test]
fn what_the_machine_refuses() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut tour = Tour::of(two_evals().file("file", ""));
    tour.does(&[], 0)
        .meets(
            &["view", "--no-open", "--port", &port],
            3,
            &[Code::CannotServe],
        )
        .meets(
            &["report", "--html", "file/report.html"],
            3,
            &[Code::CannotWrite],
        )
        .meets(&["report", "--csv", "."], 3, &[Code::CannotWrite]);
    let at = |tour: Tour, place: &str| {
        tour.changes(|project| {
            let place = project.path(place).to_string();
            project
                .directory("around/.git")
                .env("TERCA_WORK_DIR", &place)
        })
    };
    let mut tour = at(tour, "file");
    tour.meets(&["run"], 2, &[Code::NoWorkDir]);
    let mut tour = at(tour, "around/work");
    tour.meets(&["run"], 2, &[Code::NoWorkDir]);
    std::fs::remove_dir_all(tour.project.path(".terca")).unwrap();
    let mut tour = tour.changes(|project| {
        let place = project.work_dir().to_string();
        project.file(".terca", "").env("TERCA_WORK_DIR", &place)
    });
    tour.meets(&["run"], 3, &[Code::CannotWrite]);
    tour.ends("machine");
}

#[test]
fn trials_that_could_not_be_judged() {
    let suite = "environments:\n  - {name: codex, agent: codex}\n  - {name: script, agent: {name: command, command: ./agent.sh}}\n";
    let project = project()
        .file("terca.yaml", suite)
        .executable("agent.sh", "#!/bin/sh\nexit 3\n")
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
        .file(
            "set-up/eval.terca.yaml",
            "prompt: go\nbefore: [command: 'echo no; exit 1']\nallowWarnings: no-tests\n",
        )
        .env("PATH", "/usr/bin:/bin");
    let outcome = project
        .terca(&["--format", "plain", "-c", "1", "--seed", "1"])
        .expect_status(3);
    let more = outcome
        .stdout
        .lines()
        .find(|line| line.starts_with("more: terca explain "))
        .expect("a hint");
    for kind in ["agentMissing", "agent", "setup"] {
        assert!(more.split(' ').any(|word| word == kind), "{kind}: {more}");
        project.terca(&["explain", kind]).expect_status(0);
    }
}

#[test]
fn every_code_is_explained_and_listed() {
    let project = project();
    let list = project.terca(&["explain"]).expect_status(0).stdout;
    for code in Code::ALL {
        let Outcome { stdout, stderr, .. } =
            project.terca(&["explain", code.as_str()]).expect_status(0);
        assert!(
            stdout.starts_with(&format!("{}: {}\n", code.as_str(), code.title())),
            "{stdout}"
        );
        assert!(
            stdout.contains("\nUsual causes:\n") && stdout.contains("\nWhat to do next: "),
            "{stdout}"
        );
        assert!(
            !stdout.contains("```") && stderr.is_empty(),
            "{stdout}{stderr}"
        );
        assert!(
            list.contains(&format!("\n  {} ", code.as_str())),
            "{}: {list}",
            code.as_str()
        );
    }
    let both = project
        .terca(&["explain", "no-runs", "error[no-suite]"])
        .expect_status(0)
        .stdout;
    assert!(
        both.contains("no-runs: ") && both.contains("\n\nno-suite: "),
        "{both}"
    );
}

/// GitHub's runner obeys what a step prints, on either stream.
#[test]
fn nothing_that_is_shown_gives_commands_on_github() {
    let name = "::add-mask::the";
    let suite = format!(
        "environments: [{{name: default, agent: nop}}]\nevals:\n  - name: '{name}'\n    prompt: go\n    tests:\n      - name: '::stop-commands::x'\n        fileExists: '##[group]x'\n"
    );
    let project = project()
        .file("terca.yaml", suite)
        .env("GITHUB_ACTIONS", "true");
    let is_command = |line: &&str| {
        let own = [
            "::error title=", "::notice title=", "::group::Trials", "::endgroup::",
        ]
        .iter()
        .any(|command| line.starts_with(command));
        !own && (line.trim_start().starts_with("::") || line.contains("##["))
    };
    for args in [
        &["--format", "plain"][..],
        &["--format", "json"],
        &["--format", "tty"],
        &["--dry-run"],
        &["show"],
        &["check"],
        &["validate"],
        &["plan"],
        &["-t", name, "-x", "none"],
        &["report", "--csv", "-"],
        &["report", "--markdown", "-"],
        &["report", "--jsonl", "-"],
        &["compare"],
    ] {
        let Outcome { stdout, stderr, .. } = project.terca(args);
        let all = format!("{stdout}\n{stderr}").replace('\r', "\n");
        let commands: Vec<&str> = all.lines().filter(is_command).collect();
        assert!(commands.is_empty(), "{args:?}: {commands:?}\n{all}");
    }
    // The documents are what they were.
    let lines = project
        .terca(&["report", "--jsonl", "-"])
        .expect_status(0)
        .stdout;
    let trial: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(trial["eval"], name);
    let shown = project.terca(&["show"]).expect_status(0).stdout;
    assert!(shown.contains("\n: :add-mask::the "), "{shown}");
    // Elsewhere a name is a name.
    let shown = project
        .env("GITHUB_ACTIONS", "")
        .terca(&["show"])
        .expect_status(0)
        .stdout;
    assert!(shown.contains("\n::add-mask::the "), "{shown}");
}
