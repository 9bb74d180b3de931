//! The meaning of every error, its usual causes, and what to do about it.
//!
//! Each class of error has a [`Code`], a word that stays the same from one version to the next. It is beside
//! the message (`error[unknown-key]: …`), `terca explain unknown-key` prints its text, and
//! `docs/reference/errors.md` is made of the same texts. A code without a text does not compile. The examples
//! in the texts are tested: a wrong one gives an error with that code, a right one gives none.

use crate::text::prose;

/// Declares the topics and their codes, each with the word that users read. Its text is in `texts/`.
macro_rules! codes {
    ($($title:literal { $($code:ident $word:literal)+ })+) => {
        /// A class of errors.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $word] $code,)+)+
        }

        impl Code {
            /// All codes by topic, in the order of the list.
            pub const ALL: &'static [Code] = &[$($(Code::$code,)+)+];

            /// The topics: the heading of each, and its codes.
            pub const TOPICS: &'static [(&'static str, &'static [Code])] =
                &[$(($title, &[$(Code::$code,)+]),)+];

            /// Returns the word that users read and type.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($(Code::$code => $word,)+)+
                }
            }

            /// Returns a title in one line, followed by the explanation in Markdown.
            pub fn text(self) -> &'static str {
                match self {
                    $($(Code::$code => include_str!(concat!("texts/", $word, ".md")),)+)+
                }
            }
        }
    };
}

codes! {
    "Configuration files" {
        InvalidYaml "invalid-yaml"
        EmptyFile "empty-file"
        UnreadableFile "unreadable-file"
        UnknownKey "unknown-key"
        MissingKey "missing-key"
        DuplicateKey "duplicate-key"
        MisplacedKey "misplaced-key"
        ConflictingKeys "conflicting-keys"
        WrongValue "wrong-value"
        OutOfRange "out-of-range"
        AsksNothing "asks-nothing"
        InvalidPattern "invalid-pattern"
        InvalidName "invalid-name"
        DuplicateName "duplicate-name"
        SharedFolder "shared-folder"
        TwoBaselines "two-baselines"
        MissingFile "missing-file"
        OutsideWorkspace "outside-workspace"
        UnsetVariable "unset-variable"
        NoEvals "no-evals"
        DoubtfulValue "doubtful-value"
        SameAsBaseline "same-as-baseline"
        OlderSpelling "older-spelling"
    }
    "Weak or misleading suites" {
        NoTests "no-tests"
        EmptyRules "empty-rules"
        MisspeltDirectory "misspelt-directory"
        NotExecutable "not-executable"
        PromptIsAFile "prompt-is-a-file"
        KeyInFile "key-in-file"
        MissingInputs "missing-inputs"
        HiddenPath "hidden-path"
        ShownTests "shown-tests"
        LeftRunning "left-running"
        LargeBase "large-base"
        SkippedEval "skipped-eval"
        IncompleteEval "incomplete-eval"
        SettingsOfAnother "settings-of-another"
        UnknownSetting "unknown-setting"
        LongRules "long-rules"
        AgentNotReady "agent-not-ready"
    }
    "Agents in the configuration" {
        UnknownAgent "unknown-agent"
        NoAgent "no-agent"
        AgentCannot "agent-cannot"
        CannotJudge "cannot-judge"
    }
    "The command line and the machine" {
        Usage "usage"
        NoDirectory "no-directory"
        NoSuite "no-suite"
        NoMatch "no-match"
        NotInParts "not-in-parts"
        NobodyToAsk "nobody-to-ask"
        AlreadyThere "already-there"
        NotProven "not-proven"
        NotATask "not-a-task"
        NoRepository "no-repository"
        NoWorkDir "no-work-dir"
        NoSandbox "no-sandbox"
        NoWorker "no-worker"
        CannotWrite "cannot-write"
        CannotServe "cannot-serve"
    }
    "Earlier runs" {
        NoRuns "no-runs"
        UnknownRun "unknown-run"
        DamagedRun "damaged-run"
        RunGoingOn "run-going-on"
        SuiteChanged "suite-changed"
        NothingToCompare "nothing-to-compare"
        UnknownBaseline "unknown-baseline"
        NothingToGrade "nothing-to-grade"
        NoWorkspace "no-workspace"
        NothingToReplay "nothing-to-replay"
        CannotMerge "cannot-merge"
        Interrupted "interrupted"
    }
    "Trials that could not be judged" {
        Setup "setup"
        AgentMissing "agentMissing"
        Auth "auth"
        RateLimit "rateLimit"
        Credit "credit"
        ModelApi "modelApi"
        Model "model"
        Mcp "mcp"
        Delivery "delivery"
        Replay "replay"
        Agent "agent"
        Lost "lost"
        Internal "internal"
    }
}

