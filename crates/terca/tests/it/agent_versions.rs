//! Agents of a version that the suite asks for, which Terca installs. The package managers here are scripts.

use crate::common::{PROGRAM, project};
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_testkit::{Outcome, Project, Session, write_program};

/// npm, as far as Terca uses it. It notes what it is asked for, waits while a file `wait` is there, and breaks off where a file
/// `broken` is. The program that it installs says the version that was asked for, or the text of a file `lie`.
const NPM: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$@" >>"$here/asked"
case $1 in
view) cat "$here/latest" && exit ;;
esac
while [ -e "$here/wait" ]; do sleep 0.05; done
place=$4 version=${5##*@}
mkdir "$place/bin"
if [ "$version" = 9.9.9 ]; then echo "npm error notarget No matching version found for $5." >&2; exit 1; fi
if [ "$version" = 8.8.8 ]; then echo "npm error notarget No matching version found for other@1.0.0." >&2; exit 1; fi
[ ! -e "$here/lie" ] || version=$(cat "$here/lie")
cat >"$place/bin/gemini" <<END
#!/bin/sh
if [ "\$1" = --version ]; then echo $version; exit; fi
[ ! -e "$here/down" ] || exit 1
cat >/dev/null
command -v gemini >which.txt
echo '{"type":"result","status":"success","stats":{"total_tokens":3,"input_tokens":2,"output_tokens":1,"cached":0,"tool_calls":0}}'
END
chmod +x "$place/bin/gemini"
[ ! -e "$here/broken" ] || { echo "npm error the registry is down" >&2; exit 1; }
"#;

const EVALS: &str =
    "evals:\n  - name: task\n    prompt: do it\n    tests: [{fileExists: which.txt}]\n";

/// A suite whose environment has this agent, on a machine with that npm and with a Gemini CLI of its user.
fn suite(agent: &str, more: &str) -> Project {
    let project = project()
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .executable("bin/npm", NPM)
        .executable("bin/gemini", "#!/bin/sh\necho 1.1.1\n")
        .file(
            "terca.yaml",
            format!("environments:\n  - name: g\n    agent: {agent}\n{more}{EVALS}"),
        );
    let path = format!("{}:/usr/bin:/bin", project.path("bin"));
    project.env("PATH", &path)
}

fn run(project: &Project) -> Outcome {
    project.terca(&["run", "--format", "plain"])
}

/// The lines that npm was asked.
fn asked(project: &Project, word: &str) -> usize {
    let asked = std::fs::read_to_string(project.path("bin/asked")).unwrap_or_default();
    asked.lines().filter(|line| line.starts_with(word)).count()
}

/// The experiments of the latest run and the versions of their agents.
fn versions(project: &Project) -> Vec<(String, String)> {
    let results = project.results();
    let trials = results["trials"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut versions: Vec<_> = trials
        .map(|trial| (text(&trial["experiment"]), text(&trial["agentVersion"])))
        .collect();
    versions.sort();
    versions
}

/// The entries of the store.
fn kept(project: &Project) -> Vec<String> {
    let Ok(entries) = project.path(".terca/cache/agents").read_dir_utf8() else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}

#[test]
fn two_versions_are_two_experiments_of_one_suite() {
    let project = suite(
        "{name: gemini-cli, version: 0.50.0}",
        "experiments:\n  - {name: old, baseline: true}\n  - {name: new, agent: {name: gemini-cli, version: 0.61.0}}\n",
    );
    let outcome = run(&project).expect_status(0);
    for line in [
        "installing gemini-cli 0.50.0 …\n", "installing gemini-cli 0.61.0 …\n",
    ] {
        assert_eq!(
            outcome.stderr.matches(line).count(),
            1,
            "{}",
            outcome.stderr
        );
    }
    let both = [("new", "0.61.0"), ("old", "0.50.0")];
    let both = both.map(|(name, version)| (name.to_owned(), version.to_owned()));
    assert_eq!(versions(&project), both);
    // The trial's own `PATH` leads to it.
    let shown = project.terca(&["workspace", "1", "2", "--to", "made"]);
    shown.expect_status(0);
    let which = project.read("made/which.txt");
    assert!(which.contains(".terca/cache/agents/gemini-0."), "{which}");
    assert!(which.trim().ends_with("/bin/gemini"), "{which}");
    // What is compared is what the suite asks for.
    let said = project.terca(&["show"]).stdout;
    assert!(!said.contains("is not the same on both sides"), "{said}");
    // Later runs install nothing, and need no npm.
    std::fs::remove_file(project.path("bin/npm")).unwrap();
    let outcome = run(&project).expect_status(0);
    assert!(!outcome.stderr.contains("installing"), "{}", outcome.stderr);
    assert_eq!(versions(&project), both);
    assert_eq!(asked(&project, "install"), 2);
    project.assert_nothing_left();
}

#[test]
fn latest_is_one_version_for_the_whole_run() {
    let project = suite(
        "{name: gemini-cli, version: latest}", "experiments: [{name: a}, {name: b}]\n",
    )
    .file("bin/latest", "0.61.0\n")
    .file("bin/down", "");
    run(&project).expect_status(3);
    let document = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(
        document["command"]["latestAgents"],
        json!({"gemini-cli": "0.61.0"})
    );
    let agent = &document["cases"][0]["variant"]["agent"];
    assert_eq!(*agent, json!({"name": "gemini-cli", "version": "0.61.0"}));
    // A run that goes on stays with its version.
    let project = project.file("bin/latest", "0.62.0\n");
    std::fs::remove_file(project.path("bin/down")).unwrap();
    project.terca(&["resume", "--errors"]).expect_status(0);
    let all_are = |version: &str| {
        let versions = versions(&project);
        assert!(versions.iter().all(|(_, it)| it == version), "{versions:?}");
    };
    all_are("0.61.0");
    assert_eq!(asked(&project, "view"), 1);
    run(&project).expect_status(0);
    all_are("0.62.0");
    assert_eq!(
        (asked(&project, "view"), asked(&project, "install")),
        (2, 2)
    );
}

#[test]
fn two_runs_at_the_same_moment_install_an_agent_once() {
    let project = suite("{name: gemini-cli, version: 0.61.0}", "").file("bin/wait", "");
    let start = || project.start(&["run", "--format", "plain"]);
    let mut sessions = [start(), start()];
    sessions[0].wait_until("npm is asked", || asked(&project, "install") > 0);
    std::fs::remove_file(project.path("bin/wait")).unwrap();
    for outcome in sessions.map(Session::finish) {
        assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    }
    assert_eq!(asked(&project, "install"), 1);
    project.assert_nothing_left();
}

#[test]
fn an_installation_can_be_interrupted() {
    let project = suite("{name: gemini-cli, version: 0.61.0}", "").file("bin/wait", "");
    let mut session = project.start(&["run", "--format", "plain"]);
    session.wait_until("npm is asked", || asked(&project, "install") > 0);
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130, "{}{}", outcome.stdout, outcome.stderr);
    assert!(!project.has_run() && kept(&project).is_empty());
    project.assert_nothing_left();
}

#[test]
fn an_installation_that_broke_off_is_never_used() {
    let project = suite("{name: gemini-cli, version: 0.61.0}", "").file("bin/broken", "");
    let outcome = run(&project).expect_status(2);
    for part in [
        "gemini-cli 0.61.0 could not be installed:",
        "the registry is down",
        "help:",
    ] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    assert!(!project.has_run());
    assert!(kept(&project).is_empty(), "{:?}", kept(&project));
    // One that was killed leaves its files, with a program and without a name.
    let half = ".terca/cache/agents/gemini-0.61.0.0000aaaa/bin/gemini";
    let project = project.executable(half, "#!/bin/sh\necho 0.61.0\n");
    std::fs::remove_file(project.path("bin/broken")).unwrap();
    run(&project).expect_status(0);
    assert_eq!(asked(&project, "install"), 2);
    let kept = kept(&project);
    assert!(kept.len() == 2 && kept[0] == "gemini-0.61.0", "{kept:?}");
    assert!(!project.path(half).exists());
}

#[test]
fn the_program_must_be_the_one_that_was_asked_for() {
    let project = suite("{name: gemini-cli, version: 0.61.0}", "").file("bin/lie", "0.7.0");
    let outcome = run(&project).expect_status(2);
    let said = "gemini-cli 0.61.0 was installed, but the program says that it is 0.7.0";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(!project.has_run() && kept(&project).is_empty());
    // One that replaces itself later is found out by its trial.
    std::fs::remove_file(project.path("bin/lie")).unwrap();
    run(&project).expect_status(0);
    let place = project.path(".terca/cache/agents/gemini-0.61.0/bin/gemini");
    write_program(&place, "#!/bin/sh\necho 0.99.0\n");
    run(&project).expect_status(3);
    let error = &project.only_trial()["error"];
    assert_eq!(error["kind"], "agentMissing");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("says that it is 0.99.0 now"), "{message}");
}

