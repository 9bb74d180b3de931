//! The frame of every page: its head, its policy, its style and its script.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets::{Kind, SCRIPT, STYLE};
use super::foreign;
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
