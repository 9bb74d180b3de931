//! No process outlives the command that it belongs to, however either of them behaves.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::process::Exit;
use terca_core::process::Signal;
use terca_engine::process::interrupt::Interrupt;
use terca_engine::process::supervise::{
    Ended, Job, Launcher, SuperviseError, Supervisor, SupervisorGuard, SupervisorPool, Turn,
};
use terca_testkit::Project;

use crate::support::{launcher, project, read, wait_until};

/// A place for commands to run in.
struct Place {
    project: Project,
    interrupt: Interrupt,
}

impl Place {
    fn new() -> Self {
        Place {
            project: project(),
            interrupt: Interrupt::new().unwrap(),
        }
    }

    fn dir(&self) -> Utf8PathBuf {
        self.project.dir()
    }

    fn output(&self) -> String {
        read(&self.dir().join("output"))
    }

    /// The last line of the output. A shell may say before it that its child was ended.
    fn last_line(&self) -> String {
        self.output().lines().last().unwrap_or_default().to_owned()
    }

    /// A shell command with plenty of time.
    fn job(&self, command: &str) -> Job {
        let output = self.dir().join("output");
        std::fs::File::create(&output).unwrap();
        Job {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), command.into()],
            env: [
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("HERE".into(), self.dir().into_string()),
            ]
            .into(),
            dir: self.dir(),
            stdin: None,
            stdout: output.clone(),
            stderr: output,
            timeout: Duration::from_secs(600),
            stop_signal: Signal::Terminate,
            grace: Duration::from_secs(60),
            sweep: true,
            fixed_root: None,
        }
    }

    fn run(&self, job: &Job) -> Result<Ended, SuperviseError> {
        let mut supervisor = Supervisor::start(&launcher()).unwrap();
        supervisor.run(job, &self.interrupt, &mut || Turn::Wait)
    }

    /// Runs a job, and interrupts it as soon as the file is there.
    fn run_until(&self, file: &str, job: &Job, interrupt: fn(&Interrupt)) -> Ended {
        std::thread::scope(|scope| {
            let running = scope.spawn(|| self.run(job));
            let file = self.dir().join(file);
            wait_until("the command runs", || {
                file.exists() || running.is_finished()
            });
            interrupt(&self.interrupt);
            running.join().unwrap().unwrap()
        })
    }

    fn assert_nothing_left(&self) {
        let left = self.project.processes();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A service in a session of its own, deaf to signals, that says when it runs.
const DEAF_SERVICE: &str = "setsid sh -c 'trap \"\" TERM INT HUP; : > running; exec sleep 300' & \
                            while [ ! -e running ]; do sleep 0.01; done";

#[test]
fn a_command_ends_with_its_exit_and_its_output_is_in_the_file() {
    let place = Place::new();
    let ended = place
        .run(&place.job("echo out; echo err >&2; exit 7"))
        .unwrap();
    assert_eq!(ended.exit, Exit::Code(7));
    assert!(!ended.timed_out && !ended.stopped);
    assert_eq!(place.output(), "out\nerr\n");

    let killed = place.run(&place.job("kill -SEGV $$")).unwrap();
    assert_eq!(killed.exit, Exit::Signal(11));
}

#[test]
fn nothing_of_the_environment_is_inherited_and_the_input_is_the_file() {
    let place = Place::new();
    let input = place.dir().join("input");
    std::fs::write(&input, "from the file\n").unwrap();
    let job = Job {
        stdin: Some(input),
        ..place.job("cat; env | grep -c CARGO; pwd")
    };
    place.run(&job).unwrap();
    assert_eq!(
        place.output(),
        format!("from the file\n0\n{}\n", place.dir())
    );
    // Without a file there is no input at all.
    place.run(&place.job("cat; echo end")).unwrap();
    assert_eq!(place.output(), "end\n");
}

#[test]
fn out_of_time_it_is_asked_to_end_with_the_signal_it_knows() {
    for (signal, name) in [(Signal::Terminate, "TERM"), (Signal::Interrupt, "INT")] {
        let place = Place::new();
        let job = Job {
            timeout: Duration::from_millis(200),
            stop_signal: signal,
            ..place.job(&format!(
                "trap 'echo asked; exit 5' {name}; while :; do sleep 0.01; done"
            ))
        };
        let ended = place.run(&job).unwrap();
        assert!(ended.timed_out, "{name}");
        assert_eq!(ended.exit, Exit::Code(5), "{name}");
        assert_eq!(place.last_line(), "asked", "{name}");
        place.assert_nothing_left();
    }
}

#[test]
fn a_command_deaf_to_signals_is_killed_after_the_grace() {
    let place = Place::new();
    let job = Job {
        timeout: Duration::from_millis(100),
        grace: Duration::from_millis(100),
        ..place.job("trap '' TERM INT; while :; do sleep 0.01; done")
    };
    let ended = place.run(&job).unwrap();
    assert!(ended.timed_out);
    assert_eq!(ended.exit, Exit::Signal(9));
    place.assert_nothing_left();
}

#[test]
fn a_group_that_was_asked_to_end_has_its_grace_after_the_command_itself_has_ended() {
    let place = Place::new();
    let job = Job {
        timeout: Duration::from_millis(200),
        ..place.job(
            "(trap 'sleep 0.2; echo tidied; exit' TERM; while :; do sleep 0.01; done) & \
             trap 'exit 0' TERM; while :; do sleep 0.01; done",
        )
    };
    assert!(place.run(&job).unwrap().timed_out);
    assert_eq!(place.last_line(), "tidied");
}

#[test]
fn orphans_in_sessions_of_their_own_are_ended_with_the_command() {
    let place = Place::new();
    let ended = place.run(&place.job(DEAF_SERVICE)).unwrap();
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!(ended.left_behind, 0);
    place.assert_nothing_left();
}

#[test]
fn a_service_of_set_up_runs_on_until_it_is_swept() {
    let place = Place::new();
    let mut supervisor = Supervisor::start(&launcher()).unwrap();
    let job = Job {
        sweep: false,
        ..place.job(DEAF_SERVICE)
    };
    supervisor
        .run(&job, &place.interrupt, &mut || Turn::Wait)
        .unwrap();
    assert_eq!(place.project.processes().len(), 1, "the service");
    let next = Job {
        sweep: false,
        ..place.job("echo next")
    };
    supervisor
        .run(&next, &place.interrupt, &mut || Turn::Wait)
        .unwrap();
    assert_eq!(place.project.processes().len(), 1, "still the service");
    assert_eq!(supervisor.sweep(&place.interrupt).unwrap().left_behind, 0);
    place.assert_nothing_left();
}

#[test]
fn the_end_of_the_supervisor_is_the_end_of_everything_below_it() {
    let place = Place::new();
    let mut supervisor = Supervisor::start(&launcher()).unwrap();
    let job = Job {
        sweep: false,
        ..place.job(DEAF_SERVICE)
    };
    supervisor
        .run(&job, &place.interrupt, &mut || Turn::Wait)
        .unwrap();
    assert_eq!(place.project.processes().len(), 1, "the service");
    drop(supervisor);
    place.assert_nothing_left();
}

#[test]
fn a_command_that_shoots_its_supervisor_ends_with_it() {
    let place = Place::new();
    let mut supervisor = Supervisor::start(&launcher()).unwrap();
    let job = place.job(&format!("{DEAF_SERVICE}; kill -9 $PPID; sleep 300"));
    let ended = supervisor
        .run(&job, &place.interrupt, &mut || Turn::Wait)
        .unwrap();
    assert!(ended.lost && !ended.timed_out, "{ended:?}");
    place.assert_nothing_left();
    // It stays lost, and says so.
    let again = supervisor.run(&place.job("echo again"), &place.interrupt, &mut || {
        Turn::Wait
    });
    assert!(again.unwrap().lost);
    let swept = supervisor.sweep(&place.interrupt);
    assert!(matches!(swept, Err(SuperviseError::Lost)), "{swept:?}");
}

#[test]
fn one_that_is_shot_takes_no_other_with_it() {
    let here = Place::new();
    let there = Place::new();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            there.run(&there.job(": > running; while [ ! -e go ]; do sleep 0.01; done; exit 4"))
        });
        wait_until("the other runs", || there.dir().join("running").exists());
        let shot = here.run(&here.job("kill -9 $PPID; sleep 300"));
        assert!(shot.unwrap().lost);
        here.assert_nothing_left();
        std::fs::write(there.dir().join("go"), "").unwrap();
        assert_eq!(other.join().unwrap().unwrap().exit, Exit::Code(4));
    });
}