#[test]
fn a_version_that_there_is_not_and_a_machine_without_npm() {
    let project = suite("{name: gemini-cli, version: 9.9.9}", "");
    let outcome = run(&project).expect_status(2);
    let said = "there is no gemini-cli 9.9.9: the package @google/gemini-cli has no such version";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    // A package that it depends on may be the one.
    let other = suite("{name: gemini-cli, version: 8.8.8}", "");
    let outcome = run(&other).expect_status(2);
    for part in ["gemini-cli 8.8.8 could not be installed:", "other@1.0.0"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let path = [("PATH", "/nowhere")];
    let without = |args: &[&str]| project.terca_with(&path, args);
    let outcome = without(&["run"]).expect_status(2);
    let said = "gemini-cli 9.9.9 cannot be installed: `npm` was not found";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(!project.has_run());
    let warned = without(&["check"]).expect_status(0).stderr;
    for part in ["warning[agent-not-ready]", said, "terca.yaml:2:"] {
        assert!(warned.contains(part), "{part}: {warned}");
    }
    let silent = project.terca(&["check"]).expect_status(0).stderr;
    assert!(!silent.contains("agent-not-ready"), "{silent}");
}

#[test]
fn the_doctor_installs_and_the_cleaner_removes() {
    let project = suite(
        "{name: gemini-cli, version: 0.61.0}", "  - {name: c, agent: codex}\n",
    );
    let answer = |args: &[&str], status: i32| -> (Outcome, Value) {
        let outcome = project.terca(&[&["doctor", "--format", "json"], args].concat());
        let outcome = outcome.expect_status(status);
        let rows: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let own = rows["agents"].as_array().unwrap().clone();
        let own = own.into_iter().filter(|row| row["ofSuite"] == true);
        (outcome, own.collect())
    };
    let (_, before) = answer(&[], 1);
    let missing = before.as_array().unwrap().iter().find(|row| {
        let install = row["install"].as_str().unwrap_or_default();
        install.contains("`terca doctor --install` installs 0.61.0")
    });
    assert_eq!(missing.unwrap()["program"], Value::Null, "{before:#}");
    let (outcome, after) = answer(&["--install"], 1);
    assert!(
        outcome
            .stderr
            .starts_with("installing gemini-cli 0.61.0 …\n"),
        "{}",
        outcome.stderr
    );
    let said = "codex: not installed, and the suite asks for no version; write `agent: {name: codex, version: latest}`";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    let rows = after.as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["version"] == "0.61.0"),
        "{after:#}"
    );
    project.terca(&["run", "-e", "g", "--format", "plain"]);
    assert_eq!(asked(&project, "install"), 1);
    let cleaned = project.terca(&["clean", "--yes"]).expect_status(0).stdout;
    let line = cleaned.lines().find(|line| line.starts_with("agents "));
    assert!(
        line.is_some_and(|line| line.ends_with(".terca/cache/agents")),
        "{cleaned}"
    );
    assert!(!project.path(".terca/cache/agents").exists());
}

