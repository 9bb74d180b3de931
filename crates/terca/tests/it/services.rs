//! Services: programs beside a trial, each with a port and data of its own.
//!
//! This test program itself is the service and its client, since no other is sure to be there: see [`stand_in`].

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use rustix::process::Signal;
use terca_testkit::{Project, write_program};

use crate::common::{PROGRAM, project};

/// A server that keeps one text in memory, and its client, by the variable `STAND_IN`: `serve PORT`, `set PORT TEXT`,
/// `get PORT FILE`, `quit PORT`. Without the variable it is a test that does nothing.
#[test]
fn stand_in() {
    let Ok(asked) = std::env::var("STAND_IN") else {
        return;
    };
    let words: Vec<&str> = asked.splitn(3, ' ').collect();
    let address = format!("127.0.0.1:{}", words[1]);
    if words[0] == "serve" {
        return serve(&address);
    }
    let mut stream = TcpStream::connect(address).unwrap();
    let given = words.get(2).copied().unwrap_or_default();
    writeln!(stream, "{} {given}", words[0]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    if words[0] == "get" {
        std::fs::write(given, answer).unwrap();
    }
}

fn serve(address: &str) {
    let listener = TcpListener::bind(address).unwrap();
    std::io::stderr().write_all(b"serving\n").unwrap();
    let mut kept = String::new();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut line = String::new();
        let _ = BufReader::new(&stream).read_line(&mut line);
        match line.trim_end_matches('\n').split_once(' ') {
            Some(("set", text)) => kept = text.to_owned(),
            Some(("get", _)) => stream.write_all(kept.as_bytes()).unwrap(),
            Some(("quit", _)) => std::process::exit(7),
            // A look whether somebody is here.
            _ => {}
        }
    }
}

/// A suite with this agent, these further lines and this eval, in which `kv` is the stand-in.
fn suite(agent: &str, yaml: &str, eval: &str) -> Project {
    let tests = std::env::current_exe().unwrap();
    let kv = format!(
        "#!/bin/sh\nSTAND_IN=\"$*\" exec '{}' --exact services::stand_in --nocapture -q\n",
        tests.display()
    );
    let project = project();
    // Not in the suite: workers have a copy of it elsewhere.
    let program = project.home().join("kv");
    write_program(&program, &kv);
    let program = format!("{program} ");
    let named = |text: &str| text.replace("kv ", &program);
    let project = project.agent(&named(agent));
    let environments = project.read("terca.yaml");
    project
        .file("terca.yaml", format!("{environments}{}", named(yaml)))
        .file("fib/eval.terca.yaml", named(eval))
}

/// The service that the stand-in is.
const DB: &str =
    "services: [{name: my-db, command: exec kv serve $TERCA_SERVICE_MY_DB_PORT, port: 6379}]\n";
/// The agent adds to what it finds.
const ADDS: &str = "kv get $TERCA_SERVICE_MY_DB_PORT found.txt && kv set $TERCA_SERVICE_MY_DB_PORT \"$(cat found.txt)+1\"";
const EVAL: &str = "\
prompt: go
before: [{command: 'kv set $TERCA_SERVICE_MY_DB_PORT $TERCA_REPETITION'}]
tests:
  - {name: agent, commandSuccess: 'test \"$(cat found.txt)\" = $TERCA_REPETITION'}
  - {name: data, commandSuccess: 'kv get $TERCA_SERVICE_MY_DB_PORT now.txt && test \"$(cat now.txt)\" = $TERCA_REPETITION+1'}
";

