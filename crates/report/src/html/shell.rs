//! The frame of every page: its head, its policy, its style and its script.

use base64::prelude::*;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::text::{navigation, without_control_characters};

/// Returns a whole document.
///
/// Style and script are the only texts that are not escaped: constants, which must stay what their hashes say.
pub fn document(kind: PageSource, title: &str, body: &Markup) -> String {
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
            body data-served[kind == PageSource::Served] {
                a.skip href="#content" { "Skip to the content" }
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    without_control_characters(page.into_string())
}

/// Returns a page that has one message, and the next step.
pub fn message_page(message: &str, next: &Markup) -> String {
    let body = html! {
        (navigation(&html! {}))
        main #content {
            h1 { (message) }
            (next)
        }
    };
    document(PageSource::Served, message, &body)
}

/// Returns a document without its body, as the text before the body and the text after it. A large page is written in
/// parts, because its text may be larger than the run.
pub(super) fn frame(kind: PageSource, title: &str) -> (String, String) {
    let mut before = document(kind, title, &html! {});
    let after = before.rfind(SCRIPT_BEGINS).unwrap_or(before.len());
    let after = before.split_off(after);
    (before, after)
}

/// The beginning of the last element of a page.
const SCRIPT_BEGINS: &str = "<script>";

/// The style, one part of a page after the other.
pub(super) const STYLE: &str = concat!(
    include_str!("style/base.css"),
    include_str!("style/top.css"),
    include_str!("style/overview.css"),
    include_str!("style/list.css"),
    include_str!("style/trial.css"),
    include_str!("style/steps.css"),
    include_str!("style/live.css"),
    include_str!("style/media.css"),
    include_str!("style/narrow.css"),
);

/// The script: one function of several files, so that nothing of it is a global name.
pub(super) const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("script/base.js"),
    include_str!("script/theme.js"),
    include_str!("script/runs.js"),
    include_str!("script/packed.js"),
    include_str!("script/rows.js"),
    include_str!("script/window.js"),
    include_str!("script/changed.js"),
    include_str!("script/list.js"),
    include_str!("script/picked.js"),
    include_str!("script/bodies.js"),
    include_str!("script/search.js"),
    include_str!("script/trial.js"),
    include_str!("script/session.js"),
    include_str!("script/align.js"),
    include_str!("script/pair.js"),
    include_str!("script/addresses.js"),
    include_str!("script/keys.js"),
    include_str!("script/morph.js"),
    include_str!("script/live.js"),
    include_str!("script/remark.js"),
    include_str!("script/start.js"),
    "})();\n",
);

/// The place a page is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSource {
    /// A file that contains everything.
    File,
    /// A server that has more, and announces changes.
    Served,
}

/// Returns the value of `Content-Security-Policy`.
pub fn policy(kind: PageSource) -> String {
    // The live view asks its own server for what is new; a file asks nobody for anything.
    let connect = match kind {
        PageSource::File => "'none'",
        PageSource::Served => "'self'",
    };
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src {connect}; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn hash(content: &str) -> String {
    format!(
        "sha256-{}",
        BASE64_STANDARD.encode(Sha256::digest(content.as_bytes()))
    )
}

const KEYS: [(&str, &str); 8] = [
    (
        "j  k",
        "the next and the previous trial, in the list and from trial to trial",
    ),
    ("Enter", "opens the trial"),
    ("Esc", "goes back to the list"),
    ("/", "goes to the words that filter the list"),
    ("s", "goes to the search in transcripts, diffs and logs"),
    (
        "x",
        "chooses a trial; the second one opens both side by side",
    ),
    ("g", "goes to the list"),
    ("?", "shows these keys"),
];

/// Returns the dialog that the script opens.
pub fn keys() -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                @for (key, about) in KEYS {
                    div {
                        dt { @for key in key.split_whitespace() { kbd { (key) } " " } }
                        dd { (about) }
                    }
                }
            }
            button #keys-close type="button" { "Close" }
        }
    }
}

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
        let page = document(
            PageSource::File,
            "a \u{1b}[31mname\u{202e}",
            &html! { "\u{7}" },
        );
        assert!(page.contains(&format!("<style>{STYLE}</style>")));
        assert!(page.contains(&format!("<script>{SCRIPT}</script>")));
        assert!(
            page.contains("<title>a ␛[31mname\u{fffd}</title>") && page.contains("</a>␇<script>")
        );
    }

    #[test]
    fn nothing_unsafe() {
        for kind in [PageSource::File, PageSource::Served] {
            let policy = policy(kind);
            assert!(
                policy.starts_with("default-src 'none'; script-src 'sha256-"),
                "{policy}"
            );
            assert!(
                !policy.contains("unsafe") && !policy.contains('*') && !policy.contains("data:"),
                "{policy}"
            );
        }
        assert!(policy(PageSource::File).contains("connect-src 'none'"));
    }
}
