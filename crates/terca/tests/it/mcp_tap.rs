//! The tap between agents and MCP servers: sees everything, and changes nothing.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::common::mcp::{SERVER, project_with_mcp_server, recorded_events as events};

fn notes(trial: &Value) -> String {
    trial["notes"].to_string()
}

/// Returns the tap's figures of the server.
fn tap(trial: &Value) -> &Value {
    &trial["delivery"]["mcpServers"]["docs"]["tap"]
}

#[test]
fn every_call_is_recorded_for_an_agent_that_reports_nothing() {
    let script = "start; hello; ask 2 tools/call search; answer; ask 3 tools/call fail; answer\n\
                  exec 3>&-; wait $server; echo \"ended with $?\" >ended.txt";
    let project = project_with_mcp_server(script, "");
    let outcome = project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial.get("notes"), None, "{trial:#}");
    let server = &trial["delivery"]["mcpServers"]["docs"];
    assert_eq!(
        (&server["status"], &server["calls"], &server["failedCalls"]),
        (&json!("connected"), &json!(2), &json!(1)),
        "{server:#}"
    );
    let figures = tap(&trial);
    assert_eq!(
        (&figures["starts"], &figures["deaths"]),
        (&json!(1), &json!([]))
    );
    assert_eq!(figures["tools"]["page"]["calls"], 0);
    assert_eq!(figures["tools"]["search"]["calls"], 1);
    assert_eq!(figures["tools"]["search"]["estimatedTokens"], 12);
    assert_eq!(figures["tools"]["fail"]["estimatedTokens"], Value::Null);

    // The server is where it would be, with its own standard error.
    assert_eq!(project.trial_file("workspace/ended.txt"), "ended with 0\n");
    let errors = project.trial_file("workspace/errors.txt");
    assert!(errors.contains("/workspace with high"), "{errors}");
    let answers = project.trial_file("workspace/answers.txt");
    assert_eq!(answers.lines().count(), 4, "{answers}");
    assert!(
        answers.contains("a-token-that-is-secret"),
        "nothing is changed on its way"
    );

    let events = events(&project);
    let kinds: Vec<&Value> = events.iter().map(|event| &event["event"]).collect();
    assert_eq!(
        kinds,
        ["started", "initialized", "tools", "call", "call", "ended"]
    );
    assert_eq!(events[1]["server"], "docs 1");
    assert_eq!(
        events[3]["arguments"]["word"], "bird ***",
        "{:#}",
        events[3]
    );
    assert!(events[3]["result"].to_string().contains("FOUND-IT"));
    assert_eq!(events[4]["end"], "failed");
    assert_eq!(
        (&events[5]["exit"], &events[5]["byItself"]),
        (&json!({"code": 0}), &json!(false))
    );
    let record = project.trial_file("artifacts/mcp/docs.jsonl");
    assert!(!record.contains("a-token-that-is-secret"), "{record}");

    // The agent shows no calls, so the transcript has those of the tap.
    let transcript = project.trial_file("transcript.jsonl");
    assert!(
        transcript.contains(r#""serverTool":"search""#),
        "{transcript}"
    );
    assert!(transcript.contains("THE-TOOL-REFUSED"), "{transcript}");
    assert!(
        !transcript.contains("a-token-that-is-secret"),
        "{transcript}"
    );

    let sentence = "MCP server `docs`: `fail`: 1 call in 1 of 1 trial, 1 error, median";
    assert!(
        outcome.stdout.replace("\n  ", " ").contains(sentence),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("never called"),
        "{}",
        outcome.stdout
    );
    let markdown = project.terca(&["report", "--markdown", "-"]);
    assert!(
        markdown.stdout.contains("<code>page</code>: never called"),
        "{}",
        markdown.stdout
    );
    let summary = &project.results()["summary"]["mcpServers"]["docs"];
    assert_eq!(summary["tools"]["search"]["trials"], 1, "{summary:#}");
    project.wait_until_nothing_runs();
}

