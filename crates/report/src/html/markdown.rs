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
enum MessagePart {
    Text(String),
    Code(String),
    Break,
    Rule,
    Block(BlockKind, Vec<MessagePart>),
}

#[derive(Clone)]
enum BlockKind {
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
    let mut stack: Vec<(BlockKind, Vec<MessagePart>)> = vec![(BlockKind::Plain, Vec::new())];
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
                Some((kind, parts)) => MessagePart::Block(kind, parts),
                None => continue,
            },
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                MessagePart::Text(text.into_string())
            }
            Event::Code(code) => MessagePart::Code(code.into_string()),
            Event::SoftBreak => MessagePart::Text("\n".to_owned()),
            Event::HardBreak => MessagePart::Break,
            Event::Rule => MessagePart::Rule,
            _ => continue,
        };
        if let Some((_, parts)) = stack.last_mut() {
            parts.push(part);
        }
    }
    let parts = stack.into_iter().flat_map(|(_, parts)| parts);
    html! { div.prose { @for part in parts { (written(&part)) } } }
}

fn kind(tag: Tag<'_>) -> BlockKind {
    match tag {
        Tag::Paragraph => BlockKind::Paragraph,
        Tag::Heading { .. } => BlockKind::Heading,
        Tag::BlockQuote(_) => BlockKind::Quote,
        Tag::CodeBlock(_) => BlockKind::CodeBlock,
        Tag::List(start) => BlockKind::List(start),
        Tag::Item => BlockKind::Item,
        Tag::Emphasis => BlockKind::Emphasis,
        Tag::Strong => BlockKind::Strong,
        Tag::Strikethrough => BlockKind::Struck,
        Tag::Table(_) => BlockKind::Table,
        Tag::TableHead | Tag::TableRow => BlockKind::Row,
        Tag::TableCell => BlockKind::Cell,
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
            BlockKind::Link(dest_url.into_string())
        }
        _ => BlockKind::Plain,
    }
}

fn written(part: &MessagePart) -> Markup {
    match part {
        MessagePart::Text(text) => html! { (text) },
        MessagePart::Code(code) => html! { code { (code) } },
        MessagePart::Break => html! { br; },
        MessagePart::Rule => html! { hr; },
        MessagePart::Block(kind, parts) => block(kind, parts),
    }
}

fn block(kind: &BlockKind, parts: &[MessagePart]) -> Markup {
    let inner = html! { @for part in parts { (written(part)) } };
    match kind {
        BlockKind::Paragraph => html! { p { (inner) } },
        // A message has no place in the outline of the page.
        BlockKind::Heading => html! { p.heading { (inner) } },
        BlockKind::Quote => html! { blockquote { (inner) } },
        BlockKind::CodeBlock => html! { pre.code { (words(parts).trim_end_matches('\n')) } },
        BlockKind::List(Some(start)) => html! { ol start=(start) { (inner) } },
        BlockKind::List(None) => html! { ul { (inner) } },
        BlockKind::Item => html! { li { (inner) } },
        BlockKind::Emphasis => html! { em { (inner) } },
        BlockKind::Strong => html! { strong { (inner) } },
        BlockKind::Struck => html! { s { (inner) } },
        BlockKind::Table => html! { table { tbody { (inner) } } },
        BlockKind::Row => html! { tr { (inner) } },
        BlockKind::Cell => html! { td { (inner) } },
        BlockKind::Link(address) if words(parts) == *address => html! { (inner) },
        BlockKind::Link(address) => html! { (inner) " (" span.address { (address) } ")" },
        BlockKind::Plain => inner,
    }
}

/// Returns the words of some parts, without what they look like.
fn words(parts: &[MessagePart]) -> String {
    let word = |part: &MessagePart| match part {
        MessagePart::Text(text) | MessagePart::Code(text) => text.clone(),
        MessagePart::Break | MessagePart::Rule => "\n".to_owned(),
        MessagePart::Block(_, parts) => words(parts),
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
