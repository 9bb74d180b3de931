//! Whether what a page shows is what was printed.

use std::sync::LazyLock;

use regex::Regex;

/// Why not, if it is not. `…` alone on a line stands for any lines, within a line for any words.
pub fn difference(shown: &str, printed: &str, numbers_differ: bool) -> Option<String> {
    let tidy = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| normal(line, numbers_differ));
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (shown, printed) = (tidy(shown), tidy(printed));
    let pattern: Vec<String> = shown.iter().map(|line| pattern(line)).collect();
    let whole = Regex::new(&format!("^{}$", pattern.concat())).unwrap();
    let text: String = printed.iter().map(|line| format!("{line}\n")).collect();
    if whole.is_match(&text) {
        return None;
    }
    let missing = shown.iter().find(|line| {
        let line = Regex::new(&format!("^{}$", pattern_of_line(line))).unwrap();
        *line.as_str() != *"^$" && !printed.iter().any(|printed| line.is_match(printed))
    });
    let missing = missing.map_or("the order of the lines".to_owned(), |line| {
        format!("`{line}`")
    });
    Some(format!(
        "this is not what was printed: {missing}\n--- printed\n{}---",
        end_of(&text)
    ))
}

/// The last lines of what may be very long.
fn end_of(text: &str) -> String {
    const LINES: usize = 50;
    let skipped = text.lines().count().saturating_sub(LINES);
    text.lines()
        .skip(skipped)
        .map(|line| format!("{line}\n"))
        .collect()
}

fn pattern(line: &str) -> String {
    if line == "…" {
        "(?:.*\n)*?".into()
    } else {
        format!("{}\n", pattern_of_line(line))
    }
}

fn pattern_of_line(line: &str) -> String {
    line.split('…')
        .map(|words| regex::escape(words.trim()))
        .collect::<Vec<_>>()
        .join(".*")
}

/// What differs from one time to the next: times and their ratios, dates, seeds, how wide columns are.
static DIFFERS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let all = [
        (r"\d{4}-\d\d-\d\d", "DATE"),
        (r"\b\d\d:\d\d\b", "CLOCK"),
        (r"\bseed \d+", "seed N"),
        (
            r"\b\d+h \d+m\b|\b\d+m \d+s\b|\b\d+(\.\d+)?(ms|s|m)\b",
            "TIME",
        ),
        (r"\d+\.\d+×", "RATIO"),
        (r"/var/tmp/terca-docs-\w+/page", "~"),
        (r"─+", "─"),
        (r"\s+", " "),
    ];
    all.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name))
        .into()
});

static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[+−-]?\d+([.,]\d+)*").unwrap());

fn normal(line: &str, numbers_differ: bool) -> String {
    let mut line = line.to_owned();
    for (pattern, name) in DIFFERS.iter() {
        line = pattern.replace_all(&line, *name).into_owned();
    }
    if numbers_differ {
        line = NUMBER.replace_all(&line, "N").into_owned();
    }
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn what_may_differ() {
        assert_eq!(
            difference(
                "a  b\n2026-11-14-001  0.1s", "a b\n\n2027-01-01-001 12m 3s\n", false
            ),
            None
        );
        assert_eq!(difference("…\nlast", "one\ntwo\nlast", false), None);
        assert_eq!(difference("first\n…", "first\n", false), None);
        assert_eq!(difference("score … of 3", "score 2 out of 3", false), None);
        assert_eq!(difference("1/4  0.44", "3/4  0.75", true), None);
    }

    #[test]
    fn what_may_not() {
        for (shown, printed) in [
            ("a", "b"),
            ("a", "a\nb"),
            ("b", "a\nb"),
            ("a\nb", "b\na"),
            ("1 passed", "2 passed"),
            ("a.c", "abc"),
        ] {
            assert!(
                difference(shown, printed, false).is_some(),
                "{shown} is not {printed}"
            );
        }
        assert!(difference("1 passed", "1 failed", true).is_some());
    }
}
