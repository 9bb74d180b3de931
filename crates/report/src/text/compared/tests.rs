use terca_core::analysis::compare::within;

use super::*;
use crate::fixture::{played, two_runs};
use crate::term::{Palette, width};

const PALETTE: Palette = Palette { colour: false };

#[test]
fn two_runs_in_eighty_columns() {
    let text = compared(&two_runs(), 80).render(PALETTE);
    insta::assert_snapshot!("compared_runs", text);
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
}

#[test]
fn environments_of_a_run() {
    let state = played("2026-11-14-001", 4, |id, experiment| {
        id % 3 == 0 || experiment == "with-rules" && id % 7 < 3
    });
    let found = within(&state, By::Environment, None, 0.1).unwrap();
    insta::assert_snapshot!(
        "compared_environments",
        compared(&found, 80).render(PALETTE)
    );
}

#[test]
fn experiments_of_a_run_wherever_there_is_room() {
    let state = played("2026-11-14-001", 2, |id, experiment| {
        id % 3 == 0 || experiment == "with-rules"
    });
    let found = within(&state, By::Experiment, None, 0.05).unwrap();
    insta::assert_snapshot!(
        "compared_experiments",
        compared(&found, 100).render(PALETTE)
    );
    for columns in [30, 40, 60, 79] {
        let text = compared(&found, columns).render(PALETTE);
        assert!(
            text.lines().all(|line| width(line) <= columns),
            "{columns}: {text}"
        );
    }
    assert!(
        compared(&found, 80)
            .render(Palette { colour: true })
            .contains("\u{1b}[32mBETTER")
    );
}
