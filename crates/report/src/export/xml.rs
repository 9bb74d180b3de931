//! A little XML: elements, attributes and text, indented, and well-formed for every text.

use terca_core::text::stripped::stripped;

#[derive(Debug)]
pub(crate) struct Xml {
    pub(crate) text: String,
    depth: usize,
}

impl Xml {
    pub(crate) fn document() -> Self {
        Xml {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
            depth: 0,
        }
    }

    /// An element with elements in it.
    pub(crate) fn element<'a>(
        &mut self,
        name: &str,
        attributes: impl IntoIterator<Item = (&'a str, String)>,
        content: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        self.text.push_str(">\n");
        self.depth += 1;
        content(self);
        self.depth -= 1;
        self.indent();
        self.text.push_str(&format!("</{name}>\n"));
    }

    /// An element with text in it, which is kept as it is: no indentation gets into it.
    pub(crate) fn text_element<'a>(
        &mut self,
        name: &str,
        attributes: impl IntoIterator<Item = (&'a str, String)>,
        content: &str,
    ) {
        self.open(name, attributes);
        self.text
            .push_str(&format!(">{}</{name}>\n", escaped(content, false)));
    }

    pub(crate) fn empty<'a>(
        &mut self,
        name: &str,
        attributes: impl IntoIterator<Item = (&'a str, String)>,
    ) {
        self.open(name, attributes);
        self.text.push_str("/>\n");
    }

    fn open<'a>(&mut self, name: &str, attributes: impl IntoIterator<Item = (&'a str, String)>) {
        self.indent();
        self.text.push_str(&format!("<{name}"));
        for (name, value) in attributes {
            self.text
                .push_str(&format!(" {name}=\"{}\"", escaped(&value, true)));
        }
    }

    fn indent(&mut self) {
        self.text.push_str(&"  ".repeat(self.depth));
    }
}

/// A number with at most six digits after the point, and never an exponent.
pub(crate) fn number(value: f64) -> String {
    plain(value, 6)
}

/// A time as readers expect it: at most three digits after the point.
pub(crate) fn seconds(value: f64) -> String {
    plain(value, 3)
}

fn plain(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes text. Characters that XML 1.0 cannot hold become `U+FFFD`. In attributes white space is written so that it survives.
fn escaped(text: &str, in_attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in stripped(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if in_attribute => escaped.push_str("&quot;"),
            '\t' | '\n' if in_attribute => escaped.push_str(&format!("&#{};", u32::from(c))),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(c),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain() {
        for (value, text) in [
            (0.0, "0"),
            (100.0, "100"),
            (1.5, "1.5"),
            (0.00031, "0.00031"),
            (1e9, "1000000000"),
            (0.0000001, "0"),
            (f64::NAN, "0"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(seconds(12.34567), "12.346");
    }
}
