//! `cache` and `testCache`: what package managers and compilers keep, for all trials and later runs.

use terca_testkit::Project;

use crate::common::caches::tests_cannot_poison;
use crate::common::project;

/// Adds a line to the downloads of npm, and fails if they are not there.
const FETCH: &str = "test -d $HOME/.npm && echo fetched >> $HOME/.npm/packages";

/// A suite whose set-up fetches packages, and whose agent and tests look for them.
fn fetching(more: &str) -> Project {
    project().file(
        "terca.yaml",
        format!(
            "cache: npm\n{more}prepare: [{{command: '{FETCH}'}}]\nbefore: [{{command: '{FETCH}'}}]\n\
             environments:\n  - name: e\n    agent:\n      name: command\n      \
             command: 'test ! -e $HOME/.npm && test ! -L $HOME/.npm && touch not-seen'\n\
             evals:\n  - name: task\n    prompt: x\n    \
             tests: [{{fileExists: not-seen}}, {{name: gone, commandSuccess: test ! -e $HOME/.npm}}]\n"
        ),
    )
}

fn fetched(project: &Project) -> usize {
    let packages = project.path(".terca/cache/packages/npm/packages");
    std::fs::read_to_string(packages).map_or(0, |text| text.lines().count())
}

fn passes(project: &Project, args: &[&str]) {
    let outcome = project.terca(&[&["--format", "plain"], args].concat());
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    project.assert_nothing_left();
}

#[test]
fn they_are_there_for_set_up_in_all_trials_and_runs_and_for_nobody_else() {
    let project = fetching("repetitions: 2\n");
    passes(&project, &[]);
    assert_eq!(fetched(&project), 3, "prepare once, before twice");
    passes(&project, &["-n", "1"]);
    assert_eq!(fetched(&project), 4, "prepare is not run again");
    passes(&project, &["-n", "1", "--no-cache"]);
    assert_eq!(
        fetched(&project),
        6,
        "downloads are used when layers are made anew"
    );
}

#[test]
fn without_the_key_nothing_is_kept() {
    let project = fetching("").file(
        "terca.yaml",
        "before: [{command: 'mkdir $HOME/.npm && rmdir $HOME/.npm'}]\n\
         environments: [{name: e, agent: {name: command, command: 'true'}}]\n\
         evals: [{name: task, prompt: x, tests: [{commandSuccess: 'true'}]}]\n",
    );
    passes(&project, &[]);
    assert!(!project.path(".terca/cache/packages").exists());
}

#[test]
fn a_home_that_set_up_made_itself_stays() {
    let project = project().file(
        "terca.yaml",
        "cache: npm\nbefore: [{command: 'rm $HOME/.npm && mkdir $HOME/.npm && touch $HOME/.npm/own'}]\n\
         environments: [{name: e, agent: {name: command, command: 'cp $HOME/.npm/own seen'}}]\n\
         evals: [{name: task, prompt: x, tests: [{fileExists: seen}]}]\n",
    );
    passes(&project, &[]);
    let store = project.path(".terca/cache/packages/npm");
    assert_eq!(store.read_dir_utf8().unwrap().count(), 0);
}

#[test]
fn clean_lists_and_removes_them() {
    let project = fetching("");
    passes(&project, &[]);
    let listed = project.terca(&["clean", "--older-than", "1000d", "--yes"]);
    assert_eq!(listed.status, 0, "{}{}", listed.stdout, listed.stderr);
    assert!(listed.stdout.contains("downloads"), "{}", listed.stdout);
    assert!(!project.path(".terca/cache/packages").exists());
}

#[test]
fn other_package_managers_are_refused_with_the_known_ones() {
    let project = project().file("terca.yaml", "cache: [npm, crago]\n");
    let outcome = project.terca(&["check"]);
    assert_eq!(outcome.status, 2);
    for words in [
        "`cache`: expected `npm`, `pnpm`, `yarn`, `pip`, `uv`, `cargo`, `go`, `gradle`, `ccache` or `sccache`, found the text `crago`",
        "terca.yaml:1:14",
        "did you mean `cargo`?",
    ] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
}

#[test]
fn tests_get_a_copy_that_no_other_trial_sees() {
    tests_cannot_poison("none");
}

#[test]
fn a_cache_that_cannot_be_copied_is_left_out_of_the_tests() {
    let project = project().file(
        "terca.yaml",
        "testCache: ccache\nsandbox: none\nenvironments: [{name: e, agent: nop}]\n\
         evals: [{name: task, prompt: x, tests: [{commandSuccess: 'test ! -e $HOME/.cache/ccache'}]}]\n",
    );
    std::fs::create_dir_all(project.path(".terca/cache/packages")).unwrap();
    std::os::unix::fs::symlink("/etc", project.path(".terca/cache/packages/ccache")).unwrap();
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(
        project
            .trial_file("run.log")
            .contains("~/.cache/ccache is not there")
    );
}
