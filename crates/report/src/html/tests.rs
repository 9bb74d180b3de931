//! Whole pages, from made-up runs.

use camino::Utf8Path;
use serde_json::json;
use terca_core::analysis::results::Results;
use terca_core::run::event::RunStatus;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::excerpt::Excerpt;
use terca_core::transcript::Record;
use terca_core::transcript::trial_files::{Session, TrialFiles};

use super::matrix::Matrix;
use super::{
    Bodies, Bound, ListedRun, Prompts, TrialPage, compare_page, heat_map, run_page, runs_page,
    trial_page, unpacked,
};
use super::{causes, changed, effects, overview, shell, trials, verdicts};
use crate::fixture::{self, Script};
use crate::text::runs::{ListedStatus, RunRow};

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
    let summary = &results.summary;
    let matrix = Matrix::of(summary);
    insta::assert_snapshot!("html_masthead", lines(&overview::masthead(&results).0));
    insta::assert_snapshot!("html_verdicts", lines(&verdicts::verdicts(&results).0));
    insta::assert_snapshot!(
        "html_changed",
        lines(&changed::what_changed(&changed::sides(&results)).0)
    );
    insta::assert_snapshot!(
        "html_heat_map",
        lines(&heat_map::heat_map(&results, &matrix).0)
    );
    insta::assert_snapshot!("html_effects", lines(&effects::effects(summary).0));
    insta::assert_snapshot!(
        "html_distributions",
        lines(&effects::distributions(&results, &matrix).0)
    );
}

/// The text of each element of a kind, its own elements divided by bars.
fn texts(html: &str, element: &str) -> String {
    let begin = format!("<{element}");
    let end = format!("</{element}>");
    html.split(&begin)
        .skip(1)
        .filter_map(|rest| rest.split_once(&end))
        .map(|(inner, _)| {
            let texts = inner.split('<').map(|part| {
                let (_, text) = part.rsplit_once('>').unwrap_or_default();
                text.trim()
            });
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>()
        })
        .map(|texts| format!("{}\n", texts.join(" | ")))
        .collect()
}

#[test]
fn the_list_of_trials() {
    let state = compared();
    let results = Results::of(&state);
    let matrix = Matrix::of(&results.summary);
    let list = trials::trials(&state, &matrix, None).0;
    insta::assert_snapshot!(
        "html_trials",
        texts(&list, "label") + "\n" + &texts(&list, "tr")
    );
    // The script filters by the numbers of the options, and opens by the address.
    for hook in [
        "<tr id=\"row-6\" data-status=\"passed\">",
        "<a href=\"#trial-32\">#32</a>",
        "<select id=\"filter-eval\"><option value=\"\">every eval</option><option value=\"0\">",
        "<option value=\"partial\">partial</option>",
        "<p class=\"quiet\" id=\"shown\"",
        "<tbody id=\"rows\">",
        "<button type=\"button\" data-sort=\"score\" data-largest>Score</button>",
    ] {
        assert!(list.contains(hook), "{hook}");
    }
    let busy = trials::trials(&fixture::busy_run().state, &matrix, None).0;
    for doing in ["agent at work", "testing"] {
        let shown = format!("<span class=\"pill running\">{doing}</span>");
        assert!(busy.contains(&shown), "{doing}");
    }
}

fn within<'a>(
    run_dir: &'a str,
    prompts: &'a Prompts,
    read: &'a dyn Fn(&Trial, usize) -> TrialFiles,
) -> Bound<'a> {
    Bound::Within(Bodies {
        run_dir: Utf8Path::new(run_dir),
        prompts,
        read,
        is_full: false,
    })
}

/// Everything of a page that becomes markup: its rows are in JSON.
fn all_markup(page: &str) -> String {
    let begin = "<template id=\"all-rows\">";
    let Some((before, rest)) = page.split_once(begin) else {
        return unpacked(page);
    };
    let (rows, after) = rest.split_once("</template>").unwrap();
    let rows = unpacked(&format!("{begin}{rows}</template>"));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&rows).unwrap();
    let rows: String = rows
        .iter()
        .map(|row| row["html"].as_str().unwrap())
        .collect();
    unpacked(before) + &rows + after
}

