//! The live display in tmux, which rewraps lines when a window is resized.

use std::process::Stdio;

use camino::Utf8Path;
use terca_testkit::{Project, wait_until};

use crate::common::{PROGRAM, project};

const TRIALS: usize = 6;
/// The line below the display.
const HINT: &str = "q stop";

/// A server of its own, with one window.
struct Tmux {
    project: Project,
}

impl Tmux {
    /// Starts a run in a window, after some lines of another program. Its agents wait until they may go.
    fn running(lines: usize, columns: usize, rows: usize) -> Self {
        let bin = Utf8Path::new(PROGRAM).parent().unwrap();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
        let project = project()
            .env("PATH", &path)
            .env("LANG", "C.UTF-8")
            .file(
                "terca.yaml",
                format!(
                    "concurrency: {TRIALS}\nrepetitions: {TRIALS}\nsandbox: none\n\
                     environments:\n  - name: e\n    agent: {{name: command, command: 'echo some words of the agent; \
                     while [ ! -e go ]; do sleep 0.05; done'}}\n\
                     evals:\n  - {{name: a-task-with-a-long-name, prompt: do it, allowWarnings: no-tests}}\n"
                ),
            );
        let tmux = Tmux { project };
        let size = [columns, rows].map(|number| number.to_string());
        let shell = format!("seq {lines}; terca; echo status $?; cat");
        let session = [
            "-f", "/dev/null", "new-session", "-d", "-x", &size[0], "-y", &size[1], &shell,
        ];
        tmux.ask(&session);
        tmux.ask(&["set-option", "-g", "window-size", "manual"]);
        wait_until("the agents are at work", || {
            tmux.screen().matches("some words").count() == TRIALS
        });
        tmux
    }

    fn ask(&self, words: &[&str]) -> String {
        let socket = self.project.home().join("tmux");
        let mut command = self.project.other("tmux", &["-S", socket.as_str()]);
        let output = command.args(words).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The rows in sight.
    fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p"])
    }

    /// The rows in sight, and all that have scrolled away.
    fn everything(&self) -> String {
        self.ask(&["capture-pane", "-p", "-S", "-"])
    }

    /// Resizes the window, and waits until the display is drawn anew: there is room for the phase in a wide one only.
    fn resize(&self, columns: usize, rows: usize) {
        let size = [columns, rows].map(|number| number.to_string());
        self.ask(&["resize-window", "-x", &size[0], "-y", &size[1]]);
        let has_phase = columns >= 80;
        wait_until("the display fits the window", || {
            let screen = self.screen();
            let trials = screen.lines().filter(|line| line.starts_with("· "));
            let phases: Vec<bool> = trials.map(|line| line.contains("agent ")).collect();
            !phases.is_empty() && phases.iter().all(|phase| *phase == has_phase)
        });
    }

    /// Lets the agents end. Returns everything that is left.
    fn end(&self) -> String {
        for trial in 1..=TRIALS {
            let workspace = format!("a-task-with-a-long-name/e.default.{trial:02}/workspace/go");
            std::fs::write(self.project.run_dir().join(workspace), "").unwrap();
        }
        wait_until("the run is over", || self.screen().contains("status 0"));
        self.everything()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.ask(&["kill-server"]);
        self.project.wait_until_nothing_runs();
    }
}

#[test]
#[ignore = "needs tmux"]
fn large_resizes_leave_no_old_rows() {
    let tmux = Tmux::running(60, 120, 40);
    for columns in [40, 100, 30, 80] {
        tmux.resize(columns, 40);
        let screen = tmux.screen();
        assert_eq!(screen.matches(HINT).count(), 1, "{columns}: {screen}");
    }
    let left = tmux.end();
    assert!(!left.contains("\n· ") && !left.contains(HINT), "{left}");
    assert_eq!(left.matches("? unverified").count(), TRIALS, "{left}");
}

/// On a screen that was empty tmux moves the top of the display out of reach, and the cursor into the corner.
#[test]
#[ignore = "needs tmux"]
fn a_display_in_the_corner_is_erased_by_a_program_that_ends_at_once() {
    let tmux = Tmux::running(0, 120, 24);
    tmux.resize(30, 24);
    // All at once: the third stop does not wait for anything to be drawn.
    tmux.ask(&["send-keys", "qqq"]);
    wait_until("the run is over", || tmux.screen().contains("status 130"));
    let left = tmux.everything();
    assert!(!left.contains(HINT), "{left}");
}
