//! Help, messages and explanations are in plain English: words that the house rules replace are in none of them.

use std::process::Command;
use std::sync::LazyLock;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use terca_core::text::Code;

/// Words and phrases in lower case, and what to write instead.
pub const REPLACED: &[(&str, &str)] = &[
    ("stands", "is"),
    ("stood", "was"),
    ("stand in", "are in"),
    ("lies", "is"),
    ("lie in", "are in"),
    ("lying", "a plain verb"),
    ("laid", "applied to, copied over"),
    ("lays", "applies, copies"),
    ("whatever", "a name for the thing"),
    ("whoever", "everybody who"),
    ("whichever", "a name for the thing"),
    ("set-up", "setup"),
    ("set-ups", "setups"),
    ("start-up", "startup"),
    ("folder", "directory"),
    ("folders", "directories"),
    ("arm", "variant"),
    ("arms", "variants"),
    ("layer", "cached step"),
    ("layers", "cached steps"),
    ("belong into", "belong in"),
    ("belongs into", "belongs in"),
    ("tell of", "name"),
    ("tells of", "names"),
    ("told from", "differ from"),
    ("cannot be told", "the same"),
    ("at hand", "current"),
    ("anew", "again"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("all the same", "still"),
    ("somebody", "another user, another program"),
    ("says what", "shows, explains"),
    ("what it takes", "the thing that is needed"),
    ("what it would take", "the thing that is needed"),
    ("what is left", "the remaining trials"),
    ("what is finished", "finished trials"),
    ("nobody to ask", "not a terminal"),
    ("was proved", "was tested"),
    ("out of reach", "cannot be reached"),
    ("contained by", "in a sandbox"),
    ("are not contained", "run without a sandbox"),
    ("equal parts", "equal shards"),
    ("joins the runs", "merges the runs"),
];

/// Sources whose words are the user's own, or those of another program, or are for a model.
const NOT_FOR_READERS: &[&str] = &[
    "core/src/grade/judgement/prompt.rs", "core/src/new_suite/harbor/scripts.rs",
];

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^{}]*\}").unwrap());

/// Comments and characters are read, so that a quote in one of them opens no literal.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r##"(?s)//[^\n]*|'(?:\\.[^']*|[^'\\])'|r#"(.*?)"#|r"([^"]*)"|"((?:[^"\\]|\\.)*)""##)
        .unwrap()
});

static CONTINUED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\\n\s*").unwrap());

/// Returns the replaced phrases in a text, outside of `{…}`.
fn found(text: &str) -> Vec<&'static str> {
    let text = PLACEHOLDER.replace_all(text, "…").to_lowercase();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "-_./".contains(c));
    let has = |phrase: &str| {
        words.match_indices(phrase).any(|(start, _)| {
            let mut after = words[start + phrase.len()..].chars();
            let next = after.next();
            // A full stop ends a sentence, and is no part of a word.
            let is_stop = next == Some('.') && !after.next().is_some_and(char::is_alphanumeric);
            !is_part(words[..start].chars().next_back()) && (is_stop || !is_part(next))
        })
    };
    let phrases = REPLACED.iter().map(|(phrase, _)| *phrase);
    phrases.filter(|phrase| has(phrase)).collect()
}

/// Returns a complaint for each replaced phrase in a text.
fn complaints(place: &str, text: &str) -> Vec<String> {
    let better = |said: &str| REPLACED.iter().find(|(phrase, _)| *phrase == said);
    let better = |said: &str| better(said).map_or("", |(_, better)| *better);
    found(text)
        .into_iter()
        .map(|said| format!("{place}: `{said}`; write: {}\n  {text}", better(said)))
        .collect()
}

/// Returns the string literals of a source, without those of its tests and with the spaces of lines that go on.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let texts = TOKEN.captures_iter(source).filter_map(|captures| {
        let text = captures.iter().skip(1).flatten().next()?;
        Some(
            CONTINUED
                .replace_all(text.as_str(), "")
                .replace("\\n", "\n"),
        )
    });
    texts.collect()
}

fn crates() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the Rust sources below a directory, without files of tests.
fn sources(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for entry in dir.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() && path.file_name() != Some("tests") {
            found.extend(sources(&path));
        } else if path.extension() == Some("rs") && path.file_name() != Some("tests.rs") {
            found.push(path);
        }
    }
    found
}

/// Messages have several words; keys, codes and names of programs do not.
#[test]
fn no_message_has_a_replaced_word() {
    let root = crates();
    let mut wrong = Vec::new();
    let mut read = 0;
    for name in ["core", "engine", "gateway", "report", "terca"] {
        for path in sources(&root.join(name).join("src")) {
            if NOT_FOR_READERS.iter().any(|end| path.ends_with(end)) {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            for text in literals(&source) {
                if text.trim().contains(' ') {
                    read += 1;
                    wrong.extend(complaints(path.as_str(), &text));
                }
            }
        }
    }
    assert!(read > 2000, "only {read} literals were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_explanation_has_a_replaced_word() {
    let wrong: Vec<String> = Code::ALL
        .iter()
        .flat_map(|code| complaints(code.as_str(), code.text()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn help(words: &[&str]) -> String {
    let program = Command::new(env!("CARGO_BIN_EXE_terca"))
        .args(words)
        .output();
    String::from_utf8(program.unwrap().stdout).unwrap()
}

#[test]
fn no_help_has_a_replaced_word() {
    let all = help(&["--help"]);
    let commands: Vec<&str> = all
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|command| !command.is_empty() && *command != "help")
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    let mut wrong = complaints("terca --help", &all);
    for command in commands {
        let text = help(&[command, "--help"]);
        assert!(text.contains("Usage:"), "{command}: {text}");
        wrong.extend(complaints(&format!("terca {command} --help"), &text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_replaced_word_is_found_and_no_other() {
    for (phrase, _) in REPLACED {
        assert!(
            found(&format!("Here it {phrase}.")).contains(phrase),
            "{phrase}"
        );
    }
    assert_eq!(found("Whatever\n it is"), ["whatever"]);
    for good in [
        "the {folder} of `{arm}`",
        "a stand-in, an alarm and armed supplies",
        "an overlay that multiplayer families use",
        "in `/folder.txt` and set-up-time",
    ] {
        assert_eq!(found(good), [] as [&str; 0], "{good}");
    }
}

#[test]
fn literals_are_read_as_the_compiler_reads_them() {
    let source = r##"
        // a "comment"
        let c = '"'; let l: &'static str = "one \
            line";
        let r = r#"raw "text""#; let e = "a \" quote";
        #[cfg(test)]
mod tests { "no" }"##;
    let source = source.replace("        #[cfg(test)]", "#[cfg(test)]");
    assert_eq!(
        literals(&source),
        ["one line", "raw \"text\"", "a \\\" quote"]
    );
}
