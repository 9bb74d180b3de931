//! `terca import vally` and `terca import promptfoo`: cases of suites become evals that run.

use super::statuses;
use crate::common::project;
use terca_testkit::Project;

/// Does what the greeting asks for, and talks about it.
const AGENT: &str =
    "cat > /dev/null; echo \"Hello, $(cat data/name.txt)\" > out.txt; echo 'All is done.'";

fn vally(project: Project) -> Project {
    let suite = "description: Greetings\nconfig: {timeout: 1m}\nstimuli:\n\
        - name: Greet Ada\n  prompt: Greet.\n  environment:\n    files: [{src: ../names/ada.txt, dest: data/name.txt}]\n    \
        commands: [mkdir logs, touch logs/start.log]\n  graders:\n    \
        - {type: completed}\n    - {type: output-matches, config: {pattern: '(?i)all IS'}}\n    \
        - {type: output-not-matches, config: {pattern: sorry}}\n    - {type: file-exists, config: {path: '**/start.log'}}\n    \
        - {type: file-not-exists, config: {path: '**/*.bak'}}\n    - {type: file-contains, config: {path: '*.txt', value: 'Hello, Ada'}}\n    \
        - {type: file-matches, config: {path: out.txt, pattern: '^Hello'}}\n    \
        - {type: file-not-contains, config: {path: '**/*.txt', value: 'it''s'}}\n    \
        - {type: run-command, config: {command: grep, args: [nobody, out.txt], expected_exit_code: 1}}\n\
        - name: Greet nobody\n  prompt: Greet.\n  environment: {files: [{src: ../names/ada.txt, dest: data/name.txt}]}\n  graders:\n    \
        - {type: file-not-exists, config: {path: out.*}}\n    - {type: output-contains, config: {substring: done}}\n\
        - name: Use the skill\n  prompt: Greet.\n  graders: [{type: skill-invocation, config: {required: [a]}}]\n\
        - name: Use it again\n  prompt: Greet.\n  graders: [{type: skill-invocation, config: {required: [a]}}]\n";
    project
        .file("other/greet/eval.yaml", suite)
        .file("other/waza/eval.yaml", "name: of another tool\ntasks: []\n")
        .file("other/names/ada.txt", "Ada\n")
}

#[test]
fn stimuli_of_vally_run() {
    let project = vally(project().agent(AGENT));
    let outcome = project
        .terca(&["import", "vally", "other"])
        .expect_status(1);
    let loss = "  lost: skill-invocation: no test of Terca asks for that\n";
    assert_eq!(
        outcome.stdout,
        format!(
            "greet/greet-ada\ngreet/greet-nobody\ngreet/use-the-skill\n{loss}greet/use-it-again\n4 evals imported: 2 need more for the \
             tests; 2 are incomplete and do not run until they are completed\n"
        )
    );
    project.terca(&["check"]).expect_status(0);
    project.terca(&[]).expect_status(1);
    let row = |eval: &str, status: &str| (eval.to_owned(), "default".into(), status.to_owned());
    let rows = [row("greet-ada", "passed"), row("greet-nobody", "partial")];
    assert_eq!(statuses(&project), rows);
}

#[test]
fn tests_of_promptfoo_run() {
    let agent = "description: Greetings\nproviders: [{id: 'openai:codex-sdk', config: {working_dir: ./files}}]\n\
        prompts: ['Greet {{who}}.']\ndefaultTest: {assert: [{type: latency, threshold: 60000}]}\ntests:\n\
        - description: Says it\n  vars: {who: Ada}\n  assert: [{type: icontains, value: ALL IS}, {type: not-regex, value: sorry}]\n\
        - vars: {who: Bob}\n  assert: [{type: contains, value: nothing}]\n";
    let project = project()
        .agent(AGENT)
        .file("other/agent/promptfooconfig.yaml", agent)
        .file("other/agent/files/data/name.txt", "Ada\n")
        .file(
            "other/chat/promptfooconfig.yaml",
            "providers: [openai:gpt-5]\nprompts: [a]\n",
        );
    let outcome = project
        .terca(&["import", "promptfoo", "other"])
        .expect_status(1);
    let refused = "other/chat/promptfooconfig.yaml cannot become evals: none of its providers is a coding agent";
    assert!(outcome.stderr.contains(refused), "{}", outcome.stderr);
    assert!(outcome.stdout.ends_with("\n2 evals imported\n"));
    assert_eq!(project.read("agent/says-it/prompt.md"), "Greet Ada.");
    project.terca(&[]).expect_status(1);
    let row = |eval: &str, status: &str| (eval.to_owned(), "default".into(), status.to_owned());
    let rows = [row("says-it", "passed"), row("test-2", "partial")];
    assert_eq!(statuses(&project), rows);
    // One file may be named, with the files beside it.
    let file = "other/agent/promptfooconfig.yaml";
    project
        .terca(&["import", "promptfoo", file, "--to", "again"])
        .expect_status(0);
    assert_eq!(project.read("again/test-2/_base/data/name.txt"), "Ada\n");
}

#[test]
fn a_directory_without_suites_is_refused() {
    let project = vally(project());
    for (format, reason) in [
        (
            "promptfoo",
            "there is no suite of promptfoo in other: no `promptfooconfig.yaml`",
        ),
        (
            "vally",
            "there is no suite of vally in other: no `eval.yaml` with `stimuli`",
        ),
    ] {
        let dir = if format == "vally" {
            "other/waza"
        } else {
            "other"
        };
        let outcome = project.terca(&["import", format, dir]).expect_status(2);
        let reason = reason.replace("other", dir);
        assert!(outcome.stderr.contains(&reason), "{}", outcome.stderr);
    }
    let file = "other/waza/eval.yaml";
    let outcome = project.terca(&["import", "vally", file]).expect_status(1);
    let refused = format!("{file} cannot become evals: it has no `stimuli`");
    assert!(outcome.stderr.contains(&refused), "{}", outcome.stderr);
}
