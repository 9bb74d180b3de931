//! Workers that are started by stand-ins for the programs of a cluster: `kubectl`, and an `srun` that hangs.

use camino::Utf8PathBuf;
use rustix::process::Signal;
use terca_testkit::Project;

use crate::common::project;

/// Starts the words after `--` in namespaces of their own, as in a pod, where the machine lets it; else as they are.
const KUBECTL: &str = r#"#!/bin/sh
echo "$*" >> "${0%/*}/calls"
while [ "$1" != -- ]; do shift; done
shift
pod='unshare --user --map-root-user --pid --fork --kill-child --mount-proc'
if $pod true 2>/dev/null; then exec $pod "$@"; else exec "$@"; fi
"#;

/// A suite with one pool, and a program in a directory that is first in `PATH`.
fn with_program(name: &str, script: &str, pool: &str) -> (Project, Utf8PathBuf) {
    let terca = env!("CARGO_BIN_EXE_terca");
    let suite = format!(
        "repetitions: 6\nworkers: {{pool: {{{pool}, terca: '{terca}'}}}}\n\
         environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
         evals: [{{name: a, prompt: do it, tests: [{{fileExists: done}}]}}]\n"
    );
    let project = project()
        .executable("agent.sh", "#!/bin/sh\necho > done\n")
        .file("terca.yaml", suite)
        .executable(&format!("bin/{name}"), script);
    let bin = project.path("bin");
    let path = std::env::var("PATH").unwrap();
    (project.env("PATH", &format!("{bin}:{path}")), bin)
}

const RUN: [&str; 7] = [
    "run", "--sandbox", "none", "--format", "plain", "--on", "pool",
];

#[test]
fn a_pod_is_started_with_exactly_these_words() {
    let pool = "preset: kubernetes, image: 'registry.example/evals:1', options: [--namespace=evals], slots: 2";
    let (project, bin) = with_program("kubectl", KUBECTL, pool);
    project.terca(&RUN).expect_status(0);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 6);
    assert!(trials.iter().all(|trial| trial["status"] == "passed"));
    let calls = std::fs::read_to_string(bin.join("calls")).unwrap();
    let mut names: Vec<&str> = Vec::new();
    for call in calls.lines() {
        let name = call.split(' ').nth(1).unwrap();
        let unique = name.strip_prefix("terca-").unwrap();
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        assert!(!unique.is_empty() && unique.bytes().all(is_hex), "{call}");
        assert_eq!(
            call.replace(name, "NAME"),
            format!(
                "run NAME -i --rm --quiet --restart=Never --image=registry.example/evals:1 --namespace=evals --command -- {} worker",
                env!("CARGO_BIN_EXE_terca")
            )
        );
        names.push(name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names.len(),
        calls.lines().count(),
        "each pod has its own name"
    );
    project.wait_until_nothing_runs();
}

#[test]
fn a_run_whose_workers_never_come_can_be_interrupted() {
    for signal in [Signal::INT, Signal::KILL] {
        let hung = "#!/bin/sh\necho >> \"${0%/*}/calls\"\nexec sleep infinity\n";
        let (project, bin) = with_program("srun", hung, "preset: slurm, slots: 2");
        let mut session = project.start(&RUN);
        session.wait_until("both are asked for", || {
            let calls = std::fs::read_to_string(bin.join("calls")).unwrap_or_default();
            calls.lines().count() == 2
        });
        session.signal(signal);
        let outcome = session.finish();
        if signal == Signal::INT {
            assert_eq!(outcome.status, 130, "{}", outcome.stderr);
        }
        project.wait_until_nothing_runs();
    }
}