fn evil_bodies() -> TrialFiles {
    let evil = "<script>alert(1)</script>".repeat(600);
    let record = |text: &str| -> Record {
        serde_json::from_value(
            json!({"line": 1, "type": "message", "role": "assistant", "text": text}),
        )
        .unwrap()
    };
    TrialFiles {
        transcript: Session::whole([record("hi"), record(&evil), record("bye")]),
        changes: Excerpt::whole(format!(
            "diff --git a/x b/x\n@@ -1 +1 @@\n+{}",
            evil.replace("><", ">\n+<")
        )),
        log: Excerpt {
            head: evil.clone(),
            left_out: 5_000_000,
            tail: "── test: check-file ──\n\u{1b}[31mno\nscore 0: no\n".to_owned(),
        },
        ..TrialFiles::default()
    }
}

#[test]
fn a_trial() {
    let state = fixture::mixed_run().state;
    let key = ["fib", "gemini", "base"].map(str::to_owned);
    let given = vec![("model", "gemini-3".to_owned())];
    let mut prompts = Prompts::default();
    prompts.of.insert(key, ("Write <fib>.".to_owned(), given));
    let bodies = TrialFiles {
        log: Excerpt::whole("── test: check-file ──\nls: fib.js\nscore 0: no\n"),
        ..TrialFiles::default()
    };
    let results = Results::of(&state);
    let matrix = Matrix::of(&results.summary);
    for id in [2, 12, 18] {
        let trial = state.trial(id).unwrap();
        let prompt = prompts.get(&trial.head);
        assert_eq!(prompt.is_some(), id == 2);
        let page = TrialPage {
            trial,
            state: &state,
            matrix: &matrix,
            prompts: &prompts,
            bodies: &bodies,
            run_dir: None,
        };
        insta::assert_snapshot!(
            format!("html_trial_{id}"),
            lines(&trial_page(&page, 10_000).0)
        );
    }
}

/// Agents may write anything, and any amount of it.
#[test]
fn many_trials_stay_small() {
    let mut script = Script::new(fixture::heads(10, 2, 4), 4);
    for id in 1..=80 {
        script.start(id).finish(
            id,
            &fixture::failed(30.0, "check-file", &"<&>".repeat(5000)),
        );
    }
    script.end(RunStatus::Complete);
    let bodies = |_: &Trial, _: usize| evil_bodies();
    let prompts = Prompts::default();
    let page = run_page(&script.state, &within("run", &prompts, &bodies));
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert_eq!(page.matches("<script").count(), 1, "its own");
    let page = all_markup(&page);
    assert!(page.contains("5.0M bytes left out; see run.log"));
    assert_eq!(page.matches("<article class=\"trial\"").count(), 80);
    assert_eq!(page.matches("<script").count(), 1, "its own");
}

#[test]
fn nothing_is_asked_of_the_network_and_no_style_is_inline() {
    let bodies = |_: &Trial, _: usize| evil_bodies();
    let prompts = Prompts::default();
    let page = run_page(&compared(), &within("run", &prompts, &bodies));
    let page = all_markup(&page);
    for forbidden in [
        "http://", "https://", " style=", " onclick=", "<link", "<img", "unsafe-inline",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("connect-src 'none'"));
    let served = run_page(&compared(), &Bound::OnDemand { seen: 0 });
    assert!(served.contains("connect-src 'self'") && !served.contains("<template"));
}

