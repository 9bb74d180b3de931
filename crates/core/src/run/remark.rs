//! Remarks: what people who read a trial say about it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A person's remark about a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// What the person says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Words by which trials are found again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The time at which it was written.
    pub at: Timestamp,
}

/// The most characters of a text.
const LONGEST_TEXT: usize = 10_000;
/// The most characters of a tag.
const LONGEST_TAG: usize = 60;
const MOST_TAGS: usize = 20;

impl Remark {
    /// Returns a remark without blanks at its ends, double tags, and text beyond the limits.
    pub fn tidy(&self) -> Self {
        let short = |text: &str, most| text.trim().chars().take(most).collect::<String>();
        let mut tags: Vec<String> = Vec::new();
        for tag in &self.tags {
            let tag = short(tag, LONGEST_TAG);
            if !tag.is_empty() && !tags.contains(&tag) && tags.len() < MOST_TAGS {
                tags.push(tag);
            }
        }
        Remark {
            text: short(&self.text, LONGEST_TEXT),
            tags,
            at: self.at,
        }
    }

    /// Returns whether it says nothing: an earlier one is taken back.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.tags.is_empty()
    }
}
