//! Leaving out what there is no room for: the middle, since beginnings and ends tell most.

use terca_core::transcript::trial_files::shortened;

use super::markup::{Html, el};

/// The parts that fit into so many bytes of markup, and a remark in the place of the others.
pub fn fit(parts: Vec<Html>, room: usize, remark: impl Fn(usize) -> String) -> Html {
    if parts.iter().map(Html::len).sum::<usize>() <= room {
        return parts.into_iter().collect();
    }
    let head = fitting(parts.iter(), room / 4 * 3);
    let tail = fitting(parts[head..].iter().rev(), room / 4);
    let left_out = parts.len() - head - tail;
    let mut html: Html = parts[..head].iter().cloned().collect();
    html.push(note(&remark(left_out)));
    html.push(
        parts[parts.len() - tail..]
            .iter()
            .cloned()
            .collect::<Html>(),
    );
    html
}

/// How many of the parts fit.
fn fitting<'a>(parts: impl Iterator<Item = &'a Html>, room: usize) -> usize {
    let sizes = parts.scan(0, |sum, part| {
        *sum += part.len();
        Some(*sum)
    });
    sizes.take_while(|sum| *sum <= room).count()
}

/// The text, cut in its middle until its markup fits.
pub fn fit_text(text: &str, room: usize) -> String {
    let mut limit = text.len();
    loop {
        let short = shortened(text, limit);
        let size = Html::text(&short).len();
        if size <= room || limit < 64 {
            return short;
        }
        limit = (limit / 2).min(room);
    }
}

/// A remark of Terca's among foreign text.
pub fn note(text: &str) -> Html {
    el("p").class("note").text(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_with_its_escapes() {
        assert_eq!(fit_text("short", 5), "short");
        for text in ["<".repeat(10_000), "日".repeat(10_000), "x".repeat(10_000)] {
            let size = Html::text(&fit_text(&text, 1000)).len();
            assert!((200..=1000).contains(&size), "{size}");
        }
    }

    #[test]
    fn the_middle_is_left_out() {
        let parts = |number: usize| {
            (0..number)
                .map(|part| Html::text(&format!("{part:04}")))
                .collect::<Vec<_>>()
        };
        let remark = |number: usize| format!("{number} left out");
        assert_eq!(fit(parts(3), 12, remark).as_str(), "000000010002");
        let html = fit(parts(100), 40, remark);
        assert_eq!(
            html.as_str(),
            "0000000100020003000400050006<p class=\"note\">91 left out</p>00980099"
        );
        assert_eq!(
            fit(parts(5), 0, remark).as_str(),
            "<p class=\"note\">5 left out</p>"
        );
    }
}
