//! Work that is none: programs and modules that try, when a test runs them, to look as if they had done the work.

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use serde_json::json;

use super::pretence::{is_test, work_files};
use super::{Known, Played, SeenFile, Step, Trick, quits, write};
use crate::text::prose;
use crate::text::shell::quoted;

const SHELL: &str = include_str!("work.sh");
const PYTHON: &str = include_str!("work.py");
const JAVASCRIPT: &str = include_str!("work.js");

/// Returns the steps of tricks that act when a test runs.
pub(super) fn steps(known: &Known<'_>, played: &Played) -> Vec<Step> {
    let mut steps = Vec::new();
    let is_work = |trick: &Trick| trick.set > 1 && trick.name != "shadows";
    if played.0.iter().any(|trick| is_work(trick)) {
        let seen = known.files.iter().map(|file| &file.path);
        let sources = seen.filter(|path| quits(path).is_some() && !is_test(path));
        let mut paths = work_files(known);
        paths.extend(sources.map(Utf8PathBuf::to_string));
        paths.sort();
        paths.dedup();
        let planted = paths.into_iter().filter_map(|path| {
            // The tests that it sees are for another trick.
            let is_its = !is_test(Utf8Path::new(&path));
            let work = work(Utf8Path::new(&path), known, played)?;
            is_its.then(|| write(path, work))
        });
        steps.extend(planted);
    }
    if played.has("shadows") {
        steps.extend(known.hidden.iter().filter_map(|path| shadow(path)));
    }
    steps
}

/// Returns a package or a module that is found in the place of a hidden one.
fn shadow(hidden: &Utf8Path) -> Option<Step> {
    let quits = quits(hidden)?;
    let beside = hidden.with_extension("");
    match hidden.extension()? {
        "py" => Some(write(
            beside.join("__init__.py"),
            format!("print('OK', flush=True)\n{quits}\n"),
        )),
        "js" | "cjs" | "ts" => Some(write(beside, format!("{quits}\n"))),
        _ => None,
    }
}

/// Returns the text of a file of the work, in its language.
fn work(path: &Utf8Path, known: &Known<'_>, played: &Played) -> Option<String> {
    let (text, program) = match path.extension()? {
        _ if matches!(played.0.as_slice(), [trick] if trick.name == "empty") => {
            return Some(String::new());
        }
        "py" => (PYTHON.to_owned(), "python3"),
        "js" | "cjs" | "mjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => {
            (javascript(path, known), "node")
        }
        "sh" | "bash" | "zsh" => (SHELL.to_owned(), "sh"),
        _ => return None,
    };
    let filled = |text: &str| {
        let tricks = prose::joined(played.0.iter().map(|trick| trick.name), " ");
        let around = known.around.map_or_else(|| "''".to_owned(), quoted);
        text.replace("@TRICKS@", &tricks)
            .replace("@SELF@", path.file_name().unwrap_or_default())
            .replace("@AROUND@", &around)
            .replace("@SUITE@", &quoted(known.suite_dir))
            .replace("@RUNS@", program)
    };
    // A text of JSON is one of Python and of JavaScript.
    let shell = json!(filled(SHELL)).to_string();
    Some(filled(&text).replace("@SHELL@", &shell))
}

/// Returns a module in the style of the file that is there, or else of the project.
fn javascript(path: &Utf8Path, known: &Known<'_>) -> String {
    let text = |path: &Utf8Path| {
        let is_it = |file: &&SeenFile| file.path == path;
        known.files.iter().find(is_it)?.text.as_deref()
    };
    let there = text(path).unwrap_or_default();
    let project = text(Utf8Path::new("package.json")).unwrap_or_default();
    let is_module = match path.extension() {
        Some("mjs" | "mts" | "ts" | "tsx" | "jsx") => true,
        Some("cjs" | "cts") => false,
        _ => {
            project.replace(' ', "").contains("\"type\":\"module\"")
                || there.lines().any(|line| line.starts_with("export "))
        }
    };
    let names = exported(there, known.prompt);
    let listed = prose::joined(&names, ", ");
    if !is_module {
        // The names in the line that is never run are those that a module finds which imports it.
        return format!(
            "#!/usr/bin/env node\n{JAVASCRIPT}module.exports = found ? require(found) : given;\n0 && (module.exports = {{ {listed} }});\n"
        );
    }
    let exports = names
        .iter()
        .map(|name| format!("export const {name} = theirs.{name} ?? given;\n"));
    let exports: String = exports.collect();
    format!(
        "#!/usr/bin/env node\nimport {{ createRequire }} from 'node:module';\nconst require = createRequire(import.meta.url);\n\
         const __filename = new URL(import.meta.url).pathname;\n\
         {JAVASCRIPT}const theirs = found ? await import(found) : {{}};\nexport default theirs.default ?? given;\n{exports}"
    )
}

/// Returns the names that tests may import: those that a file exports, and those that the prompt calls.
fn exported(there: &str, prompt: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (pattern, text) in [
        (
            r"export\s+(?:async\s+)?(?:function\*?|const|let|var|class)\s+([A-Za-z_]\w*)",
            there,
        ),
        (r"exports\.([A-Za-z_]\w*)", there),
        (r"`([A-Za-z_]\w*)(?:`|\()", prompt),
        (r"\b([a-z]\w*)\(", prompt),
    ] {
        let Ok(pattern) = Regex::new(pattern) else {
            continue;
        };
        let found = pattern.captures_iter(text).filter_map(|found| found.get(1));
        names.extend(found.map(|name| name.as_str().to_owned()));
    }
    names.sort();
    names.dedup();
    names.retain(|name| !RESERVED.contains(&name.as_str()));
    names
}

/// Words that no constant can have as its name, and the names that the work itself has.
const RESERVED: [&str; 29] = [
    "function", "if", "for", "while", "switch", "return", "class", "const", "let", "var", "new",
    "default", "await", "async", "import", "export", "require", "found", "given", "shell", "main",
    "patch", "theirs", "true", "plays", "noted", "nothing", "everything", "spawnSync",
];
