//! Texts of issues and pull requests, which say more than a commit's message.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Deserializer, Value};

/// The number of an issue, with the word before it that says that it is done.
const NUMBER: &str =
    r"(?im)(?:\b(fix(?:es|ed)?|close[sd]?|resolve[sd]?):?[ \t]+|^|[\s(\[,:])(?:#|gh-)(\d{1,9})\b";
const COMMENT: &str = r"(?s)<!--.*?-->";

/// Issues and pull requests by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Issues(BTreeMap<u64, String>);

#[derive(Deserialize)]
struct Issue {
    number: u64,
    title: String,
    body: Option<String>,
}

impl Issues {
    /// No issues.
    pub const NONE: Issues = Issues(BTreeMap::new());

    /// Reads JSON: a list, several lists, or an object in each line, with `number`, `title` and `body`.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        let comment = Regex::new(COMMENT).ok();
        let mut issues = BTreeMap::new();
        for value in Deserializer::from_str(text).into_iter::<Value>() {
            let list = match value? {
                Value::Array(list) => list,
                one => vec![one],
            };
            for issue in list {
                let Issue {
                    number,
                    title,
                    body,
                } = serde_json::from_value(issue)?;
                let body = body.unwrap_or_default().replace('\r', "");
                let body = match &comment {
                    Some(comment) => comment.replace_all(&body, "").into_owned(),
                    None => body,
                };
                issues.insert(number, format!("{title}\n\n{}", body.trim()));
            }
        }
        Ok(Issues(issues))
    }

    /// Returns the text of the issue that a message names: one that it closes first, also by its pull request.
    pub(super) fn named_in(&self, message: &str) -> Option<&str> {
        let (mut closed, named) = numbers(message);
        let texts = named.iter().filter_map(|number| self.0.get(number));
        closed.extend(texts.flat_map(|text| numbers(text).0));
        let mut known = closed
            .iter()
            .chain(&named)
            .filter_map(|number| self.0.get(number));
        known.next().map(String::as_str)
    }
}

/// Returns the numbers that a text closes, and those that it only names.
fn numbers(text: &str) -> (Vec<u64>, Vec<u64>) {
    let (mut closed, mut named) = (Vec::new(), Vec::new());
    let Ok(pattern) = Regex::new(NUMBER) else {
        return (closed, named);
    };
    for found in pattern.captures_iter(text) {
        let number = found[2].parse().unwrap_or_default();
        match found.get(1) {
            Some(_) => closed.push(number),
            None => named.push(number),
        }
    }
    (closed, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_is_found_by_the_message_or_its_pull_request() {
        let text = "[{\"number\":1,\"title\":\"One\",\"body\":null}]\n{\"number\":2,\"title\":\"Two\",\"body\":\"fixes #1\"}\n\
                    {\"number\":3,\"title\":\"Three\",\"body\":\"b\",\"state\":\"OPEN\"}\n";
        let issues = Issues::read(text).unwrap();
        for (message, title) in [
            ("Fix it (#3)", Some("Three")),
            ("Fix it (#2)", Some("One")),
            ("Fix it (#3)\n\nCloses: #1", Some("One")),
            ("Fix it, see GH-3", Some("Three")),
            ("Fix it (#9)", None),
            ("Fix it like other/repo#3", None),
        ] {
            let found = issues
                .named_in(message)
                .and_then(|text| text.lines().next());
            assert_eq!(found, title, "{message}");
        }
        assert!(Issues::read("[{\"title\": \"x\"}]").is_err());
    }
}
