//! Agents that try to pass without the work: by the tests' home, their temporary directory, the files from before, and
//! by making an error of a trial that would fail.

use crate::common::project;
use serde_json::Value;
use terca_testkit::{Outcome, Project};

/// A suite of one eval, with an agent and the rest of the eval's file.
fn suite(agent: &str, eval: &str) -> Project {
    project()
        .agent(agent)
        .file("task/eval.terca.yaml", format!("prompt: do it\n{eval}"))
}

/// Runs it, checks that nothing is left, and returns the trial.
#[track_caller]
fn judged(project: &Project, status: &str) -> Value {
    let outcome = project.terca(&["--format", "plain", "--retries", "0"]);
    assert!(outcome.status <= 1, "{}{}", outcome.stdout, outcome.stderr);
    project.assert_nothing_left();
    let trial = project.only_trial();
    assert_eq!(trial["status"], status, "{trial:#}");
    trial
}

#[track_caller]
fn has_note(trial: &Value, words: &str) {
    let notes = trial["notes"].as_array().expect("notes");
    assert!(
        notes
            .iter()
            .any(|note| note.as_str().unwrap().contains(words)),
        "{words}: {notes:?}"
    );
}

#[test]
fn the_home_of_the_tests_has_nothing_of_the_agents() {
    for (mischief, test) in [
        (
            "echo 'exit 0' > ../home/.profile; echo 'exit 0' > ~/.profile",
            "bash -lc 'test -f real.txt'",
        ),
        (
            "for home in ../home ~; do printf '[alias]\\n\\tproof = \"!true\"\\n' > $home/.gitconfig; done",
            "git proof",
        ),
        (
            "for home in ../home ~; do mkdir -p $home/.local/lib/python3/site-packages; \
             touch $home/.local/lib/python3/site-packages/usercustomize.py; done",
            "test -e ~/.local",
        ),
        (
            "for home in ../home ~; do echo script-shell=/bin/true > $home/.npmrc; done",
            "test -e ~/.npmrc",
        ),
    ] {
        let eval = format!("tests:\n  - commandSuccess: |\n      {test}\n");
        judged(&suite(mischief, &eval), "failed");
    }
}

#[test]
fn set_up_and_tests_have_one_home_and_the_agent_works_in_another() {
    let project = suite(
        "cat ~/made; echo agent > ~/made; echo $HOME > home.txt; ls ~ > listed.txt",
        "before: [{command: 'echo setup > ~/made; echo $HOME > ../where; cp ../where ~/where'}]\n\
         tests:\n  - commandSuccess: 'test \"$(cat ~/made)\" = setup'\n\
         \x20 - commandSuccess: 'test \"$(cat ~/where)\" = \"$HOME\" && test \"$(cat home.txt)\" = \"$HOME\"'\n\
         \x20 - commandSuccess: 'test \"$(cat listed.txt | tr \"\\n\" \" \")\" = \"made where \"'\n",
    );
    judged(&project, "passed");
    assert!(project.trial_file("run.log").contains("setup"));
}

#[test]
fn the_temporary_directory_of_the_tests_is_not_there_before_them() {
    // Everything in the trial's directory gets the file that the test looks for.
    let project = suite(
        "find .. -type d -exec touch {}/result \\; ; mkdir -p ../tests-tmp; touch ../tests-tmp/result",
        "tests: [{commandSuccess: 'test -e $TMPDIR/result'}]\n",
    );
    judged(&project, "failed");
}

#[test]
fn files_from_before_are_not_beside_the_workspace() {
    let project = suite(
        "echo changed > f.txt; mkdir -p ../before; cp f.txt ../before/f.txt\n\
         find .. -name f.txt -exec cp f.txt {} \\; 2>/dev/null || true",
        "before: [{command: 'echo original > f.txt'}]\ntests: [{changedFiles: {never: [f.txt]}}]\n",
    );
    judged(&project, "failed");
    let diff = project.trial_file("changes.diff");
    assert!(
        diff.contains("-original") && diff.contains("+changed"),
        "{diff}"
    );
}

/// Finds what is put away, as only an agent can that lists what it may not.
const FIND_SEALED: &str = "chmod 700 ../..; for dir in ../../*; do if test -d $dir/before; then cd $dir; break; fi; done\n";

