//! A list of declarations, as it is made.

use super::{Code, Kind};

/// A declaration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Declared {
    /// The name.
    pub name: String,
    /// The text up to the body or the value, in one line; a member has its name alone.
    pub signature: String,
    /// The signature of the class or type that it belongs to.
    pub owner: Option<String>,
    /// The places of its first and last byte.
    pub span: (usize, usize),
}

/// The declarations that were found so far.
pub(super) struct List<'a, 'b> {
    pub code: &'b Code<'a>,
    pub found: Vec<Declared>,
}

impl<'a, 'b> List<'a, 'b> {
    pub(super) fn new(code: &'b Code<'a>) -> Self {
        List {
            code,
            found: Vec::new(),
        }
    }

    /// Adds what is declared by the tokens from one to another. Returns its signature.
    pub(super) fn add(
        &mut self,
        name: &str,
        from: usize,
        to: usize,
        owner: Option<&str>,
    ) -> String {
        let tokens = &self.code.tokens;
        let signature = self.code.line(from, to);
        if let (Some(first), Some(last)) = (tokens.get(from), tokens.get(to.saturating_sub(1))) {
            self.found.push(Declared {
                name: name.to_owned(),
                signature: signature.clone(),
                owner: owner.map(str::to_owned),
                span: (first.start, last.end()),
            });
        }
        signature
    }

    pub(super) fn add_member(&mut self, at: usize, owner: Option<&str>) {
        if let Some(name) = self.code.name(at) {
            self.add(name, at, at + 1, owner);
        }
    }

    /// Adds the names that begin the parts between brackets, such as fields.
    pub(super) fn add_members(&mut self, opener: usize, separator: Option<&str>, owner: &str) {
        let (code, end) = (self.code, self.code.closed_by[opener]);
        let mut at = opener + 1;
        let mut is_first = true;
        while at < end {
            let token = &code.tokens[at];
            let is_separator = separator.is_some_and(|separator| token.text == separator);
            if separator.is_none() && token.indent.is_some() {
                is_first = true;
            }
            // Attributes and visibility come before a field.
            let is_before = matches!(token.text, "#" | "pub" | "[" | "(");
            if is_first && token.kind == Kind::Name && !is_before {
                self.add_member(at, Some(owner));
                is_first = false;
            } else if is_separator {
                is_first = true;
            } else if !is_before {
                is_first = false;
            }
            at = code.closed_by[at] + 1;
        }
    }
}
