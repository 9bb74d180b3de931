//! Reads a Dockerfile: the parts that make a workspace, and the rest for notes.

use camino::{Utf8Path, Utf8PathBuf};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instruction {
    /// The number of its first line, from 1.
    pub(super) line: usize,
    /// The name in capitals.
    pub(super) word: String,
    pub(super) rest: String,
    /// The directory that relative paths are relative to.
    pub(super) workdir: Option<Utf8PathBuf>,
}

pub(super) fn instructions(text: &str) -> Vec<Instruction> {
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
            workdir = joined(workdir.as_deref(), unquoted(&rest));
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

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// Makes a path absolute; `None` when it depends on variables.
pub(super) fn joined(workdir: Option<&Utf8Path>, path: &str) -> Option<Utf8PathBuf> {
    if path.contains('$') {
        return None;
    }
    let whole = workdir.unwrap_or(Utf8Path::new("/")).join(path);
    let mut clean = Utf8PathBuf::from("/");
    for part in whole
        .as_str()
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        if part == ".." {
            clean.pop();
        } else {
            clean.push(part);
        }
    }
    Some(clean)
}
