//! Pages are in plain English: words that the house rules replace are on none of them.

use std::sync::LazyLock;

use camino::Utf8Path;
use regex::Regex;

use crate::house_words::REPLACED;

static PHRASES: LazyLock<Regex> = LazyLock::new(|| {
    let phrases: Vec<String> = REPLACED
        .iter()
        .map(|(phrase, _)| phrase.replace(' ', r"\s+"))
        .collect();
    Regex::new(&format!(r"(?i)\b({})\b", phrases.join("|"))).unwrap()
});

/// Returns the words of a page that plain English does without, with their lines. Code, output and generated parts may
/// have them.
pub fn problems(path: &Utf8Path, text: &str) -> Vec<String> {
    let prose = prose(text);
    let found = PHRASES.find_iter(&prose).filter(|found| {
        // A part of a longer word, such as `stand-in` and `set-up-time`.
        let after = prose[found.end()..].chars().next();
        let before = prose[..found.start()].chars().next_back();
        after != Some('-') && before != Some('-')
    });
    found
        .map(|found| {
            let line = prose[..found.start()].matches('\n').count() + 1;
            let said = found.as_str().to_lowercase();
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let better = REPLACED.iter().find(|(phrase, _)| *phrase == said);
            let better = better.map_or("", |(_, better)| better);
            format!("{path}:{line}: `{said}`; write: {better}")
        })
        .collect()
}

/// The sentences of a page: the same lines, without code, comments and generated parts.
fn prose(text: &str) -> String {
    let (mut is_code, mut is_comment, mut is_generated) = (false, false, false);
    let mut prose = String::new();
    for line in text.lines() {
        let start = line.trim_start();
        let is_fence = start.starts_with("```");
        is_code ^= is_fence;
        is_comment |= start.starts_with("<!--");
        is_generated |= start.starts_with("<!-- generated:");
        if !(is_fence || is_code || is_comment || is_generated) {
            prose += &without_code(line);
        }
        is_generated &= !start.starts_with("<!-- end -->");
        is_comment &= !line.contains("-->");
        prose.push('\n');
    }
    prose
}

fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        problems(Utf8Path::new("page.md"), text)
    }

    #[test]
    fn every_word_is_found() {
        for (phrase, better) in REPLACED {
            let line = found(&format!("A title.\n\nHere it {phrase} now.\n"));
            assert_eq!(
                line,
                [format!("page.md:3: `{phrase}`; write: {better}")],
                "{phrase}"
            );
        }
        assert_eq!(found("Whatever it is\n").len(), 1);
        assert_eq!(found("| a | in a folder |\n").len(), 1);
        assert_eq!(found("it is cannot\nbe told, `code`\n").len(), 1);
    }

    #[test]
    fn other_words_and_code_are_not() {
        for good in [
            "A stand-in and an overlay, on the one hand.",
            "`arm` and `layers` are keys.",
            "```text\nwhatever\n```",
            "<!-- test: run\nmkdir folder\n-->",
            "<!-- generated: fields of suite -->\nin the folder\n<!-- end -->",
            "This belongs to the trial. Armed, supplies, families.",
        ] {
            assert_eq!(found(good), [] as [&str; 0], "{good}");
        }
        let after = "<!-- generated: x -->\na\n<!-- end -->\n\n```sh\na\n```\nin the folder\n";
        assert_eq!(found(after).len(), 1);
    }
}
