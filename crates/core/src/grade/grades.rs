//! The grades of a trial's tests: a map in JSON, but in the order in which the eval lists them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::failure_line::last_lines;
use super::judgement::JudgeRecord;
use super::test_report::Cases;
use super::verdict::with_failure_line;
use crate::text::mask::Mask;

/// The score of one test, and the reason.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grade {
    /// From 0 to 1.
    pub score: f64,
    /// Its share in the score of the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The reason, in one line.
    pub message: String,
    /// The time that the test took.
    pub duration_seconds: f64,
    /// For a `judge`: who judged, why, and at what cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeRecord>,
    /// The last lines of the output of a command that lost points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_end: Vec<String>,
    /// For a command with a `report`: the cases of that report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Cases>,
}

impl Grade {
    pub(super) fn scored(score: f64, message: impl Into<String>) -> Self {
        Grade {
            score,
            message: message.into(),
            ..Grade::default()
        }
    }

    pub(super) fn pass(message: impl Into<String>) -> Self {
        Grade::scored(1.0, message)
    }

    /// A verdict of 0, for this reason.
    pub fn fail(message: impl Into<String>) -> Self {
        Grade::scored(0.0, message)
    }

    /// A verdict of 0 for a command that printed this.
    pub(super) fn fail_with_output(reason: &str, output: &str, mask: &Mask) -> Self {
        let output = mask.masked(output);
        Grade {
            message: with_failure_line(reason, &output),
            output_end: last_lines(&output),
            ..Grade::default()
        }
    }
}

/// The grades of a trial, by test.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scorecard {
    pub(crate) grades: Vec<(String, Grade)>,
}

impl Scorecard {
    /// Adds the grade of a test.
    pub fn push(&mut self, test: impl Into<String>, grade: Grade) {
        self.grades.push((test.into(), grade));
    }

    /// Returns true when no test was graded.
    pub fn is_empty(&self) -> bool {
        self.grades.is_empty()
    }

    /// Returns tests and their grades, in the order of the eval.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Grade)> {
        self.grades
            .iter()
            .map(|(test, grade)| (test.as_str(), grade))
    }

    /// Returns the tests that lost points. They explain a trial that did not pass.
    pub fn losses(&self) -> impl Iterator<Item = (&str, &Grade)> {
        self.iter().filter(|(_, grade)| grade.score < 1.0)
    }

    /// Returns the first test that lost points.
    pub fn first_loss(&self) -> Option<(&str, &Grade)> {
        self.losses().next()
    }
}

impl FromIterator<(String, Grade)> for Scorecard {
    fn from_iter<I: IntoIterator<Item = (String, Grade)>>(grades: I) -> Self {
        Scorecard {
            grades: grades.into_iter().collect(),
        }
    }
}

impl Serialize for Scorecard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Scorecard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Scorecard;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of tests and their grades")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Scorecard, A::Error> {
        let mut card = Scorecard::default();
        while let Some((test, grade)) = entries.next_entry::<String, Grade>()? {
            card.push(test, grade);
        }
        Ok(card)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_survives_json() {
        let grade = |score| Grade {
            score,
            ..Grade::default()
        };
        let card: Scorecard = [
            ("z".to_owned(), grade(1.0)),
            ("b".to_owned(), grade(0.5)),
            ("a".to_owned(), grade(0.0)),
        ]
        .into_iter()
        .collect();
        let text = serde_json::to_string(&card).unwrap();
        assert_eq!(serde_json::from_str::<Scorecard>(&text).unwrap(), card);
        assert_eq!(card.first_loss().unwrap().0, "b");
    }
}
