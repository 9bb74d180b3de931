//! The first words of a task: a commit's message, without the answer and without what only its repository knows.

use regex::Regex;

use super::choice::Chosen;
use super::code::interface::{Interface, interface};
use super::code::words;
use super::contents::secret_in;
use super::issues::Issues;
use super::leaks::leak;
use super::{Reason, Refusal};
use crate::text::prose;

/// A message with fewer words is no task.
const FEWEST_WORDS: usize = 3;
/// A longer message is cut at the end of a line.
const LONGEST: usize = 4_000;

/// Lines that say who and where, in the form `Name: value`.
const TRAILERS: &str = r"(?i)^\s*(signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|reported-by|suggested-by|helped-by|cc|change-id|reviewed-on|fixes|closes|resolves|refs?|see-also|related|issue|bug|pr|link|differential revision|cherry picked from|\(cherry picked from)\b.*[:#( ]";
/// Numbers of issues, with the word before them.
const ISSUES: &str = r"(?i)[ \t]*[(\[]?(?:\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|see|refs?)[ \t]+)?(?:(?:\b[\w.-]+/[\w.-]+)?#\d+\b|\bgh-\d+\b)[)\]]?";
/// An address leads to more than the task.
const ADDRESS: &str = "://";
const HASH: &str = r"\b[0-9a-f]{7,40}\b";
/// Lines, and points of the list that a squash makes, that say nothing about the task.
const NOISE: &str = r"(?i)^[\s*+-]*(([a-z]+(\([^)]*\))?!?:\s*)?(wip|(fix(ed|es|ing)?|correct) (a |the |some )?(typos?|comments?|tests?|lint\w*|format\w*|ci|build|nits?|review)\b.{0,24}|(fixup|squash)!.*|typos?|nits?|lint\w*|format(ting|ted)?( code)?|(go)?fmt|cleanups?|clean up|(address|apply|respond to|incorporate)( \S+)? (review|comments?|feedback|suggestions?)\b.*|(add|update|more) tests?|(remove|delete|drop) .{0,20}(print|log|debug)\w*\b.*|merge (branch|remote|pull|main|master)\b.*|rebase\w*\b.*|bump version\b.*|update (the )?changelog|update \S+\.\w{1,5}|\[pre-commit\.ci\].*|(keep|maintain|reach|restore) .{0,12}coverage|(satisfy|please|silence) \S+)|[-=_*~]{3,})[\s.]*$";

/// Makes a prompt from the message of a commit, with the text of the issue that it names and the names that its tests need.
pub(super) fn prompt(chosen: &Chosen, issues: &Issues) -> Result<String, Refusal> {
    let message = &chosen.commit.message;
    let mut text = without_pointers(&without_answers(message));
    if let Some(issue) = issues.named_in(message) {
        let issue = without_pointers(&shortened(issue));
        if leak(&issue, chosen).is_none() && secret_in(&issue).is_none() {
            text = format!("{issue}\n\n{text}").trim().to_owned();
        }
    }
    if !has_words(&text) {
        return Err(Reason::SaysNothing.into());
    }
    let names = names(&text, chosen)?;
    let start = "Make this change to the project in this directory:";
    Ok(described(&format!("{start}\n\n{text}{names}")))
}

/// Returns the section with the names that tests need and a text lacks.
fn names(text: &str, chosen: &Chosen) -> Result<String, Refusal> {
    let Interface { lines, missing } = interface(chosen);
    let words = words(text);
    let said = |name: &str| words.contains(name);
    if let Some(name) = missing.iter().find(|name| !said(name)) {
        return Err(Refusal::with(Reason::Unsolvable, format!("`{name}`")));
    }
    let is_new = |line: &&String| {
        let signature = line.split('`').nth(1).unwrap_or_default();
        let is_name = signature.chars().all(|c| c.is_alphanumeric() || c == '_');
        !text.contains(signature) || is_name && !said(signature)
    };
    let lines: Vec<&str> = lines.iter().filter(is_new).map(String::as_str).collect();
    if lines.is_empty() {
        return Ok(String::new());
    }
    let section = format!(
        "## Interface\n\nTests use these names:\n\n{}",
        lines.join("\n")
    );
    match leak(&section, chosen) {
        Some(part) => Err(Refusal::with(
            Reason::Unsolvable,
            format!("to name them, {part}"),
        )),
        None => Ok(format!("\n\n{section}")),
    }
}

