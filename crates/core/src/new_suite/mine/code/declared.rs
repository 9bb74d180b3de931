//! What a source text declares: functions, methods, classes, types, constants and members, with signatures and without bodies.

use super::super::choice::Language;
pub(crate) use super::list::Declared;
use super::list::List;
use super::{Code, Kind, js};

/// Returns the declarations of a text, without those in functions.
pub(crate) fn declared(language: Language, code: &Code<'_>) -> Vec<Declared> {
    let mut list = List::new(code);
    match language {
        Language::Python => python(&mut list),
        Language::Rust => rust(&mut list, 0, code.tokens.len(), None),
        Language::Go => go(&mut list),
        Language::Node => js::declared(&mut list),
        Language::Shell => {}
    }
    list.found
}

fn python(list: &mut List<'_, '_>) {
    let code = list.code;
    // The columns and the class of each block around; a function has no class.
    let mut around: Vec<(usize, Option<String>)> = Vec::new();
    for (at, token) in code.tokens.iter().enumerate() {
        let (Some(indent), None) = (token.indent, token.inside) else {
            continue;
        };
        if matches!(token.text, ")" | "]" | "}") {
            continue;
        }
        while around.last().is_some_and(|(column, _)| *column >= indent) {
            around.pop();
        }
        let owner = around.last().and_then(|(_, owner)| owner.clone());
        let is_in_function = around.last().is_some_and(|(_, owner)| owner.is_none());
        let keyword = at + usize::from(token.text == "async");
        match (code.word(keyword), code.name(keyword + 1)) {
            ("def" | "class", Some(name)) => {
                let end = code.next_of(keyword, &[":"]).unwrap_or(keyword + 2);
                let is_class = code.word(keyword) == "class";
                let signature = match is_in_function {
                    true => code.line(at, end),
                    false => list.add(name, at, end, owner.as_deref()),
                };
                around.push((indent, is_class.then_some(signature)));
            }
            // An attribute that a method sets.
            ("self", _) if code.word(at + 1) == "." && matches!(code.word(at + 3), "=" | ":") => {
                let mut outer = around.iter().rev();
                let class = outer.find_map(|(_, owner)| owner.as_deref());
                list.add_member(at + 2, class);
            }
            (_, Some(_)) | (_, None) if is_in_function => {}
            _ if token.kind == Kind::Name && matches!(code.word(at + 1), "=" | ":") => {
                if matches!(token.text, "else" | "try" | "finally") {
                    continue;
                }
                let line_end = code.tokens[at + 1..]
                    .iter()
                    .position(|token| token.indent.is_some() || token.text == "=");
                let end = line_end.map_or(code.tokens.len(), |length| at + 1 + length);
                list.add(token.text, at, end, owner.as_deref());
            }
            _ => {}
        }
    }
}

/// Words that may be before the keyword of an item.
const BEFORE: &str = "pub async const unsafe extern default crate";

fn rust(list: &mut List<'_, '_>, from: usize, to: usize, owner: Option<&str>) {
    let code = list.code;
    let mut at = from;
    while at < to {
        let is_item = |at: usize| match code.word(at) {
            "fn" | "struct" | "enum" | "union" | "trait" | "type" | "static" | "mod" => true,
            "const" => code
                .name(at + 1)
                .is_some_and(|next| !matches!(next, "fn" | "unsafe")),
            _ => false,
        };
        let name = code.name(at + 1).filter(|_| is_item(at));
        let is_impl = code.word(at) == "impl";
        if let ("macro_rules", Some(name)) = (code.word(at), code.name(at + 2)) {
            list.add(name, at, at + 3, owner);
        }
        if name.is_none() && !is_impl {
            at = code.closed_by[at] + 1;
            continue;
        }
        let end = code.next_of(at, &["{", ";", "="]).unwrap_or(to).min(to);
        let start = start_of(code, at, from);
        let signature = match name {
            Some(name) if code.word(at) != "mod" => list.add(name, start, end, owner),
            _ => code.line(at, end),
        };
        if code.word(end) == "{" {
            let close = code.closed_by[end];
            match code.word(at) {
                "impl" | "trait" => rust(list, end + 1, close, Some(&signature)),
                "mod" => rust(list, end + 1, close, owner),
                "struct" | "enum" | "union" => list.add_members(end, Some(","), &signature),
                _ => {}
            }
        }
        at = match code.word(end) {
            // The value of a constant.
            "=" => code.next_of(end, &[";"]).unwrap_or(to) + 1,
            _ => code.closed_by.get(end).copied().unwrap_or(to) + 1,
        };
    }
}

/// Returns where an item begins whose keyword is here.
fn start_of(code: &Code<'_>, keyword: usize, from: usize) -> usize {
    let mut start = keyword;
    while start > from {
        let before = start - 1;
        let token = &code.tokens[before];
        let is_before =
            BEFORE.split(' ').any(|word| word == token.text) || token.kind == Kind::Text;
        // `pub(crate)`
        let mut near = (from..before).rev().take(6);
        let visibility = near.find(|at| token.text == ")" && code.closed_by[*at] == before);
        start = match visibility {
            Some(opener) if opener > from && code.word(opener - 1) == "pub" => opener - 1,
            None if is_before => before,
            _ => return start,
        };
    }
    start
}