#[test]
fn a_supervisor_cannot_be_asked_to_leave() {
    let place = Place::new();
    let job = place.job("for signal in TERM INT HUP QUIT; do kill -$signal $PPID; done; exit 3");
    assert_eq!(place.run(&job).unwrap().exit, Exit::Code(3));
}

#[test]
fn an_interrupt_asks_and_a_second_one_kills() {
    let place = Place::new();
    let polite =
        place.job("trap 'echo asked; exit 6' TERM; : > running; while :; do sleep 0.01; done");
    let ended = place.run_until("running", &polite, Interrupt::stop);
    assert!(ended.stopped && !ended.timed_out);
    assert_eq!(ended.exit, Exit::Code(6));
    assert_eq!(place.last_line(), "asked");

    let place = Place::new();
    let deaf = place.job("trap '' TERM INT; : > running; while :; do sleep 0.01; done");
    let ended = place.run_until("running", &deaf, Interrupt::kill);
    assert!(ended.stopped);
    assert_eq!(ended.exit, Exit::Signal(9), "without waiting for the grace");
    place.assert_nothing_left();
}

#[test]
fn the_caller_gets_its_turns_while_a_command_runs() {
    let place = Place::new();
    let mut supervisor = Supervisor::start(&launcher()).unwrap();
    let go = place.dir().join("go");
    let mut turns = 0;
    let job = place.job("while [ ! -e go ]; do sleep 0.01; done");
    let ended = supervisor.run(&job, &place.interrupt, &mut || {
        turns += 1;
        if turns == 3 {
            std::fs::write(&go, "").unwrap();
        }
        if turns < 3 { Turn::Again } else { Turn::Wait }
    });
    assert_eq!(ended.unwrap().exit, Exit::Code(0));
    assert!(turns >= 3);
}

