//! The suite's files are those of the run's start: an edit while it runs changes nothing, and is told.

use crate::common::project;
use terca_testkit::Project;

/// Every trial's agent edits the suite before it does its work.
fn edited_while_it_runs(edit: &str, suite: &str) -> Project {
    let project = project().executable(
        "agent.sh",
        &format!("#!/bin/sh\n{edit}\necho done > done.txt\n"),
    );
    let dir = project.dir();
    project.file(
        "terca.yaml",
        format!(
            "env: {{SUITE: '{dir}'}}\nrepetitions: 3\nconcurrency: 1\n\
             environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n{suite}"
        ),
    )
}

fn passed(project: &Project) -> (u64, u64) {
    let summary = &project.results()["summary"];
    (
        summary["passed"].as_u64().unwrap(),
        summary["failed"].as_u64().unwrap(),
    )
}

#[test]
fn hidden_tests_that_are_edited_while_the_run_goes_on_change_nothing() {
    let project = edited_while_it_runs("echo 'exit 0' > $SUITE/fib/_tests/check.sh", "")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{commandSuccess: sh check.sh}]\n",
        )
        .file("fib/_tests/check.sh", "exit 1\n");
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(passed(&project), (0, 3), "{outcome:?}");
    assert!(
        outcome.stderr.contains("fib: the tests changed")
            && outcome.stderr.contains("as they were at the start"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn every_file_of_the_suite_is_the_one_of_the_start() {
    // The second and third trial see what the first one saw.
    let edit = "for file in fib/_base/base.txt fib/_tests/hidden.txt rules.md skills/s/SKILL.md data/copied.txt \
                fib/beside.sh beside-suite.sh tools/named.sh tools/neighbour.sh outside/../data/deep/copied.txt; do \
                echo changed >> $SUITE/$file; done\n\
                cat base.txt copied.txt deep/copied.txt AGENTS.md .agents/skills/s/SKILL.md > seen.txt";
    let suite = "experiments: [{name: x, rules: [rules.md], skills: [skills/s]}]\n\
                 before: [{copy: {data/copied.txt: copied.txt, data/deep: deep}}]\n";
    let project = edited_while_it_runs(edit, suite)
        .file("fib/_base/base.txt", "base\n")
        .file("fib/_tests/hidden.txt", "hidden\n")
        .file("rules.md", "rules\n")
        .file("skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nskill\n")
        .file("data/copied.txt", "copied\n")
        .file("data/deep/copied.txt", "deep\n")
        .executable("fib/beside.sh", "#!/bin/sh\ntrue || ignored\n")
        .executable("beside-suite.sh", "#!/bin/sh\n")
        .executable("tools/named.sh", "#!/bin/sh\n. \"$(dirname \"$0\")/neighbour.sh\"\n")
        .file("tools/neighbour.sh", "grep -q chang[e]d \"$0\" \"$(dirname \"$0\")/neighbour.sh\" && exit 1\nexit 0\n")
        .directory("outside")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\n\
             before: [{command: 'beside.sh; sh \"$TERCA_SUITE_DIR/tools/named.sh\"'}]\n\
             tests:\n\
             - {name: workspace, commandSuccess: '! grep changed seen.txt && grep -c . seen.txt'}\n\
             - {name: hidden, commandSuccess: '! grep changed hidden.txt'}\n\
             - {name: beside, commandSuccess: '! grep changed \"$(command -v beside.sh)\"'}\n\
             - {name: suite, commandSuccess: '! grep changed \"$TERCA_SUITE_DIR/beside-suite.sh\"'}\n\
             - {name: named, commandSuccess: 'sh \"$TERCA_SUITE_DIR\"/tools/named.sh'}\n",
        );
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(passed(&project), (3, 0), "{outcome:?}");
    assert!(
        project.read("tools/neighbour.sh").contains("changed"),
        "the agent did edit"
    );
}

#[test]
fn an_agent_that_edits_itself_is_the_same_agent_in_the_next_trial() {
    let project = edited_while_it_runs("echo 'echo more > more.txt' >> $SUITE/agent.sh", "").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{commandSuccess: '! test -e more.txt'}]\n",
    );
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(passed(&project), (3, 0), "{outcome:?}");
    assert!(
        outcome.stderr.contains("the agent's program changed"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn nothing_is_said_of_a_suite_that_stays_as_it_is() {
    let project = edited_while_it_runs("true", "").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done.txt}]\n",
    );
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(passed(&project), (3, 0), "{outcome:?}");
    assert!(!outcome.stderr.contains("changed"), "{}", outcome.stderr);
}

