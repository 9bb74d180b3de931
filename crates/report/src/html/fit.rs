//! Leaves out what there is no room for: the middle, since beginnings and ends tell most.

use maud::{Markup, Render, html};
use terca_core::text::excerpt::without_middle;

use super::foreign::clean;

/// Returns the parts that fit into so many bytes of markup, and a remark in the place of the others.
pub fn fit(parts: &[Markup], room: usize, remark: impl Fn(usize) -> String) -> Markup {
    let head = if fitting(parts.iter(), room) == parts.len() {
        parts.len()
    } else {
        fitting(parts.iter(), room / 4 * 3)
    };
    let tail = fitting(parts[head..].iter().rev(), room / 4);
    let left_out = parts.len() - head - tail;
    html! {
        @for part in &parts[..head] { (part) }
        @if left_out > 0 { (note(&remark(left_out))) }
        @for part in &parts[parts.len() - tail..] { (part) }
    }
}

/// Counts the parts that fit.
fn fitting<'a>(parts: impl Iterator<Item = &'a Markup>, room: usize) -> usize {
    let sizes = parts.scan(0, |sum, part| {
        *sum += size(part);
        Some(*sum)
    });
    sizes.take_while(|sum| *sum <= room).count()
}

/// Returns the text, cut in its middle until its markup fits.
pub fn fit_text(text: &str, room: usize) -> String {
    let mut limit = text.len();
    loop {
        let short = without_middle(text, limit);
        if size(&clean(&short).render()) <= room || limit < 64 {
            return short;
        }
        limit = (limit / 2).min(room);
    }
}

/// Returns the bytes that a piece of a page takes.
pub fn size(markup: &Markup) -> usize {
    markup.0.len()
}

/// Returns a remark of Terca's among foreign text.
pub fn note(text: &str) -> Markup {
    html! { p.note { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_with_its_escapes() {
        assert_eq!(fit_text("short", 5), "short");
        for text in ["<".repeat(10_000), "日".repeat(10_000), "x".repeat(10_000)] {
            let size = size(&fit_text(&text, 1000).render());
            assert!((200..=1000).contains(&size), "{size}");
        }
    }

    #[test]
    fn the_middle_is_left_out() {
        let numbers = |number: usize| -> Vec<Markup> {
            (0..number)
                .map(|part| format!("{part:04}").render())
                .collect()
        };
        let remark = |number: usize| format!("{number} left out");
        assert_eq!(fit(&numbers(3), 12, remark).0, "000000010002");
        assert_eq!(
            fit(&numbers(100), 40, remark).0,
            "0000000100020003000400050006<p class=\"note\">91 left out</p>00980099"
        );
        assert_eq!(
            fit(&numbers(5), 0, remark).0,
            "<p class=\"note\">5 left out</p>"
        );
    }
}