#[test]
fn the_end_of_a_server_is_seen_by_the_agent_and_in_the_results() {
    let script = "start; hello; ask 2 tools/call die; answer; wait $server; echo \"ended with $?\" >ended.txt";
    let project = project_with_mcp_server(script, "");
    project.terca(&["run"]).expect_status(0);
    assert_eq!(project.trial_file("workspace/ended.txt"), "ended with 4\n");
    let trial = project.only_trial();
    assert_eq!(tap(&trial)["deaths"], json!(["exit status 4"]));
    assert_eq!(tap(&trial)["tools"]["die"]["errors"], 1);
    assert!(
        notes(&trial).contains("the MCP server `docs` crashed (exit status 4)"),
        "{trial:#}"
    );
    let call = &events(&project)[3];
    assert_eq!(
        (&call["end"], &call["result"]),
        (&json!("serverEnded"), &Value::Null)
    );
}

/// Goose and Codex end a server as soon as its output ends: it has died all the same.
#[test]
fn a_server_that_dies_before_its_agent_ends_it_has_died() {
    let script = "start; hello; ask 2 tools/call die; answer; kill -TERM $server; wait $server";
    let project = project_with_mcp_server(script, "");
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(tap(&trial)["deaths"], json!(["exit status 4"]), "{trial:#}");
    assert_eq!(tap(&trial)["tools"]["die"]["errors"], 1);
    project.wait_until_nothing_runs();
}

/// An agent that ends everything below it, one by one, has ended the server: it did not die.
#[test]
fn a_server_that_the_agent_ends_past_the_tap_has_not_died() {
    let script = "start; hello\n\
                  for process in /proc/[0-9]*; do\n\
                    read -r id name state parent rest 2>/dev/null <$process/stat || continue\n\
                    [ \"$parent\" = $server ] && kill -TERM $id\n\
                  done\n\
                  kill -TERM $server; wait $server; echo \"ended with $?\" >ended.txt";
    let polite = SERVER.replacen('\n', "\ntrap 'exit 0' TERM\n", 1);
    for (server, end) in [(SERVER, 143), (&polite, 0)] {
        let project = project_with_mcp_server(script, "").executable("docs-server", server);
        project.terca(&["run"]).expect_status(0);
        let ended = project.trial_file("workspace/ended.txt");
        assert_eq!(ended, format!("ended with {end}\n"));
        let trial = project.only_trial();
        assert_eq!(tap(&trial)["deaths"], json!([]), "{trial:#}");
        project.wait_until_nothing_runs();
    }
}

