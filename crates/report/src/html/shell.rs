//! The frame of every page: its head, its policy, its style and its script.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets::{Kind, SCRIPT, STYLE};
use super::foreign::{self, clean};
use super::pieces::navigation;
use super::policy::policy;

/// Returns a whole document.
///
/// Style and script are the only texts that are not escaped: constants, which must stay what their hashes say.
pub fn document(kind: Kind, title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(kind));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="robots" content="noindex";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body data-served[kind == Kind::Served] {
                a.skip href="#content" { "Skip to the content" }
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    foreign::without_control_characters(page.into_string())
}

/// Returns a page that has one message, and the next step.
pub fn message_page(message: &str, next: &Markup) -> String {
    let body = html! {
        (navigation(&html! {}))
        main #content {
            h1 { (clean(message)) }
            (next)
        }
    };
    document(Kind::Served, message, &body)
}

/// Returns a document without its body, as the text before the body and the text after it. A large page is written in
/// parts, because its text may be larger than the run.
pub(super) fn frame(kind: Kind, title: &str) -> (String, String) {
    let mut before = document(kind, title, &html! {});
    let after = before.rfind(SCRIPT_BEGINS).unwrap_or(before.len());
    let after = before.split_off(after);
    (before, after)
}

/// The beginning of the last element of a page.
const SCRIPT_BEGINS: &str = "<script>";

#[cfg(test)]
mod tests {
    use super::*;

    /// A script or style that could end its own element would break every page.
    #[test]
    fn script_and_style_stay_within_their_elements() {
        for text in [SCRIPT, STYLE] {
            assert!(!text.contains("</") && !text.contains("<!--"));
            assert!(!text.contains(SCRIPT_BEGINS));
        }
    }

    /// The parts of the script are one function: the second of two functions with one name would take the place of the
    /// first, without a word.
    #[test]
    fn no_name_of_the_script_is_given_twice() {
        let mut names = std::collections::HashSet::new();
        for line in SCRIPT.lines() {
            let declared = [
                "function ", "async function ", "async function* ", "const ", "let ",
            ]
            .iter()
            .find_map(|word| line.strip_prefix(word));
            let Some(rest) = declared else {
                continue;
            };
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &rest[..end.unwrap_or(rest.len())];
            assert!(
                name.is_empty() || names.insert(name),
                "{name} is declared twice"
            );
        }
        assert!(names.len() > 20, "{names:?}");
    }

    /// The policy knows them by their hashes.
    #[test]
    fn script_and_style_are_in_the_page_as_they_are() {
        let page = document(Kind::File, "a \u{1b}[31mname\u{202e}", &html! { "\u{7}" });
        assert!(page.contains(&format!("<style>{STYLE}</style>")));
        assert!(page.contains(&format!("<script>{SCRIPT}</script>")));
        assert!(
            page.contains("<title>a ␛[31mname\u{fffd}</title>") && page.contains("</a>␇<script>")
        );
    }
}
