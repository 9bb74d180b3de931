//! The tricks that mined evals may fall to.

use terca_testkit::Outcome;

use crate::common::proof::SOUND;

/// Fails unless mined evals fall to nothing but what tests of a project cannot withstand.
#[track_caller]
pub fn assert_mined_evals_hold(outcome: &Outcome) {
    let Outcome { stdout, stderr, .. } = outcome;
    let ends_well = |line: &&str| line.ends_with(SOUND) || line.ends_with("gameable");
    assert!(
        stdout.lines().any(|line| ends_well(&line)),
        "{stdout}{stderr}"
    );
    for word in ["broken", "trivial", "unknown", "together"] {
        assert!(!stdout.contains(&format!(" {word}")), "{word}: {stdout}");
    }
    for line in stdout.lines().filter(|line| line.contains(" works: it ")) {
        let name = line.split_whitespace().next().unwrap_or_default();
        let is_of_projects = ["expected", "source", "asserts", "equal"].contains(&name);
        assert!(is_of_projects, "{line}: {stdout}");
    }
}
