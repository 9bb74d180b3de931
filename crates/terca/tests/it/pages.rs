//! The pages of runs from outside: they say what the command line says.

use crate::common::example::example;
use crate::common::gallery;
use crate::common::project;
use crate::common::viewer::View;
use serde_json::Value;
use terca_testkit::Project;

const RUNS: [&str; 2] = ["2026-11-14-001", "2026-11-14-002"];

fn with_two_made_runs() -> Project {
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    for (run, repetitions) in RUNS.into_iter().zip([5, 3]) {
        gallery::make_record(&project.path(&format!(".terca/runs/{run}")), repetitions);
    }
    project
}

/// The text of a page, without its elements.
fn text(page: &str) -> String {
    let (_, body) = page.split_once("<main").expect("a page");
    let (main, _) = body.split_once("</main>").expect("a whole page");
    let parts = main.split('<').map(|part| match part.split_once('>') {
        Some((_, text)) => text,
        None => part,
    });
    let text = parts.collect::<String>().replace('\u{a0}', " ");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

fn report(project: &Project, run: &str) -> String {
    project
        .terca(&["report", run, "--html", "report.html"])
        .expect_status(0);
    project.read("report.html")
}

#[test]
fn two_runs_are_compared_as_on_the_command_line() {
    let project = with_two_made_runs();
    let answer = project.terca(&["compare", RUNS[0], RUNS[1], "--format", "json"]);
    let compared: Value = serde_json::from_str(&answer.stdout).unwrap();
    let table = project.terca(&["compare", RUNS[0], RUNS[1]]).stdout;
    let view = View::open(&project, &[]);
    let page = text(&view.get(&format!("compare/{}/{}", RUNS[0], RUNS[1])));
    let title = table.lines().next().unwrap();
    assert!(page.contains(title), "{title}\n{page}");
    let comparisons = compared["comparisons"].as_array().unwrap();
    assert!(comparisons.len() > 2);
    for comparison in comparisons {
        let sentence = comparison["sentence"].as_str().unwrap().replace('`', "");
        assert!(page.contains(&sentence), "{sentence}\n{page}");
    }
    // The rows of the terminal's table, word by word.
    let is_row = |line: &&str| line.contains("├") || line.contains("→");
    let rows: Vec<&str> = table.lines().filter(is_row).collect();
    assert!(rows.len() >= comparisons.len(), "{table}");
    for figure in rows.iter().flat_map(|row| row.split("  ")).map(str::trim) {
        let is_figure = figure.ends_with('×') || figure.ends_with('%') || figure.contains('…');
        assert!(!is_figure || page.contains(figure), "{figure}\n{page}");
    }
}

#[test]
fn the_overview_names_agents_versions_and_models() {
    let project = with_two_made_runs();
    let page = text(&report(&project, RUNS[0]));
    for words in [
        "claude: claude-code 2.1.197, model claude-sonnet-5",
        "gemini: gemini-cli 2.1.197, model gemini-3-pro",
        "mean of the rates above",
        "p is adjusted for",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    let shown = project.terca(&["show", RUNS[0]]).stdout;
    let spent = shown.lines().find(|line| line.starts_with("spent: "));
    assert!(page.contains(spent.unwrap()), "{spent:?}\n{page}");
}

#[test]
fn a_validation_has_the_words_of_the_command_line() {
    let project = example("weak-suite");
    let said = project.terca(&["validate"]).expect_status(1).stdout;
    let page = text(&report(&project, "1"));
    assert!(page.contains("0 of 8 evals sound"), "{page}");
    for eval in ["broken", "no-solution", "trivial", "visible-tests"] {
        let line = said.lines().find(|line| {
            line.starts_with(&format!("{eval} is ")) || line.starts_with(&format!("{eval} has "))
        });
        let line = line.expect("a line for each flaw");
        let words = line.split(" (.terca").next().unwrap();
        assert!(page.contains(words), "{words}\n{page}");
    }
    assert!(!page.contains("Evals × variants"), "{page}");
}

#[test]
fn a_run_that_was_graded_again_says_so() {
    let project = project().agent("true").file(
        "task/eval.terca.yaml",
        "prompt: x\ntests:\n  - name: check\n    commandSuccess: 'false'\n",
    );
    project.terca(&["--format", "plain"]).expect_status(1);
    let before = text(&report(&project, "1"));
    assert!(!before.contains("graded again"), "{before}");
    let project = project.file(
        "task/eval.terca.yaml",
        "prompt: x\ntests:\n  - name: check\n    commandSuccess: 'true'\n",
    );
    project.terca(&["regrade"]).expect_status(0);
    let after = text(&report(&project, "1"));
    assert!(after.contains("graded again: this is grading 2"), "{after}");
}

#[test]
fn the_list_of_runs_has_agents_rates_and_a_trend() {
    let project = with_two_made_runs();
    let view = View::open(&project, &[]);
    let page = text(&view.get(""));
    let results = project.terca(&["show", RUNS[1], "--format", "json"]).stdout;
    let results: Value = serde_json::from_str(&results).unwrap();
    for variant in results["summary"]["variants"].as_array().unwrap() {
        let rate = variant["passRate"].as_f64().unwrap() * 100.0;
        let words = format!(
            "{rate:.0} % {} · {}",
            variant["environment"].as_str().unwrap(),
            variant["experiment"].as_str().unwrap()
        );
        assert!(page.contains(&words), "{words}\n{page}");
    }
    for words in [
        "claude-code, gemini-cli", "Trend of firestore-sdk", "gemini-3-pro",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
}
