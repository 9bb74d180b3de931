//! The stages of a trial: what each leaves, and where a trial ends that cannot go on.

use terca_core::run::event::Phase;
use terca_core::run::outcome::Status;
use terca_core::trial_error::ErrorKind;
use terca_engine::process::interrupt::Interrupt;
use terca_engine::trial::{Ungradable, is_gradable, regrade};
use terca_testkit::misbehaving_agent;

use crate::support::{Suite, Trial, project};

/// A suite with one eval, whose agent is a shell command. `rest` is more of the eval.
fn suite_with(agent: &str, rest: &str) -> Suite {
    let project = project()
        .file(
            "terca.yaml",
            format!(
                "environments: [{{name: e, agent: {{name: command, command: {agent:?}}}}}]\n\
                 evals:\n  - name: task\n    prompt: do it\n{rest}"
            ),
        )
        .file("_base/base.txt", "base\n");
    Suite::load(project)
}

const ALL: [Phase; 4] = [Phase::Setup, Phase::Agent, Phase::Tests, Phase::Collect];

fn status(trial: &Trial) -> Status {
    trial.report.status
}

#[test]
fn a_trial_that_goes_through_all_stages_leaves_everything() {
    let suite = suite_with(
        "echo hello; echo work > work.txt",
        "    tests:\n      - fileExists: work.txt\n      - commandSuccess: test -e base.txt && touch by-a-test\n",
    );
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Passed, "{:?}", trial.report);
    assert_eq!(trial.phases, ALL);
    assert_eq!(trial.report.score, Some(1.0));
    assert_eq!(trial.report.exit_code, Some(0));
    let phases = &trial.report.phases;
    assert!(phases.setup.is_some() && phases.agent.is_some() && phases.tests.is_some());
    assert_eq!(trial.read("workspace/work.txt"), "work\n");
    assert!(
        !trial.folder.join("workspace/by-a-test").exists(),
        "tests run on a copy"
    );
    assert_eq!(trial.read("artifacts/stdout.log"), "hello\n");
    assert!(trial.read("changes.diff").contains("+work"));
    assert!(trial.read("artifacts/agent-work.json").contains("work.txt"));
    assert!(trial.read("run.log").contains("passed: score 1.00"));
    suite.assert_nothing_left();
}

#[test]
fn a_set_up_that_fails_ends_the_trial_before_its_agent() {
    for (command, message) in [
        ("exit 3", "`exit 3`: exit status 3"),
        ("rm -rf $PWD", "it removed the workspace"),
        (
            "{command: sleep 300, timeoutSeconds: 0.2}",
            "still running after",
        ),
    ] {
        let suite = suite_with(
            "touch agent-ran",
            &format!("    before:\n      - command: {command}\n"),
        );
        let trial = suite.run();
        assert_eq!(status(&trial), Status::Error, "{command}");
        let (kind, said) = trial.error();
        assert_eq!(kind, ErrorKind::Setup, "{command}");
        assert!(said.contains(message), "{command}: {said}");
        assert_eq!(trial.phases, [Phase::Setup, Phase::Collect], "{command}");
        assert!(trial.report.phases.agent.is_none(), "{command}");
        assert!(trial.report.stats.duration_seconds.is_none(), "{command}");
        assert!(!trial.folder.join("workspace/agent-ran").exists());
        suite.assert_nothing_left();
    }
}

#[test]
fn an_agent_that_is_not_installed_is_missed_before_set_up() {
    let suite = Suite::load(project().file(
        "terca.yaml",
        "environments: [{name: e, agent: codex}]\n\
         evals: [{name: task, prompt: x, before: [{command: touch set-up-ran}]}]\n",
    ));
    let trial = suite.run();
    let (kind, message) = trial.error();
    assert_eq!(kind, ErrorKind::AgentMissing);
    assert!(message.contains("`codex` is not installed"), "{message}");
    assert!(!trial.folder.join("workspace/set-up-ran").exists());
    suite.assert_nothing_left();
}

#[test]
fn a_judge_that_is_not_installed_is_missed_before_the_agent_works() {
    let suite = suite_with(
        "touch agent-ran",
        "    tests:\n      - name: nice\n        judge: {rubric: is it nice?, agent: codex}\n",
    );
    let trial = suite.run();
    let (kind, message) = trial.error();
    assert_eq!(kind, ErrorKind::AgentMissing);
    assert!(
        message.contains("test `nice`: the judge (codex)"),
        "{message}"
    );
    assert!(!trial.folder.join("workspace/agent-ran").exists());
    suite.assert_nothing_left();
}

#[test]
fn an_oracle_without_a_solution_is_an_error_of_the_set_up() {
    let suite = Suite::load(project().file(
        "terca.yaml",
        "environments: [{name: e, agent: oracle}]\nevals: [{name: task, prompt: x}]\n",
    ));
    let trial = suite.run();
    let (kind, message) = trial.error();
    assert_eq!(kind, ErrorKind::Setup);
    assert!(message.contains("no _solution/ directory"), "{message}");
    assert_eq!(trial.phases, [Phase::Setup, Phase::Collect]);
    suite.assert_nothing_left();
}