/// A virtual environment of its own, whose `python` does not come before the user's.
#[test]
fn agents_of_python_are_installed_with_uv() {
    let uv = "#!/bin/sh\n\
         echo \"$@\" >>\"$(dirname \"$0\")/asked\"\n\
         case $1 in\n\
         venv) mkdir -p \"$3/bin\"; touch \"$3/pyvenv.cfg\" ;;\n\
         *) bin=$(dirname \"$5\")\n\
            printf '#!/bin/sh\\necho This is mini-swe-agent version %s.\\n' \"${6##*=}\" >\"$bin/mini\"\n\
            chmod +x \"$bin/mini\" ;;\n\
         esac\n";
    let project = suite("{name: mini-swe-agent, version: 2.4.6}", "").executable("bin/uv", uv);
    let outcome = project.terca(&["doctor", "--install"]);
    let outcome = outcome.expect_status(0);
    assert!(
        outcome.stdout.contains("mini-swe-agent: 2.4.6"),
        "{}",
        outcome.stdout
    );
    let asked = project.read("bin/asked");
    assert!(
        asked.trim().ends_with("mini-swe-agent==2.4.6 mcp"),
        "{asked}"
    );
    let bin = project.path(".terca/cache/agents/mini-2.4.6/bin");
    let names: Vec<String> = (bin.read_dir_utf8().unwrap().flatten())
        .map(|entry| entry.file_name().to_owned())
        .collect();
    assert_eq!(names, ["mini"]);
}

#[test]
fn a_worker_installs_for_its_own_machine() {
    let project = suite(
        "{name: gemini-cli, version: latest}",
        &format!("workers: {{here: {{start: env, slots: 2, terca: '{PROGRAM}'}}}}\n"),
    )
    .file("bin/latest", "0.61.0\n");
    let run = || project.terca(&["run", "--format", "plain", "--on", "here", "-n", "2"]);
    for _ in 0..2 {
        let outcome = run();
        assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
        let versions = versions(&project);
        assert!(
            versions.iter().all(|(_, it)| it == "0.61.0"),
            "{versions:?}"
        );
    }
    assert_eq!(
        (asked(&project, "view"), asked(&project, "install")),
        (2, 1)
    );
    assert!(kept(&project).is_empty(), "it is not the suite's");
    let project = project
        .file("bin/broken", "")
        .file("bin/latest", "0.62.0\n");
    let outcome = project.terca(&["run", "--format", "plain", "--on", "here"]);
    let outcome = outcome.expect_status(2);
    let said = "gemini-cli 0.62.0 could not be installed";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
}