/// The agent is the same user: it can look for the copy. No trial is judged by tests that it wrote, and none is void.
#[test]
fn a_sealed_copy_that_an_agent_finds_and_changes_is_restored() {
    let find =
        "chmod u+rwx ..; chmod u+rwx ../..; found() { find ../.. -path '*_tests*' \"$@\"; }\n";
    for edit in [
        "found -name check.sh | while read file; do echo 'exit 0' > $file; done",
        "found -name check.sh -exec rm {} \\;",
        "found -name check.sh -exec chmod 0 {} \\;",
        "found -name _tests -prune -exec chmod 0 {} \\;",
        "found -name _tests -prune -exec mv {} {}.moved \\;",
    ] {
        let project = edited_while_it_runs(&format!("{find}{edit}"), "")
            .file(
                "fib/eval.terca.yaml",
                "prompt: go\ntests: [{commandSuccess: sh check.sh}]\n",
            )
            .file("fib/_tests/check.sh", "test -f done.txt && exit 4\n");
        let outcome = project.terca(&["--format", "plain", "--retries", "0", "-c", "1"]);
        let results = project.results();
        assert_eq!(results["summary"]["failed"], 3, "{edit}: {outcome:?}");
        let trial = &results["trials"][0];
        let told = trial["notes"].to_string();
        assert!(
            told.contains("the sealed copy of") && told.contains("was restored"),
            "{edit}: {trial:#}"
        );
        assert!(
            trial["tests"].to_string().contains("exit status 4"),
            "{edit}: {trial:#}"
        );
    }
}

#[test]
fn an_agent_is_not_started_from_the_copy_with_the_tests() {
    let project = edited_while_it_runs("echo \"$0\" > place.txt", "")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests:\n\
             - commandSuccess: '! grep -qF \"$TERCA_SUITE_DIR/\" place.txt'\n\
             - commandSuccess: '[ $(readlink -f \"$(dirname \"$(cat place.txt)\")\"/fib/_tests) != $(readlink -f \"$TERCA_SUITE_DIR\"/fib/_tests) ]'\n",
        )
        .file("fib/_tests/check.sh", "exit 0\n");
    let outcome = project.terca(&["--format", "plain", "--retries", "0"]);
    assert_eq!(passed(&project), (3, 0), "{outcome:?}");
}

#[test]
fn commands_reach_everything_around_the_suite_and_kept_links_lead_there() {
    let project = edited_while_it_runs("true", "")
        .file("fib/eval.terca.yaml",
            "prompt: go\n\
             before: [{command: 'ln -s \"$TERCA_SUITE_DIR/../home\" link; ln -s \"$TERCA_SUITE_DIR/large\" large'}]\n\
             tests:\n\
             - {commandSuccess: 'test -d \"$TERCA_SUITE_DIR/../work\" && cat \"$TERCA_SUITE_DIR/large/file.txt\" large/file.txt'}\n")
        .file("large/file.txt", "not copied, but there\n");
    let outcome = project.terca(&["--format", "plain", "--keep", "all"]);
    assert_eq!(passed(&project), (3, 0), "{outcome:?}");
    let dir = project.results()["trials"][0]["dir"]
        .as_str()
        .unwrap()
        .to_owned();
    let workspace = project.run_dir().join(dir).join("workspace");
    let link = workspace.join("link").read_link_utf8().unwrap();
    assert_eq!(link, project.dir().join("../home"), "{link}");
    assert_eq!(
        std::fs::read_to_string(workspace.join("large/file.txt")).unwrap(),
        "not copied, but there\n"
    );
    let regraded = project.terca(&["regrade", "--format", "plain"]);
    assert_eq!(passed(&project), (3, 0), "{regraded:?}");
}

#[test]
fn a_layer_is_not_made_from_a_script_that_changes_meanwhile() {
    let project = edited_while_it_runs(
        "true",
        "prepare: [{command: 'sh \"$TERCA_SUITE_DIR/make.sh\"'}]\n",
    )
    .file(
        "make.sh",
        "echo made > made.txt\necho '# more' >> \"$TERCA_SUITE_DIR/make.sh\"\n",
    )
    .file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: made.txt}]\n",
    );
    let outcome = project.terca(&["--format", "plain", "--retries", "0"]);
    let results = project.results();
    let error = results["trials"][0]["error"]["message"]
        .as_str()
        .unwrap_or_default();
    assert!(
        error.contains("changed while it ran"),
        "{outcome:?}\n{results:#}"
    );
}
