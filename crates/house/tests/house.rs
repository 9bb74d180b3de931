//! Circles and figures of small made-up crates, and circles of this workspace.
#![allow(clippy::unwrap_used)]

use camino::Utf8Path;
use tempfile::TempDir;
use terca_house::budget::{Budget, raises_without_reason};
use terca_house::circles::{Circle, circles};
use terca_house::figures::Figures;
use terca_house::modules::Crate;
use terca_house::text::{describe as describe_circle, table};
use terca_house::{OWN_CHECKOUT, PRODUCT_CRATES};

/// Writes a crate's files, given as name and text, below `src` and reads it.
fn read(files: &[(&str, &str)]) -> (TempDir, Crate) {
    let directory = TempDir::new().unwrap();
    let path = Utf8Path::from_path(directory.path()).unwrap();
    for (name, text) in files {
        let file = path.join("src").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let tree = Crate::read(path).unwrap();
    (directory, tree)
}

/// Returns a made-up crate's circles as `level: members; closing edge file:line …`.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let (_directory, tree) = read(files);
    circles(&tree).iter().map(describe).collect()
}

fn describe(circle: &Circle) -> String {
    let members: Vec<&str> = circle.members.iter().map(String::as_str).collect();
    let mut text = format!("{}: {}", circle.level, members.join(" "));
    for edge in &circle.closing {
        text += &format!("; {} uses {}", edge.from, edge.to);
        for place in &edge.places {
            text += &format!(" {}:{}", place.file.file_name().unwrap(), place.line);
        }
    }
    text
}

const AB: (&str, &str) = ("lib.rs", "mod a;\nmod b;\n");
const NONE: [String; 0] = [];

#[test]
fn a_circle_by_use_is_named_with_its_lines() {
    let a = (
        "a.rs",
        "use crate::b::{B, Other as Renamed};\npub struct A(B, Renamed);\n",
    );
    let b = (
        "b.rs",
        "pub struct B;\npub struct Other;\n\nuse super::a;\nfn f(_: a::A) {}\n",
    );
    assert_eq!(found(&[AB, a, b]), [": a b; b uses a b.rs:5"]);
}

#[test]
fn a_circle_by_a_path_in_an_expression_a_macro_or_an_attribute_is_found() {
    let a = (
        "a.rs",
        "pub fn f() { crate::b::g(); crate::b::g(); }\npub fn h() {\n crate::b::g() }",
    );
    for use_of_a in [
        "crate::a::f();",
        "println!(\"{}\", [super::super::a::f()]);",
    ] {
        let b = format!("mod c {{\n fn i() {{ {use_of_a} }}\n}}\npub fn g() {{}}\n");
        assert_eq!(found(&[AB, a, ("b.rs", &b)]), [": a b; b uses a b.rs:2"]);
    }
    let b = "pub fn g() {}\n#[serde(with = \"crate::a::f\")]\nstruct S;\n";
    assert_eq!(found(&[AB, a, ("b.rs", b)]), [": a b; b uses a b.rs:2"]);
}

#[test]
fn a_circle_through_a_re_export_is_one_with_the_module_that_defines_the_item() {
    let lib = (
        "lib.rs",
        "mod a;\nmod b;\nmod facade;\npub use b::B as Shown;\n",
    );
    let facade = ("facade.rs", "pub use crate::b::*;\n");
    let b = ("b.rs", "pub struct B(crate::a::A);\n");
    let by_glob = (
        "a.rs",
        "use crate::facade::B;\npub struct A;\n\nstruct X(B);",
    );
    let by_root = (
        "a.rs",
        "pub struct A;\n\nstruct X(crate::Shown);\nstruct Y(super::Shown);",
    );
    assert_eq!(
        found(&[lib, facade, b, by_glob]),
        [": a b; b uses a b.rs:1"]
    );
    assert_eq!(
        found(&[lib, facade, b, by_root]),
        [": a b; b uses a b.rs:1"]
    );
}

#[test]
fn a_module_that_re_exports_one_that_uses_it_is_in_a_circle() {
    let a = ("a.rs", "pub use crate::b;\npub struct A;\n");
    let b = ("b.rs", "pub struct B(crate::a::A);\n");
    assert_eq!(found(&[AB, a, b]), [": a b; b uses a b.rs:1"]);
}

