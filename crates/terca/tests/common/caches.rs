//! A suite whose tests have caches, and whose agent wants to change them for others.

use super::project;

/// Checks that tests read what set-up has put into a cache, that the agent's work, which runs in them, changes it for no
/// other trial, and that the agent itself does not see it.
pub fn tests_cannot_poison(sandbox: &str) {
    let entry = "$HOME/.cache/go-build/entry";
    let poison = format!(
        "echo poison > {entry}; rm -rf $HOME/go/pkg/mod/a; touch $HOME/.cache/go-build/more"
    );
    let project = project().file(
        "terca.yaml",
        format!(
            "testCache: go\nsandbox: {sandbox}\nrepetitions: 3\n\
             prepare: [{{command: 'echo good > {entry}; mkdir -p $HOME/go/pkg/mod/a; chmod 555 $HOME/go/pkg/mod/a'}}]\n\
             environments:\n  - name: e\n    agent:\n      name: command\n      \
             command: 'ls -d $HOME/.cache/go-build $HOME/go/pkg/mod > seen.txt; echo \"{poison}\" > work.sh'\n\
             evals:\n  - name: task\n    prompt: x\n    tests:\n      \
             - {{name: unseen, commandSuccess: 'test ! -s seen.txt'}}\n      \
             - {{name: filled, commandSuccess: 'grep -qx good {entry} && test -d $HOME/go/pkg/mod/a'}}\n      \
             - {{name: alone, commandSuccess: 'test ! -e $HOME/.cache/go-build/more'}}\n      \
             - {{name: own, commandSuccess: 'sh ./work.sh && grep -qx poison {entry}'}}\n"
        ),
    );
    for _ in 0..2 {
        let outcome = project.terca(&["--format", "plain", "-c", "1"]);
        assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
        project.assert_nothing_left();
    }
    let regraded = project.terca(&["regrade"]);
    assert_eq!(regraded.status, 0, "{}{}", regraded.stdout, regraded.stderr);
    let store = ".terca/cache/packages";
    assert_eq!(project.read(&format!("{store}/go/entry")), "good\n");
    assert!(!project.path(&format!("{store}/go/more")).exists());
    assert!(project.path(&format!("{store}/go-mod/a")).is_dir());
}
