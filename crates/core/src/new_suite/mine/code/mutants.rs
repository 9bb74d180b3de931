//! Bugs that are put into source code, one at a time: what people get wrong, and compilers do not notice.

use std::ops::Range;

use super::super::choice::Language;
use super::{Code, Kind, inline};

/// The kind of a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bug {
    /// A comparison or a logical operator is another one.
    Operator,
    /// A number is one more than it should be.
    Number,
    /// A condition is the opposite.
    Condition,
    /// Two arguments have changed places.
    Arguments,
    /// A statement is gone.
    Statement,
}

impl Bug {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Bug::Operator => "operator",
            Bug::Number => "number",
            Bug::Condition => "condition",
            Bug::Arguments => "arguments",
            Bug::Statement => "statement",
        }
    }
}

/// A bug at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// Its kind.
    pub bug: Bug,
    /// The bytes that it replaces.
    pub place: Range<usize>,
    /// The text in their place.
    pub text: String,
}

impl Mutant {
    /// Returns a source text with the bug in it.
    pub fn applied(&self, source: &str) -> String {
        let Range { start, end } = self.place;
        format!("{}{}{}", &source[..start], self.text, &source[end..])
    }
}

/// Operators that take each other's places.
const SWAPPED: [[&str; 2]; 9] = [
    ["<", "<="],
    [">", ">="],
    ["==", "!="],
    ["===", "!=="],
    ["&&", "||"],
    ["and", "or"],
    ["+", "-"],
    ["+=", "-="],
    ["..", "..="],
];

/// Returns the bugs that can be put into a source text, in the order of their places. Tests inside of it have none.
pub fn mutants(language: Language, source: &str) -> Vec<Mutant> {
    let code = Code::read(language, source);
    let bodies = bodies(language, &code);
    let tests = match language {
        Language::Rust => inline::spans(source),
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for (at, token) in code.tokens.iter().enumerate() {
        let start = token.start;
        let is_in = |spans: &[Range<usize>]| spans.iter().any(|span| span.contains(&start));
        if !is_in(&bodies) || is_in(&tests) {
            continue;
        }
        found.extend(operator(&code, at));
        found.extend(number(&code, at));
        found.extend(condition(language, &code, at));
        found.extend(arguments(&code, at));
        found.extend(statement(language, &code, at));
    }
    found
}

fn mutant(bug: Bug, place: Range<usize>, text: impl Into<String>) -> Option<Mutant> {
    Some(Mutant {
        bug,
        place,
        text: text.into(),
    })
}

/// Returns where the bodies of functions are. What is outside is loaded by everything, and no test shows what is wrong.
fn bodies(language: Language, code: &Code<'_>) -> Vec<Range<usize>> {
    let mut bodies = Vec::new();
    let mut add = |first: usize, last: usize| {
        if let (Some(first), Some(last)) = (code.tokens.get(first), code.tokens.get(last)) {
            bodies.push(first.start..last.end());
        }
    };
    for (at, token) in code.tokens.iter().enumerate() {
        match (language, token.text) {
            (Language::Python, "def") => {
                let Some(colon) = code.next_of(at, &[":"]) else {
                    continue;
                };
                let line = code.tokens[..=at]
                    .iter()
                    .rev()
                    .find_map(|token| token.indent);
                let column = line.unwrap_or_default();
                let is_behind = |at: &usize| {
                    let token = &code.tokens[*at];
                    token.inside.is_none() && token.indent.is_some_and(|own| own <= column)
                };
                let end = (colon + 1..code.tokens.len()).find(is_behind);
                add(colon + 1, end.unwrap_or(code.tokens.len()) - 1);
            }
            (Language::Rust, "fn") | (Language::Go, "func") => {
                let open = code.next_of(at, &["{", ";"]);
                let open = open.filter(|open| code.word(*open) == "{");
                if let Some(open) = open {
                    add(open, code.closed_by[open]);
                }
            }
            // A function, a method, or an arrow: braces behind parentheses or an arrow.
            (Language::Node, "{") if follows_signature(code, at) => {
                add(at, code.closed_by[at]);
            }
            _ => {}
        }
    }
    bodies
}

/// Tells whether the brace here is behind parameters, an arrow, or the type of a result.
fn follows_signature(code: &Code<'_>, brace: usize) -> bool {
    let is_of_type = |at: &usize| {
        let token = &code.tokens[*at];
        token.kind == Kind::Name || matches!(token.text, "<" | ">" | "." | "|" | "[" | "]" | ":")
    };
    let before = (0..brace).rev().find(|at| !is_of_type(at));
    before.is_some_and(|at| match code.word(at) {
        ")" => at + 1 == brace || code.word(at + 1) == ":",
        "=>" => at + 1 == brace,
        _ => false,
    })
}

fn operator(code: &Code<'_>, at: usize) -> Option<Mutant> {
    let token = code.tokens[at];
    let pair = SWAPPED.iter().find(|pair| pair.contains(&token.text))?;
    let other = pair.iter().find(|sign| **sign != token.text)?;
    // Operators have spaces around them; signs of generic types and of ranges that are patterns have none.
    let is_range = token.text.starts_with("..");
    let has_space = |byte: Option<&u8>| byte.is_some_and(|byte| *byte == b' ');
    let bytes = code.text.as_bytes();
    let is_spaced =
        has_space(bytes.get(token.start.wrapping_sub(1))) && has_space(bytes.get(token.end()));
    let has_end = is_range
        && code
            .tokens
            .get(at + 1)
            .is_some_and(|next| next.kind != Kind::Sign);
    let is_text = |at: usize| {
        code.tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Text)
    };
    let joins_texts = is_text(at + 1) || at > 0 && is_text(at - 1);
    let is_sum = matches!(token.text, "+" | "-" | "+=" | "-=");
    if !(is_spaced && !is_range || has_end) || is_sum && joins_texts {
        return None;
    }
    mutant(Bug::Operator, token.start..token.end(), *other)
}

