//! What a text in JavaScript or TypeScript declares.

use super::Kind;
use super::list::List;

pub(super) fn declared(list: &mut List<'_, '_>) {
    let code = list.code;
    let mut at = 0;
    while at < code.tokens.len() {
        at = item(list, at);
    }
    // Properties of objects, in functions, too: they are what a factory gives.
    for at in 1..code.tokens.len() {
        let token = &code.tokens[at];
        let is_key = matches!(code.word(at - 1), "{" | ",")
            && matches!(code.word(at + 1), ":" | "(")
            && token.inside.is_some_and(|opener| code.word(opener) == "{");
        let is_set = code.word(at - 1) == "." && code.word(at + 1) == "=";
        let is_got = matches!(code.word(at - 1), "get" | "set") && code.word(at + 1) == "(";
        let is_known = |list: &List<'_, '_>| {
            let mut spans = list.found.iter().map(|one| one.span);
            spans.any(|span| (span.0..span.1).contains(&token.start))
        };
        if token.kind == Kind::Name && (is_key || is_set || is_got) && !is_known(list) {
            list.add_member(at, None);
        }
    }
}

/// Adds the item that begins here, if one does. Returns the place behind it.
fn item(list: &mut List<'_, '_>, from: usize) -> usize {
    let code = list.code;
    let mut at = from;
    while matches!(
        code.word(at),
        "export" | "default" | "async" | "declare" | "abstract"
    ) {
        at += 1;
    }
    let keyword = code.word(at);
    let star = usize::from(code.word(at + 1) == "*");
    let Some(name) = code.name(at + 1 + star) else {
        return code.closed_by[from] + 1;
    };
    match keyword {
        "function" => {
            let end = body_of(list, at + 2 + star);
            list.add(name, from, end, None);
            past(list, end)
        }
        "class" | "interface" | "enum" => {
            let end = code.next_of(at, &["{"]).unwrap_or(at + 2);
            let signature = list.add(name, from, end, None);
            if code.word(end) == "{" {
                members(list, end, &signature);
            }
            past(list, end)
        }
        "type" if matches!(code.word(at + 2), "=" | "<") => {
            list.add(name, from, at + 2, None);
            at + 2
        }
        "const" | "let" | "var" => {
            let value = code.next_of(at, &["=", ";"]).unwrap_or(at + 2);
            let end = match code.word(value) {
                "=" => function_value(list, value + 1).unwrap_or(value),
                _ => value,
            };
            list.add(name, from, end, None);
            past(list, end)
        }
        _ => code.closed_by[from] + 1,
    }
}

fn past(list: &List<'_, '_>, at: usize) -> usize {
    list.code.closed_by.get(at).copied().unwrap_or(at) + 1
}

/// Returns the end of the signature of a function that is a value, if there is one.
fn function_value(list: &List<'_, '_>, from: usize) -> Option<usize> {
    let code = list.code;
    let at = from + usize::from(code.word(from) == "async");
    if code.word(at) == "function" {
        let open = code.next_of(at, &["("])?;
        return Some(body_of(list, open));
    }
    let parameters = match code.word(at) {
        "<" => code.next_of(at, &["("])?,
        _ => at,
    };
    let is_function = code.word(parameters) == "(" || code.word(at + 1) == "=>";
    let arrow = code
        .next_of(parameters, &["=>", ";"])
        .filter(|_| is_function)?;
    let is_near = code.word(code.closed_by[parameters] + 1);
    (code.word(arrow) == "=>" && matches!(is_near, "=>" | ":")).then_some(arrow)
}

/// Returns the place of the body of a function whose parameters begin at or behind a place.
fn body_of(list: &List<'_, '_>, from: usize) -> usize {
    let code = list.code;
    let Some(open) = code.next_of(from, &["("]) else {
        return from;
    };
    let mut at = code.closed_by[open] + 1;
    // The type of the result may have braces.
    if code.word(at) == ":" && code.word(at + 1) == "{" {
        at = code.closed_by[at + 1] + 1;
    }
    code.next_of(at, &["{", ";"]).unwrap_or(at)
}

/// Adds the methods and fields of a class, an interface or an enumeration.
fn members(list: &mut List<'_, '_>, opener: usize, owner: &str) {
    let code = list.code;
    let end = code.closed_by[opener];
    let mut at = opener + 1;
    while at < end {
        let token = &code.tokens[at];
        if token.indent.is_none() && at != opener + 1 {
            at = code.closed_by[at] + 1;
            continue;
        }
        let start = at;
        while matches!(
            code.word(at),
            "static"
                | "async"
                | "public"
                | "private"
                | "protected"
                | "readonly"
                | "get"
                | "set"
                | "*"
                | "#"
        ) && !matches!(code.word(at + 1), "(" | "=" | ":")
        {
            at += 1;
        }
        let Some(name) = code.name(at) else {
            at = code.closed_by[at] + 1;
            continue;
        };
        if matches!(code.word(at + 1), "(" | "<") {
            let body = body_of(list, at + 1).min(end);
            // A method of an interface has no body.
            let line = (at + 1..body).find(|at| {
                code.tokens[*at].indent.is_some() && code.tokens[*at].inside == Some(opener)
            });
            let body = line.unwrap_or(body);
            list.add(name, start, body, Some(owner));
            at = if code.word(body) == "{" {
                code.closed_by[body] + 1
            } else {
                body.max(at + 1)
            };
        } else {
            list.add_member(at, Some(owner));
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::choice::Language;
    use super::super::{Code, declared};

    #[test]
    fn javascript_and_typescript_have_functions_classes_and_members() {
        let text = "import a from 'b';\nexport const LIMIT = 5;\nexport default async function f(a, {b = 1} = {}) {\n  const inner = 2;\n}\n\
                    export const g = async (a: string, b?: number): Promise<void> => {\n};\nconst h = x => x + 1;\n\
                    export class A<T> extends B {\n  #p = 1;\n  static make(x: T): {y: T} {\n    return {y: x};\n  }\n  get size() { return 1; }\n}\n\
                    export interface I {\n  name: string;\n  run(a: number): void;\n}\nexport type U = 'a' | 'b';\n\
                    function k(a: {b: string}): {c: number} {\n  return Object.assign(a, {active: 1});\n}\nexports.late = 3;\n";
        let code = Code::read(Language::Node, text);
        let list = declared::declared(Language::Node, &code);
        let lines: Vec<String> = list
            .into_iter()
            .map(|one| match one.owner {
                Some(owner) => format!("{} @ {owner}", one.signature),
                None => one.signature,
            })
            .collect();
        for line in [
            "export const LIMIT",
            "export default async function f(a, {b = 1} = {})",
            "export const g = async (a: string, b?: number): Promise<void>",
            "const h = x",
            "export class A<T> extends B",
            "static make(x: T): {y: T} @ export class A<T> extends B",
            "get size() @ export class A<T> extends B",
            "export interface I",
            "name @ export interface I",
            "run(a: number): void @ export interface I",
            "export type U",
            "function k(a: {b: string}): {c: number}",
            "active",
            "late",
        ] {
            assert!(lines.iter().any(|own| own == line), "{line}: {lines:#?}");
        }
        assert!(
            !lines.iter().any(|line| line.contains("inner")),
            "{lines:#?}"
        );
    }
}