fn go(list: &mut List<'_, '_>) {
    let code = list.code;
    for (at, token) in code.tokens.iter().enumerate() {
        if token.inside.is_some() || token.indent.is_none() {
            continue;
        }
        match token.text {
            "func" => {
                let receiver = code.word(at + 1) == "(";
                let name = at
                    + 1
                    + if receiver {
                        code.closed_by[at + 1] - at
                    } else {
                        0
                    };
                let mut end = code.next_of(name, &["{"]);
                // The type of a result may have braces.
                while let Some(brace) = end
                    && matches!(code.word(brace - 1), "interface" | "struct")
                {
                    end = code.next_of(code.closed_by[brace], &["{"]);
                }
                if let Some(word) = code.name(name) {
                    list.add(word, at, end.unwrap_or(name + 1), None);
                }
            }
            "type" | "const" | "var" if code.word(at + 1) == "(" => {
                let close = code.closed_by[at + 1];
                for inner in at + 2..close {
                    let token = &code.tokens[inner];
                    if token.inside == Some(at + 1) && token.indent.is_some() {
                        go_item(list, inner, inner);
                    }
                }
            }
            "type" | "const" | "var" => go_item(list, at, at + 1),
            _ => {}
        }
    }
}

/// Adds a type, constant or variable.
fn go_item(list: &mut List<'_, '_>, from: usize, name: usize) {
    let code = list.code;
    let Some(word) = code.name(name) else { return };
    let rest = code.tokens.get(name + 1..).unwrap_or_default();
    let length = rest.iter().position(|token| {
        token.indent.is_some()
            || matches!(token.text, "=" | "{")
            || token.inside != code.tokens[name].inside
    });
    let end = length.map_or(code.tokens.len(), |length| name + 1 + length);
    let signature = list.add(word, from, end, None);
    if code.word(end) == "{" && matches!(code.word(end - 1), "struct" | "interface") {
        list.add_members(end, None, &signature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each declaration in a line: its signature, then its owner.
    fn read(language: Language, text: &str) -> Vec<String> {
        let code = Code::read(language, text);
        let line = |declared: Declared| match declared.owner {
            Some(owner) => format!("{} @ {owner}", declared.signature),
            None => declared.signature,
        };
        declared(language, &code).into_iter().map(line).collect()
    }

    #[test]
    fn python_has_classes_functions_and_constants() {
        let text = "import a\nLIMIT: int = 5\nnames = [1]\n\n@b\nasync def f(\n    a: int = {1: 2}[1],\n    *, c=3,\n) -> str:\n    \
                    x = 1\n    def inner(): pass\n    return x\n\nclass A(B):\n    kind = 'k'\n\n    def m(self):\n        \
                    self.total = 0\n        if x: y = 2\n\n    class C: ...\n\nif x:\n    def g(): pass\nelse:\n    z = 1\n";
        assert_eq!(
            read(Language::Python, text),
            [
                "LIMIT: int",
                "names",
                "async def f(a: int = {1: 2}[1], *, c=3) -> str",
                "class A(B)",
                "kind @ class A(B)",
                "def m(self) @ class A(B)",
                "total @ class A(B)",
                "class C @ class A(B)",
                "def g()",
                "z",
            ]
        );
    }

    #[test]
    fn rust_has_items_methods_fields_and_variants() {
        let text = "use a::b;\npub(crate) const LIMIT: [u8; 2] = [1, 2];\n#[derive(A)]\npub struct S<T> {\n    #[a(b)]\n    pub c: T,\n    d: u8,\n}\n\
                    pub enum E { A(u8), B { x: u8 } }\nimpl<T> S<T> {\n    pub const fn new(c: T) -> Self where T: Copy { fn inner() {} Self { c } }\n}\n\
                    trait Tr { fn t(&self); }\nmod m { pub async fn deep() {} }\npub struct P(u8);\nmacro_rules! mac { () => {} }\n\
                    pub extern \"C\" fn e() {}\n";
        assert_eq!(
            read(Language::Rust, text),
            [
                "pub(crate) const LIMIT: [u8; 2]",
                "pub struct S<T>",
                "c @ pub struct S<T>",
                "d @ pub struct S<T>",
                "pub enum E",
                "A @ pub enum E",
                "B @ pub enum E",
                "pub const fn new(c: T) -> Self where T: Copy @ impl<T> S<T>",
                "trait Tr",
                "fn t(&self) @ trait Tr",
                "pub async fn deep()",
                "pub struct P(u8)",
                "macro_rules! mac",
                "pub extern \"C\" fn e()",
            ]
        );
    }

    #[test]
    fn go_has_functions_methods_types_and_constants() {
        let text = "package a\n\nimport \"b\"\n\nconst Limit = 5\nconst (\n\tA int = iota\n\tB\n)\nvar Err = b.New(\"x\")\n\ntype S struct {\n\tName string\n\tid, n int\n}\n\
                    type I interface {\n\tDo(a int) error\n}\nfunc (s *S) Get(a, b int) (int, error) {\n\tx := 1\n}\n\
                    func F(f interface{}) map[string]struct{} {\n}\n";
        assert_eq!(
            read(Language::Go, text),
            [
                "const Limit",
                "A int",
                "B",
                "var Err",
                "type S struct",
                "Name @ type S struct",
                "id @ type S struct",
                "type I interface",
                "Do @ type I interface",
                "func (s *S) Get(a, b int) (int, error)",
                "func F(f interface{}) map[string]struct{}",
            ]
        );
    }
}
