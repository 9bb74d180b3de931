//! The part of a suite that its commands see, in every sandbox.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;

use crate::common::project;

/// Makes a file that everybody may read and write, in directories that everybody may enter: only a sandbox refuses it.
pub(crate) fn open_file(path: &Utf8Path) {
    let dir = path.parent().unwrap();
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(path, "secret").unwrap();
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
}

/// Checks that commands of a suite find its files, and that tests find no solution and nothing else. Two evals of the
/// suite are not selected.
pub(crate) fn suite_and_not_the_solution(sandbox: &str) {
    let project = project()
        .agent("echo x > made.txt")
        .file("tools/check.sh", "test -f made.txt && echo checked")
        .file("fib/_tests/hidden.txt", "secret")
        .file("fib/_solution/answer.txt", "secret")
        .file(
            "fib/_solution.sh",
            "echo x > made.txt; cp \"$TERCA_SUITE_DIR/tools/check.sh\" copied.sh",
        )
        .file(
            "other/eval.terca.yaml", "prompt: x\ntests: [{fileExists: a}]\n",
        )
        .file("other/_solution/a", "secret")
        .file("other/_solution.sh", "secret")
        // No command names this one, so it is a link in the sealed copy of the suite.
        .file(
            "unnamed/eval.terca.yaml", "prompt: x\ntests: [{fileExists: a}]\n",
        )
        .file("unnamed/_solution/a", "secret");
    open_file(&project.home().join(".netrc"));
    let yaml = CHECKS
        .replace("REAL", project.dir().as_str())
        .replace("HOME/", &format!("{}/", project.home()));
    let project = project.file("fib/eval.terca.yaml", yaml);
    let outcome = project.terca(&["run", "-t", "fib", "--sandbox", sandbox]);
    assert_eq!(project.only_trial()["score"], 1.0, "{}", outcome.stdout);
    assert_eq!(project.trial_file("artifacts/mine.txt"), "x\n");
    // The solution itself runs in a sandbox too, and finds its script.
    let args = [
        "run", "-t", "fib", "--sandbox", sandbox, "--agent", "oracle",
    ];
    project.terca(&args).expect_status(0);
    let copied = project.trial_file("workspace/copied.sh");
    assert!(copied.contains("checked"), "{copied}");
}

/// Set-up in a sandbox adds to the downloads that are kept. The agent cannot, even if it knows where they are.
pub(crate) fn downloads_for_set_up_alone(sandbox: &str) {
    let project = project();
    let store = project.path(".terca/cache/packages/npm");
    // A path that an agent's own command names would be shown to it.
    let unnamed = format!("{}/$c/packages/npm", project.dir());
    let fetch = "echo fetched >> $HOME/.npm/packages";
    let suite = format!(
        "cache: npm\nprepare: [{{command: '{fetch}'}}]\nbefore: [{{command: '{fetch}'}}]\n\
         environments:\n  - name: e\n    agent:\n      name: command\n      \
         command: 'c=.terca/cache; (cat {unnamed}/packages; ls -d $HOME/.npm) > seen.txt; echo mine >> {unnamed}/packages; true'\n\
         evals: [{{name: task, prompt: x, tests: [{{commandSuccess: '! grep . seen.txt'}}]}}]\n"
    );
    let project = project.file("terca.yaml", suite);
    project
        .terca(&["run", "--sandbox", sandbox])
        .expect_status(0);
    assert_eq!(project.only_trial()["containedBy"], sandbox);
    let packages = std::fs::read_to_string(store.join("packages")).unwrap();
    assert_eq!(packages, "fetched\nfetched\n");
}

const CHECKS: &str = r#"
prompt: make it
before: [{command: 'sh -n "$TERCA_SUITE_DIR/tools/check.sh" && echo x > "$TMPDIR/from-before"'}]
tests:
- {name: script, commandSuccess: 'sh "$TERCA_SUITE_DIR/tools/check.sh"'}
- {name: hidden, commandSuccess: 'cat hidden.txt'}
- {name: own files, commandSuccess: 'cat "$TERCA_TRANSCRIPT" && echo x > "$TERCA_TRIAL_DIR/artifacts/mine.txt"'}
- {name: solution, commandSuccess: '! cat "$TERCA_SUITE_DIR"/fib/_solution/answer.txt && ! cat "$TERCA_SUITE_DIR"/fib/_solution.sh'}
- {name: real solution, commandSuccess: '! cat REAL/fib/_solution/answer.txt && ! cat REAL/fib/_solution.sh'}
- {name: solution of another eval, commandSuccess: '! cat "$TERCA_SUITE_DIR"/other/_solution/a && ! cat REAL/other/_solution/a && ! cat "$TERCA_SUITE_DIR"/other/_solution.sh && ! cat REAL/other/_solution.sh'}
- {name: run, commandSuccess: '! cat REAL/.terca/runs/*/events.jsonl'}
- {name: suite, commandSuccess: '! (echo x > REAL/new) && ! (echo x > "$TERCA_SUITE_DIR/new")'}
- {name: home, commandSuccess: '! cat HOME/.netrc'}
- {name: temporary files, commandSuccess: '! test -e "$TMPDIR/from-before" && ! test -e /tmp/from-before'}
"#;
