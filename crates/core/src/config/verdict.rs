//! The settings of a verdict: the figure that it is about, and the smallest difference that matters.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::reader::{Fields, points, word};

/// Differences smaller than this make no difference, where nobody says otherwise. It is a share: 10 points.
pub const DEFAULT_MARGIN: f64 = 0.10;

/// The figure that experiments are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    /// The share of trials that pass.
    #[default]
    PassRate,
    /// The mean score.
    Score,
}

impl Measure {
    const ALL: [Measure; 2] = [Measure::PassRate, Measure::Score];

    /// Returns the word for it in `terca.yaml`.
    pub fn word(self) -> &'static str {
        match self {
            Measure::PassRate => "passRate",
            Measure::Score => "score",
        }
    }

    fn is_default(&self) -> bool {
        *self == Measure::default()
    }
}

impl From<Measure> for serde_json::Value {
    fn from(measure: Measure) -> Self {
        measure.word().into()
    }
}

/// The settings of the verdicts of a run. In the files of a run, a default is left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VerdictSettings {
    /// Differences that are smaller make no difference, as a share.
    #[serde(
        default = "default_margin",
        skip_serializing_if = "is_default_margin",
        deserialize_with = "margin_in_file"
    )]
    pub margin: f64,
    /// The figure that experiments are compared by.
    #[serde(
        default,
        rename = "verdict",
        skip_serializing_if = "Measure::is_default"
    )]
    pub measure: Measure,
}

impl Default for VerdictSettings {
    fn default() -> Self {
        VerdictSettings {
            margin: DEFAULT_MARGIN,
            measure: Measure::default(),
        }
    }
}

impl VerdictSettings {
    /// Returns the settings with another margin, where one is given.
    #[must_use]
    pub fn with_margin(self, margin: Option<f64>) -> Self {
        VerdictSettings {
            margin: margin.unwrap_or(self.margin),
            ..self
        }
    }
}

/// Makes a share of a margin in points, as people write it.
pub fn margin_of_points(points: f64) -> Result<f64, &'static str> {
    check_margin(points / 100.0).map_err(|_| "expected points above 0 and below 100, such as 5")
}

/// Writes a margin in points, as people read it: `2.5 points`.
pub fn margin_in_points(share: f64) -> String {
    // To a hundredth: 0.07 × 100 is a little more than 7.
    let points = (share * 10_000.0).round() / 100.0;
    let noun = if points == 1.0 { "point" } else { "points" };
    format!("{points} {noun}")
}

/// Checks a margin that is a share.
pub fn check_margin(share: f64) -> Result<f64, &'static str> {
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err("expected a margin above 0 and below 1, such as 0.05")
    }
}

/// Reads the fields of `terca.yaml`.
pub(super) fn verdict_settings(fields: &mut Fields<'_, '_>) -> VerdictSettings {
    let margin = fields.or(
        "margin",
        points(),
        DEFAULT_MARGIN * 100.0,
        "Treat differences smaller than this many points as [equivalent](comparing.md#the-margin).",
    );
    let measure = fields.or(
        "verdict",
        word(Measure::ALL.map(|measure| (measure.word(), measure)), None),
        Measure::default(),
        "What experiments are [compared by](comparing.md#by-the-score): `passRate`, the share of trials that pass, or \
         `score`, the mean score.",
    );
    VerdictSettings {
        // A number that was refused is not used.
        margin: margin_of_points(margin).unwrap_or(DEFAULT_MARGIN),
        measure,
    }
}

fn default_margin() -> f64 {
    DEFAULT_MARGIN
}

fn is_default_margin(margin: &f64) -> bool {
    *margin == DEFAULT_MARGIN
}

fn margin_in_file<'de, D: Deserializer<'de>>(reader: D) -> Result<f64, D::Error> {
    check_margin(f64::deserialize(reader)?).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn points_are_written_as_they_were_given() {
        for (points, written) in [
            (10.0, "10 points"),
            (7.0, "7 points"),
            (2.5, "2.5 points"),
            (1.0, "1 point"),
            (0.25, "0.25 points"),
        ] {
            assert_eq!(margin_in_points(margin_of_points(points).unwrap()), written);
        }
        for points in [0.0, -1.0, 100.0, 250.0, f64::NAN, f64::INFINITY] {
            margin_of_points(points).unwrap_err();
        }
    }

    #[test]
    fn defaults_are_left_out_of_files() {
        let written = |settings: VerdictSettings| serde_json::to_value(settings).unwrap();
        assert_eq!(written(VerdictSettings::default()), json!({}));
        let other = VerdictSettings {
            margin: 0.025,
            measure: Measure::Score,
        };
        assert_eq!(
            written(other),
            json!({ "margin": 0.025, "verdict": "score" })
        );
        let read = |file: serde_json::Value| serde_json::from_value::<VerdictSettings>(file);
        assert_eq!(read(json!({})).unwrap(), VerdictSettings::default());
        assert_eq!(read(written(other)).unwrap(), other);
        for foreign in [0.0, 1.0, -0.5, 1e300] {
            read(json!({ "margin": foreign })).unwrap_err();
        }
    }
}
