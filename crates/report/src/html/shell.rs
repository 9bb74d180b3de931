//! What is around every page: its head, its policy, its style and its script.

use super::assets::{Kind, SCRIPT, STYLE};
use super::markup::{Html, el};
use super::policy::policy;

/// A whole document.
pub fn document(kind: Kind, title: &str, body: Html) -> String {
    let meta =
        |name: &'static str, content: &str| el("meta").attr("name", name).attr("content", content);
    let head = el("head")
        .child(el("meta").attr("charset", "utf-8"))
        .child(
            el("meta")
                .attr("http-equiv", "Content-Security-Policy")
                .attr("content", policy(kind)),
        )
        .child(meta("viewport", "width=device-width, initial-scale=1"))
        .child(meta("color-scheme", "light dark"))
        .child(meta("referrer", "no-referrer"))
        .child(meta("robots", "noindex"))
        .child(el("title").text(title))
        .child(el("style").own(STYLE));
    let body = el("body")
        .flag("data-served", kind == Kind::Served)
        .child(
            el("a")
                .class("skip")
                .attr("href", "#content")
                .text("Skip to the content"),
        )
        .child(body)
        .child(el("script").own(SCRIPT));
    let page = Html::from(el("html").attr("lang", "en").child(head).child(body));
    format!("<!doctype html>\n{}\n", page.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script or style that could end its own element would break every page.
    #[test]
    fn script_and_style_stay_within_their_elements() {
        for text in [SCRIPT, STYLE] {
            assert!(!text.contains("</") && !text.contains("<!--"));
        }
    }
}