#[test]
fn a_facade_makes_no_circle() {
    let lib = (
        "lib.rs",
        "mod a;\nmod b;\nmod facade;\npub use facade::{A, B};\n",
    );
    let facade = ("facade.rs", "pub use crate::a::A;\npub use crate::b::B;\n");
    let a = ("a.rs", "pub struct A;\n");
    for use_of_a in [
        "use crate::facade::A;",
        "use crate::A;",
        "use crate::facade::{self as f}; use f::A;",
    ] {
        let b = format!("{use_of_a}\npub struct B(A);\n");
        assert_eq!(found(&[lib, facade, a, ("b.rs", &b)]), NONE, "{use_of_a}");
    }
}

#[test]
fn tests_parents_and_other_crates_make_no_circle() {
    let a = (
        "a.rs",
        "use crate::b::B;\npub struct A(B);\npub fn shared() {}\nmod child;\nfn f() { child::g() }",
    );
    let child = ("a/child.rs", "use super::shared;\npub fn g() { shared() }");
    let b = "pub struct B(other::a::A);\n#[cfg(test)]\nmod tests {\n use crate::a::A;\n}\n\
             /// Only for tests.\n#[cfg(test)]\nuse crate::a::{A, shared};\n\
             #[test]\nfn t() { crate::a::shared() }\n";
    assert_eq!(found(&[AB, a, child, ("b.rs", b)]), NONE);
}

#[test]
fn globs_through_an_imported_module_are_followed() {
    let a = (
        "a.rs",
        "pub mod x { pub struct X; }\npub mod y {\n pub struct Y(crate::b::B); }\n",
    );
    let b = (
        "b.rs",
        "use crate::a;\nuse a::x::*;\nuse a::y::*;\npub struct B;\nfn f(_: Y, _: X) {}\n\nfn g(_: X) {}\n",
    );
    assert_eq!(found(&[AB, a, b]), [": a b; a uses b a.rs:3"]);
}

#[test]
fn a_nested_circle_is_found_at_its_own_level() {
    let lib = ("lib.rs", "#[path = \"outer/elsewhere.rs\"]\nmod outer;\n");
    let outer = ("outer/elsewhere.rs", "mod a;\nmod b;\nmod c;\n");
    let a = (
        "outer/a/mod.rs",
        "pub fn f() { super::b::f(); super::c::f() }\npub fn g() { super::b::f() }",
    );
    let b = ("outer/b.rs", "pub fn f() { crate::outer::a::f() }");
    let c = ("outer/c.rs", "pub fn f() {}");
    assert_eq!(
        found(&[lib, outer, a, b, c]),
        ["outer: a b; b uses a b.rs:1"]
    );
}

#[test]
fn a_function_with_its_modules_name_belongs_to_the_parent() {
    let lib = ("lib.rs", "mod a;\npub mod b;\npub fn b() {}\n");
    let a = ("a.rs", "use crate::b;\npub fn f() { b() }\n");
    let b = ("b.rs", "pub fn g() { crate::a::f() }\n");
    assert_eq!(found(&[lib, a, b]), NONE);
}

/// Returns the cell of the row with a title.
fn figure<'a>(table: &'a str, title: &str) -> &'a str {
    let mut cells = table.lines().filter_map(|line| line.strip_prefix(title));
    cells.next().unwrap().trim()
}

#[test]
fn figures_leave_tests_out() {
    let text = "//! What is measured.\n\n/// Adds.\npub fn add(one: u8, two: u8) -> u8 {\n    one + two\n}\n\npub struct Plain;\n\
                fn habits() {\n    let (a, b) = (1, 2);\n    let sum = || a + b;\n}\n\n\
                #[cfg(test)]\nmod tests {\n    pub fn long() {}\n}\n";
    let (_directory, tree) = read(&[("lib.rs", text)]);
    let mut figures = Figures::default();
    figures.add(&tree, &circles(&tree));
    let table = table(&[("made", figures)]);
    assert_eq!(figure(&table, "product lines"), "13");
    assert_eq!(figure(&table, "code lines"), "8");
    assert_eq!(figure(&table, "comment share"), "20.0 %");
    assert_eq!(figure(&table, "functions"), "2");
    assert_eq!(
        figure(&table, "lines per function, p50/90/99/max"),
        "3/4/4/4"
    );
    assert_eq!(
        figure(&table, "tokens per function, p50/90/99/max"),
        "18/27/27/27"
    );
    assert_eq!(figure(&table, "public items documented"), "50.0 %");
    assert_eq!(figure(&table, "docs that open with a clause"), "50.0 %");
    assert_eq!(figure(&table, "named closures per 1,000 lines"), "125.0");
    assert_eq!(figure(&table, "tuple lets per 1,000 lines"), "125.0");
}