#[test]
fn what_is_put_away_cannot_be_changed_without_failing() {
    for mischief in [
        "echo 'exit 0' > home/.profile",
        "cp before/f.txt copy; mv copy before/f.txt",
        "rm -rf before home",
        "rm -rf $PWD",
        "touch more",
    ] {
        let project = suite(
            &format!("echo ready > ready\n{FIND_SEALED}{mischief}"),
            "before: [{command: 'echo original > f.txt'}]\ntests: [{fileExists: ready}]\n",
        );
        let trial = judged(&project, "failed");
        has_note(&trial, "put away for the tests");
        assert_eq!(trial["score"], 0.0);
        let message = trial["tests"]["fileExists-1"]["message"].as_str().unwrap();
        assert!(message.contains("put away for the tests"), "{trial:#}");
        // Nor does grading it again make it good.
        assert_eq!(project.terca(&["regrade"]).status, 1);
        assert_eq!(project.only_trial()["status"], "failed");
    }
}

#[test]
fn directories_that_the_agent_removes_are_judged() {
    for (mischief, status) in [
        ("touch ready; rm -rf ../io", "passed"),
        ("touch ready; rm -rf ../home ../tmp ../io", "passed"),
        ("touch ready; rm -rf ../home; ln -s /etc ../home", "passed"),
        ("touch ready; chmod 000 .. ../io", "passed"),
        ("touch ready; chmod 000 ../.. ../../..", "passed"),
        ("touch ready; rm -rf \"$(dirname $PWD)\"", "failed"),
        (
            "touch ready; here=$(dirname $PWD); cd /; mv $here $here-away; ln -s $here-away $here",
            "failed",
        ),
        (
            "touch ready; here=$(dirname $PWD); cd /; mv $here $here-away; mkdir -p $here/workspace; touch $here/workspace/ready",
            "failed",
        ),
    ] {
        let project = suite(
            mischief,
            "tests: [{commandSuccess: 'touch ~/x $TMPDIR/x && test -e ready'}]\n",
        );
        let trial = judged(&project, status);
        if status == "failed" {
            has_note(&trial, "directory of its trial");
        }
    }
}

/// The agent's shell is a child of the supervisor.
const SUPERVISOR: &str = "$(cut -d ' ' -f 4 /proc/$PPID/stat)";

#[test]
fn an_agent_that_shoots_its_supervisor_is_judged_once() {
    for (mischief, status) in [
        (
            format!("touch ready; kill -9 {SUPERVISOR}; sleep 300"),
            "passed",
        ),
        (format!("kill -9 {SUPERVISOR}; sleep 300"), "failed"),
    ] {
        let project = suite(&mischief, "tests: [{fileExists: ready}]\n");
        let outcome = project.terca(&["--format", "plain", "--retries", "3"]);
        assert!(outcome.status <= 1, "{}", outcome.stderr);
        project.assert_nothing_left();
        let trial = project.only_trial();
        assert_eq!(trial["status"], status, "{trial:#}");
        assert_eq!(trial["attempts"], 1, "{trial:#}");
        has_note(&trial, "supervisor was killed");
    }
}

#[test]
fn work_that_shoots_the_supervisor_of_a_test_fails_it() {
    let project = suite(
        "printf 'kill -9 $(cut -d \" \" -f 4 /proc/$PPID/stat); sleep 300\\n' > work.sh",
        "tests:\n  - commandSuccess: sh work.sh; true\n  - commandScore: sh work.sh; echo 1\n\
         \x20 - commandSuccess: echo still here\n",
    );
    let trial = judged(&project, "partial");
    for (name, score) in [
        ("commandSuccess-1", 0.0),
        ("commandScore-2", 0.0),
        ("commandSuccess-3", 1.0),
    ] {
        assert_eq!(trial["tests"][name]["score"], score, "{trial:#}");
    }
}

