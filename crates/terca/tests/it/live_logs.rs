//! What an agent, a set-up or a test prints is in the run while it happens, with its secrets masked, and stays when Terca
//! is killed.

use crate::common::project;
use rustix::process::Signal;
use terca_testkit::{Project, Session};

const KEY: &str = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";

/// Goes on when the file is there that the test makes.
const GATE: &str = "while [ ! -e \"$GATE\" ]; do sleep 0.05; done";

/// A suite whose agent and set-up may wait for a gate.
fn gated(agent: &str, before: &str, tests: &str) -> Project {
    let project = project().executable("agent.sh", &format!("#!/bin/sh\n{agent}\n"));
    let gate = project.path("gate");
    project
        .env("THE_KEY", KEY)
        .file(
            "terca.yaml",
            format!(
                "env: {{GATE: '{gate}', KEY: '${{THE_KEY}}'}}\n\
                 environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n"
            ),
        )
        .file(
            "fib/eval.terca.yaml",
            format!("prompt: go\nallowWarnings: no-tests\nbefore: [{{command: '{before}'}}]\ntests: [{tests}]\n"),
        )
}

/// A file of the one trial, as it is at the moment.
fn now(project: &Project, name: &str) -> String {
    if !project.has_run() {
        return String::new();
    }
    let path = project.run_dir().join("fib/e.default.01").join(name);
    std::fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

fn wait_for(session: &mut Session, project: &Project, name: &str, text: &str) {
    session.wait_until(&format!("{name} has {text:?}"), || {
        now(project, name).contains(text)
    });
}

fn open_gate(project: &Project) {
    std::fs::write(project.path("gate"), "").unwrap();
}

#[test]
fn an_agents_output_is_there_while_it_works_and_after_a_kill() {
    let project = gated(
        &format!("echo working with $KEY; echo trouble >&2; printf unfinished; {GATE}"),
        "true",
        "",
    );
    let mut session = project.start(&["--format", "plain"]);
    for (name, text) in [
        ("artifacts/stdout.log", "working with ***\n"),
        ("artifacts/stderr.log", "trouble\n"),
        ("run.log", "working with ***\n"),
        ("run.log", "trouble\n"),
    ] {
        wait_for(&mut session, &project, name, text);
    }
    session.signal(Signal::KILL);
    session.finish();
    for name in ["run.log", "artifacts/stdout.log", "artifacts/stderr.log"] {
        let text = now(&project, name);
        assert!(!text.contains(&KEY[..12]), "{name}: {text}");
        assert!(!text.contains("unfinished"), "a line is shown when it ends");
    }
    assert!(now(&project, "artifacts/stdout.log").contains("working with ***"));

    // The trial that was killed begins anew, with files of its own.
    open_gate(&project);
    project.terca(&["resume"]).expect_status(0);
    assert_eq!(
        now(&project, "artifacts/stdout.log"),
        "working with ***\nunfinished"
    );
    assert_eq!(now(&project, "artifacts/stderr.log"), "trouble\n");
    let log = now(&project, "run.log");
    assert_eq!(log.matches("working with ***").count(), 1, "{log}");
    assert_eq!(log.matches("unfinished").count(), 1, "{log}");
    project.assert_nothing_left();
}

#[test]
fn a_stream_of_events_is_there_step_by_step() {
    let event = |text: &str| {
        format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#)
    };
    let project = project().executable(
        "bin/gemini",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 0.61.0 && exit\n\
             echo '{{\"type\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}}'\n\
             echo '{}'\necho '{}'\n\
             echo '{{\"type\":\"tool_use\",\"tool_name\":\"shell\",\"tool_id\":\"1\",\"parameters\":{{\"command\":\"make\"}}}}'\n\
             {GATE}\n",
            event(&format!("hello {KEY} and sk-ant-api03-")),
            event("AbCdEfGh_0123456789-ZyXwVuTsRq end"),
        ),
    );
    let path = format!("{}:{}", project.path("bin"), std::env::var("PATH").unwrap());
    let gate = project.path("gate");
    let project = project
        .env("GEMINI_API_KEY", KEY)
        .env("PATH", &path)
        .file(
            "terca.yaml",
            format!("env: {{GATE: '{gate}'}}\nenvironments: [{{name: e, agent: gemini-cli}}]\n"),
        )
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    let mut session = project.start(&["--format", "plain"]);
    wait_for(&mut session, &project, "run.log", "make");
    wait_for(&mut session, &project, "artifacts/stream.jsonl", "tool_use");
    session.signal(Signal::KILL);
    session.finish();
    for name in ["run.log", "artifacts/stream.jsonl", "transcript.jsonl"] {
        let text = now(&project, name);
        assert!(text.contains("hello"), "{name}: {text}");
        assert!(
            text.contains("***") && !text.contains(KEY),
            "{name}: {text}"
        );
    }
    // The pieces of a message are one step, in which the key is whole.
    let transcript = now(&project, "transcript.jsonl");
    assert!(transcript.contains("hello *** and *** end"), "{transcript}");
}

#[test]
fn set_up_and_tests_are_there_while_they_run() {
    let project = gated(
        "rm -f \"$GATE\"",
        &format!("echo preparing; echo with $KEY >&2; {GATE}"),
        &format!(
            "{{name: t, commandSuccess: \"echo testing $KEY; {}\"}}, {{name: s, commandScore: \"echo one; echo two >&2; echo 1\"}}",
            GATE.replace('"', "")
        ),
    );
    let mut session = project.start(&["--format", "plain"]);
    wait_for(&mut session, &project, "run.log", "preparing\nwith ***\n");
    open_gate(&project);
    wait_for(&mut session, &project, "run.log", "testing ***\n");
    open_gate(&project);
    let outcome = session.finish();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let log = now(&project, "run.log");
    assert_eq!(
        log.matches("preparing").count(),
        2,
        "the command and its output: {log}"
    );
    assert!(log.contains("one\n1\ntwo\nscore 1"), "{log}");
    assert!(!log.contains(&KEY[..12]), "{log}");
}

#[test]
fn the_log_has_the_beginning_and_the_end_of_a_flood() {
    let project = gated(
        "yes abcdefg | head -c 5000000; echo; echo the-end; yes error | head -c 3000000 >&2; echo last >&2",
        "true",
        "",
    );
    project.terca(&[]).expect_status(0);
    let log = now(&project, "run.log");
    assert_eq!(log.matches(" bytes left out …").count(), 2);
    assert!(log.contains("the-end\n") && log.contains("error\nlast\n"));
    assert!((4_000_000..4_500_000).contains(&log.len()), "{}", log.len());
    assert_eq!(now(&project, "artifacts/stdout.log").len(), 5_000_009);
}
