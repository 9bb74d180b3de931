//! Real databases as services: each of several trials at once has its own, in every sandbox.

use terca_testkit::{Outcome, Project};

use crate::common::project;

const SANDBOXES: [&str; 3] = ["none", "bwrap", "landlock"];

/// Runs four trials at once, as somebody whom Postgres starts for.
fn run(project: &Project, sandbox: &str) {
    let args = ["run", "-n", "4", "-c", "4", "--sandbox", sandbox];
    let mut command = project.command_without_privileges(&args);
    let outcome: Outcome = command.output().unwrap().into();
    outcome.expect_status(0);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4, "{sandbox}");
    assert!(
        trials.iter().all(|trial| trial["status"] == "passed"),
        "{sandbox}: {results}"
    );
    project.assert_nothing_left();
}

/// Each trial adds one to a number of its own, which the test looks up.
fn suite(yaml: &str, set: &str, add: &str, get: &str) -> Project {
    project()
        .agent(&format!("echo \"$TERCA_SERVICE_DB_PORT\" > port.txt\n{add}"))
        .file("fib/eval.terca.yaml", format!(
            "prompt: go\nbefore:\n  - command: |\n      {set}\n\
             tests:\n  - name: data\n    commandSuccess: |\n      test \"$({get})\" = $((TERCA_REPETITION * 10 + 1))\n"
        ))
        .file(
            "terca.yaml",
            format!("environments: [{{name: default, agent: {{name: command, command: ./agent.sh}}}}]\n{yaml}"),
        )
}

fn redis() -> Project {
    let client = "redis-cli -h $TERCA_SERVICE_DB_HOST -p $TERCA_SERVICE_DB_PORT";
    suite(
        "services:\n  - name: db\n    port: 6379\n    command: redis-server --bind 127.0.0.1 --port $TERCA_SERVICE_DB_PORT\n",
        &format!("{client} set answer $((TERCA_REPETITION * 10))"),
        &format!("{client} incr answer"),
        &format!("{client} get answer"),
    )
}

#[test]
#[ignore = "needs services"]
fn each_trial_has_a_redis_of_its_own() {
    for sandbox in SANDBOXES {
        let project = redis();
        run(&project, sandbox);
        // A network of its own has the port that the suite names, in all trials.
        let results = project.results();
        for trial in results["trials"].as_array().unwrap() {
            let folder = project.run_dir().join(trial["dir"].as_str().unwrap());
            let port = project.workspace_of(&folder).join("port.txt");
            let port = std::fs::read_to_string(port).unwrap();
            assert_eq!(port == "6379\n", sandbox == "bwrap", "{sandbox}: {port}");
        }
    }
}

#[test]
#[ignore = "needs services"]
fn an_agent_without_a_network_reaches_its_service() {
    for sandbox in ["bwrap", "landlock"] {
        let project = redis();
        let yaml = project.read("terca.yaml");
        let project = project.file("terca.yaml", format!("{yaml}network: off\n"));
        run(&project, sandbox);
    }
}

#[test]
#[ignore = "needs services"]
fn each_trial_has_a_postgres_of_its_own() {
    let client = "psql -qAt -h $TERCA_SERVICE_DB_HOST -p $TERCA_SERVICE_DB_PORT -U postgres -c";
    for sandbox in SANDBOXES {
        let project = suite(
            r#"services:
  - name: db
    port: 5432
    command: |
      PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
      initdb --auth=trust --username=postgres --no-sync data
      exec postgres -D data -h 127.0.0.1 -p $TERCA_SERVICE_DB_PORT -k "$TMPDIR"
    ready: pg_isready -h 127.0.0.1 -p $TERCA_SERVICE_DB_PORT
"#,
            &format!("{client} \"create table answer as select $((TERCA_REPETITION * 10)) as n\""),
            &format!("{client} 'update answer set n = n + 1'"),
            &format!("{client} 'select n from answer'"),
        );
        run(&project, sandbox);
    }
}

#[test]
#[ignore = "needs services"]
fn a_redis_that_cannot_start_says_why() {
    let project = redis();
    let yaml = project.read("terca.yaml");
    let wrong = yaml.replace("--bind 127.0.0.1", "--bind 203.0.113.1");
    let project = project.file("terca.yaml", wrong);
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(3);
    let message = project.only_trial()["error"]["message"].to_string();
    assert!(
        message.contains("the service `db` ended before it was ready (exit status 1)"),
        "{message}"
    );
    assert!(
        message.contains("Could not create server TCP listening socket"),
        "{message}"
    );
}