#[test]
fn what_terca_itself_was_given_cannot_be_read() {
    let value = "sk-canary-0123456789";
    let project = suite(
        "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' > environ.txt\n\
         readlink /proc/[0-9]*/cwd > cwd.txt\n\
         supervisor=$(cut -d ' ' -f 4 /proc/$PPID/stat)\n\
         for pid in $supervisor $(cut -d ' ' -f 4 /proc/$supervisor/stat); do\n\
         for what in cwd environ fd/0 mem exe; do\n\
         if cat /proc/$pid/$what >/dev/null 2>&1 || readlink /proc/$pid/$what; then echo $what; fi >> open.txt\n\
         done; done\n\
         ls ../.. > trials.txt 2>&1; true",
        "tests: [{commandSuccess: 'env > own.txt'}]\n",
    )
    .env("A_SECRET", value);
    let output = project
        .command_without_privileges(&["--format", "plain"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    project.assert_nothing_left();
    assert!(!project.trial_file("workspace/environ.txt").contains(value));
    let suite = project.dir();
    let directories = project.trial_file("workspace/cwd.txt");
    assert!(
        !directories.lines().any(|dir| dir == suite),
        "{directories}"
    );
    assert!(
        directories.contains("/workspace"),
        "it sees its own: {directories}"
    );
    assert_eq!(project.trial_file("workspace/open.txt"), "");
    let trials = project.trial_file("workspace/trials.txt");
    assert!(trials.contains("Permission denied"), "{trials}");
}

#[test]
fn everything_works_without_privileges() {
    let project = suite(
        "cat ~/made > work.txt; setsid sleep 300 & rm -rf ../io",
        "before: [{command: 'echo setup > ~/made; mkdir -m 000 ~/closed; echo x > f.txt'}]\n\
         tests:\n  - fileContains: {path: work.txt, text: setup}\n  - changedFiles: {never: [f.txt]}\n\
         \x20 - commandSuccess: 'test -d ~/closed'\n",
    );
    let output = project
        .command_without_privileges(&["--format", "plain"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    project.assert_nothing_left();
}

#[test]
fn figures_that_cannot_be_are_refused_with_a_note() {
    for (stats, note) in [
        ("{\"costUsd\": -5, \"outputTokens\": 7}", "-5"),
        ("{\"costUsd\": 1e300, \"outputTokens\": 7}", "1e"),
        ("{\"inputTokens\": 1e300, \"outputTokens\": 7}", "1e"),
        ("{\"inputTokens\": -1, \"outputTokens\": 7}", "-1"),
        (
            "{\"inputTokens\": 18446744073709551615, \"outputTokens\": 7}",
            "18446744073709551615",
        ),
    ] {
        let project = suite(
            &format!("echo '{stats}' > $TERCA_STATS_FILE"),
            "tests: [{commandSuccess: 'true'}]\n",
        );
        let trial = judged(&project, "passed");
        has_note(&trial, "which is impossible");
        has_note(&trial, note);
        assert_eq!(trial["stats"]["costUsd"], Value::Null, "{trial:#}");
        assert_eq!(trial["stats"]["inputTokens"], Value::Null, "{trial:#}");
        assert_eq!(trial["stats"]["outputTokens"], 7, "{trial:#}");
        assert_eq!(trial["spent"]["costUsd"], Value::Null, "{trial:#}");
    }
}

#[test]
fn links_out_of_the_workspace_do_not_count_for_files() {
    for (mischief, test) in [
        ("ln -s /etc/passwd out.js", "fileExists: out.js"),
        ("ln -s /etc/passwd out.js", "fileExists: '*.js'"),
        ("ln -s /etc etc", "fileExists: etc/passwd"),
        ("ln -s nowhere out.js", "fileExists: out.js"),
        ("ln -s nowhere out.js", "fileExists: '*.js'"),
        (
            "ln -s ../tmp/x out.js; touch ../tmp/x", "fileExists: '**/out.js'",
        ),
        (
            "ln -s /proc/self/environ out.js",
            "fileContains: {path: out.js, text: PATH}",
        ),
        (
            "ln -s /etc etc",
            "fileContains: {path: etc/passwd, text: root}",
        ),
        (
            "mkfifo out.js",
            "fileContains: {path: out.js, matches: '.*'}",
        ),
    ] {
        judged(
            &suite(mischief, &format!("tests: [{{{test}}}]\n")),
            "failed",
        );
    }
}

#[test]
fn links_inside_of_the_workspace_count_for_files() {
    let project = suite(
        "mkdir real; echo text > real/file; ln -s real in; ln -s real/file one.js; ln -s $PWD/real/file two.js",
        "tests:\n  - fileExists: [one.js, two.js, in/file, real, '*.js', 'in']\n\
         \x20 - fileContains: {path: one.js, text: text}\n  - fileContains: {path: two.js, text: text}\n\
         \x20 - fileContains: {path: in/file, text: text}\n",
    );
    judged(&project, "passed");
}

#[test]
fn a_side_file_that_cannot_be_read_is_no_error() {
    let project = suite(
        "echo '{\"requests\": 1}' > $TERCA_STATS_FILE; chmod 000 $TERCA_STATS_FILE; touch ready",
        "tests: [{fileExists: ready}]\n",
    );
    let output = project
        .command_without_privileges(&["--format", "plain"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    for instead in ["mkfifo", "mkdir", "ln -s /dev/zero"] {
        let project = suite(
            &format!("{instead} $TERCA_STATS_FILE; touch ready"),
            "tests: [{fileExists: ready}]\n",
        );
        judged(&project, "passed");
    }
}

/// Runs it where mounts and marks on files are allowed, and where they end with it.
fn judged_with_mounts(project: &Project) -> Value {
    let program = env!("CARGO_BIN_EXE_terca");
    let output = project
        .other("unshare", &["-m", program, "--format", "plain"])
        .output()
        .unwrap();
    assert_ne!(output.status.code(), Some(3), "{output:?}");
    project.only_trial()
}

#[test]
fn settings_above_the_workspace_do_not_reach_the_tests() {
    // Where a tool that goes up from the workspace would find them.
    for above in ["..", "../..", "../../.."] {
        let project = suite(
            &format!(
                "touch ready; cd {above}; touch package.json AGENTS.md; mkdir .cargo node_modules .git; \
                 printf '[alias]\\nx = \"y\"\\n' > .cargo/config.toml"
            ),
            "tests: [{commandSuccess: 'test -e ready && for up in .. ../.. ../../..; do \
             for name in package.json AGENTS.md .cargo node_modules .git; do test ! -e $up/$name || exit 1; done; done'}]\n",
        );
        judged(&project, "passed");
    }
    let project = suite(
        "touch ready ../../../../conftest.py", "tests: [{fileExists: ready}]\n",
    );
    project.terca(&["--format", "plain"]).expect_status(3);
    let trial = project.only_trial();
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(message.contains("conftest.py was created"), "{trial:#}");
}

/// Tests that mount something.
mod needs_root {
    use super::*;

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn directories_that_cannot_be_moved_are_judged() {
        for (mischief, note) in [
            ("mount --bind /etc ../home", "unusable"),
            ("mount -t tmpfs none ..", "mounted something"),
            ("chattr +i ..", "unusable"),
            ("chattr +i .", "unusable"),
        ] {
            let project = suite(
                &format!("touch ready; {mischief}; true"),
                "tests: [{fileExists: ready}]\n",
            );
            let trial = judged_with_mounts(&project);
            assert_ne!(trial["status"], "error", "{mischief}: {trial:#}");
            // Where the machine does not let it, the agent has done its work like any other.
            if trial["status"] == "failed" {
                has_note(&trial, note);
                let notes = trial["notes"].to_string();
                assert!(!notes.contains("removed its workspace"), "{notes}");
            }
        }
    }
}

#[test]
fn rights_that_a_test_takes_away_keep_nobody_from_judging() {
    let all = "tests:\n  - {name: work, commandSuccess: sh work.sh}\n  - {name: after, commandSuccess: 'true'}\n";
    for mischief in [
        "chmod 000 .",
        "chmod 000 ..",
        "chmod 000 \"$TERCA_TRIAL_DIR/artifacts\"",
        "chmod 000 ~ \"$TMPDIR\"",
    ] {
        let project = suite(&format!("echo '{mischief}; exit 1' > work.sh"), all);
        let outcome: Outcome = project
            .command_without_privileges(&["run", "--format", "plain", "--retries", "0"])
            .output()
            .unwrap()
            .into();
        assert!(
            outcome.status <= 1,
            "{mischief}: {}{}",
            outcome.stdout,
            outcome.stderr
        );
        let trial = project.only_trial();
        assert_eq!(trial["status"], "partial", "{mischief}: {trial:#}");
    }
}

#[test]
fn a_link_or_a_pipe_for_the_agents_output_leads_nowhere() {
    for mischief in ["ln -s SECRET", "mkfifo"] {
        let project = suite(
            &format!(
                "echo 'cd \"$TERCA_TRIAL_DIR/artifacts\"; rm stdout.log; {mischief} stdout.log' > work.sh"
            ),
            "tests:\n  - {name: work, commandSuccess: sh work.sh}\n\
             \x20 - {name: said, transcript: {outputContains: a secret of somebody}}\n",
        );
        let secret = project.home().join("secret.txt");
        std::fs::write(&secret, "a secret of somebody").unwrap();
        let agent = project.read("agent.sh").replace("SECRET", secret.as_str());
        let project = project.executable("agent.sh", &agent);
        let trial = judged(&project, "partial");
        assert_eq!(trial["tests"]["said"]["score"], 0.0, "{trial:#}");
    }
}
