//! The lines of a Markdown text, with what they mean for its parts.

/// A line of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// The line with its end.
    pub text: &'a str,
    /// It is part of a code block or of the front matter: nothing in it starts a part.
    pub is_literal: bool,
}

/// Returns the lines of a text.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut front_matter = text
        .lines()
        .next()
        .is_some_and(|line| line.trim_end() == "---");
    let mut fence: Option<(char, usize)> = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_literal;
        if front_matter {
            is_literal = true;
            front_matter = number == 0 || line.trim_end() != "---";
        } else if let Some((mark, length)) = fence {
            is_literal = true;
            let closes = fence_of(line).is_some_and(|(other, longer)| {
                other == mark && longer >= length && line.trim().chars().all(|c| c == mark)
            });
            if closes {
                fence = None;
            }
        } else {
            fence = fence_of(line);
            is_literal = false;
        }
        lines.push(Line {
            text: line,
            is_literal,
        });
    }
    lines
}

/// Returns the mark of a code fence, and how many there are of it.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|first| "`~".contains(*first))?;
    let length = line.chars().take_while(|next| *next == mark).count();
    (length >= 3).then_some((mark, length))
}

/// Returns the level and the text of a heading such as `## Style`.
pub(super) fn heading<'a>(line: &Line<'a>) -> Option<(usize, &'a str)> {
    if line.is_literal || line.text.starts_with("    ") {
        return None;
    }
    let text = line.text.trim();
    let level = text.chars().take_while(|mark| *mark == '#').count();
    let rest = &text[level..];
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}

/// Returns what a comment says that begins or ends a part: `part:` with its name, or `/part`.
pub(super) fn mark<'a>(line: &Line<'a>) -> Option<&'a str> {
    let comment = line.text.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
    let comment = Some(comment.trim()).filter(|_| !line.is_literal);
    comment.filter(|comment| *comment == "/part" || comment.starts_with("part:"))
}

/// Returns the text of a list's item that begins at the start of the line.
pub(super) fn item<'a>(line: &Line<'a>) -> Option<&'a str> {
    if line.is_literal {
        return None;
    }
    let digits = line.text.chars().take_while(char::is_ascii_digit).count();
    let marker = match digits {
        0 => line.text.strip_prefix(['-', '*', '+']),
        _ => line.text[digits..].strip_prefix(['.', ')']),
    };
    let text = marker?.strip_prefix([' ', '\t'])?.trim();
    (!text.is_empty()).then_some(text)
}
