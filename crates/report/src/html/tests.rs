//! Whole pages, from made-up runs.

use camino::Utf8Path;
use serde_json::json;
use terca_core::analysis::results::Results;
use terca_core::run::event::RunStatus;
use terca_core::run::state::{RunState, Trial};
use terca_core::transcript::Record;
use terca_core::transcript::trial_files::{Bodies, Excerpt, Session};

use super::matrix::Matrix;
use super::{
    Bound, Files, Prompts, TrialPage, compare_page, heat_map, run_page, runs_page, trial_page,
};
use super::{assets, distributions, effects, masthead, trials, verdicts};
use crate::fixture::{self, Script};
use crate::text::runs::RunRow;

/// One element a line, to be read and compared.
fn lines(html: &str) -> String {
    html.replace("><", ">\n<")
}

fn compared() -> RunState {
    let mut script = Script::new(fixture::heads(4, 2, 4), 4);
    for id in 1..=32 {
        let better = (id - 1) / 4 % 2 == 1;
        let report = if better || id % 3 == 0 {
            fixture::passed(20.0 + f64::from(id))
        } else {
            fixture::failed(30.0, "check", "no `fib.js`")
        };
        script.start(id).pass(2.0).finish(id, &report);
    }
    script.end(RunStatus::Complete);
    script.state
}

#[test]
fn the_parts_of_a_page() {
    let state = compared();
    let results = Results::of(&state);
    let matrix = Matrix::of(&results.summary);
    insta::assert_snapshot!(
        "html_masthead",
        lines(masthead::masthead(&results).as_str())
    );
    insta::assert_snapshot!(
        "html_verdicts",
        lines(verdicts::verdicts(&results).as_str())
    );
    insta::assert_snapshot!(
        "html_heat_map",
        lines(heat_map::heat_map(&results.summary, &matrix).as_str())
    );
    insta::assert_snapshot!(
        "html_effects",
        lines(effects::effects(&results.summary).as_str())
    );
    insta::assert_snapshot!(
        "html_distributions",
        lines(distributions::distributions(&results, &matrix).as_str())
    );
    let rows = trials::trials(&fixture::busy_run().state, &matrix);
    assert!(rows.as_str().contains("agent at work") && rows.as_str().contains("testing"));
    insta::assert_snapshot!(
        "html_trials",
        lines(trials::trials(&state, &matrix).as_str())
    );
}

fn evil_bodies() -> Bodies {
    let evil = "<script>alert(1)</script>".repeat(600);
    let record = |text: &str| -> Record {
        serde_json::from_value(
            json!({"line": 1, "type": "message", "role": "assistant", "text": text}),
        )
        .unwrap()
    };
    Bodies {
        transcript: Session {
            head: vec![record("hi"), record(&evil), record("bye")],
            ..Session::default()
        },
        changes: Excerpt::whole(format!(
            "diff --git a/x b/x\n@@ -1 +1 @@\n+{}",
            evil.replace("><", ">\n+<")
        )),
        log: Excerpt {
            head: evil.clone(),
            left_out: 5_000_000,
            tail: "── test: check-file ──\n\u{1b}[31mno\nscore 0: no\n".to_owned(),
        },
    }
}

#[test]
fn a_trial() {
    let state = fixture::mixed_run().state;
    let plan = json!({"cases": [{"eval": "fib", "variant": {"environment": "gemini", "experiment": "base"}, "prompt": "Write <fib>."}]});
    let prompts = Prompts::of_plan(&plan);
    let bodies = Bodies {
        log: Excerpt::whole("── test: check-file ──\nls: fib.js\nscore 0: no\n"),
        ..Bodies::default()
    };
    for id in [2, 12, 18] {
        let trial = state.trial(id).unwrap();
        let prompt = prompts.get(&trial.head);
        assert_eq!(prompt.is_some(), id == 2);
        let page = TrialPage {
            trial,
            variant: "base",
            prompt,
            bodies: &bodies,
            files: Files::Served,
        };
        insta::assert_snapshot!(
            format!("html_trial_{id}"),
            lines(trial_page(&page, 10_000).as_str())
        );
    }
}

/// Whatever the agents wrote, and however much.
#[test]
fn a_thousand_trials_stay_small() {
    let mut script = Script::new(fixture::heads(50, 4, 5), 4);
    for id in 1..=1000 {
        script.start(id).finish(
            id,
            &fixture::failed(30.0, "check-file", &"<&>".repeat(5000)),
        );
    }
    script.end(RunStatus::Complete);
    let bodies = |_: &Trial, _: usize| evil_bodies();
    let prompts = Prompts::default();
    let page = run_page(
        &script.state,
        &Bound::Within {
            run_dir: Utf8Path::new("run"),
            prompts: &prompts,
            bodies: &bodies,
        },
    );
    assert!(page.len() < 20_000_000, "{}", page.len());
    assert!(page.contains("left out here: the whole is in transcript.jsonl"));
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert_eq!(page.matches("<template").count(), 1000);
}

#[test]
fn nothing_is_asked_of_the_network_and_no_style_is_inline() {
    let bodies = |_: &Trial, _: usize| evil_bodies();
    let prompts = Prompts::default();
    let page = run_page(
        &compared(),
        &Bound::Within {
            run_dir: Utf8Path::new("run"),
            prompts: &prompts,
            bodies: &bodies,
        },
    );
    for forbidden in [
        "http://",
        "https://",
        " style=",
        " onclick=",
        "<link",
        "<img",
        "unsafe-inline",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("connect-src &#39;none&#39;"));
    let served = run_page(&compared(), &Bound::OnDemand);
    assert!(served.contains("connect-src &#39;self&#39;") && !served.contains("<template"));
}

#[test]
fn runs_and_two_of_them() {
    let row = |run: &str, status| RunRow {
        bytes: 1_234_567,
        run: run.to_owned(),
        suite: "js <b>".to_owned(),
        status,
        started_at: None,
        trials: 4,
        passed: 3,
        failed: 1,
        errors: 0,
        note: Some("torn".to_owned()),
    };
    let body = |page: &str| {
        lines(
            page.split_once("<main")
                .unwrap()
                .1
                .split_once("<script")
                .unwrap()
                .0,
        )
    };
    let page = runs_page(&[
        row("2026-11-13-001", None),
        row("2026-11-14-001", Some(RunStatus::Complete)),
    ]);
    insta::assert_snapshot!("html_runs", body(&page));
    let page = compare_page(&Results::of(&compared()), &fixture::mixed_run().results());
    insta::assert_snapshot!("html_compare", body(&page));
    assert!(page.starts_with("<!doctype html>") && page.contains(assets::SCRIPT));
}
