//! Messages of agents as they mean them: headings, lists, tables, code.
//!
//! Nothing in a message can be loaded or followed: an address is text beside its words, an image is its description, and
//! HTML is text. The parser gives events, and `maud` writes known elements for them.

use maud::{Markup, html};
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::text::clean;

/// Longer messages are shown as they are.
const LONGEST: usize = 100_000;
/// Deeper parts are shown as parts of the one above.
const DEEPEST: usize = 12;

/// Returns a message.
pub fn markdown(text: &str) -> Markup {
    let text = clean(text);
    if text.len() > LONGEST {
        return html! { pre { (text) } };
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events = Parser::new_ext(&text, options);
    html! { div.prose { (content(&mut events, 0)) } }
}

/// Reads up to the end of the element that has begun.
fn content(events: &mut Parser<'_>, depth: usize) -> Markup {
    let mut parts: Vec<Markup> = Vec::new();
    let mut too_deep = 0_usize;
    while let Some(event) = events.next() {
        parts.push(match event {
            Event::Start(_) if depth == DEEPEST => {
                too_deep += 1;
                continue;
            }
            Event::Start(tag) => {
                let inner = content(events, depth + 1);
                element(&tag, inner)
            }
            Event::End(_) if too_deep > 0 => {
                too_deep -= 1;
                continue;
            }
            Event::End(_) => break,
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => html! { (*text) },
            Event::Code(code) => html! { code { (*code) } },
            Event::SoftBreak => html! { "\n" },
            Event::HardBreak => html! { br; },
            Event::Rule => html! { hr; },
            _ => continue,
        });
    }
    html! { @for part in parts { (part) } }
}

fn element(tag: &Tag<'_>, inner: Markup) -> Markup {
    match tag {
        Tag::Paragraph => html! { p { (inner) } },
        // A message has no place in the outline of the page.
        Tag::Heading { .. } => html! { p.heading { (inner) } },
        Tag::BlockQuote(_) => html! { blockquote { (inner) } },
        Tag::CodeBlock(_) => html! { pre.code { (inner) } },
        Tag::List(Some(start)) => html! { ol start=(start) { (inner) } },
        Tag::List(None) => html! { ul { (inner) } },
        Tag::Item => html! { li { (inner) } },
        Tag::Emphasis => html! { em { (inner) } },
        Tag::Strong => html! { strong { (inner) } },
        Tag::Strikethrough => html! { s { (inner) } },
        Tag::Table(_) => html! { table { tbody { (inner) } } },
        Tag::TableHead | Tag::TableRow => html! { tr { (inner) } },
        Tag::TableCell => html! { td { (inner) } },
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
            let address = html! { (**dest_url) };
            match inner.0 == address.0 {
                true => inner,
                false => html! { (inner) " (" span.address { (address) } ")" },
            }
        }
        _ => inner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_and_loads_nothing() {
        for (text, markup) in [
            (
                "do **not** `x`",
                "<p>do <strong>not</strong> <code>x</code></p>",
            ),
            ("# Title", "<p class=\"heading\">Title</p>"),
            ("3. a\n4. b", "<ol start=\"3\"><li>a</li><li>b</li></ol>"),
            (
                "[here](javascript:alert(1))",
                "<p>here (<span class=\"address\">javascript:alert(1)</span>)</p>",
            ),
            (
                "![pixel](https://evil.invalid/x.png)",
                "<p>pixel (<span class=\"address\">https://evil.invalid/x.png</span>)</p>",
            ),
            (
                "<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;",
            ),
            ("a <b>c</b>", "<p>a &lt;b&gt;c&lt;/b&gt;</p>"),
            ("```\n<i>\n```", "<pre class=\"code\">&lt;i&gt;\n</pre>"),
            (
                "|a|\n|-|\n|b|",
                "<table><tbody><tr><td>a</td></tr><tr><td>b</td></tr></tbody></table>",
            ),
        ] {
            let expected = format!("<div class=\"prose\">{markup}</div>");
            assert_eq!(markdown(text).0, expected, "{text}");
        }
    }

    #[test]
    fn a_deep_message_keeps_its_words() {
        let deep = "> ".repeat(5_000) + "bottom";
        assert!(markdown(&deep).0.contains("bottom"));
        let stars = "*a ".repeat(20_000);
        assert!(markdown(&stars).0.contains('a'));
        let long = "x".repeat(LONGEST + 1);
        assert!(markdown(&long).0.starts_with("<pre>x"));
    }
}