#[test]
fn doc_comments_are_not_counted_as_tokens() {
    let text = "//! About.\n\n/// A.\n#[derive(Debug)]\npub struct A;\n";
    let (_directory, tree) = read(&[("lib.rs", text)]);
    let mut figures = Figures::default();
    figures.add(&tree, &[]);
    // `#`, two brackets, `derive`, two parentheses, `Debug`, `pub`, `struct`, `A`, `;`.
    let table = table(&[("made", figures)]);
    assert_eq!(figure(&table, "product tokens"), "11");
}

/// A checkout with limits, and a git history of them.
struct Limited(TempDir);

impl Limited {
    fn new() -> Self {
        let made = Limited(TempDir::new().unwrap());
        std::fs::create_dir_all(made.root().join("crates/house")).unwrap();
        made.git(&["init", "--quiet"]);
        made
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    fn git(&self, arguments: &[&str]) {
        let status = std::process::Command::new("git")
            .arg("-C")
            .arg(self.root())
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .status();
        assert!(status.unwrap().success());
    }

    fn commit(&self, tokens: usize, message: &str) {
        let limits = format!(
            "[tokens]\nmade = {tokens}\n[root-modules]\nmade = 1\n\
             [all]\nlines-of-a-function = 2\ntypes-of-one-name = 1\n"
        );
        std::fs::write(self.root().join("crates/house/budget.toml"), limits).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }
}

#[test]
fn every_figure_above_its_limit_is_named() {
    let limited = Limited::new();
    limited.commit(10, "Limit it");
    let a = ("a.rs", "struct A;\nfn f() {\n    1;\n}\n");
    let (_directory, tree) = read(&[AB, a, ("b.rs", "struct A;\n")]);
    let figures = || {
        let mut figures = Figures::default();
        figures.add(&tree, &[]);
        figures
    };
    let budget = Budget::read(limited.root()).unwrap();
    let found = budget.exceeded(&[("made", figures())], &figures());
    for expected in [
        "made: 20 product tokens; the limit is 10",
        "made: 2 root modules; the limit is 1",
        "a.rs has 3 lines; the limit is 2",
        "2 types are called `A`; the limit is 1",
    ] {
        assert!(found.contains(expected), "{expected:?} is not in\n{found}");
    }
}

#[test]
fn a_limit_rises_only_with_a_reason() {
    let limited = Limited::new();
    limited.commit(10, "Limit it");
    limited.commit(5, "Lower it");
    limited.commit(6, "Raise it\n\nBudget: a second kind of sandbox");
    assert_eq!(raises_without_reason(limited.root()).unwrap(), "");
    limited.commit(7, "Raise it again");
    let found = raises_without_reason(limited.root()).unwrap();
    assert!(
        found.contains("raises the limit of tokens of made"),
        "{found}"
    );
    assert_eq!(found.lines().count(), 1, "{found}");
}

/// Returns the product's figures by crate, and those of all.
fn own_figures() -> (Vec<(&'static str, Figures)>, Figures) {
    let mut all = Figures::default();
    let measured = PRODUCT_CRATES.map(|name| {
        let tree = Crate::read(&Utf8Path::new(OWN_CHECKOUT).join("crates").join(name)).unwrap();
        let mut figures = Figures::default();
        figures.add(&tree, &[]);
        all.add(&tree, &[]);
        (name, figures)
    });
    (measured.into(), all)
}

#[test]
fn terca_is_within_its_limits() {
    let root = Utf8Path::new(OWN_CHECKOUT);
    let (crates, all) = own_figures();
    let found = Budget::read(root).unwrap().exceeded(&crates, &all);
    assert!(found.is_empty(), "\n{found}");
    // A copy without its history has nothing to say about it.
    if root.join(".git").exists() {
        assert_eq!(raises_without_reason(root).unwrap(), "");
    }
}

#[test]
fn terca_has_no_circles() {
    let root = Utf8Path::new(OWN_CHECKOUT);
    let mut found = String::new();
    for name in PRODUCT_CRATES.into_iter().chain(["house"]) {
        let tree = Crate::read(&root.join("crates").join(name)).unwrap();
        for circle in circles(&tree) {
            found += &describe_circle(name, &circle, root);
        }
    }
    assert!(found.is_empty(), "modules depend on each other\n{found}");
}
