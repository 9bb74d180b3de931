//! The names that hidden tests need and that nobody can guess: what the solution declares and the new lines of the tests use.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::super::choice::{Chosen, Language, Role, language_of, role_of};
use super::super::contents::added_lines;
use super::declared::{Declared, declared};
use super::{Code, Kind, inline, is_read, words};

/// More names are no interface, but a design.
const MOST: usize = 40;

/// What tests need to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Interface {
    /// A line for each declaration.
    pub lines: Vec<String>,
    /// Names that are declared in no way that can be read.
    pub missing: Vec<String>,
}

/// A file before and after.
struct Sides<'a> {
    language: Language,
    path: &'a Utf8Path,
    old: String,
    new: String,
}

/// Returns the source files and the tests of a commit that can be read. Tests inside of a source file are told from it.
fn sides(chosen: &Chosen) -> [Vec<Sides<'_>>; 2] {
    let [mut source, mut tests] = [Vec::new(), Vec::new()];
    for change in chosen.solution.iter().chain(&chosen.tests) {
        let Some(language) = language_of(&change.path).filter(|language| is_read(*language)) else {
            continue;
        };
        let path = &change.path;
        let side = |[old, new]: [String; 2]| Sides {
            language,
            path,
            old,
            new,
        };
        let [old, new] = change.texts();
        match (role_of(path), language) {
            (Role::Code, Language::Rust) => {
                let (old, new) = (inline::parts(old), inline::parts(new));
                source.push(side([old.0, new.0]));
                tests.push(side([old.1, new.1]));
            }
            (Role::Code, _) => source.push(side([old.to_owned(), new.to_owned()])),
            _ => tests.push(side([old.to_owned(), new.to_owned()])),
        }
    }
    [source, tests]
}

/// Finds what the tests of a commit need of its solution.
pub(crate) fn interface(chosen: &Chosen) -> Interface {
    let [source, tests] = sides(chosen);
    let (mut used, mut imported) = (BTreeSet::new(), BTreeSet::new());
    for test in &tests {
        use_names(test, &mut used, &mut imported);
    }
    let mut found = Interface::default();
    let (mut known, mut before, mut after) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for Sides {
        language,
        path,
        old,
        new,
    } in &source
    {
        let code = Code::read(*language, new);
        let [was, is] = [&Code::read(*language, old), &code].map(|code| declared(*language, code));
        known.extend(is.iter().map(|one| one.name.clone()));
        known.extend(imports(*language, &code).map(|at| code.word(at).to_owned()));
        known.extend(
            path.iter()
                .map(|part| part.trim_end_matches(".py").to_owned()),
        );
        before.extend(words(old));
        after.extend(words(new));
        let is_new = |one: &Declared| !was.iter().any(|other| is_same(one, other));
        let needed = is.into_iter().filter(is_new);
        let needed = needed.filter(|one| is_needed(one, old, &used));
        let mut lines: Vec<String> = needed.map(|one| line(&one, path)).collect();
        let is_named = path.file_stem().is_some_and(|stem| used.contains(stem));
        if old.is_empty() && is_named && lines.is_empty() {
            lines.push(format!("- the file `{path}`"));
        }
        lines.retain(|line| !found.lines.contains(line));
        lines.dedup();
        found.lines.extend(lines);
    }
    let is_missing = |name: &&String| {
        let word = name.as_str();
        after.contains(word) && !before.contains(word) && !known.contains(word)
    };
    found.missing = imported.iter().filter(is_missing).cloned().collect();
    if found.lines.len() > MOST {
        found.missing.extend(found.lines.drain(MOST..));
    }
    found
}

fn line(one: &Declared, path: &Utf8Path) -> String {
    let owner = one.owner.as_ref();
    let owner = owner.map_or(String::new(), |owner| format!(" of `{owner}`"));
    format!("- `{}`{owner} in `{path}`", one.signature)
}

fn is_same(one: &Declared, other: &Declared) -> bool {
    (&one.name, &one.signature, &one.owner) == (&other.name, &other.signature, &other.owner)
}

/// Tells whether tests use a declaration: its name, or the new name of a parameter.
fn is_needed(one: &Declared, old: &str, used: &BTreeSet<String>) -> bool {
    let old = words(old);
    let mut parameters = words(&one.signature).into_iter();
    used.contains(&one.name) || parameters.any(|word| used.contains(word) && !old.contains(word))
}

/// Words before a name that a test declares for itself.
const DECLARING: &str = "let const var mut def fn func function class for as struct static lambda";

/// Adds the names that the new lines of a test use, and those among them that it imports.
fn use_names(test: &Sides<'_>, used: &mut BTreeSet<String>, imported: &mut BTreeSet<String>) {
    let Sides {
        language, old, new, ..
    } = test;
    let added: BTreeSet<&str> = added_lines(old, new).into_iter().collect();
    let code = Code::read(*language, new);
    let is_import: BTreeSet<usize> = imports(*language, &code).collect();
    let mut own: BTreeSet<&str> = BTreeSet::new();
    for one in declared(*language, &code) {
        own.extend(
            words(&new[one.span.0..one.span.1])
                .iter()
                .filter(|word| one.signature.contains(**word)),
        );
    }
    let mut found = Vec::new();
    for (at, token) in code.tokens.iter().enumerate() {
        if token.kind != Kind::Name {
            continue;
        }
        let before = if at == 0 { "" } else { code.word(at - 1) };
        let is_assigned = match language {
            // In brackets it is the name of an argument.
            Language::Python => code.word(at + 1) == "=" && token.inside.is_none() && before != ".",
            _ => matches!(code.word(at + 1), "=" | ":=" | "=>") && before != ".",
        };
        if is_assigned || DECLARING.split(' ').any(|word| word == before) {
            own.insert(token.text);
        }
        if added.contains(line_of(new, token.start)) {
            found.push((at, token.text));
        }
    }
    for (at, name) in found {
        if is_import.contains(&at) {
            imported.insert(name.to_owned());
        }
        if is_import.contains(&at) || !own.contains(name) {
            used.insert(name.to_owned());
        }
    }
}