/// Cuts a text at the end of a line.
fn shortened(text: &str) -> String {
    let mut length = 0;
    let lines = text.lines().take_while(|line| {
        length += line.len();
        length <= LONGEST
    });
    prose::joined(lines, "\n")
}

/// Makes a prompt from a text that describes the task.
pub(super) fn described(text: &str) -> String {
    format!("{text}\n\nHidden tests check the behaviour when you are done.\n")
}

/// Tells whether a text has enough words for a task.
pub(super) fn has_words(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic));
    words.count() >= FEWEST_WORDS
}

/// Leaves out trailers, lines without a meaning, code in fences, and lines of diffs.
fn without_answers(message: &str) -> String {
    let [trailer, noise] = [TRAILERS, NOISE].map(Regex::new);
    let is = |pattern: &Result<Regex, _>, line: &str| {
        let pattern = pattern.as_ref();
        pattern.is_ok_and(|pattern| pattern.is_match(line))
    };
    let mut kept: Vec<&str> = Vec::new();
    let (mut is_fenced, mut is_diff, mut length) = (false, false, 0);
    for line in message.lines().map(str::trim_end) {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        is_diff |= line.starts_with("diff --git ") || line.starts_with("@@ ");
        length += line.len();
        if length > LONGEST || is_diff {
            break;
        }
        // The list of a squash begins with the subject.
        let point = line.trim_start_matches(['*', '+', '-', ' ']);
        let is_subject =
            !point.is_empty() && kept.first().is_some_and(|first| first.starts_with(point));
        let is_noise = is(&trailer, line) || is_subject || (!kept.is_empty() && is(&noise, line));
        if !is_fence && !is_fenced && !is_noise {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// Leaves out lines with addresses, numbers of issues, and hashes.
pub(super) fn without_pointers(text: &str) -> String {
    let mut text = text.to_owned();
    if let Ok(pattern) = Regex::new(ISSUES) {
        text = pattern.replace_all(&text, "").into_owned();
    }
    if let Ok(pattern) = Regex::new(HASH) {
        let named = |found: &regex::Captures<'_>| {
            let word = &found[0];
            let is_hash = word.bytes().any(|byte| byte.is_ascii_digit())
                && word.bytes().any(|byte| byte.is_ascii_alphabetic());
            if is_hash {
                "an earlier commit".to_owned()
            } else {
                word.to_owned()
            }
        };
        text = pattern.replace_all(&text, named).into_owned();
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        let is_second_blank = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !is_second_blank && !line.contains(ADDRESS) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_suite::mine::commit::{Change, Commit, Kind, Object};

    fn chosen(message: &str) -> Chosen {
        let change = |path: &str, text: &str| Change {
            path: path.into(),
            old: None,
            new: Some(Object {
                kind: Kind::File(false),
                id: String::new(),
                text: text.to_owned(),
            }),
        };
        Chosen {
            commit: Commit {
                id: "3f2a1b9c0d".repeat(4),
                parents: Vec::new(),
                seconds: 0,
                message: message.to_owned(),
            },
            parent: "1a2b3c4d5e".repeat(4),
            tests: vec![change(
                "test_a.py",
                "from a import words\n\nassert words(text='a b') == 2\n",
            )],
            solution: vec![change(
                "a.py",
                "def words(\n    text: Optional[Sequence[str]],\n):\n    return len(text.split())\n",
            )],
            run: Vec::new(),
            inline: Vec::new(),
        }
    }

    fn prompt(message: &str) -> Result<String, Refusal> {
        let chosen = Chosen {
            tests: Vec::new(),
            ..chosen(message)
        };
        super::prompt(&chosen, &Issues::NONE)
    }

    #[test]
    fn names_that_tests_need_are_added_without_their_bodies() {
        let issues = Issues::NONE;
        let text = super::prompt(&chosen("Count what it has"), &issues).unwrap();
        let names = "Count what it has\n\n## Interface\n\nTests use these names:\n\n\
                     - `def words(text: Optional[Sequence[str]])` in `a.py`\n\nHidden";
        assert!(text.contains(names) && !text.contains("split"), "{text}");
        let said = "Add def words(text: Optional[Sequence[str]]) to it";
        let text = super::prompt(&chosen(said), &issues).unwrap();
        assert!(!text.contains("Interface"), "{text}");
        let mut unknown = chosen("Count what it has");
        if let Some(object) = &mut unknown.solution[0].new {
            object.text = "globals()['words'] = len\n".to_owned();
        }
        assert_eq!(
            super::prompt(&unknown, &issues),
            Err(Refusal::with(Reason::Unsolvable, "`words`"))
        );
        unknown.commit.message += ", by `words`";
        assert!(super::prompt(&unknown, &issues).is_ok());
    }

    #[test]
    fn the_issue_comes_before_the_message() {
        let issues = r#"[{"number": 7, "title": "Words are lost", "body": "Two of <!-- no --> three.\n\n```\na b\n```"},
                         {"number": 8, "title": "T", "body": "return len(text.split())"}]"#;
        let issues = Issues::read(issues).unwrap();
        let text = super::prompt(&chosen("Fix it\n\nCloses #7\n"), &issues).unwrap();
        assert!(
            text.contains(
                "directory:\n\nWords are lost\n\nTwo of  three.\n\n```\na b\n```\n\nFix it\n\n##"
            ),
            "{text}"
        );
        let leaks = super::prompt(&chosen("Fix the words now (#8)"), &issues).unwrap();
        assert!(!leaks.contains("split"), "{leaks}");
    }

    #[test]
    fn lines_without_a_meaning_are_left_out() {
        let message = "feat: add Compare (#3)\n\n* feat: add Compare\n* fix comment\n* wip\n* fix: remove fmt.Println from test\n\
                       * fix typo in README\n* [pre-commit.ci] auto fixes\n* Update src/a_b.py\n* maintain 100% coverage\n* Fixed the order of nil\n* address review comments\n\n---------\n\nCo-authored-by: A <a@b>\n\
                       (cherry picked from commit 0123)\n";
        let text = prompt(message).unwrap();
        let kept = "feat: add Compare\n\n* Fixed the order of nil\n\nHidden";
        assert!(text.contains(kept), "{text}");
    }

    #[test]
    fn the_answer_and_the_pointers_are_left_out() {
        let message = "Parse empty lines (#12)\n\nThey were an error since 3f2a1b9c0d.\n\
                       See https://example.com/issues/12 for more.\n\n```\nreturn []\n```\n\n\
                       Fixes: #12\nCloses #13\nSigned-off-by: A <a@example.com>\nCo-authored-by: B <b@example.com>\n";
        assert_eq!(
            prompt(message).unwrap(),
            "Make this change to the project in this directory:\n\nParse empty lines\n\n\
             They were an error since an earlier commit.\n\nHidden tests check the behaviour when you are done.\n"
        );
        let diff = prompt("Add a flag for colours\n\ndiff --git a/x b/x\n+secret\n").unwrap();
        assert!(!diff.contains("secret"), "{diff}");
    }

    #[test]
    fn numbers_and_words_stay() {
        let text = prompt("Decade of 1234567 faced words: accept 42 items").unwrap();
        assert!(
            text.contains("Decade of 1234567 faced words: accept 42 items"),
            "{text}"
        );
    }

    #[test]
    fn a_message_without_words_is_refused() {
        for message in ["", "wip", "fix bug", "#12 #13 #14", "1 2 3 4"] {
            assert_eq!(
                prompt(message),
                Err(Reason::SaysNothing.into()),
                "{message}"
            );
        }
    }
}