/// Fails unless the one trial is an error of the setup, and returns its message.
#[track_caller]
fn setup_error(project: &Project) -> String {
    project.terca(&[]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "setup", "{trial}");
    assert!(trial["phases"]["agent"].is_null(), "{trial}");
    trial["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn each_trial_has_a_service_of_its_own_also_for_the_tests() {
    let project = suite(ADDS, DB, EVAL);
    project.terca(&["-n", "4", "-c", "4"]).expect_status(0);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    for trial in trials {
        assert_eq!(trial["status"], "passed", "{trial}");
        let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
        let log = std::fs::read_to_string(dir.join("artifacts/service-my-db.log")).unwrap();
        assert!(log.contains("serving"), "{log}");
    }
    project.assert_nothing_left();
}

#[test]
fn one_service_of_the_suite_is_there_for_all_trials() {
    let agent = "kv get $TERCA_SERVICE_MY_DB_PORT found.txt; kv set $TERCA_SERVICE_MY_DB_PORT \"$(cat found.txt)x\"";
    let shared = DB.replace("port:", "scope: suite, port:");
    let test = "kv get $TERCA_SERVICE_MY_DB_PORT all.txt; grep -qx x\\* all.txt && echo $TERCA_REPETITION >> counted.txt";
    let project = suite(
        agent,
        &shared,
        &format!("prompt: go\ntests: [{{commandSuccess: '{test}'}}]\n"),
    );
    project
        .terca(&["-n", "3", "-c", "1", "--keep", "all"])
        .expect_status(0);
    let mut found: Vec<String> = Vec::new();
    for trial in project.results()["trials"].as_array().unwrap() {
        let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
        found.push(std::fs::read_to_string(dir.join("workspace/found.txt")).unwrap());
        assert!(dir.join("artifacts/service-my-db.log").exists());
    }
    found.sort();
    assert_eq!(found, ["", "x", "xx"]);
    project.assert_nothing_left();
}

#[test]
fn a_service_that_never_listens_is_an_error_of_the_setup() {
    let yaml = "services: [{name: db, command: 'echo waiting for a disk; exec sleep 600', port: 6379, timeoutSeconds: 0.3}]\n";
    let project = suite("true", yaml, EVAL);
    let message = setup_error(&project);
    for words in [
        "the service `db` did not listen at $TERCA_SERVICE_DB_PORT",
        "within 0.3",
        "its log ends: waiting for a disk",
    ] {
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(
        project.trial_file("artifacts/service-db.log"),
        "waiting for a disk\n"
    );
    project.assert_nothing_left();
}

#[test]
fn a_service_that_ends_is_an_error_with_its_last_words() {
    let yaml = "services: [{name: db, command: 'echo begin; echo no such disk >&2; exit 3', port: 6379}]\n";
    let project = suite("true", yaml, EVAL);
    let message = setup_error(&project);
    assert_eq!(
        message,
        "the service `db` ended before it was ready (exit status 3); its log ends: begin / no such disk"
    );
    // One that goes to the background leaves nothing there.
    let yaml = "services: [{name: db, command: 'sleep 600 &', port: 6379, ready: 'false'}]\n";
    let project = suite("true", yaml, EVAL);
    let message = setup_error(&project);
    assert!(
        message.contains("a service stays in the foreground"),
        "{message}"
    );
    assert!(message.contains("it printed nothing"), "{message}");
    project.assert_nothing_left();
}

#[test]
fn a_service_that_ends_while_the_agent_works_is_noted() {
    let project = suite(
        "kv quit $TERCA_SERVICE_MY_DB_PORT",
        DB,
        "prompt: go\ntests: [{commandSuccess: '! kv set $TERCA_SERVICE_MY_DB_PORT 1'}]\n",
    );
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    let notes = trial["notes"].to_string();
    let words = "the service `my-db` ended during the trial (exit status 7); its log is artifacts/service-my-db.log";
    assert!(notes.contains(words), "{notes}");
}

#[test]
fn a_command_tells_when_a_service_is_ready() {
    let yaml = "services: [{name: my-db, command: 'sleep 0.3; touch here; exec kv serve $TERCA_SERVICE_MY_DB_PORT', \
                ready: 'test -e here && kv set $TERCA_SERVICE_MY_DB_PORT ready', port: 6379}]\n";
    let agent = "kv get $TERCA_SERVICE_MY_DB_PORT found.txt";
    let project = suite(
        agent,
        yaml,
        "prompt: go\ntests: [{commandSuccess: 'test \"$(cat found.txt)\" = ready'}]\n",
    );
    project.terca(&[]).expect_status(0);
    // One that never says so.
    let yaml = "services: [{name: db, command: sleep 600, ready: 'echo not yet; false', timeoutSeconds: 0.5, port: 6379}]\n";
    let project = suite("true", yaml, EVAL);
    let message = setup_error(&project);
    assert!(
        message.contains("the service `db` was not ready within 0.5"),
        "{message}"
    );
    assert!(message.contains("`ready` says: not yet"), "{message}");
}

#[test]
fn an_eval_has_a_service_in_the_place_of_the_suites() {
    let service = |name: &str, value: &str| {
        let port = format!("$TERCA_SERVICE_{}_PORT", name.to_uppercase());
        format!(
            "{{name: {name}, command: exec kv serve {port}, port: {}, env: {{MINE: {value}}}, ready: kv set {port} $MINE}}",
            6000 + name.len()
        )
    };
    let yaml = format!(
        "services: [{}, {}]\n",
        service("db", "suite"),
        service("other", "suite")
    );
    let agent = "kv get $TERCA_SERVICE_DB_PORT db.txt; kv get $TERCA_SERVICE_OTHER_PORT other.txt";
    let eval = format!(
        "prompt: go\nservices: [{}]\ntests: [{{commandSuccess: 'test \"$(cat db.txt other.txt)\" = evalsuite'}}]\n",
        service("db", "eval")
    );
    suite(agent, &yaml, &eval).terca(&[]).expect_status(0);
    let agent = "test -z \"$TERCA_SERVICE_DB_PORT$TERCA_SERVICE_OTHER_PORT\" && touch none";
    let eval = "prompt: go\nservices: null\ntests: [{fileExists: none}]\n";
    suite(agent, &yaml, eval).terca(&[]).expect_status(0);
}

#[test]
fn services_end_with_terca_however_it_ends() {
    for signal in [Signal::INT, Signal::KILL] {
        let project = suite("touch started; exec sleep 600", DB, EVAL);
        let mut session = project.start(&["--keep", "all"]);
        session.wait_until("the agent works", || {
            let started = "fib/default.default.01/workspace/started";
            project.has_run() && project.run_dir().join(started).exists()
        });
        session.signal(signal);
        session.finish();
        project.wait_until_nothing_runs();
    }
}

#[test]
fn tests_that_are_run_again_have_new_services() {
    let test = "kv set $TERCA_SERVICE_MY_DB_PORT 1";
    let project = suite(
        "true",
        DB,
        &format!("prompt: go\ntests: [{{commandSuccess: '{test}'}}]\n"),
    );
    project.terca(&[]).expect_status(0);
    project.terca(&["regrade"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "passed", "{trial}");
    let notes = trial["notes"].to_string();
    assert!(notes.contains("graded again with new services"), "{notes}");
    assert!(project.trial_path("gradings/02.service-my-db.log").exists());
}

#[test]
fn a_server_of_before_is_told_of_services() {
    let project = suite(
        "true",
        "",
        "prompt: go\nbefore: [{command: 'sleep 0 &'}]\ntests: [{commandSuccess: 'true'}]\n",
    );
    let outcome = project.terca(&["check"]).expect_status(0);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(said.contains("warning[left-running]"), "{said}");
    assert!(said.contains("`services`"), "{said}");
    let project = suite(
        "true",
        "",
        "prompt: go\nbefore: [{command: 'echo bind: Address already in use; false'}]\ntests: [{commandSuccess: 'true'}]\n",
    );
    let message = setup_error(&project);
    assert!(
        message.contains("a program named in `services` has a port of its own"),
        "{message}"
    );
}

#[test]
fn another_service_is_another_setup() {
    let eval = "prompt: go\ntests: [{commandSuccess: 'true'}]\n";
    let fingerprint = |env: &str| {
        let yaml = DB.replace("port:", &format!("env: {{A: {env}}}, port:"));
        let project = suite("true", &yaml, eval);
        project.terca(&[]).expect_status(0);
        let text = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
        let run: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(run["cases"][0]["services"][0]["env"][0], "A", "{run}");
        run["fingerprints"][0]["fingerprint"]["set-up"].clone()
    };
    assert_ne!(fingerprint("one"), fingerprint("two"));
}

#[test]
fn workers_start_services_too_and_send_their_logs() {
    let yaml = format!("{DB}workers: {{here: {{start: env, slots: 2, terca: '{PROGRAM}'}}}}\n");
    let project = suite(ADDS, &yaml, EVAL);
    project
        .terca(&["run", "-n", "2", "--on", "here"])
        .expect_status(0);
    for trial in project.results()["trials"].as_array().unwrap() {
        let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
        let log = std::fs::read_to_string(dir.join("artifacts/service-my-db.log")).unwrap();
        assert!(log.contains("serving"), "{log}");
    }
    project.wait_until_nothing_runs();
}

/// A program in the place of Docker's, which runs the stand-in where a container would listen.
const ENGINE: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/asked"
[ "$1" != rm ] || kill $(cat "$HOME/of-$4")
[ "$1" = run ] || exit 0
echo $$ > "$HOME/of-$4"
while [ "$1" != --publish ]; do shift; done
port=${2#127.0.0.1:}
exec kv serve ${port%:6379}
"#;

#[test]
fn an_image_is_run_with_its_port_on_this_machine_and_removed() {
    let yaml = "services: [{name: my-db, image: 'redis:7', port: 6379, env: {PASSWORD: p}, \
                ready: kv set $TERCA_SERVICE_MY_DB_PORT ready}]\n";
    let project = suite(ADDS, yaml, EVAL);
    let kv = project.home().join("kv");
    let project = project.executable("bin/docker", &ENGINE.replace("kv ", &format!("{kv} ")));
    let path = format!("{}:{}", project.path("bin"), std::env::var("PATH").unwrap());
    let project = project.env("PATH", &path);
    project.terca(&["-n", "2"]).expect_status(0);
    let asked = std::fs::read_to_string(project.home().join("asked")).unwrap();
    let (runs, others): (Vec<&str>, Vec<&str>) =
        asked.lines().partition(|line| line.starts_with("run "));
    assert_eq!(runs.len(), 2, "{asked}");
    for run in runs {
        let words: Vec<&str> = run.split(' ').collect();
        assert_eq!(words[..3], ["run", "--rm", "--name"], "{run}");
        assert!(run.ends_with(" --env PASSWORD=p redis:7"), "{run}");
        assert!(run.contains(" --pull never "), "{run}");
        let removed = format!("rm --force --volumes {}", words[3]);
        assert!(others.contains(&removed.as_str()), "{asked}");
    }
    project.wait_until_nothing_runs();
    // Without an engine.
    let project = project.env("PATH", "/nowhere");
    project.terca(&[]).expect_status(3);
    let message = project.only_trial()["error"]["message"].to_string();
    assert!(
        message.contains("the service `my-db` needs Docker or Podman for its `image`"),
        "{message}"
    );
}
