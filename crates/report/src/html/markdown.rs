//! Messages of agents as they mean them: headings, lists, tables, code.
//!
//! Nothing in a message can be loaded or followed: an address is text beside its words, an image is its description, and
//! HTML is text. The parser gives events; they become a tree of known elements, and `maud` writes those.

use maud::{Markup, html};
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::text::clean;

/// Longer messages are shown as they are.
const LONGEST: usize = 100_000;
/// Deeper parts are shown as parts of the one above.
const DEEPEST: usize = 12;

/// A part of a message.
enum Part {
    Text(String),
    Code(String),
    Break,
    Rule,
    Block(Kind, Vec<Part>),
}

#[derive(Clone)]
enum Kind {
    Paragraph,
    Heading,
    Quote,
    CodeBlock,
    List(Option<u64>),
    Item,
    Emphasis,
    Strong,
    Struck,
    Table,
    Row,
    Cell,
    /// An address, which comes after the words.
    Link(String),
    Plain,
}

/// Returns a message.
pub fn markdown(text: &str) -> Markup {
    let text = clean(text);
    if text.len() > LONGEST {
        return html! { pre { (text) } };
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut stack: Vec<(Kind, Vec<Part>)> = vec![(Kind::Plain, Vec::new())];
    let mut too_deep = 0_usize;
    for event in Parser::new_ext(&text, options) {
        let part = match event {
            Event::Start(_) if stack.len() > DEEPEST => {
                too_deep += 1;
                continue;
            }
            Event::Start(tag) => {
                stack.push((kind(tag), Vec::new()));
                continue;
            }
            Event::End(_) if too_deep > 0 => {
                too_deep -= 1;
                continue;
            }
            Event::End(_) => match stack.pop() {
                Some((kind, parts)) => Part::Block(kind, parts),
                None => continue,
            },
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                Part::Text(text.into_string())
            }
            Event::Code(code) => Part::Code(code.into_string()),
            Event::SoftBreak => Part::Text("\n".to_owned()),
            Event::HardBreak => Part::Break,
            Event::Rule => Part::Rule,
            _ => continue,
        };
        if let Some((_, parts)) = stack.last_mut() {
            parts.push(part);
        }
    }
    let parts = stack.into_iter().flat_map(|(_, parts)| parts);
    html! { div.prose { @for part in parts { (written(&part)) } } }
}

fn kind(tag: Tag<'_>) -> Kind {
    match tag {
        Tag::Paragraph => Kind::Paragraph,
        Tag::Heading { .. } => Kind::Heading,
        Tag::BlockQuote(_) => Kind::Quote,
        Tag::CodeBlock(_) => Kind::CodeBlock,
        Tag::List(start) => Kind::List(start),
        Tag::Item => Kind::Item,
        Tag::Emphasis => Kind::Emphasis,
        Tag::Strong => Kind::Strong,
        Tag::Strikethrough => Kind::Struck,
        Tag::Table(_) => Kind::Table,
        Tag::TableHead | Tag::TableRow => Kind::Row,
        Tag::TableCell => Kind::Cell,
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
            Kind::Link(dest_url.into_string())
        }
        _ => Kind::Plain,
    }
}

fn written(part: &Part) -> Markup {
    match part {
        Part::Text(text) => html! { (text) },
        Part::Code(code) => html! { code { (code) } },
        Part::Break => html! { br; },
        Part::Rule => html! { hr; },
        Part::Block(kind, parts) => block(kind, parts),
    }
}

fn block(kind: &Kind, parts: &[Part]) -> Markup {
    let inner = html! { @for part in parts { (written(part)) } };
    match kind {
        Kind::Paragraph => html! { p { (inner) } },
        // A message has no place in the outline of the page.
        Kind::Heading => html! { p.heading { (inner) } },
        Kind::Quote => html! { blockquote { (inner) } },
        Kind::CodeBlock => html! { pre.code { (words(parts).trim_end_matches('\n')) } },
        Kind::List(Some(start)) => html! { ol start=(start) { (inner) } },
        Kind::List(None) => html! { ul { (inner) } },
        Kind::Item => html! { li { (inner) } },
        Kind::Emphasis => html! { em { (inner) } },
        Kind::Strong => html! { strong { (inner) } },
        Kind::Struck => html! { s { (inner) } },
        Kind::Table => html! { table { tbody { (inner) } } },
        Kind::Row => html! { tr { (inner) } },
        Kind::Cell => html! { td { (inner) } },
        Kind::Link(address) if words(parts) == *address => html! { (inner) },
        Kind::Link(address) => html! { (inner) " (" span.address { (address) } ")" },
        Kind::Plain => inner,
    }
}

/// Returns the words of some parts, without what they look like.
fn words(parts: &[Part]) -> String {
    let word = |part: &Part| match part {
        Part::Text(text) | Part::Code(text) => text.clone(),
        Part::Break | Part::Rule => "\n".to_owned(),
        Part::Block(_, parts) => words(parts),
    };
    parts.iter().map(word).collect()
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
            ("```\n<i>\n```", "<pre class=\"code\">&lt;i&gt;</pre>"),
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