/// Names come from a configuration that somebody else may have written.
#[test]
fn names_are_text_without_control_characters() {
    let evil = "<img src=x onerror=alert(1)>\u{1b}[31m\u{202e}\u{0}\"'";
    let mut heads = fixture::heads(2, 2, 2);
    for head in &mut heads {
        head.eval.push_str(evil);
        head.environment.push_str(evil);
        head.experiment.push_str(evil);
        head.agent.push_str(evil);
    }
    let mut script = Script::new(heads, 4);
    for id in 1..=8 {
        let mut report = fixture::failed(30.0, evil, evil);
        report.notes.push(evil.to_owned());
        script.start(id).finish(id, &report);
    }
    script.end(RunStatus::Complete);
    let state = script.state;
    let bodies = |_: &Trial, _: usize| evil_bodies();
    let prompts = Prompts::default();
    let within = within(evil, &prompts, &bodies);
    let mut results = Results::of(&state);
    results.suite = evil.to_owned();
    let pages = [
        run_page(&state, &within),
        run_page(&state, &Bound::OnDemand { seen: 0 }),
        compare_page(&results, &results, Err(evil)),
    ];
    for page in pages.map(|page| all_markup(&page)) {
        assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
        assert!(!page.contains("<img") && page.matches("<script").count() == 1);
        let hidden = page.find(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}');
        assert_eq!(hidden, None);
    }
}

/// Only the frame of a page has texts that are not escaped: its own constants.
#[test]
fn one_file_writes_markup_as_it_is() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src/html");
    let word = ["Pre", "Escaped"].concat();
    let mut writers = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if is_source && std::fs::read_to_string(&path).unwrap().contains(&word) {
            writers.push(path.file_name().unwrap().to_owned());
        }
    }
    assert_eq!(writers, ["shell.rs"]);
}

fn listed(run: &str, status: Option<ListedStatus>) -> RunRow {
    RunRow {
        bytes: 1_234_567,
        run: run.to_owned(),
        suite: "js <b>".to_owned(),
        kind: None,
        agents: vec!["gemini-cli".to_owned()],
        status,
        started_at: None,
        trials: 4,
        passed: 3,
        partial: 0,
        failed: 1,
        errors: 0,
        not_run: 0,
        note: Some("torn".to_owned()),
    }
}

fn main_of(page: &str) -> String {
    let (_, body) = page.split_once("<main").unwrap();
    lines(body.split_once("<script").unwrap().0)
}

#[test]
fn runs_and_two_of_them() {
    let complete = |run: &str| {
        let row = listed(run, Some(ListedStatus::Complete));
        ListedRun::of(row, &compared(), None)
    };
    let page = runs_page(&[
        ListedRun {
            row: listed("2026-11-13-001", None),
            ..ListedRun::default()
        },
        complete("2026-11-14-001"),
        complete("2026-11-15-001"),
    ]);
    insta::assert_snapshot!("html_runs", main_of(&page));
    let [first, second] = fixture::two_states().map(|state| Results::of(&state));
    let page = compare_page(&first, &second, Ok(&fixture::two_runs()));
    insta::assert_snapshot!("html_compare", main_of(&page));
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(shell::SCRIPT));
}

/// Each eval of a validation is proven, or has its flaws told in the words of the command line.
#[test]
fn a_validation_is_shown_as_proofs() {
    let mut heads = Vec::new();
    for eval in ["fib", "sort"] {
        for agent in ["oracle", "nop", "cheat"] {
            let id = heads.len() as u32 + 1;
            let mut head = fixture::head(id, eval, agent, "default", 1);
            head.agent = agent.to_owned();
            heads.push(head);
        }
    }
    let mut script = Script::new(heads.clone(), 4);
    for head in &heads {
        let report = if head.agent == "oracle" || head.id == 6 {
            fixture::passed(1.0)
        } else {
            fixture::failed(1.0, "check", "no")
        };
        script.start(head.id).finish(head.id, &report);
    }
    script.end(RunStatus::Complete);
    let results = script.results();
    insta::assert_snapshot!("html_proofs", lines(&causes::validation(&results).0));
    let page = run_page(&script.state, &Bound::OnDemand { seen: 0 });
    assert!(page.contains("1 of 2 evals sound") && !page.contains("class=\"heat\""));
    assert!(
        !page.contains("<ul class=\"legend\">"),
        "no failure is counted"
    );
}
