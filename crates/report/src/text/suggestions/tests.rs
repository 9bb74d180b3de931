use terca_core::run::outcome::TrialReport;
use terca_core::trial_error::TrialError;

use super::*;
use crate::fixture::{self, Script};
use crate::term::Palette;

const AROUND: Circumstances<'_> = Circumstances {
    terca: "terca",
    run: "",
    selection: "",
    agent: "",
    validated: true,
    earlier: None,
};

fn commands(script: &Script, around: &Circumstances<'_>) -> Vec<String> {
    steps(&script.results(), around)
        .into_iter()
        .map(|(command, _)| command)
        .collect()
}

/// One eval in one variant, with this outcome.
fn run_of_one(report: &TrialReport) -> Script {
    let mut script = Script::new(fixture::heads(1, 1, 1), 1);
    script.start(1).finish(1, report).end(RunStatus::Complete);
    script
}

/// So many evals in two variants; the n-th trial passes if that is said of it.
fn compared(evals: usize, repetitions: u32, passes: impl Fn(u32) -> bool) -> Script {
    let heads = fixture::heads(evals, 2, repetitions);
    let ids: Vec<u32> = heads.iter().map(|head| head.id).collect();
    let mut script = Script::new(heads, 4);
    for id in ids {
        let report = if passes(id) {
            fixture::passed(20.0)
        } else {
            fixture::failed(20.0, "t", "no")
        };
        script.start(id).finish(id, &report);
    }
    script.end(RunStatus::Complete);
    script
}

#[test]
fn what_passed_is_proven_then_compared_then_kept() {
    let script = run_of_one(&fixture::passed(20.0));
    assert_eq!(
        commands(&script, &AROUND),
        ["terca report --html report.html"]
    );
    let first = Circumstances {
        validated: false,
        ..AROUND
    };
    assert_eq!(
        commands(&script, &first),
        ["terca validate", "terca report --html report.html"]
    );
    let second = Circumstances {
        earlier: Some("2026-11-13-002"),
        ..first
    };
    let compare = "terca compare 2026-11-13-002 2026-11-14-001";
    assert_eq!(
        commands(&script, &second),
        ["terca validate", compare, "terca report --html report.html"]
    );
}

#[test]
fn a_run_with_another_agent_is_a_rehearsal() {
    let around = Circumstances {
        agent: " --agent oracle",
        selection: " -t fib",
        ..AROUND
    };
    let script = run_of_one(&fixture::passed(20.0));
    assert_eq!(
        commands(&script, &around),
        ["terca run -t fib", "terca report --html report.html"]
    );
}

#[test]
fn failures_are_looked_at_and_evals_that_nobody_solved_are_doubted() {
    let script = run_of_one(&fixture::failed(
        20.0, "check-file", "fib.js does not exist",
    ));
    let around = Circumstances {
        terca: "terca -C 'my suite'",
        validated: false,
        ..AROUND
    };
    let shown =
        |columns| suggestions(&script.results(), &around, columns).render(Palette::new(false));
    insta::assert_snapshot!("next_100", shown(100));
    insta::assert_snapshot!("next_80", shown(80));
    let coloured = suggestions(&script.results(), &around, 100).render(Palette::new(true));
    assert!(
        coloured.lines().all(|line| line.starts_with("\u{1b}[2m")),
        "{coloured}"
    );
}

#[test]
fn errors_are_mended_and_tried_again() {
    let missing = TrialReport {
        error: Some(TrialError::new(
            ErrorKind::AgentMissing,
            "`gemini` is not installed",
        )),
        ..fixture::error("")
    };
    assert_eq!(
        commands(&run_of_one(&missing), &AROUND),
        ["terca doctor", "terca resume --errors"]
    );
    assert_eq!(
        commands(&run_of_one(&fixture::error("exit status 1")), &AROUND),
        ["terca resume --errors"]
    );
    // With failures, too, there are three at most.
    let expected = ["terca resume --errors", "terca view", "terca create-eval"];
    assert_eq!(commands(&fixture::mixed_run(), &AROUND), expected);
}

/// Heads or tails, always the same for one trial.
fn coin(id: u32) -> bool {
    let mut mixed = id.wrapping_mul(0x9e37_79b9);
    for _ in 0..3 {
        mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    }
    (mixed >> 20).is_multiple_of(2)
}

#[test]
fn an_open_question_is_settled_by_what_it_takes() {
    let around = Circumstances {
        selection: " -x base,with-rules",
        agent: " --agent codex",
        ..AROUND
    };
    let settling = |script: &Script| {
        let steps = steps(&script.results(), &around);
        let step = steps
            .iter()
            .find(|(command, _)| command.contains("-n ") || command.contains("create-eval"));
        step.cloned()
    };
    // As good as the toss of a coin.
    let noisy = compared(8, 10, coin);
    let (command, purpose) = settling(&noisy).unwrap();
    let repetitions: usize = command.split(' ').nth(3).unwrap().parse().unwrap();
    assert!(
        repetitions > 10 && command.ends_with(" -x base,with-rules --agent codex"),
        "{command}"
    );
    assert_eq!(purpose, "enough to detect a difference of 20 points");
    let once = compared(2, 1, |id| id % 3 == 1);
    let (command, _) = settling(&once).unwrap();
    assert_eq!(command, "terca run -n 5 -x base,with-rules --agent codex");
    for (script, word) in [
        (compared(8, 3, |_| true), "add a harder eval"),
        (compared(8, 3, |_| false), "add an easier eval"),
        (compared(3, 5, |id| (id - 1) % 10 >= 5), "add evals"),
    ] {
        let (command, purpose) = settling(&script).unwrap();
        assert_eq!(command, "terca create-eval");
        assert!(purpose.starts_with(word), "{purpose}");
    }
    // A difference that is there needs nothing.
    assert_eq!(settling(&compared(8, 5, |id| (id - 1) % 10 >= 5)), None);
}

#[test]
fn a_run_that_was_cut_short_is_left_to_the_closing_lines() {
    let mut script = Script::new(fixture::heads(2, 1, 1), 1);
    script
        .start(1)
        .finish(1, &fixture::passed(1.0))
        .end(RunStatus::Interrupted);
    assert_eq!(commands(&script, &AROUND), Vec::<String>::new());
    assert_eq!(
        suggestions(&script.results(), &AROUND, 80).render(Palette::new(false)),
        ""
    );
}

#[test]
fn a_run_that_is_not_the_latest_is_named() {
    let around = Circumstances {
        run: " 2026-11-14-001",
        ..AROUND
    };
    let script = run_of_one(&fixture::failed(20.0, "t", "no"));
    let expected = [
        "terca view 2026-11-14-001",
        "terca report 2026-11-14-001 --html report.html",
    ];
    assert_eq!(commands(&script, &around), expected);
    let script = run_of_one(&fixture::error("exit status 1"));
    assert_eq!(
        commands(&script, &around),
        ["terca resume 2026-11-14-001 --errors"]
    );
}

#[test]
fn a_narrow_screen_has_the_commands_alone() {
    let script = run_of_one(&fixture::failed(
        20.0, "check-file", "fib.js does not exist",
    ));
    let shown = suggestions(&script.results(), &AROUND, 30).render(Palette::new(false));
    assert_eq!(
        shown,
        "next:\n  terca view\n  terca report --html report.html\n"
    );
}
