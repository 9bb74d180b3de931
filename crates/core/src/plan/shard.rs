//! A part of a plan, for a run that is spread over several machines.
//!
//! The parts depend on the plan alone, not on a seed: part 2 of 3 has the same trials with the same ids on every
//! machine. The variants of an eval and repetition stay together as far as equal parts allow, so that a machine's
//! peculiarities reach every arm.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::plan::TrialSpec;

/// One part of several, written as `2/3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// From 1.
    index: usize,
    of: usize,
}

impl Shard {
    /// Returns the number of parts.
    pub fn count(self) -> usize {
        self.of
    }

    /// Returns all parts.
    pub fn all(of: usize) -> impl Iterator<Item = Shard> {
        (1..=of).map(move |index| Shard { index, of })
    }

    /// Returns the trials of this part, in the order of their ids.
    pub fn part(self, trials: &[TrialSpec]) -> Vec<TrialSpec> {
        let mut dealt: Vec<&TrialSpec> = trials.iter().collect();
        // Within a repetition, ids put an eval's variants next to each other.
        dealt.sort_by_key(|trial| (trial.repetition, trial.id));
        let cut = |index: usize| index * trials.len() / self.of;
        let mut part: Vec<TrialSpec> = dealt[cut(self.index - 1)..cut(self.index)]
            .iter()
            .map(|trial| (*trial).clone())
            .collect();
        part.sort_by_key(|trial| trial.id);
        part
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const MOST: usize = 10_000;
        let parts = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if (1..=of).contains(&index) && of <= MOST => Ok(Shard { index, of }),
            _ => Err("expected a shard and the number of shards, such as 1/3, 2/3 or 3/3".into()),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_as_fractions() {
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for wrong in [
            "", "1", "0/3", "4/3", "1/0", "a/b", "1/3/5", "-1/3", "1/99999999",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