fn line_of(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// Returns the places of names that a text imports.
fn imports(language: Language, code: &Code<'_>) -> impl Iterator<Item = usize> {
    let mut places = Vec::new();
    for (at, token) in code.tokens.iter().enumerate() {
        let is_start = token.inside.is_none() && token.indent.is_some();
        let end = match (language, token.text) {
            (Language::Rust, "use") => code.next_of(at, &[";"]),
            (Language::Python, "from" | "import") if is_start => {
                let rest = code.tokens.get(at + 1..).unwrap_or_default();
                let end = rest
                    .iter()
                    .position(|token| token.indent.is_some() && token.inside.is_none());
                Some(end.map_or(code.tokens.len(), |length| at + 1 + length))
            }
            (Language::Node, "import") if is_start => code.next_of(at, &["from", ";"]),
            _ => None,
        };
        if let Some(end) = end {
            places.extend((at + 1..end).filter(|at| code.name(*at).is_some()));
        }
    }
    places.into_iter()
}

#[cfg(test)]
mod tests {
    use super::super::super::commit::{Change, Commit, Kind as Entry, Object};
    use super::*;

    fn found(source: [&str; 3], test: [&str; 3]) -> Interface {
        let change = |[path, old, new]: [&str; 3]| {
            let side = |text: &str| {
                (!text.is_empty()).then(|| Object {
                    kind: Entry::File(false),
                    id: String::new(),
                    text: text.to_owned(),
                })
            };
            Change {
                path: path.into(),
                old: side(old),
                new: side(new),
            }
        };
        interface(&Chosen {
            commit: Commit {
                id: String::new(),
                parents: Vec::new(),
                seconds: 0,
                message: String::new(),
            },
            parent: String::new(),
            tests: vec![change(test)],
            solution: vec![change(source)],
            run: Vec::new(),
            inline: Vec::new(),
        })
    }

    #[test]
    fn python_names_that_tests_need() {
        let source = [
            "src/a.py",
            "def f(x):\n    return x\n",
            "import re\n\ndef f(x, strict=False):\n    helper(x)\n\ndef helper(y):\n    pass\n\nclass Limiter:\n    def close(self):\n        self.total = 1\n",
        ];
        let old = "from a import f\n\ndef test_f():\n    f(1)\n";
        let new = format!(
            "{old}    f(2, strict=True)\n\ndef test_l(Limiter):\n    helper = a.Limiter()\n    helper.close()\n    assert helper.total\n    re.x\n"
        );
        assert_eq!(
            found(source, ["tests/test_a.py", old, &new]).lines,
            [
                "- `def f(x, strict=False)` in `src/a.py`",
                "- `def close(self)` of `class Limiter` in `src/a.py`",
                "- `total` of `class Limiter` in `src/a.py`",
            ]
        );
    }

    #[test]
    fn go_rust_and_typescript_names_that_tests_need() {
        let go = found(
            [
                "a.go",
                "package a\n",
                "package a\n\nfunc Compare(a, b UUID) int {\n\treturn 0\n}\n\nfunc inner() {}\n",
            ],
            [
                "a_test.go",
                "",
                "package a\n\nfunc TestCompare(t *testing.T) {\n\tif Compare(x, y) != 0 {\n\t}\n}\n",
            ],
        );
        assert_eq!(go.lines, ["- `func Compare(a, b UUID) int` in `a.go`"]);
        let rust = found(
            [
                "src/lib.rs",
                "",
                "pub fn twice(n: u8) -> u8 { n * 2 }\nfn own() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn own_test() { assert_eq!(twice(2), 4); }\n}\n",
            ],
            ["tests/a.txt", "", "x"],
        );
        assert_eq!(
            rust.lines,
            ["- `pub fn twice(n: u8) -> u8` in `src/lib.rs`"]
        );
        let node = found(
            [
                "src/a.ts",
                "",
                "export const parse = (text: string): number => 1;\nexport default parse;\n",
            ],
            [
                "src/a.test.ts",
                "",
                "import { parse as p } from './a';\n\ntest('x', () => { expect(p('1')).toBe(1); });\n",
            ],
        );
        assert_eq!(
            node.lines,
            ["- `export const parse = (text: string): number` in `src/a.ts`"]
        );
    }

    #[test]
    fn names_without_a_declaration_are_missing() {
        let source = [
            "a.py",
            "x = 1\n",
            "x = 1\nglobals()['made'] = 2\nfrom re import compile\n",
        ];
        let test = [
            "tests/test_a.py",
            "",
            "from a import made, x\nfrom re import compile\nfrom b import other\n",
        ];
        let found = found(source, test);
        assert_eq!(
            (found.lines, found.missing),
            (vec![], vec!["made".to_owned()])
        );
    }

    #[test]
    fn a_new_file_is_named_if_nothing_in_it_is() {
        let found = found(
            ["src/late.py", "", "print(1)\n"],
            ["tests/test_a.py", "", "import late\n"],
        );
        assert_eq!(found.lines, ["- the file `src/late.py`"]);
    }
}
