use super::*;
use crate::fixture::{self, Script};
use crate::term::Palette;

fn table(script: &Script, columns: usize) -> String {
    results_table(&script.results(), columns).render(Palette::new(false))
}

fn assert_fits(table: &str, columns: usize) {
    for line in table.lines() {
        assert!(
            width(line) <= columns,
            "{} columns, not {columns}: {line}",
            width(line)
        );
    }
}

/// Many variants, with names that are hard to place.
fn wide_run() -> Script {
    let environments = [
        "gemini-3-pro-preview", "claude", "codex-with-a-remarkably-long-name",
    ];
    let experiments = [
        "base", "with-rules", "with-rules-and-the-firebase-mcp-server",
    ];
    let evals = [
        "fib",
        "an-eval-whose-name-is-so-long-that-no-column-can-hold-it",
        "日本語",
    ];
    let mut heads = Vec::new();
    for eval in evals {
        for environment in environments {
            for experiment in experiments {
                for repetition in 1..=10 {
                    heads.push(fixture::head(
                        heads.len() as u32 + 1,
                        eval,
                        environment,
                        experiment,
                        repetition,
                    ));
                }
            }
        }
    }
    let mut script = Script::new(heads, 4);
    for id in 1..=270 {
        let report = match id % 7 {
            0 => fixture::failed(12.0, "check-file", "fib.js does not exist"),
            1 if id > 200 => fixture::error("exit status 1"),
            _ => fixture::passed(f64::from(id) * 3.0),
        };
        script.start(id).finish(id, &report);
    }
    script
}

fn one_variant(environment: &str) -> Script {
    let mut heads = fixture::heads(3, 1, 4);
    for head in &mut heads {
        environment.clone_into(&mut head.environment);
        "default".clone_into(&mut head.experiment);
    }
    let mut script = Script::new(heads, 4);
    for id in 1..=11 {
        let report = match id {
            2 => fixture::failed(38.0, "check-file", "fib.js does not exist"),
            7 => fixture::partial(61.0, 0.5),
            9 => fixture::error("exit status 1"),
            _ => fixture::passed(20.0 + f64::from(id)),
        };
        script.start(id).finish(id, &report);
    }
    script
}

#[test]
fn two_variants() {
    let script = fixture::mixed_run();
    for columns in [120, 80, 40] {
        let table = table(&script, columns);
        assert_fits(&table, columns);
        insta::assert_snapshot!(format!("two_variants_{columns}"), table);
    }
}

#[test]
fn two_variants_in_colour() {
    let table = results_table(&fixture::mixed_run().results(), 80).render(Palette::new(true));
    insta::assert_snapshot!("two_variants_colour", table.replace('\u{1b}', "␛"));
}

#[test]
fn many_variants_continue_below() {
    let script = wide_run();
    for columns in [120, 80, 40] {
        let table = table(&script, columns);
        assert_fits(&table, columns);
        insta::assert_snapshot!(format!("many_variants_{columns}"), table);
    }
}

#[test]
fn one_variant_has_its_figures_beside_each_eval() {
    for (environment, columns) in [("default", 80), ("gemini", 80), ("default", 40)] {
        let table = table(&one_variant(environment), columns);
        assert_fits(&table, columns);
        insta::assert_snapshot!(format!("one_variant_{environment}_{columns}"), table);
    }
}

#[test]
fn nothing_is_lost_at_any_width() {
    let script = wide_run();
    let flat = |columns: usize| -> String { table(&script, columns).split_whitespace().collect() };
    for columns in [1, 10, 20, 40, 80, 200, 1000] {
        let flat = flat(columns);
        for (cell, figures) in script
            .results()
            .summary
            .cells
            .iter()
            .map(|cell| (cell, &cell.figures))
        {
            let figure = format!("{}/{}", figures.passed, figures.judged);
            assert!(
                flat.contains(&figure),
                "{columns}: {} of {}",
                figure,
                cell.eval
            );
        }
        for part in [
            "remarkably-",
            "an-eval-whose-name-is-so-long-that-no-column-can-hold-it",
            "+2errors",
        ] {
            assert!(
                flat.contains(part) || columns < 20,
                "{columns}: {part}\n{flat}"
            );
        }
    }
}

#[test]
fn a_run_in_which_nothing_ran() {
    assert_eq!(table(&Script::new(Vec::new(), 1), 80), "");
    insta::assert_snapshot!(
        "nothing_ran",
        table(&Script::new(fixture::heads(2, 2, 1), 1), 80)
    );
}
