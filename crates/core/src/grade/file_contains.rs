//! `fileContains`: a file that must have a text, or match.

use std::time::Duration;

use camino::Utf8PathBuf;
use regex::Regex;
use serde_json::json;

use super::declaration::{TestKindDeclaration, settings};
use super::evidence::FileContent;
use super::grades::Grade;
use super::test::{Question, TestKind};
use super::verdict::{is_match, on_one_line};
use crate::reader::{Fields, object, patterns, plain_text};
use crate::text::{Code, Diagnostic};

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "fileContains",
    about: "A file must have the text, or match.",
    settings: || {
        let asked = object("fileContains", "`fileContains`", fields);
        settings(asked.linked("[map](eval-yaml.md#filecontains)").kind())
    },
};

/// A file, and the text that it must have.
#[derive(Debug)]
struct FileContains {
    path: Utf8PathBuf,
    text: Option<String>,
    matches: Option<Regex>,
}

fn fields(fields: &mut Fields<'_, '_>) -> Option<FileContains> {
    let asks = !fields.present(&["text", "matches"]).is_empty();
    let path = fields.required("path", patterns::workspace_path(), "The file.");
    let text = fields.optional(
        "text",
        plain_text().value(),
        "It must contain this text. `text`, `matches` or both are required.",
    );
    let matches = fields.optional("matches", patterns::regex(), "It must match.");
    fields.demand(
        "anyOf",
        json!([{ "required": ["text"] }, { "required": ["matches"] }]),
    );
    if path.is_some() && !asks {
        let message = "`fileContains` needs a `text` or `matches`";
        let place = fields.place;
        return fields
            .refuse(Diagnostic::error(Code::MissingKey, message).at(place, "nothing to look for"));
    }
    Some(FileContains {
        path: path?,
        text,
        matches,
    })
}

impl TestKind for FileContains {
    fn question(&self, _: Duration) -> Question<'_> {
        Question::Content {
            path: &self.path,
            judge: Box::new(|content| Ok(self.judge(content))),
        }
    }
}

impl FileContains {
    fn judge(&self, content: &FileContent) -> Grade {
        let path = &self.path;
        let found = match content {
            FileContent::Missing => return Grade::fail(format!("{path} does not exist")),
            FileContent::Unreadable(reason) => {
                return Grade::fail(format!("{path} cannot be read: {reason}"));
            }
            FileContent::Text(found) => found,
        };
        if let Some(text) = &self.text
            && !found.contains(text)
        {
            return Grade::fail(format!("{path} does not contain {text:?}"));
        }
        if let Some(pattern) = &self.matches
            && !is_match(pattern, found)
        {
            return Grade::fail(format!("{path} does not match /{}/", on_one_line(pattern)));
        }
        Grade::pass(format!("{path} matches"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents() {
        let judged = |content: FileContent, text: Option<&str>, matches: Option<&str>| {
            let asked = FileContains {
                path: "a.txt".into(),
                text: text.map(str::to_owned),
                matches: matches.map(|pattern| Regex::new(pattern).unwrap()),
            };
            asked.judge(&content)
        };
        let text = |text: &str| FileContent::Text(text.into());
        assert_eq!(judged(text("axb"), Some("x"), None).score, 1.0);
        assert_eq!(
            judged(text("axb"), None, Some("^#!\n")),
            Grade::fail(r"a.txt does not match /^#!\n/")
        );
        assert_eq!(
            judged(text("axb"), Some("x"), Some("^b")),
            Grade::fail("a.txt does not match /^b/")
        );
        assert_eq!(
            judged(FileContent::Missing, Some("x"), None),
            Grade::fail("a.txt does not exist")
        );
    }
}
