use super::parts::{Rules, RulesWithout, Split};
use super::*;

const RULES: &str = "---\n# no heading: front matter\n---\n# Rules\n\nRead this.\n\n## Style\nTabs.\n### Names\nShort.\n\n\
                     ```sh\n## no heading\n```\n## Testing\nAlways.\n## Style\nAgain.\n";

fn names(text: &str, split: Split) -> Vec<String> {
    let parts = Rules::of(&[text], split).parts();
    parts.into_iter().map(|part| part.name).collect()
}

fn with(text: &str, split: Split, kept: &[usize]) -> String {
    Rules::of(&[text], split)
        .with(|part| kept.contains(&part))
        .concat()
}

#[test]
fn headings_of_the_highest_level_that_has_several_are_parts() {
    assert_eq!(
        names(RULES, Split::Headings),
        ["Style", "Testing", "Style (2)"]
    );
    assert_eq!(
        with(RULES, Split::Headings, &[1]),
        "---\n# no heading: front matter\n---\n# Rules\n\nRead this.\n\n## Testing\nAlways.\n"
    );
    assert_eq!(with(RULES, Split::Headings, &[0, 1, 2]), RULES);
    // A heading above that level ends a part, and is one.
    let text = "## A\na\n## B\nb\n# C\nc\n";
    assert_eq!(names(text, Split::Headings), ["A", "B", "C"]);
    assert_eq!(names("no heading\n", Split::Headings), [""; 0]);
    assert_eq!(names("# One\n## Two\n", Split::Headings), ["One"]);
}

#[test]
fn marks_of_one_name_are_one_part() {
    let text = "# Rules\n<!-- part: a -->\n1\n<!-- /part -->\nkept\n<!-- part: b -->\n2\n<!-- part: a -->\n3\n";
    assert_eq!(Split::usual(&[text]), Split::Marks);
    assert_eq!(Split::usual(&[RULES]), Split::Headings);
    assert_eq!(names(text, Split::Marks), ["a", "b"]);
    assert_eq!(
        with(text, Split::Marks, &[1]),
        "# Rules\n<!-- /part -->\nkept\n<!-- part: b -->\n2\n"
    );
}

#[test]
fn items_are_parts_and_text_around_them_is_kept() {
    let text = "# Rules\n\n- one\n  more of one\n\n  still one\n- two\n\nbetween\n\n1. three\n2. two\n## End\n";
    assert_eq!(
        names(text, Split::Items),
        ["one", "two", "three", "two (2)"]
    );
    assert_eq!(
        with(text, Split::Items, &[1]),
        "# Rules\n\n- two\n\nbetween\n\n## End\n"
    );
}

#[test]
fn parts_of_several_files_are_counted_together() {
    let texts = ["## A\na\n## B\nb\n", "## A\nc\n## D\nd\n"];
    let without = RulesWithout {
        split: Split::Headings,
        parts: 4,
        left_out: vec![0, 3],
    };
    let left = without.applied_to(&texts).unwrap();
    assert_eq!(left, ["## B\nb\n", "## A\nc\n"]);
    assert_eq!(
        without.applied_to(&texts[..1]),
        None,
        "another number of parts"
    );
}

fn designed(parts: usize, evals: usize, trials: Option<usize>) -> Result<Ablation, DesignError> {
    let wanted = Ablation {
        experiment: "with-rules".into(),
        kind: Kind::Rules,
        split: Some(Split::Headings),
        sha256: None,
        parts: (0..parts)
            .map(|part| Part::new(part.to_string(), Some(10)))
            .collect(),
        rows: Vec::new(),
        evals: (0..evals)
            .map(|eval| EvalRows::new(format!("e{eval}")))
            .collect(),
    };
    wanted.designed(trials, 7)
}

/// The laws of every design: balanced in every eval, with full and none, and no part goes with another.
#[test]
fn designs_are_balanced() {
    for (parts, evals, trials) in [
        (2, 1, None),
        (3, 2, None),
        (8, 8, Some(12)),
        (8, 1, Some(48)),
        (9, 3, Some(10)),
        (11, 4, None),
        (25, 7, Some(30)),
        (100, 2, None),
    ] {
        let design = designed(parts, evals, trials).unwrap();
        let mut used = vec![0; design.rows.len()];
        for of in &design.evals {
            for part in 0..parts {
                let has = |row: &&usize| design.rows[**row].parts.contains(&part);
                let with = of.rows.iter().filter(has).count();
                assert_eq!(2 * with, of.rows.len(), "part {part} in {}", of.eval);
            }
            for row in &of.rows {
                used[*row] += 1;
            }
        }
        let (fewest, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
        assert!(*fewest > 0 && most - fewest <= 1, "{used:?}");
        assert_eq!(design.rows[0].parts.len(), parts);
        assert_eq!(design.rows[1].parts, [0; 0]);
        let alike = |row: &&Row, one: usize, other: usize| {
            row.parts.contains(&one) == row.parts.contains(&other)
        };
        for one in 0..parts {
            for other in 0..one {
                let together = design.rows.iter().filter(|row| alike(row, one, other));
                assert_eq!(2 * together.count(), design.rows.len(), "{one} and {other}");
            }
        }
    }
}

/// A pair of parts that act together looks like no single part.
#[test]
fn no_part_goes_with_a_pair_of_others() {
    for parts in [3, 8, 12] {
        let design = designed(parts, 1, None).unwrap();
        let sign = |row: &Row, part: usize| if row.parts.contains(&part) { 1 } else { -1 };
        for one in 0..parts {
            for other in 0..one {
                for part in 0..parts {
                    let product = |row: &Row| sign(row, one) * sign(row, other) * sign(row, part);
                    assert_eq!(design.rows.iter().map(product).sum::<i32>(), 0);
                }
            }
        }
    }
}

#[test]
fn a_design_is_refused_with_its_reason() {
    let error = |parts| designed(parts, 1, None).unwrap_err().to_string();
    assert_eq!(
        error(0),
        "there are no parts to compare, and an ablation needs at least two"
    );
    assert!(error(1).contains("one part only, `0`"));
    assert!(error(101).contains("too many"));
    let few = designed(8, 2, Some(6)).unwrap_err();
    assert!(
        matches!(few, DesignError::TooFewTrials { needed: 8, .. }),
        "{few}"
    );
    assert!(designed(8, 2, Some(8)).is_ok());
    // An odd number of trials becomes even.
    let odd = designed(8, 2, Some(9)).unwrap();
    assert_eq!(odd.trials_of_eval(), 10);
    assert_eq!(odd.repetitions("e0", FULL), 1);
    assert_eq!(odd.repetitions("e0", "row-99"), 0);
    assert_eq!(designed(2, 1, Some(12)).unwrap().most_repetitions(), 3);
}
