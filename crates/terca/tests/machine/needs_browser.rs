//! The pages in a real browser: opened, filtered, read; and whatever an agent wrote runs nothing and asks nobody.

use serde_json::json;

use crate::common::gallery::{self, EVIL};
use crate::common::project;
use crate::common::viewer;
use terca_report::html::unpacked;
use terca_testkit::{Project, browser};

/// A suite with a run in it that was made up.
fn with_run(name: &str, repetitions: u32) -> Project {
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    gallery::make(&project.path(&format!(".terca/runs/{name}")), repetitions);
    project
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_file_is_read_in_a_browser() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    let page = unpacked(&project.read("report.html"));
    assert!(
        page.contains("All files are in .terca/runs/2026-11-14-001/"),
        "and not where on this machine"
    );
    browser.drive(
        "file.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

/// Makes a report with five repetitions, so that each eval has twenty trials.
fn with_report() -> Project {
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    project
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_steps_of_a_trial() {
    let browser = browser::require();
    let project = with_report();
    browser.drive(
        "steps.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("JUDGED", "101"),
        ],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn two_trials_beside_each_other() {
    let browser = browser::require();
    let project = with_report();
    browser.drive(
        "pair.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("EVIL", "140"),
        ],
    );
}

/// Replaces the transcript of the first trial by one of about 20 MB. Returns the number of its steps.
fn write_huge_transcript(project: &Project) -> usize {
    const CALLS: usize = 1_000;
    let output = "x <b>y</b>\n".repeat(1_800);
    let mut lines = String::new();
    for id in 0..CALLS {
        let input = json!({"file_path": format!("shard-{id:04}.ts")});
        let id = id.to_string();
        let call = json!({"line": 1, "type": "toolCall", "id": id, "tool": "Read", "input": input});
        let result =
            json!({"line": 2, "type": "toolResult", "id": id, "ok": true, "output": output});
        lines += &format!("{call}\n{result}\n");
    }
    let trial = ".terca/runs/2026-11-14-001/auth-sign-in/claude.control.01";
    std::fs::write(project.path(trial).join("transcript.jsonl"), lines).unwrap();
    CALLS
}

/// Twenty megabytes: in the file outputs are cut and no step is missing; the server has more of them.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_huge_transcript_is_opened() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 1);
    let steps = write_huge_transcript(&project);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    let view = viewer::View::open(&project, &[]);
    browser.drive(
        "huge.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("URL", view.url.as_str()),
            ("STEPS", &steps.to_string()),
        ],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_overview_is_read_in_a_browser() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    browser.drive(
        "overview.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn runs_are_listed_and_compared_in_a_browser() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 1);
    for (run, repetitions) in [("2026-11-14-002", 3), ("2026-11-14-003", 5)] {
        gallery::make_record(&project.path(&format!(".terca/runs/{run}")), repetitions);
    }
    let view = viewer::View::open(&project, &[]);
    browser.drive("runs.mjs", &[("URL", view.url.as_str())]);
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_thousand_trials_are_opened() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 36);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    assert!(size_of(&project, "report.html") < 2_000_000);
    browser.drive(
        "thousand.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

fn size_of(project: &Project, file: &str) -> u64 {
    project.path(file).metadata().unwrap().len()
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_list_is_sorted_narrowed_and_moved_in() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    browser.drive(
        "list.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn words_are_found_in_everything_that_was_written() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 1);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    let view = viewer::View::open(&project, &[]);
    browser.drive(
        "search.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("URL", view.url.as_str()),
        ],
    );
}

/// Trials that left no files.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn five_thousand_trials_are_listed_like_thirty() {
    let browser = browser::require();
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    for (run, repetitions, file) in [
        ("2026-11-14-001", 1, "few.html"),
        ("2026-11-14-002", 179, "many.html"),
    ] {
        gallery::make_record(&project.path(&format!(".terca/runs/{run}")), repetitions);
        project
            .terca(&["report", run, "--html", file])
            .expect_status(0);
    }
    let size = size_of(&project, "many.html");
    assert!(size <= 2_000_000, "{size}");
    browser.drive(
        "five_thousand.mjs",
        &[
            ("FEW", project.path("few.html").as_str()),
            ("MANY", project.path("many.html").as_str()),
        ],
    );
}

/// Two trials, each of which waits until the page has shown what came before.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_run_that_goes_on_is_followed() {
    let browser = browser::require();
    let project = with_run("2020-01-01-001", 2).executable(
        "agent.sh",
        &format!("#!/bin/sh\nread name\nwhile ! [ -e \"$GATES/$name\" ]; do sleep 0.05; done\necho '{EVIL}' | tee made.html\n"),
    );
    let gates = project.path("_gates");
    let project = project.directory("_gates").file(
        "terca.yaml",
        format!(
            "name: live\nconcurrency: 2\nenv: {{GATES: {gates}}}\n\
             environments: [{{name: script, agent: {{name: command, command: ./agent.sh}}}}]\n\
             evals:\n  - {{name: first, prompt: first, tests: [{{fileExists: made.html}}]}}\n  \
             - {{name: second, prompt: second, tests: [{{fileExists: made.html}}]}}\n"
        ),
    );
    let mut run = project.start(&["--format", "plain"]);
    run.wait_until("both agents are at work", || {
        project.journal().matches("\"phase\":\"agent\"").count() == 2
    });
    let view = viewer::View::open(&project, &[]);
    let (one, two) = (gates.join("first"), gates.join("second"));
    browser.drive(
        "live.mjs",
        &[
            ("URL", view.url.as_str()),
            ("GATE_ONE", one.as_str()),
            ("GATE_TWO", two.as_str()),
        ],
    );
    run.finish().expect_status(0);
}

/// An agent whose session waits until the page has shown what came before; then the test of its work changes its mind.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn an_open_trial_is_followed_and_a_run_is_watched_after_its_end() {
    let browser = browser::require();
    let call = |number: u32| {
        format!(
            r#"echo '{{"type":"tool_use","tool_name":"run_shell_command","tool_id":"{number}","parameters":{{"command":"echo {number}"}}}}'
echo '{{"type":"tool_result","tool_id":"{number}","status":"success","output":"{number}"}}'
"#
        )
    };
    let wait = |name: &str| format!("while ! [ -e \"$GATES/{name}\" ]; do sleep 0.05; done\n");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 0.61.0; exit; fi\ncat > /dev/null\n{}{}{}{}{}{}echo '{}'\n",
        call(1),
        call(2),
        wait("more"),
        call(3),
        call(4),
        wait("end"),
        r#"{"type":"result","status":"success","stats":{"total_tokens":3,"input_tokens":2,"output_tokens":1,"cached":0,"tool_calls":4,"models":{"gemini-2.5-flash-lite":{"total_tokens":3}}}}"#,
    );
    let project = project()
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .executable("gemini", &script)
        .directory("_gates");
    let gates = project.path("_gates");
    let suite = |test: &str| {
        format!(
            "name: followed\nenv: {{GATES: {gates}}}\n\
             environments: [{{name: g, agent: {{name: gemini-cli, program: ./gemini}}}}]\n\
             evals: [{{name: task, prompt: do it, tests: [{{name: check, commandSuccess: '{test}'}}]}}]\n"
        )
    };
    let project = project.file("terca.yaml", suite("true"));
    let mut run = project.start(&["--format", "plain"]);
    run.wait_until("the agent is at work", || {
        project.journal().contains("\"phase\":\"agent\"")
    });
    let view = viewer::View::open(&project, &[]);
    let url = view.url.clone();
    let wait_for = |name: &str| {
        while !gates.join(name).exists() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    let done = |name: &str| std::fs::write(gates.join(name), "").unwrap();
    std::thread::scope(|scope| {
        let played = scope.spawn(|| {
            let variables = [("URL", url.as_str()), ("GATES", gates.as_str())];
            let played = std::panic::catch_unwind(|| browser.drive("follow.mjs", &variables));
            // A scenario that failed opens no more gates.
            for name in ["more", "end", "regrade", "stop", "start"] {
                done(name);
            }
            played
        });
        wait_for("regrade");
        run.finish().expect_status(0);
        std::fs::write(project.path("terca.yaml"), suite("false")).unwrap();
        project.terca(&["regrade"]).expect_status(1);
        done("regraded");
        wait_for("stop");
        drop(view);
        done("stopped");
        wait_for("start");
        let again = viewer::View::open(&project, &[]);
        assert_eq!(again.url, url);
        done("started");
        if let Err(failed) = played.join().unwrap() {
            std::panic::resume_unwind(failed);
        }
    });
}

/// Pictures for the documentation: `TERCA_SCREENSHOTS=docs/images cargo test -p terca --test machine pictures -- --ignored`.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn pictures() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    for (run, repetitions) in [("2026-11-14-002", 3), ("2026-11-14-003", 5)] {
        gallery::make_record(&project.path(&format!(".terca/runs/{run}")), repetitions);
    }
    let view = viewer::View::open(&project, &[]);
    let dir = std::env::var("TERCA_SCREENSHOTS")
        .unwrap_or_else(|_| project.path("pictures").into_string());
    let dir = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(dir);
    std::fs::create_dir_all(&dir).unwrap();
    browser.drive(
        "pictures.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("URL", view.url.as_str()),
            ("PICTURES", dir.as_str()),
        ],
    );
    let pictures = dir
        .read_dir_utf8()
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().ends_with(".png"));
    assert!(pictures.count() >= 40);
}

/// The parts of the script share one scope, as they do in a page. TypeScript reads the types in their comments.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_types_of_the_script_are_right() {
    let scripts =
        camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src/html/script");
    let files = scripts.read_dir_utf8().unwrap().flatten();
    let files: Vec<_> = files.map(camino::Utf8DirEntry::into_path).collect();
    assert!(files.len() > 5);
    let checked = std::process::Command::new(terca_testkit::runners::typescript())
        .args([
            "--noEmit", "--allowJs", "--checkJs", "--skipLibCheck", "--target", "es2023",
        ])
        .args(["--lib", "es2023,dom,dom.iterable"])
        .args(&files)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{said}");
}
