//! Words in the transcripts, diffs and logs of a run's trials.
//!
//! An answer looks at a limited number of trials, and says where the next one goes on.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Value, json};
use terca_core::run::state::Trial;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::trial_files;

/// The trials that one answer looks at, and finds, at most.
const MOST_LOOKED_AT: usize = 100;
const MOST_FOUND: usize = 25;
/// The bytes of a file that are read at most, and those of a line.
const LONGEST_FILE: u64 = 256 * 1024 * 1024;
const LONGEST_LINE: u64 = 16 * 1024 * 1024;
/// The characters of the words.
const MOST_CHARACTERS: usize = 200;

/// Reads words from an address, where they are the digits of their bytes to the base of 16.
pub fn words(digits: &str) -> Option<String> {
    if digits.len() % 2 == 1 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = digits.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let text = String::from_utf8(bytes.collect::<Option<_>>()?).ok()?;
    let is_short = text.chars().count() <= MOST_CHARACTERS;
    (is_short && !text.trim().is_empty()).then(|| text.to_lowercase())
}

/// Looks for words in the trials from a place on. Returns the numbers of the trials that have them, how many have been
/// looked at so far, and the place of the next one, which is null at the end.
pub fn search(run: &PastRun, words: &str, from: usize) -> Value {
    let trials = run.state.trials();
    let mut found = Vec::new();
    let mut looked = from.min(trials.len());
    for trial in trials.iter().skip(from).take(MOST_LOOKED_AT) {
        if found.len() >= MOST_FOUND {
            break;
        }
        looked += 1;
        if has_words(run, trial, words) {
            found.push(trial.head.id);
        }
    }
    let next = (looked < trials.len()).then_some(looked);
    json!({ "found": found, "looked": looked, "next": next })
}

fn has_words(run: &PastRun, trial: &Trial, words: &str) -> bool {
    let in_text = |line: &[u8]| String::from_utf8_lossy(line).to_lowercase().contains(words);
    let in_json = |line: &[u8]| match serde_json::from_slice::<Value>(line) {
        Ok(value) => value_has(&value, words),
        Err(_) => in_text(line),
    };
    any_line(run, trial, trial_files::TRANSCRIPT, &in_json)
        || any_line(run, trial, trial_files::CHANGES, &in_text)
        || any_line(run, trial, trial_files::LOG, &in_text)
}

/// Returns whether a line of a file is as wanted. A file that cannot be read has none.
fn any_line(run: &PastRun, trial: &Trial, file: &str, is_wanted: &dyn Fn(&[u8]) -> bool) -> bool {
    let Ok(file) = trial_files::open(&run.dir, &trial.head.dir, file) else {
        return false;
    };
    let mut lines = BufReader::new(file.take(LONGEST_FILE));
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = lines
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line);
        if !read.is_ok_and(|count| count > 0) {
            return false;
        }
        if is_wanted(&line) {
            return true;
        }
    }
}

fn value_has(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.to_lowercase().contains(words),
        Value::Array(values) => values.iter().any(|value| value_has(value, words)),
        Value::Object(entries) => entries.values().any(|value| value_has(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_address() {
        assert_eq!(words("4b65792070"), Some("key p".to_owned()));
        assert_eq!(words("c3a4"), Some("ä".to_owned()));
        for bad in ["", "20", "4", "4b6", "zz", "+4", "ff", &"61".repeat(201)] {
            assert_eq!(words(bad), None, "{bad}");
        }
    }
}