#[test]
fn an_agent_that_crashes_without_work_is_not_graded_and_its_run_is_reported() {
    let suite = suite_with("exit 9", "    tests:\n      - commandSuccess: 'true'\n");
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Error);
    assert_eq!(trial.error().0, ErrorKind::Agent);
    assert_eq!(trial.phases, [Phase::Setup, Phase::Agent, Phase::Collect]);
    assert_eq!(trial.report.exit_code, Some(9));
    assert!(trial.report.stats.duration_seconds.is_some());
    assert!(trial.report.phases.agent.is_some());
    assert!(trial.report.phases.tests.is_none());
    assert!(!trial.folder.join("artifacts/agent-work.json").exists());
    assert!(is_gradable(&suite.specs[0], &trial.report, &suite.context).is_err());
    suite.assert_nothing_left();
}

#[test]
fn an_agent_that_crashes_with_work_is_graded_by_it() {
    let suite = suite_with(
        "touch work; exit 9", "    tests:\n      - fileExists: work\n",
    );
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Passed);
    assert!(
        trial.report.notes[0].contains("its work until then was judged"),
        "{:?}",
        trial.report.notes
    );
    suite.assert_nothing_left();
}

#[test]
fn an_agent_out_of_time_is_graded_by_its_work() {
    let suite = suite_with(
        "touch work; sleep 300",
        "    timeoutSeconds: 0.3\n    tests:\n      - fileExists: work\n",
    );
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Passed);
    assert!(trial.report.timed_out);
    suite.assert_nothing_left();
}

#[test]
fn without_tests_nothing_is_verified() {
    let suite = suite_with("true", "");
    assert_eq!(status(&suite.run()), Status::Unverified);
    let suite = suite_with("sleep 300", "    timeoutSeconds: 0.2\n");
    assert_eq!(status(&suite.run()), Status::Unverified);
}

#[test]
fn an_agent_that_shoots_its_supervisor_is_judged_and_nothing_stays() {
    let agent = format!("{} shoots-supervisor", misbehaving_agent());
    let suite = suite_with(&agent, "    tests:\n      - fileExists: ready\n");
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Passed);
    let notes = &trial.report.notes;
    assert!(notes[0].contains("supervisor was killed"), "{notes:?}");
    assert_eq!(
        trial.phases,
        [Phase::Setup, Phase::Agent, Phase::Tests, Phase::Collect]
    );
    assert!(
        trial.folder.join("workspace/ready").exists(),
        "its workspace is kept"
    );
    // The next trial has another supervisor.
    assert_eq!(suite.run_attempt(2).phases, trial.phases);
    suite.assert_nothing_left();
}

#[test]
fn daemons_of_set_up_and_agent_end_before_the_tests() {
    let service = "setsid sleep 300 & echo $! > ../service";
    for agent in ["setsid sleep 300 &", "true"] {
        let suite = suite_with(
            agent,
            &format!(
                "    before:\n      - command: {service:?}\n      - command: kill -0 $(cat ../service)\n\
                 \x20   tests:\n      - commandSuccess: '! kill -0 $(cat ../service)'\n"
            ),
        );
        let trial = suite.run();
        assert_eq!(status(&trial), Status::Passed, "{:?}", trial.report);
        suite.assert_nothing_left();
    }
}

#[test]
fn a_test_without_a_verdict_is_an_error_that_can_be_graded_again() {
    let suite = suite_with(
        "touch work",
        "    tests:\n      - name: tools\n        commandSuccess: no-such-program-anywhere\n",
    );
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Error);
    let (kind, message) = trial.error();
    assert_eq!(kind, ErrorKind::Setup);
    assert!(message.contains("test `tools`"), "{message}");
    assert!(message.contains("no-such-program-anywhere"), "{message}");
    assert_eq!(trial.phases, ALL);
    assert_eq!(trial.report.score, None);
    assert_eq!(
        trial.report.exit_code,
        Some(0),
        "the agent's run is reported"
    );
    assert!(is_gradable(&suite.specs[0], &trial.report, &suite.context).is_ok());
    suite.assert_nothing_left();
}

#[test]
fn an_interrupt_in_each_stage_is_an_interrupt() {
    let sleeping = "touch ready; sleep 300";
    let cases = [
        (
            suite_with(
                "true",
                &format!("    before:\n      - command: {sleeping}\n"),
            ),
            &[Phase::Setup, Phase::Collect][..],
        ),
        (
            suite_with(sleeping, "    tests:\n      - fileExists: ready\n"),
            &[Phase::Setup, Phase::Agent, Phase::Collect],
        ),
        (
            suite_with(
                "true",
                &format!("    tests:\n      - commandSuccess: {sleeping}\n"),
            ),
            &ALL,
        ),
    ];
    for (suite, phases) in cases {
        let trial = suite.run_until("ready", Interrupt::stop);
        assert_eq!(status(&trial), Status::Interrupted, "{phases:?}");
        assert_eq!(trial.phases, phases);
        assert_eq!(trial.report.error, None);
        assert_eq!(trial.report.score, None);
        assert!(trial.folder.join("workspace").is_dir(), "{phases:?}");
        suite.assert_nothing_left();
    }
}

