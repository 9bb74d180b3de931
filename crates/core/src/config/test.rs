//! Tests of an eval: exactly one kind each, names that differ.

use std::time::Duration;

use crate::config::names::unique;
use crate::grade::{KINDS, TestSpec};
use crate::reader::{Fields, Node, Presence, filled_text, object, positive, text};
use crate::text::{Code, Located};

const DEFAULT_TEST_SECONDS: f64 = 120.0;

/// Declares the tests of an eval.
pub(super) fn tests(fields: &mut Fields<'_, '_>) -> Vec<TestSpec> {
    let test = object("test", "a test", test)
        .about(
            "A test has one kind, and optionally a name, a description, a weight and a time limit.",
        )
        .example("commandSuccess: npm test")
        .linked("[test](eval-yaml.md#tests)")
        .kind();
    let read = fields.renamed_list(
        "tests",
        &["eval", "evaluate"],
        Presence::Filled,
        test,
        "The tests that verify the work. The score is their weighted mean.",
    );
    let mut names = Vec::new();
    let mut tests = Vec::new();
    for (position, (name, mut test)) in (1..).zip(read) {
        test.name = name
            .value
            .unwrap_or_else(|| format!("{}-{position}", test.key));
        names.push(Located::new(test.name.clone(), name.place));
        tests.push(test);
    }
    unique(&names, "test", str::to_owned, fields.reader);
    tests
}

/// Reads a test. One without a name gets it later, from its position.
fn test(fields: &mut Fields<'_, '_>) -> Option<(Located<Option<String>>, TestSpec)> {
    let name = fields.optional(
        "name",
        filled_text(),
        "The test's name. Default: its kind and position, such as `fileExists-2`.",
    );
    let description = fields.optional("description", text().value(), "A text for people.");
    let weight = fields.or("weight", positive(), 1.0, "Its weight in the score.");
    let seconds = fields.or(
        "timeoutSeconds",
        positive(),
        DEFAULT_TEST_SECONDS,
        "Its time limit.",
    );
    let keys: Vec<&str> = KINDS.iter().map(|kind| kind.key).collect();
    let given = fields.one_of(&keys);
    let mut found = Vec::new();
    for declaration in KINDS {
        let settings = fields.peek(declaration.key).map(Node::to_json);
        let kind = fields.filled(declaration.key, (declaration.settings)(), declaration.about);
        if let (Some(kind), Some(settings)) = (kind, settings) {
            found.push((declaration.key, kind, settings));
        }
    }
    let place = fields.only(Code::AsksNothing, &keys, given)?.place;
    let (key, kind, settings) = found.pop()?;
    let test = TestSpec {
        name: String::new(),
        description,
        key,
        kind,
        settings,
        place,
        weight,
        timeout: Duration::from_secs_f64(seconds),
        dir: fields.reader.dir(fields.place).to_owned(),
    };
    let name = match name {
        Some(name) => name.map(Some),
        None => Located::new(None, fields.place),
    };
    Some((name, test))
}
