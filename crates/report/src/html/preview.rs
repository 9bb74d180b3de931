//! Long texts: the first lines, and the others folded below.

use maud::{Markup, html};
use terca_core::text::prose;

use super::foreign::clean;

/// The lines that are shown.
const FIRST_LINES: usize = 8;
/// The bytes of these lines that are shown.
const FIRST_BYTES: usize = 1_600;
/// So many more lines are not worth a fold.
const FEW: usize = 3;

/// Returns a text.
pub fn preview(text: &str) -> Markup {
    let text = clean(text);
    let text = text.trim_matches('\n');
    let (first, rest) = split(text);
    // A parser drops a line end at the beginning of `pre`, so none is there.
    html! {
        pre.code { (first) }
        @if !rest.is_empty() {
            details.fold {
                summary { (size(rest)) }
                pre.code { (rest) }
            }
        }
    }
}

/// Splits a text into the part that is shown and the part that is folded.
fn split(text: &str) -> (&str, &str) {
    let mut ends = text.match_indices('\n').map(|(place, _)| place);
    let by_lines = ends
        .nth(FIRST_LINES - 1)
        .filter(|_| ends.nth(FEW).is_some());
    let by_bytes = (text.len() > FIRST_BYTES + FIRST_BYTES / 2).then(|| {
        let mut place = FIRST_BYTES;
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        // The end of a line, if one is near.
        text[..place]
            .rfind('\n')
            .filter(|end| *end > place / 2)
            .unwrap_or(place)
    });
    let place = match (by_lines, by_bytes) {
        (Some(lines), Some(bytes)) => lines.min(bytes),
        (Some(place), None) | (None, Some(place)) => place,
        (None, None) => return (text, ""),
    };
    let rest = &text[place..];
    (&text[..place], rest.strip_prefix('\n').unwrap_or(rest))
}

fn size(rest: &str) -> String {
    match rest.lines().count() {
        0 | 1 => format!(
            "{} more characters",
            prose::compact(rest.chars().count() as u64)
        ),
        lines => prose::count(lines, "more line"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_lines_are_shown() {
        let lines = |number: usize| vec!["x"; number].join("\n");
        assert_eq!(split(&lines(11)).1, "");
        let long = lines(40);
        let (first, rest) = split(&long);
        assert_eq!((first.lines().count(), rest.lines().count()), (8, 32));
        assert!(
            preview(&long)
                .0
                .contains("<summary>32 more lines</summary>")
        );
        let wide = "日".repeat(5_000);
        let (first, rest) = split(&wide);
        assert_eq!(format!("{first}{rest}"), wide);
        assert!(preview(&wide).0.contains("more characters"));
    }
}