impl Code {
    /// The codes that `allowWarnings` takes: those of warnings, and of evals that have no tests on purpose.
    pub const ALLOWABLE: &'static [Code] = &[
        Code::NoTests,
        Code::EmptyRules,
        Code::MisspeltDirectory,
        Code::NotExecutable,
        Code::PromptIsAFile,
        Code::KeyInFile,
        Code::MissingInputs,
        Code::HiddenPath,
        Code::LeftRunning,
        Code::LargeBase,
        Code::SkippedEval,
        Code::IncompleteEval,
        Code::SettingsOfAnother,
        Code::UnknownSetting,
        Code::LongRules,
        Code::AgentNotReady,
        Code::SameAsBaseline,
        Code::DoubtfulValue,
        Code::OlderSpelling,
    ];

    /// Finds a code as typed; `-`, `_` and case do not matter.
    pub fn find(word: &str) -> Option<Code> {
        let folded = prose::fold(word);
        Code::ALL
            .iter()
            .copied()
            .find(|code| prose::fold(code.as_str()) == folded)
    }

    /// Returns the heading of its topic.
    pub fn topic(self) -> &'static str {
        let mut topics = Code::TOPICS.iter();
        let topic = topics.find(|(_, codes)| codes.contains(&self));
        topic.map_or("", |(title, _)| title)
    }

    /// Returns the first line of the text.
    pub fn title(self) -> &'static str {
        self.text().lines().next().unwrap_or_default()
    }

    /// Returns the text below the title.
    pub fn body(self) -> &'static str {
        self.text()
            .split_once('\n')
            .map_or("", |(_, body)| body.trim())
    }
}

/// Returns one code's text for a terminal. Code is indented instead of fenced.
pub fn brief(code: Code) -> String {
    let mut shown = format!("{}: {}\n\n", code.as_str(), code.title());
    let mut in_code = false;
    for line in code.body().lines() {
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let indent = if in_code && !line.is_empty() {
            "    "
        } else {
            ""
        };
        shown += &format!("{indent}{line}\n");
    }
    shown
}

/// Returns all codes by topic, a line each.
pub fn overview() -> String {
    let width = Code::ALL
        .iter()
        .map(|code| code.as_str().len())
        .max()
        .unwrap_or(0);
    let topics = Code::TOPICS.iter().map(|(title, codes)| {
        let lines: String = codes
            .iter()
            .map(|code| format!("  {:width$}  {}\n", code.as_str(), code.title()))
            .collect();
        format!("{title}\n{lines}")
    });
    prose::joined(topics, "\n")
}

/// Returns the page of the documentation. A code's heading is its anchor.
pub fn markdown() -> String {
    let mut page = include_str!("preface.md").to_owned();
    for (title, codes) in Code::TOPICS {
        page += &format!("\n## {title}\n");
        for code in *codes {
            page += &format!(
                "\n### {}\n\n{}.\n\n{}\n",
                code.as_str(),
                prose::capital(code.title()),
                code.body()
            );
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for (typed, code) in [
            ("unknown-key", Some(Code::UnknownKey)),
            ("Unknown_Key", Some(Code::UnknownKey)),
            ("agentMissing", Some(Code::AgentMissing)),
            ("agent-missing", Some(Code::AgentMissing)),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(Code::find(typed), code, "{typed}");
        }
    }

    #[test]
    fn no_two_codes_are_taken_for_each_other() {
        let folded: HashSet<String> = Code::ALL
            .iter()
            .map(|code| prose::fold(code.as_str()))
            .collect();
        assert_eq!(folded.len(), Code::ALL.len());
    }

    /// Every text has the parts that readers look for.
    #[test]
    fn every_text_explains() {
        const PARTS: [&str; 4] = [
            "\n\nUsual causes:\n\n- ", "\n\nWrong:\n\n```", "\n\nRight:\n\n```",
            "\n\nWhat to do next: ",
        ];
        for code in Code::ALL {
            let (text, word) = (code.text(), code.as_str());
            assert!(
                text.starts_with(|c: char| c.is_lowercase() || c == '`'),
                "{word}: no title"
            );
            assert!(
                text.ends_with('\n') && !text.ends_with("\n\n"),
                "{word}: its end"
            );
            let places: Vec<Option<usize>> = PARTS.iter().map(|part| text.find(part)).collect();
            assert!(
                places.iter().all(Option::is_some) && places.is_sorted(),
                "{word}: {places:?}"
            );
            let longest = text
                .lines()
                .map(|line| line.chars().count())
                .max()
                .unwrap_or(0);
            assert!(longest <= 80, "{word}: a line of {longest} characters");
        }
    }
}
