//! Reads a judge's verdict, as tolerantly as possible without guessing.
//!
//! The verdict is a JSON object with a `score`, anywhere in the judge's words, in a code block or not. In doubt there
//! is none: a score of 7, or an object that the judge only quotes from the work, is no verdict.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::grade::verdict::{NoVerdict, last_line, shortened};
use crate::text::excerpt::char_boundary;
use crate::text::mask::Masked;
use crate::text::prose;

/// A judge's verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion {
    /// From 0 to 1.
    pub score: f64,
    /// The judge's own summary.
    pub summary: Option<String>,
    /// The reasons, one for each criterion.
    pub reasons: Vec<Reason>,
}

/// The reason for the score of one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The criterion of the rubric.
    pub criterion: Option<String>,
    /// Its score, from 0 to 1.
    pub score: Option<f64>,
    /// The reason in words.
    pub reason: String,
}

/// More than any rubric has.
const MOST_REASONS: usize = 100;
const LONGEST_REASON: usize = 2_000;
/// A verdict is at the end; only so many last bytes are searched.
const LOOKED_AT: usize = 256 * 1024;

impl Opinion {
    /// Finds the verdict in the file that the judge may have written, else in its words. The material is the judged
    /// work: a verdict that is in there word for word is not the judge's own.
    pub fn find(
        said: &Masked,
        file: Option<&Masked>,
        material: &[&Masked],
    ) -> Result<Opinion, NoVerdict> {
        let own = |(raw, _): &(&str, _)| !material.iter().any(|text| text.as_str().contains(*raw));
        let mut quoted = false;
        for text in file.into_iter().chain([said]) {
            let found = verdicts(end_of(text.as_str()));
            match found.iter().rfind(|candidate| own(candidate)) {
                Some((_, object)) => return Opinion::read(object),
                None => quoted |= !found.is_empty(),
            }
        }
        Err(NoVerdict(match last_line(said.as_str()) {
            _ if quoted => {
                "its only score is copied word for word from the work that it judged".into()
            }
            None => "it said nothing".into(),
            Some(line) => {
                format!(
                    "there is no JSON object with a `score` in its answer, which ends with {:?}",
                    shortened(&Masked::already(line))
                )
            }
        }))
    }

    fn read(object: &Map<String, Value>) -> Result<Opinion, NoVerdict> {
        let written = get(object, &["score"]).unwrap_or(&Value::Null);
        let score = number(written).ok_or_else(|| {
            NoVerdict(format!(
                "its score is {}, which is not a number",
                shortened(&Masked::already(written.to_string()))
            ))
        })?;
        if !(0.0..=1.0).contains(&score) {
            return Err(NoVerdict(format!(
                "its score is {score}, which is not from 0 to 1"
            )));
        }
        let summary = text(object, &["summary", "message", "reason", "explanation"]);
        let reasons = get(object, &["reasons", "criteria"])
            .map(reasons)
            .unwrap_or_default();
        Ok(Opinion {
            score,
            summary,
            reasons,
        })
    }

    /// Returns one sentence: the judge's summary, else the reason for the points that were lost.
    pub(in crate::grade) fn in_short(&self) -> Option<String> {
        let lost = self
            .reasons
            .iter()
            .find(|reason| reason.score.is_some_and(|score| score < 1.0));
        let reason = lost
            .or(self.reasons.first())
            .map(|reason| match &reason.criterion {
                Some(criterion) => format!("{criterion}: {}", reason.reason),
                None => reason.reason.clone(),
            });
        let short = self.summary.clone().or(reason)?;
        Some(prose::one_line(&short)).filter(|short| !short.is_empty())
    }
}

fn end_of(text: &str) -> &str {
    &text[char_boundary(text, text.len().saturating_sub(LOOKED_AT))..]
}

/// Returns every object in a text that could be a verdict, with its text.
fn verdicts(text: &str) -> Vec<(&str, Map<String, Value>)> {
    /// The most braces without an end that are skipped.
    const MOST_OPEN: usize = 100;
    let (mut found, mut at, mut open) = (Vec::new(), 0, 0);
    while let Some(begin) = text[at..].find('{').map(|offset| at + offset) {
        match object_end(&text[begin..]) {
            Some(length) => {
                let raw = &text[begin..begin + length];
                found.extend(object(raw).and_then(verdict).map(|object| (raw, object)));
                // Objects inside it are not looked at: the score of a criterion is not that of the work.
                at = begin + length;
            }
            // The object was cut off: objects inside it are only parts.
            None if text[begin + 1..].trim_start().starts_with('"') => break,
            None if open == MOST_OPEN => break,
            None => (at, open) = (begin + 1, open + 1),
        }
    }
    found
}

/// Returns the length of the object at the beginning of a text, by its braces.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn object(raw: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(raw)
        .or_else(|_| serde_json::from_str(&without_last_commas(raw)))
        .ok()
}

/// Removes trailing commas as in `[1, 2,]`, which people and models write and JSON does not allow.
fn without_last_commas(raw: &str) -> String {
    let (mut text, mut at) = (String::with_capacity(raw.len()), 0);
    for part in raw.split_inclusive(',') {
        at += part.len();
        let is_last = raw[at..].trim_start().starts_with(['}', ']']);
        text.push_str(if is_last {
            part.trim_end_matches(',')
        } else {
            part
        });
    }
    text
}

/// Returns the object itself, or the one that it wraps.
fn verdict(object: Map<String, Value>) -> Option<Map<String, Value>> {
    if get(&object, &["score"]).is_some() {
        // One criterion by itself.
        return get(&object, &["criterion"]).is_none().then_some(object);
    }
    match get(
        &object,
        &["verdict", "judgement", "judgment", "result", "evaluation"],
    ) {
        Some(Value::Object(inner)) if get(inner, &["score"]).is_some() => Some(inner.clone()),
        _ => None,
    }
}

fn get<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| {
        object
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    })
}

fn text(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let text = get(object, names)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.chars().take(LONGEST_REASON).collect())
}

/// Reads `0.5`, `"0.5"` or `"50%"`.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim_end().parse::<f64>().ok()? / 100.0,
            None => text.trim().parse().ok()?,
        },
        _ => return None,
    };
    // A zero has no sign.
    Some(number + 0.0)
}

fn reasons(value: &Value) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = match value {
        Value::Array(items) => items.iter().map(|item| reason(None, item)).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(name, value)| reason(Some(name), value))
            .collect(),
        other => vec![reason(None, other)],
    };
    reasons.retain(|reason| !reason.reason.is_empty() || reason.score.is_some());
    reasons.truncate(MOST_REASONS);
    reasons
}

fn reason(name: Option<&str>, value: &Value) -> Reason {
    let in_range = |score: &f64| (0.0..=1.0).contains(score);
    let criterion = name.map(str::to_owned);
    match value {
        Value::Object(object) => Reason {
            criterion: text(object, &["criterion", "name"]).or(criterion),
            score: get(object, &["score"]).and_then(number).filter(in_range),
            reason: text(
                object,
                &["reason", "explanation", "comment", "justification"],
            )
            .unwrap_or_default(),
        },
        Value::String(said) => Reason {
            criterion,
            score: None,
            reason: said.trim().chars().take(LONGEST_REASON).collect(),
        },
        other => Reason {
            criterion,
            score: number(other).filter(in_range),
            reason: String::new(),
        },
    }
}

#[cfg(test)]
mod tests;
