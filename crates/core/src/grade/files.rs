//! `fileExists` and `fileContains`.

use regex::Regex;

use super::{PathPattern, Verdict, is_match, on_one_line};
use crate::text::prose;

#[derive(Debug, Clone)]
pub enum FileContent {
    Text(String),
    Missing,
    Unreadable(String),
}

pub(super) fn judge_existence(patterns: &[PathPattern], found: &[bool]) -> Verdict {
    let missing: Vec<&str> = patterns
        .iter()
        .zip(found)
        .filter(|(_, found)| !**found)
        .map(|(pattern, _)| pattern.written())
        .collect();
    let all: Vec<&str> = patterns.iter().map(PathPattern::written).collect();
    let verb = |files: &[&str], one: &'static str, many: &'static str| {
        if files.len() == 1 { one } else { many }
    };
    if missing.is_empty() {
        Verdict::pass(format!(
            "{} {}",
            prose::list(&all, "and"),
            verb(&all, "exists", "exist")
        ))
    } else {
        Verdict::fail(format!(
            "{} {} not exist",
            prose::list(&missing, "and"),
            verb(&missing, "does", "do")
        ))
    }
}

pub(super) fn judge_content(
    path: &str,
    content: &FileContent,
    text: Option<&str>,
    matches: Option<&Regex>,
) -> Verdict {
    let found = match content {
        FileContent::Missing => return Verdict::fail(format!("{path} does not exist")),
        FileContent::Unreadable(reason) => {
            return Verdict::fail(format!("{path} cannot be read: {reason}"));
        }
        FileContent::Text(found) => found,
    };
    if let Some(text) = text
        && !found.contains(text)
    {
        return Verdict::fail(format!("{path} does not contain {text:?}"));
    }
    if let Some(pattern) = matches
        && !is_match(pattern, found)
    {
        return Verdict::fail(format!("{path} does not match /{}/", on_one_line(pattern)));
    }
    Verdict::pass(format!("{path} has it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let patterns = [
            PathPattern::Path("a.js".into()),
            PathPattern::Path("b.js".into()),
        ];
        for (found, verdict) in [
            ([true, true], Verdict::pass("a.js and b.js exist")),
            ([true, false], Verdict::fail("b.js does not exist")),
            ([false, false], Verdict::fail("a.js and b.js do not exist")),
        ] {
            assert_eq!(judge_existence(&patterns, &found), verdict);
        }
    }

    #[test]
    fn contents() {
        let judged = |content: FileContent, text: Option<&str>, matches: Option<&str>| {
            let pattern = matches.map(|pattern| Regex::new(pattern).unwrap());
            judge_content("a.txt", &content, text, pattern.as_ref())
        };
        let text = |text: &str| FileContent::Text(text.into());
        assert_eq!(judged(text("axb"), Some("x"), None).score, 1.0);
        assert_eq!(
            judged(text("axb"), None, Some("^#!\n")),
            Verdict::fail(r"a.txt does not match /^#!\n/")
        );
        assert_eq!(
            judged(text("axb"), Some("x"), Some("^b")),
            Verdict::fail("a.txt does not match /^b/")
        );
        assert_eq!(
            judged(FileContent::Missing, Some("x"), None),
            Verdict::fail("a.txt does not exist")
        );
    }
}
