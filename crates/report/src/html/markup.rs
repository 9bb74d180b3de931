//! Markup that cannot be broken out of.
//!
//! Names of elements and attributes are written in this program (`&'static str`); everything else is text and is
//! escaped on its way in. [`Html`] is only made by this file.

use std::fmt::{Display, Write};

use super::foreign;

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Html(String);

/// Elements that have no end tag.
const VOID: [&str; 6] = ["meta", "br", "input", "link", "path", "line"];

impl Html {
    pub fn new() -> Self {
        Html::default()
    }

    /// Foreign text.
    pub fn text(text: &str) -> Self {
        let mut html = Html::new();
        escape(&foreign::clean(text), &mut html.0);
        html
    }

    pub fn push(&mut self, part: impl Into<Html>) {
        self.0.push_str(&part.into().0);
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Self {
        Html(parts.into_iter().map(|part| part.0).collect())
    }
}

impl From<Element> for Html {
    fn from(element: Element) -> Self {
        element.close()
    }
}

impl<T: Into<Html>> From<Option<T>> for Html {
    fn from(part: Option<T>) -> Self {
        part.map_or_else(Html::new, Into::into)
    }
}

/// An element that is being written.
#[derive(Debug)]
pub struct Element {
    name: &'static str,
    open: String,
    body: String,
}

pub fn el(name: &'static str) -> Element {
    Element {
        name,
        open: format!("<{name}"),
        body: String::new(),
    }
}

impl Element {
    pub fn attr(mut self, name: &'static str, value: impl Display) -> Self {
        let _ = write!(self.open, " {name}=\"");
        escape(&foreign::clean(&value.to_string()), &mut self.open);
        self.open.push('"');
        self
    }

    /// An attribute without a value, or none at all.
    pub fn flag(mut self, name: &'static str, is_set: bool) -> Self {
        if is_set {
            let _ = write!(self.open, " {name}");
        }
        self
    }

    pub fn class(self, class: impl Display) -> Self {
        self.attr("class", class)
    }

    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        escape(&foreign::clean(text.as_ref()), &mut self.body);
        self
    }

    pub fn child(mut self, child: impl Into<Html>) -> Self {
        self.body.push_str(&child.into().0);
        self
    }

    pub fn children<H: Into<Html>>(self, children: impl IntoIterator<Item = H>) -> Self {
        children.into_iter().fold(self, Element::child)
    }

    /// The page's own script or style, as it is: it must stay what its hash says.
    pub(super) fn own(mut self, content: &'static str) -> Self {
        self.body.push_str(content);
        self
    }

    fn close(self) -> Html {
        let Element { name, open, body } = self;
        if VOID.contains(&name) && body.is_empty() {
            return Html(format!("{open}/>"));
        }
        // A parser drops the first newline after `<pre>`.
        let newline = if name == "pre" && body.starts_with('\n') {
            "\n"
        } else {
            ""
        };
        Html(format!("{open}>{newline}{body}</{name}>"))
    }
}

/// Text in which `words in back-quotes` stand out, as in Terca's own sentences.
pub fn prose(text: &str) -> Html {
    let mut html = Html::new();
    for (index, part) in text.split('`').enumerate() {
        // A number and its sign stay together.
        let quoted = index % 2 == 1;
        html.push(if quoted {
            el("code").text(part).into()
        } else {
            Html::text(&part.replace(" %", "\u{a0}%").replace(" ×", "\u{a0}×"))
        });
    }
    html
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            other => into.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out() {
        let evil = "\"'><script>alert(1)</script>&amp;<!--\u{0}\u{1b}[31mred\u{202e}";
        let html = Html::from(el("a").attr("title", evil).text(evil));
        assert_eq!(
            html.as_str(),
            "<a title=\"&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&lt;!--␀red\u{fffd}\">\
             &quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&lt;!--␀red\u{fffd}</a>"
        );
    }

    #[test]
    fn words_in_quotes() {
        assert_eq!(
            prose("`a<b` is better").as_str(),
            "<code>a&lt;b</code> is better"
        );
    }
}