#[test]
fn a_server_is_killed_with_its_tap_and_the_record_is_there_up_to_then() {
    // The agent's own limit ends it in the middle of a call.
    let script =
        "start; hello; ask 2 tools/call search; answer; ask 3 tools/call hang; touch done; answer";
    let project = project_with_mcp_server(script, "timeoutSeconds: 3\n");
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["timedOut"], true);
    let tools = &tap(&trial)["tools"];
    assert_eq!(
        (&tools["search"]["calls"], &tools["search"]["unanswered"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(
        (&tools["hang"]["calls"], &tools["hang"]["unanswered"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(trial["delivery"]["mcpServers"]["docs"]["failedCalls"], 0);
    project.wait_until_nothing_runs();

    // A tap that is shot takes its server along.
    let script = "start; hello; kill -9 $server; wait $server; echo \"ended with $?\" >ended.txt\n\
                  while read -r line <&4; do :; done";
    let project = project_with_mcp_server(script, "");
    project.terca(&["run"]).expect_status(0);
    assert_eq!(
        project.trial_file("workspace/ended.txt"),
        "ended with 137\n"
    );
    assert_eq!(tap(&project.only_trial())["connected"], 1);
}

#[test]
fn a_server_that_is_never_started_is_said_to_be_so() {
    let project = project_with_mcp_server("", "mcpPreflight: false\n");
    let outcome = project.terca(&["run"]).expect_status(0);
    assert_eq!(tap(&project.only_trial())["starts"], 0);
    assert!(
        outcome.stdout.contains("started in 0 of 1 trial"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn nonsense_in_the_record_does_no_harm() {
    let script = "set -- $args\n\
        echo nonsense >$2/0; ln -s /dev/zero $2/1; mkfifo $2/2; head -c 1000000 /dev/urandom >$2/9999\n\
        start; hello; exec 3>&-; wait $server";
    let project = project_with_mcp_server(script, "");
    project.terca(&["run"]).expect_status(0);
    assert_eq!(tap(&project.only_trial())["starts"], 1);
}

#[test]
fn a_flood_passes_through_and_is_not_kept() {
    let script = "start; ask 0 initialize; answer; head -c 104857600 <&4 | wc -c >count.txt; exec 3>&-; wait $server";
    let project = project_with_mcp_server(script, "mcpPreflight: false\n").executable(
        "docs-server",
        "#!/bin/sh\nread -r line\necho '{\"id\":0,\"result\":{}}'\nhead -c 104857600 /dev/zero | tr '\\0' x\ncat >/dev/null\n",
    );
    project.terca(&["run"]).expect_status(0);
    assert_eq!(
        project.trial_file("workspace/count.txt").trim(),
        "104857600"
    );
    let event = &events(&project)[2];
    assert_eq!(
        (&event["event"], &event["bytes"]),
        (&json!("notProtocol"), &json!(104_857_600))
    );
    assert!(project.trial_file("artifacts/mcp/docs.jsonl").len() < 4000);
}

/// Runs a shell command, behind a tap that nobody listens to or by itself.
fn run(command: &str, input: &[u8], is_tapped: bool) -> Output {
    let mut process = if is_tapped {
        let mut tap = Command::new(env!("CARGO_BIN_EXE_terca"));
        tap.args(["__mcp-tap", "/nonexistent/records", "docs", "0", "sh"]);
        tap
    } else {
        Command::new("sh")
    };
    let mut child = process
        .args(["-c", command, "a word with 'quotes' and *"])
        .env("LEVEL", "high")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A server that does not read is no error of the test.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn a_tap_cannot_be_told_from_its_server() {
    let garbage: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    for (command, input) in [
        ("cat", &garbage[..]),
        ("cat; echo trouble >&2; exit 7", b"no end"),
        ("head -c 10; exit 3", &garbage),
        ("exec <&-; echo deaf; exit 0", &garbage),
        ("pwd; echo $LEVEL; echo \"$0\"; ulimit -n; umask", b""),
        ("echo last words; kill -9 $$", b""),
        ("echo last words; kill -15 $$", b""),
        ("kill -11 $$", b""),
        ("sleep 60 & echo started; exit 5", b""),
        ("echo words; exec >&-; cat >&2", b"after its output"),
        ("exec nonsense-that-is-not-there", b""),
    ] {
        let [tapped, bare] = [true, false].map(|is_tapped| {
            // Without this, a process that is left behind would keep the pipes of the test open.
            let command = command.replace("sleep 60 &", "sleep 60 2>/dev/null >/dev/null &");
            run(&command, input, is_tapped)
        });
        assert_eq!(tapped.stdout, bare.stdout, "{command}");
        assert_eq!(
            String::from_utf8_lossy(&tapped.stderr),
            String::from_utf8_lossy(&bare.stderr),
            "{command}"
        );
        assert_eq!(
            (tapped.status.code(), tapped.status.signal()),
            (bare.status.code(), bare.status.signal()),
            "{command}"
        );
    }
}

#[test]
fn signals_reach_the_server() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("USR1", 10)] {
        let script = format!(
            "\"$0\" __mcp-tap /nonexistent docs 0 sh -c 'trap \"echo got {signal}; exit 9\" {signal}; echo ready; while :; do sleep 0.01; done' >out &\n\
             until grep -q ready out 2>/dev/null; do :; done; kill -{number} $!; wait $!; echo \"status $?\"; cat out"
        );
        let dir = tempfile::tempdir().unwrap();
        let output = Command::new("bash")
            .args(["-mc", &script, env!("CARGO_BIN_EXE_terca")])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            text,
            format!("status 9\nready\ngot {signal}\n"),
            "{output:?}"
        );
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_terca"))
        .args(["__mcp-tap", "/nonexistent", "docs", "0", "no-such-server"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("`no-such-server` could not be started"),
        "{errors}"
    );
}

/// A call of a hidden tool asks for one that there is not, and the server refuses it in its own words.
#[test]
fn hidden_tools_are_not_offered_and_not_called() {
    let strict = SERVER.replace(
        "    *'\"tools/call\"'*)",
        "    *'\"tool-not-offered\"'*) result='\"error\":{\"code\":-32602,\"message\":\"UNKNOWN-TOOL\"}';;\n    *'\"tools/call\"'*)",
    );
    let script = "start; hello; ask 2 tools/call search; answer; ask 3 tools/call page; answer\n\
                  exec 3>&-; wait $server";
    let hiding =
        "experiments: [{name: all, baseline: true}, {name: few, hideTools: {docs: search}}]\n";
    let project = project_with_mcp_server(script, hiding).executable("docs-server", &strict);
    project.terca(&["run", "-x", "few"]).expect_status(0);
    let answers = project.trial_file("workspace/answers.txt");
    let answers: Vec<&str> = answers.lines().collect();
    let list: Value = serde_json::from_str(answers[1]).unwrap();
    assert_eq!(list["result"]["tools"], json!([{"name": "page"}]));
    assert!(answers[2].contains("UNKNOWN-TOOL"), "{answers:?}");
    assert!(answers[3].contains("FOUND-IT"), "{answers:?}");
    // The record has what the agent was offered and what it asked for.
    let trial = project.only_trial();
    let tools = &tap(&trial)["tools"];
    assert_eq!(
        (&tools["search"]["calls"], &tools["search"]["errors"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(tools["search"]["estimatedTokens"], Value::Null);
    assert!(tools["page"]["estimatedTokens"].is_u64(), "{tools:#}");
    let run = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    assert!(run.contains("\"hideTools\""), "{run}");

    // Without it, all of them are there.
    project.terca(&["run", "-x", "all"]).expect_status(0);
    assert!(
        project
            .trial_file("workspace/answers.txt")
            .contains("\"name\":\"search\"")
    );
    project.wait_until_nothing_runs();
}

#[test]
fn tools_and_servers_that_there_are_not_cannot_be_hidden() {
    let project = project_with_mcp_server(
        "start; hello",
        "experiments: [{name: few, hideTools: {docs: [page, serach]}}]\n",
    );
    project.terca(&["run"]).expect_status(3);
    let error = project.only_trial()["error"].clone();
    assert_eq!(
        (&error["kind"], &error["message"]),
        (
            &json!("mcp"),
            &json!(
                "`hideTools`: the MCP server `docs` has no tool `serach`; it offers `search` and `page`"
            )
        )
    );
    let project = project_with_mcp_server(
        "start",
        "experiments: [{name: few, hideTools: {docs: [page, search]}}]\n",
    );
    project.terca(&["run"]).expect_status(3);
    let message = project.only_trial()["error"]["message"].to_string();
    assert!(
        message.contains("hides every tool of the MCP server `docs`"),
        "{message}"
    );
    let project = project_with_mcp_server(
        "start",
        "experiments: [{name: few, hideTools: {dosc: page}}]\n",
    );
    let outcome = project.terca(&["run"]).expect_status(2);
    for said in [
        "there is no MCP server `dosc`", "the servers of `mine.few` are `docs`", "terca.yaml:1:",
    ] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
}
