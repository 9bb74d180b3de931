//! Workers whose machines contain agents in different ways.

use crate::common::project;

/// Starts a worker whose machine has a sandbox of its own. The second one waits for the first.
const ON: &str = "#!/bin/sh\n\
    host=$1; shift\n\
    case $host in\n\
    open) export TERCA_SANDBOX=none;;\n\
    closed) while [ ! -e notes/started ]; do sleep 0.05; done; export TERCA_SANDBOX=bwrap; touch notes/closed;;\n\
    esac\n\
    exec \"$@\"\n";

#[test]
#[ignore = "needs bwrap"]
fn all_workers_of_a_run_contain_agents_in_the_same_way() {
    let agent = "#!/bin/sh\ntouch $NOTES/started\n\
                 while [ -e $NOTES/wait ]; do sleep 0.05; done\ntouch done\n";
    let project = project().executable("agent.sh", agent).executable("on", ON);
    let (notes, terca) = (project.path("notes"), env!("CARGO_BIN_EXE_terca"));
    let project = project.file("notes/wait", "").file(
        "terca.yaml",
        format!(
            "env: {{NOTES: '{notes}'}}\nrepetitions: 3\n\
             environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
             workers: {{here: {{start: './on {{host}}', hosts: [open, closed], terca: '{terca}'}}}}\n\
             evals: [{{name: a, prompt: do a, tests: [{{fileExists: done}}]}}]\n"
        ),
    );
    let mut session = project.start(&["run", "--on", "here", "--format", "plain"]);
    session.wait_until("the other was started and has ended", || {
        let processes = project.processes();
        let mut workers = processes.iter().map(|process| &process.command);
        project.path("notes/closed").exists()
            && workers
                .by_ref()
                .filter(|line| line.contains(" worker") || line.contains("\0worker"))
                .count()
                == 1
    });
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    let outcome = session.finish().expect_status(0);
    for words in [
        "warning: workers on here/closed were given up",
        "the sandbox of agents would be bubblewrap there, and is nothing elsewhere in this run",
        "--sandbox",
    ] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 3);
    assert!(trials.iter().all(|trial| trial["containedBy"] == "none"));
}