#[test]
fn the_caller_can_end_a_command() {
    let place = Place::new();
    let mut supervisor = Supervisor::start(&launcher()).unwrap();
    let job =
        place.job("trap 'echo asked; exit 3' TERM; echo > here; while :; do sleep 0.01; done");
    let here = place.dir().join("here");
    let ended = supervisor.run(&job, &place.interrupt, &mut || {
        if here.exists() {
            Turn::Stop
        } else {
            Turn::Wait
        }
    });
    let ended = ended.unwrap();
    assert!(ended.stopped && !ended.timed_out);
    assert_eq!(ended.exit, Exit::Code(3), "it was asked, not killed");
    place.assert_nothing_left();
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let place = Place::new();
    let job = Job {
        program: "/nowhere/agent".into(),
        ..place.job("")
    };
    let error = place.run(&job).unwrap_err().to_string();
    assert!(
        error.contains("`/nowhere/agent` could not be started"),
        "{error}"
    );
}

#[test]
fn a_supervisor_that_cannot_be_started_is_an_error() {
    let missing = Launcher::new("/nowhere/terca");
    let error = Supervisor::start(&missing).unwrap_err();
    assert!(matches!(error, SuperviseError::Start(_)), "{error}");
}

/// Runs a command. Returns the id of its supervisor.
fn run_under(supervisor: &mut SupervisorGuard<'_>, place: &Place, command: &str) -> String {
    let job = place.job(&format!("{command}; echo $PPID"));
    supervisor.run(&job, None, &mut |_| Turn::Wait).unwrap();
    place.output()
}

fn run_in(pool: &SupervisorPool, place: &Place, command: &str) -> String {
    let mut supervisor = pool.acquire(&place.interrupt).unwrap();
    run_under(&mut supervisor, place, command)
}

#[test]
fn a_supervisor_that_is_as_new_is_used_again_and_no_other() {
    let place = Place::new();
    let pool = SupervisorPool::new(launcher());
    let first = run_in(&pool, &place, "true");
    assert_eq!(run_in(&pool, &place, "true"), first);
    assert_eq!(
        run_in(&pool, &place, DEAF_SERVICE),
        first,
        "it has ended the service"
    );
    place.assert_nothing_left();
    assert_eq!(
        run_in(&pool, &place, "renice -n $(($(nice) + 1)) -p $PPID >&-"),
        first
    );
    let second = run_in(&pool, &place, "true");
    assert_ne!(second, first, "commands would inherit what was done to it");
}

#[test]
fn two_trials_at_once_have_a_supervisor_each() {
    let place = Place::new();
    let pool = SupervisorPool::new(launcher());
    let mut one = pool.acquire(&place.interrupt).unwrap();
    let mut other = pool.acquire(&place.interrupt).unwrap();
    assert_ne!(
        run_under(&mut one, &place, "true"),
        run_under(&mut other, &place, "true")
    );
}

#[test]
fn after_an_interrupt_no_supervisor_is_kept() {
    let place = Place::new();
    let pool = SupervisorPool::new(launcher());
    let first = run_in(&pool, &place, "true");
    place.interrupt.stop();
    let guard = pool.acquire(&place.interrupt).unwrap();
    drop(guard);
    assert!(
        !Utf8Path::new("/proc").join(first.trim()).exists(),
        "it has ended"
    );
}