fn number(code: &Code<'_>, at: usize) -> Option<Mutant> {
    let token = code.tokens[at];
    // Only plain numbers; an attribute of a tuple is none.
    let is_field = at > 0 && code.word(at - 1) == ".";
    if token.kind != Kind::Number || is_field || token.text.len() > 9 {
        return None;
    }
    let value: u64 = token.text.parse().ok()?;
    mutant(
        Bug::Number,
        token.start..token.end(),
        (value + 1).to_string(),
    )
}

fn condition(language: Language, code: &Code<'_>, at: usize) -> Option<Mutant> {
    let keyword = code.tokens[at];
    if !matches!(keyword.text, "if" | "while" | "elif") || keyword.kind != Kind::Name {
        return None;
    }
    let (first, end) = match language {
        Language::Python => (at + 1, code.next_of(at, &[":"])?),
        Language::Node => {
            let open = (code.word(at + 1) == "(").then_some(at + 1)?;
            (open + 1, code.closed_by[open])
        }
        _ => (at + 1, code.next_of(at, &["{"])?),
    };
    let words = || (first..end).map(|at| code.word(at));
    // A pattern or a statement is no condition.
    let is_odd = words().any(|word| matches!(word, "let" | ";" | ":=" | "else"));
    if first >= end || is_odd {
        return None;
    }
    let place = code.tokens[first].start..code.tokens[end - 1].end();
    let text = &code.text[place.clone()];
    let negated = match (language, code.word(first)) {
        (Language::Python, "not") if end == first + 2 => code.word(first + 1).to_owned(),
        (Language::Python, _) => format!("not ({text})"),
        (_, "!") if end == first + 2 => code.word(first + 1).to_owned(),
        _ => format!("!({text})"),
    };
    mutant(Bug::Condition, place, negated)
}

/// Two arguments of a call that are different, and both a name or a number.
fn arguments(code: &Code<'_>, at: usize) -> Option<Mutant> {
    let is_called = at > 0 && code.tokens[at - 1].kind == Kind::Name && code.word(at) == "(";
    let is_declared = at > 1
        && matches!(
            code.word(at - 2),
            "def" | "fn" | "func" | "function" | "class"
        )
        || at > 0
            && matches!(
                code.word(at - 1),
                "if" | "while" | "for" | "switch" | "return" | "func" | "in" | "not"
            );
    let close = code.closed_by[at];
    if !is_called || is_declared || matches!(code.word(close + 1), "{" | ":" | "=>" | "->") {
        return None;
    }
    let parts: Vec<usize> = (at + 1..close)
        .filter(|inner| code.tokens[*inner].inside == Some(at))
        .collect();
    let [first, comma, second, rest @ ..] = parts.as_slice() else {
        return None;
    };
    let is_plain = |at: usize| matches!(code.tokens[at].kind, Kind::Name | Kind::Number);
    let is_end = rest.first().is_none_or(|next| code.word(*next) == ",");
    let [one, other] = [*first, *second].map(|at| code.word(at));
    if code.word(*comma) != ","
        || !is_plain(*first)
        || !is_plain(*second)
        || !is_end
        || one == other
    {
        return None;
    }
    let place = code.tokens[*first].start..code.tokens[*second].end();
    let between = &code.text[code.tokens[*first].end()..code.tokens[*second].start];
    mutant(Bug::Arguments, place, format!("{other}{between}{one}"))
}

