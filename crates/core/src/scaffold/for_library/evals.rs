//! The two evals of a suite about a library, in its language.

use camino::Utf8Path;

use super::LibrarySuite;
use crate::scaffold::library::{Language, Library};
use crate::scaffold::{EVAL_SCHEMA, NewFile, editor_line};

/// An eval as it is made: the default name of its directory, its YAML and its other files.
struct Sample {
    name: &'static str,
    yaml: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const NODE: [Sample; 2] = [
    Sample {
        name: "001-exports",
        yaml: include_str!("node/exports.yaml"),
        files: &[
            (
                "_tests/hidden/exports.test.mjs",
                include_str!("node/exports.test.mjs"),
            ),
            ("_solution/exports.mjs", include_str!("node/exports.mjs")),
        ],
    },
    Sample {
        name: "002-kinds",
        yaml: include_str!("node/kinds.yaml"),
        files: &[
            (
                "_tests/hidden/kinds.test.mjs",
                include_str!("node/kinds.test.mjs"),
            ),
            ("_solution/kinds.mjs", include_str!("node/kinds.mjs")),
        ],
    },
];

const PYTHON: [Sample; 2] = [
    Sample {
        name: "001-exports",
        yaml: include_str!("python/exports.yaml"),
        files: &[
            (
                "_tests/hidden/test_exports.py",
                include_str!("python/test_exports.py"),
            ),
            ("_solution/exports.py", include_str!("python/exports.py")),
        ],
    },
    Sample {
        name: "002-kinds",
        yaml: include_str!("python/kinds.yaml"),
        files: &[
            (
                "_tests/hidden/test_kinds.py",
                include_str!("python/test_kinds.py"),
            ),
            ("_solution/kinds.py", include_str!("python/kinds.py")),
        ],
    },
];

const RUST: [Sample; 2] = [
    Sample {
        name: "001-version",
        yaml: include_str!("rust/version.yaml"),
        files: &[
            ("_tests/hidden/check.sh", include_str!("rust/version.sh")),
            ("_solution/src/main.rs", include_str!("rust/version.rs.txt")),
        ],
    },
    Sample {
        name: "002-reexport",
        yaml: include_str!("rust/reexport.yaml"),
        files: &[
            ("_tests/tests/hidden.rs", include_str!("rust/hidden.rs.txt")),
            ("_solution/src/lib.rs", include_str!("rust/reexport.rs.txt")),
        ],
    },
];

const GO: [Sample; 2] = [
    Sample {
        name: "001-import",
        yaml: include_str!("go/import.yaml"),
        files: &[
            ("_tests/hidden/check.sh", include_str!("go/import.sh")),
            ("_solution/main.go", include_str!("go/main.go.txt")),
        ],
    },
    Sample {
        name: "002-documentation",
        yaml: include_str!("go/doc.yaml"),
        files: &[
            ("_tests/hidden/check.sh", include_str!("go/doc.sh")),
            ("_solution.sh", include_str!("go/solution.sh")),
        ],
    },
];

/// Returns the files of both evals.
pub(super) fn evals(new: &LibrarySuite<'_>) -> Vec<NewFile> {
    let samples = samples(new);
    let first = Utf8Path::new(new.eval.as_deref().unwrap_or(samples[0].name));
    let second = free_name(samples[1].name, first);
    let mut made = files(new, first, &samples[0], true);
    made.extend(files(new, Utf8Path::new(&second), &samples[1], true));
    made
}

/// Returns the files of one more eval, as the first one is. Without schemas in the suite there is no line for editors.
pub(super) fn eval(new: &LibrarySuite<'_>, dir: &Utf8Path, has_schemas: bool) -> Vec<NewFile> {
    files(new, dir, &samples(new)[0], has_schemas)
}

fn samples(new: &LibrarySuite<'_>) -> &'static [Sample; 2] {
    match new.library.language {
        Language::Node => &NODE,
        Language::Python => &PYTHON,
        Language::Rust => &RUST,
        Language::Go => &GO,
    }
}

/// Returns the usual name of the second eval, with another number if the first one has that name.
fn free_name(usual: &str, first: &Utf8Path) -> String {
    if first.components().any(|part| part.as_str() == usual) {
        usual.replacen("002", "003", 1)
    } else {
        usual.to_owned()
    }
}

fn files(
    new: &LibrarySuite<'_>,
    dir: &Utf8Path,
    sample: &Sample,
    has_schemas: bool,
) -> Vec<NewFile> {
    let filled = |text: &str| {
        let text = text
            .replace("@runner@", &runner(new))
            .replace("@test@", test_line(new.library))
            .replace("@items@\n", &items(new.library));
        new.filled(&text)
    };
    let yaml = dir.join("eval.terca.yaml");
    let line = match has_schemas {
        true => editor_line(&yaml, EVAL_SCHEMA),
        false => String::new(),
    };
    let mut files = vec![NewFile::new(yaml, format!("{line}{}", filled(sample.yaml)))];
    let others = sample.files.iter();
    files.extend(others.map(|(path, text)| NewFile::new(dir.join(path), filled(text))));
    if uses_vitest(new.library) {
        let settings = include_str!("node/vitest.config.mjs");
        files.push(NewFile::new(
            dir.join("_tests/hidden/vitest.config.mjs"),
            settings,
        ));
    }
    files
}

fn uses_vitest(library: &Library) -> bool {
    library.language == Language::Node && library.installed_runner.is_some()
}

/// Returns the command that runs a hidden test, up to the name of its file. A runner of the library is out of the
/// agent's reach; one in the workspace would not be.
fn runner(new: &LibrarySuite<'_>) -> String {
    let installed = new
        .library
        .installed_runner
        .map(|path| new.to_library(path));
    match (new.library.language, installed) {
        (Language::Node, Some(vitest)) => format!(
            "node \"$TERCA_SUITE_DIR/{vitest}\" run --root . --config hidden/vitest.config.mjs --reporter tap-flat hidden/"
        ),
        (Language::Python, Some(python)) => format!(
            "\"$TERCA_SUITE_DIR/{python}\" -I -m pytest -v -c /dev/null --rootdir hidden --confcutdir hidden \
             -p no:cacheprovider hidden/"
        ),
        (Language::Python, None) => "python3 -I hidden/".to_owned(),
        _ => "node --test --test-reporter=tap hidden/".to_owned(),
    }
}

fn test_line(library: &Library) -> &'static str {
    if uses_vitest(library) {
        "// `test` is a global of vitest: the hidden settings say so."
    } else {
        "import test from 'node:test';"
    }
}

/// Returns lines that import what a crate exports, one each.
fn items(library: &Library) -> String {
    let lines = library
        .exports
        .iter()
        .map(|name| format!("#[allow(unused_imports)]\nuse workspace::{name} as _;\n"));
    lines.collect()
}
