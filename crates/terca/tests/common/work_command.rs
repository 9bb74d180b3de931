//! `$TERCA_WORK` in a sandbox, or without one.

use std::net::TcpListener;

use serde_json::Value;
use terca_testkit::Project;

use super::project;

/// Prints what the hidden test wants, if it finds it.
const LOOKS_UP: &str = "for f in hidden/* */*.sh ../*/hidden/*; do sed -n \"s/^# answer: //p\" $f 2>/dev/null; done | head -n 1";

/// A suite with hidden tests that start `work.sh`, and an agent that writes it.
fn suite(work: &str, check: &str) -> Project {
    project()
        .file("_base/README", "about\n")
        .agent(&format!("mkdir sub tests; touch tests/own; cat > work.sh <<'E'\n{work}\nE"))
        .file(
            "task/eval.terca.yaml",
            "prompt: do it\ntests: [{name: check, commandSuccess: {command: sh hidden/check.sh, outputContains: all is well}}]\n",
        )
        .file("task/_solution/answer.txt", "secret")
        .file("task/_tests/tests/more.sh", "# hidden, in a directory of the work\n")
        .file("task/_tests/hidden/check.sh", format!("# answer: 42\n{check}\necho all is well\n"))
}

/// Runs a suite, and returns its trial and whether the kernel can hide anything.
#[track_caller]
fn trial(project: &Project, sandbox: &str) -> (Value, bool) {
    project.terca(&["run", "--sandbox", sandbox]);
    let trial = project.only_trial();
    assert!(trial["error"].is_null(), "{trial:#}");
    let hid_nothing = trial["notes"]
        .to_string()
        .contains("`$TERCA_WORK` hid nothing");
    (trial, !hid_nothing)
}

#[track_caller]
fn passes(project: &Project, sandbox: &str) -> bool {
    let (trial, hides) = trial(project, sandbox);
    let log = project.trial_file("run.log");
    assert_eq!(trial["status"], "passed", "{sandbox}: {trial:#}\n{log}");
    hides
}

/// Work that looks the answer up in the hidden test fails, and passes where the test starts it by itself.
pub fn looking_it_up_gains_nothing(sandbox: &str) {
    let check = |start: &str| format!("[ \"$({start} sh work.sh)\" = 42 ] || exit 1");
    passes(&suite(LOOKS_UP, &check("")), sandbox);
    let (trial, hides) = trial(&suite(LOOKS_UP, &check("$TERCA_WORK")), sandbox);
    assert_eq!(
        trial["status"],
        if hides { "failed" } else { "passed" },
        "{trial:#}"
    );
    passes(&suite("echo 42", &check("$TERCA_WORK")), sandbox);
}

/// Input, output, arguments, directory, exit status and signals are the command's own, and it works in the workspace.
pub fn it_is_the_command_itself(sandbox: &str) {
    let work = "case $1 in \
        args) shift; printf '<%s>' \"$@\";; \
        input) cat; echo error >&2;; \
        status) exit 7;; \
        signal) kill -TERM $$; sleep 600;; \
        wait) trap 'echo ended; exit 3' TERM; echo up > up; while :; do sleep 0.05; done;; \
        here) ls; cat README;; \
        new) echo x > new;; \
        files) echo x > new && cat given && mkdir made && echo y > made/deep && cat made/deep && mv made/deep sub/ \
          && echo h > $HOME/h && cat $HOME/h && echo t > $TMPDIR/t && cat $TMPDIR/t && echo z > /tmp/terca-work-$$ && rm /tmp/terca-work-$$;; \
        esac";
    let check = r#"fail() { echo "wrong: $1"; exit 1; }
        w() { "$TERCA_WORK" sh ./work.sh "$@"; }
        [ "$(w args 'a b' '' '*')" = '<a b><><*>' ] || fail args
        [ "$(echo in | w input 2>err | cat)" = in ] && [ "$(cat err)" = error ] || fail input
        w status; [ $? = 7 ] || fail status
        w signal; [ $? = 143 ] || fail signal
        "$TERCA_WORK" sh ./work.sh wait > ended & pid=$!
        while ! [ -e up ]; do sleep 0.05; done
        kill -TERM $pid; wait $pid; [ $? = 3 ] && [ "$(cat ended)" = ended ] || fail wait
        w here | grep -q about || fail here
        (cd sub && $TERCA_WORK sh ../work.sh args && $TERCA_WORK cat ../README | grep -q about) || fail sub
        $TERCA_WORK sh "$PWD/work.sh" here | grep -q about || fail absolute
        echo g > given
        FILES
        [ "$(cat new)" = x ] && [ "$(cat sub/deep)" = y ] && w here | grep -q new || fail made
        $TERCA_WORK cat new | grep -q x || fail later
        $TERCA_WORK nothing-of-the-sort 2> err; [ $? = 126 ] && grep -q TERCA_WORK err || fail missing"#;
    // Rules alone let no file be read that the same command has made beside a hidden one.
    let files = match sandbox {
        "landlock" => "mkdir made; echo y > made/deep; mv made/deep sub; w new",
        _ => "w files || fail files",
    };
    passes(&suite(work, &check.replace("FILES", files)), sandbox);
}

/// The work reads nothing that is hidden, by whichever way, and reaches no network.
pub fn it_reaches_nothing_hidden(sandbox: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let found = "grep -rqs 'answer: 4[2]'";
    let work = format!(
        "case $1 in \
        first) mv hidden seen; mv tests seen-too; ln */check.sh copy; ln hidden/check.sh hidden/copy; mv sub/a b; mv tests sub/tests;; \
        second) {found} . && echo found; {found} $P && echo found; {found} hidden seen sub $P/hidden $P/seen $P/sub && echo found;; \
        suite) {found} \"$TERCA_SUITE_DIR\" \"$TERCA_TRIAL_DIR\" {suite} && echo found;; \
        parent) cat /proc/$PPID/environ >/dev/null 2>&1 && echo found; kill -0 $PPID && echo found;; \
        input) {found} - && echo found;; \
        network) bash -c ': < /dev/tcp/127.0.0.1/{port}' && echo found;; \
        esac 2>/dev/null; true",
        suite = "/proc/$PPID/root/ /proc/$PPID/cwd/",
    );
    let check = r#"export P=$PWD
        w() { "$TERCA_WORK" sh ./work.sh "$@"; }
        for what in first second second suite parent network; do
          [ -z "$(w $what)" ] || { echo "found: $what"; exit 1; }
        done
        [ -z "$(w input < hidden/check.sh)" ] || { echo found: input; exit 1; }"#;
    let project = suite(&work, check);
    let (trial, hides) = trial(&project, sandbox);
    let log = project.trial_file("run.log");
    assert_eq!(log.contains("all is well"), hides, "{trial:#}\n{log}");
    assert!(!hides || !log.contains("found: "), "{log}");
    drop(listener);
}
