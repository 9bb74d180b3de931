//! Reads Dockerfiles, as far as Terca has to know what is in them.

use crate::text::prose;
use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

/// One instruction of a Dockerfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The number of its first line, from 1.
    pub line: usize,
    /// The name in capitals.
    pub word: String,
    /// All that follows the name, in one line.
    pub rest: String,
    /// The directory that relative paths are relative to; `None` where the image decides.
    pub workdir: Option<Utf8PathBuf>,
}

impl Instruction {
    /// Returns its text in one line.
    pub fn text(&self) -> String {
        format!("{} {}", self.word, self.rest)
    }

    /// Returns whether it begins with an image of a person or an organization. Those of systems and languages have plain names.
    pub fn is_from_own_image(&self) -> bool {
        let mut words = self.rest.split_whitespace();
        let name = words.find(|word| !word.starts_with("--"));
        self.word == "FROM" && name.is_some_and(|name| name.contains('/'))
    }

    /// Returns whether it copies files of the context.
    pub fn reads_context(&self) -> bool {
        let is_own = |word: &str| word.starts_with("--from=") || word.contains("://");
        let mut words = self.rest.split_whitespace();
        ["COPY", "ADD"].contains(&self.word.as_str())
            && !self.rest.contains("<<")
            && !words.any(is_own)
    }
}

/// Returns the instructions of a Dockerfile.
pub fn instructions(text: &str) -> Vec<Instruction> {
    let mut instructions: Vec<Instruction> = Vec::new();
    let mut workdir: Option<Utf8PathBuf> = None;
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        if first.trim().is_empty() || first.trim_start().starts_with('#') {
            continue;
        }
        let mut whole = first.trim().to_owned();
        while let Some(open) = whole.strip_suffix('\\') {
            let open = open.trim_end().to_owned();
            let next = lines
                .by_ref()
                .map(|(_, line)| line.trim())
                .find(|line| !line.starts_with('#'));
            whole = format!("{open} {}", next.unwrap_or_default());
        }
        for end in heredocs(&whole) {
            lines.by_ref().find(|(_, line)| line.trim() == end);
        }
        let (word, rest) = whole
            .split_once(char::is_whitespace)
            .unwrap_or((&whole, ""));
        let (word, rest) = (word.to_uppercase(), rest.trim().to_owned());
        if word == "FROM" {
            workdir = None;
        } else if word == "WORKDIR" {
            workdir = joined(workdir.as_deref(), rest.trim_matches(['"', '\'']));
        }
        instructions.push(Instruction {
            line: index + 1,
            word,
            rest,
            workdir: workdir.clone(),
        });
    }
    instructions
}

/// Returns the words that end texts after `<<EOF`.
fn heredocs(line: &str) -> Vec<String> {
    let ends = line.split("<<").skip(1).filter_map(|rest| {
        let word = rest.trim_start_matches('-').trim_start_matches(['"', '\'']);
        let end: String = word
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        (!end.is_empty() && !rest.starts_with('<')).then_some(end)
    });
    ends.collect()
}

/// Makes a path absolute; `None` when it depends on variables.
pub(crate) fn joined(workdir: Option<&Utf8Path>, path: &str) -> Option<Utf8PathBuf> {
    if path.contains('$') {
        return None;
    }
    let whole = workdir.unwrap_or(Utf8Path::new("/")).join(path);
    let mut clean = Utf8PathBuf::from("/");
    for part in whole.components().skip(1) {
        match part.as_str() {
            ".." => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    Some(clean)
}

/// The line that a builder names: `Dockerfile:3` before the lines around it, or the last step that it began.
const FAILED_LINE: &str = r"(?m)^(?:[\w.-]+:(\d+)\s*$|.*?\b(?:Step|STEP) \d+/\d+ ?: (.*)$)";

/// Returns the instruction at which a builder gave up, by what it printed.
pub fn failing(text: &str, output: &str) -> Option<Instruction> {
    let all = instructions(text);
    let pattern = Regex::new(FAILED_LINE).ok()?;
    let last = pattern.captures_iter(output).last()?;
    if let Some(line) = last.get(1) {
        let line: usize = line.as_str().parse().ok()?;
        return all.into_iter().rev().find(|one| one.line <= line);
    }
    let step = prose::one_line(last.get(2)?.as_str());
    all.into_iter()
        .rev()
        .find(|one| prose::one_line(&one.text()) == step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# a comment\nFROM base\nWORKDIR /app\nCOPY a b ./\nRUN make \\\n    && false\nRUN true\n";

    #[test]
    fn instructions_have_their_first_line_and_their_directory() {
        let read = instructions(TEXT);
        let lines: Vec<(usize, &str)> =
            Vec::from_iter(read.iter().map(|one| (one.line, one.word.as_str())));
        let expected = [
            (2, "FROM"),
            (3, "WORKDIR"),
            (4, "COPY"),
            (5, "RUN"),
            (7, "RUN"),
        ];
        assert_eq!(lines, expected);
        assert_eq!(read[3].text(), "RUN make && false");
        assert_eq!(read[4].workdir.as_deref(), Some(Utf8Path::new("/app")));
    }

    #[test]
    fn a_copy_of_another_stage_reads_no_context() {
        let reads = |text: &str| instructions(text)[0].reads_context();
        assert!(reads("COPY --chown=1:1 a b") && reads("ADD a.tar /"));
        for text in [
            "COPY --from=build /a /b", "ADD https://example.com/a /a", "RUN cp a b",
            "COPY <<EOF /a\ntext\nEOF",
        ] {
            assert!(!reads(text), "{text}");
        }
    }

    #[test]
    fn the_failing_line_is_found_in_the_words_of_each_builder() {
        for output in [
            " > [3/4] RUN make && false:\n------\nDockerfile:5\n--------------------\n   4 |  COPY a b ./\nERROR: failed to solve",
            "Step 1/5 : FROM base\n ---> 1\nStep 4/5 : RUN make     && false\n ---> Running in 1\nnon-zero code: 1",
            "STEP 3/5: COPY a b ./\nSTEP 4/5: RUN make     && false\nError: building at STEP \"RUN make\"",
            "[2/2] STEP 4/5: RUN make && false\n",
        ] {
            assert_eq!(
                failing(TEXT, output).map(|one| one.line),
                Some(5),
                "{output}"
            );
        }
        assert_eq!(failing(TEXT, "cannot connect"), None);
    }
}