/// A call or an assignment to what is there already, in a line of its own.
fn statement(language: Language, code: &Code<'_>, at: usize) -> Option<Mutant> {
    let token = code.tokens[at];
    token.indent?;
    let line_end = code.text[token.start..]
        .find('\n')
        .map(|length| token.start + length)?;
    let rest = &code.tokens[at..];
    let length = rest.iter().position(|token| token.start >= line_end)?;
    let last = rest.get(length.checked_sub(1)?)?;
    let is_keyword = "if else elif for while return let const var def class fn func function import from use pub match \
                      switch case try except finally with raise throw yield await async defer go type struct pass break \
                      continue del global nonlocal assert do loop default static"
        .split_whitespace()
        .any(|word| word == token.text);
    let before = at.checked_sub(1).map_or("", |at| code.word(at));
    let starts = match language {
        Language::Python => token.inside.is_none(),
        Language::Go => token.inside.is_some_and(|opener| code.word(opener) == "{"),
        _ => {
            let is_block = token.inside.is_some_and(|opener| code.word(opener) == "{");
            is_block && matches!(before, "{" | "}" | ";") && last.text == ";"
        }
    };
    let within = &rest[..length];
    // All brackets are closed in the line.
    let is_whole = (at..at + length).all(|inner| code.closed_by[inner] < at + length);
    let is_call =
        last.text == ")" || (last.text == ";" && length > 1 && rest[length - 2].text == ")");
    let is_assigned = within.iter().any(|other| {
        other.inside == token.inside && matches!(other.text, "=" | "+=" | "-=" | "*=" | "|=" | "&=")
    });
    let is_field = code.word(at + 1) == "." || code.word(at + 1) == "[";
    let is_name = token.kind == Kind::Name && !is_keyword;
    let declares = within.iter().any(|other| other.text == ":=");
    if !(starts && is_name && is_whole && !declares && (is_call || is_assigned && is_field)) {
        return None;
    }
    let text = if language == Language::Python {
        "pass"
    } else {
        ""
    };
    mutant(Bug::Statement, token.start..last.end(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changed lines that a text can have, by kind.
    fn read(language: Language, source: &str) -> Vec<(Bug, String)> {
        let changed = |mutant: &Mutant| {
            let text = mutant.applied(source);
            let mut lines = text.lines().zip(source.lines());
            let line = lines
                .find(|(new, old)| new != old)
                .map(|(new, _)| new.trim());
            (mutant.bug, line.unwrap_or_default().to_owned())
        };
        mutants(language, source).iter().map(changed).collect()
    }

    fn check(language: Language, source: &str, expected: &[(Bug, &str)]) {
        let found = read(language, source);
        for (bug, line) in expected {
            let is_there = found.iter().any(|(own, text)| own == bug && text == line);
            assert!(is_there, "{line}: {found:#?}");
        }
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        let kinds: std::collections::BTreeSet<Bug> = found.iter().map(|(bug, _)| *bug).collect();
        assert_eq!(kinds.len(), 5, "{kinds:?}");
    }

    #[test]
    fn python_has_five_kinds() {
        check(
            Language::Python,
            "LIMIT = 5\n\ndef f(a, b=1):\n    \"\"\"a < b\"\"\"\n    if a < 3:\n        self.x = g(a, b)\n    log(\n        a)\n    done()\n    return 'a' + b\n\nx = 1 < 2\n",
            &[
                (Bug::Condition, "if not (a < 3):"),
                (Bug::Operator, "if a <= 3:"),
                (Bug::Number, "if a < 4:"),
                (Bug::Arguments, "self.x = g(b, a)"),
                (Bug::Statement, "pass"),
                (Bug::Statement, "pass"),
            ],
        );
    }

    #[test]
    fn rust_has_five_kinds_and_none_in_tests() {
        check(
            Language::Rust,
            "const A: u8 = 1;\nfn f<T>(a: Vec<T>, b: u8) -> Option<u8> {\n    if let Some(x) = a {}\n    while !done {}\n    \
             for i in 0..n {}\n    a.0 += g(b, n);\n    let y = x && b;\n    match x { 1 => {} }\n}\n#[cfg(test)]\nmod tests { fn t() { a == 1; } }\n",
            &[
                (Bug::Condition, "while done {}"),
                (Bug::Number, "for i in 1..n {}"),
                (Bug::Operator, "for i in 0..=n {}"),
                (Bug::Operator, "a.0 -= g(b, n);"),
                (Bug::Arguments, "a.0 += g(n, b);"),
                (Bug::Statement, ""),
                (Bug::Operator, "let y = x || b;"),
                (Bug::Number, "match x { 2 => {} }"),
            ],
        );
    }

    #[test]
    fn go_has_five_kinds() {
        check(
            Language::Go,
            "package a\n\nfunc F(a, b int) (int, error) {\n\tif err := g(a); err != nil {\n\t}\n\tif a >= b {\n\t\tcopy(b, a)\n\t}\n\treturn a - 1, nil\n}\n",
            &[
                (Bug::Operator, "if err := g(a); err == nil {"),
                (Bug::Condition, "if !(a >= b) {"),
                (Bug::Operator, "if a > b {"),
                (Bug::Arguments, "copy(a, b)"),
                (Bug::Statement, ""),
                (Bug::Operator, "return a + 1, nil"),
                (Bug::Number, "return a - 2, nil"),
            ],
        );
    }

    #[test]
    fn javascript_and_typescript_have_five_kinds() {
        check(
            Language::Node,
            "const limit = 5;\nexport default function f<T>(a: Map<T, T>): void {\n\tif (a.size === 0) {\n\t\tqueue.push(x, y);\n\t}\n\treturn 'a' + <div>it's</div>;\n}\n",
            &[
                (Bug::Condition, "if (!(a.size === 0)) {"),
                (Bug::Operator, "if (a.size !== 0) {"),
                (Bug::Number, "if (a.size === 1) {"),
                (Bug::Arguments, "queue.push(y, x);"),
                (Bug::Statement, ""),
            ],
        );
    }
}