#[test]
fn a_second_interrupt_does_not_wait_for_an_agent_that_is_deaf() {
    let agent = format!("{} ignores-signals", misbehaving_agent());
    let suite = suite_with(&agent, "");
    let trial = suite.run_until("ready", Interrupt::kill);
    assert_eq!(status(&trial), Status::Interrupted);
    suite.assert_nothing_left();
}

#[test]
fn a_trial_that_starts_after_an_interrupt_runs_nothing() {
    let suite = suite_with("touch agent-ran", "");
    suite.context.interrupt.stop();
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Interrupted);
    assert!(!trial.folder.join("workspace/agent-ran").exists());
    suite.assert_nothing_left();
}

#[test]
fn a_layer_is_made_by_one_trial_and_found_by_the_next() {
    let suite = Suite::load(
        project()
            .file(
                "terca.yaml",
                "environments: [{name: e, agent: nop}]\nrepetitions: 2\n\
                 prepare: [{command: 'echo made > layer.txt; echo once >> $TERCA_SUITE_DIR/count'}]\n\
                 evals: [{name: task, prompt: x, tests: [{fileContains: {path: layer.txt, text: made}}]}]\n",
            ),
    );
    for attempt in 1..=2 {
        let trial = suite.run_attempt(attempt);
        assert_eq!(status(&trial), Status::Passed, "{:?}", trial.report);
    }
    assert_eq!(suite.project.read("count"), "once\n");
    suite.assert_nothing_left();
}

#[test]
fn a_layer_that_cannot_be_made_is_an_error_of_the_set_up() {
    let suite = Suite::load(project().file(
        "terca.yaml",
        "environments: [{name: e, agent: nop}]\nprepare: [{command: echo once >> $TERCA_SUITE_DIR/count; exit 4}]\nevals: [{name: task, prompt: x}]\n",
    ));
    let first = suite.run();
    let (kind, message) = first.error();
    assert_eq!(kind, ErrorKind::Setup);
    assert!(message.contains("exit status 4"), "{message}");
    let again = suite.run_attempt(2);
    assert_eq!(again.error(), (kind, message), "it is not tried again");
    assert_eq!(suite.project.read("count"), "once\n");
    assert!(again.read("run.log").contains("exit status 4"));
    suite.assert_nothing_left();
}

#[test]
fn an_earlier_attempt_is_kept_beside_the_next() {
    let suite = suite_with("echo attempt", "");
    suite.run();
    let second = suite.run_attempt(2);
    assert_eq!(second.report.attempts, 2);
    assert_eq!(second.read("attempts/01/artifacts/stdout.log"), "attempt\n");
    suite.assert_nothing_left();
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_of_the_machine() {
    let suite = suite_with("true", "");
    std::fs::remove_dir(&suite.context.run_dir).unwrap();
    std::fs::write(&suite.context.run_dir, "in the way").unwrap();
    let trial = suite.run();
    assert_eq!(trial.error().0, ErrorKind::Internal);
    assert_eq!(trial.phases, [], "it has not begun");
    suite.assert_nothing_left();
}

/// Grades the first trial again.
fn grade_again(suite: &Suite, trial: &Trial) -> Status {
    is_gradable(&suite.specs[0], &trial.report, &suite.context).unwrap();
    regrade(&suite.specs[0], &trial.report, 2, &suite.context)
        .expect("not interrupted")
        .status
}

#[test]
fn a_saved_trial_is_graded_again_and_stays_as_it_is() {
    let suite = suite_with(
        "echo work > work.txt",
        "    tests:\n      - commandSuccess: rm work.txt\n      - changedFiles: {only: [work.txt]}\n",
    );
    let trial = suite.run();
    assert_eq!(status(&trial), Status::Passed, "{:?}", trial.report);
    assert_eq!(grade_again(&suite, &trial), Status::Passed);
    assert_eq!(trial.read("workspace/work.txt"), "work\n");
    assert!(trial.read("gradings/02.log").contains("test: "));
    suite.assert_nothing_left();
}

#[test]
fn a_trial_whose_files_were_changed_is_not_graded_again() {
    let suite = suite_with(
        "echo work > work.txt",
        "    tests:\n      - changedFiles: {only: [work.txt]}\n",
    );
    let trial = suite.run();
    let gradable = || is_gradable(&suite.specs[0], &trial.report, &suite.context);
    assert!(gradable().is_ok());
    std::fs::remove_file(trial.folder.join("artifacts/agent-work.json")).unwrap();
    assert!(matches!(gradable(), Err(Ungradable::Damaged(_))));
    suite.assert_nothing_left();
}
