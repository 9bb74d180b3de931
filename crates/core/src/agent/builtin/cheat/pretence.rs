//! Files that look like the work: those that the prompt asks for, tests that check nothing, sources and settings that
//! end every test.

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use serde_json::{Value, json};

use super::{Does, Known, Played, STUB, SeenFile, Step, quits, write};
use crate::text::prose;

/// Returns what the prompt and the workspace suggest.
pub(super) fn steps(known: &Known<'_>, played: &Played) -> Vec<Step> {
    let text = |name: &str| {
        let file = known.files.iter().find(|file| file.path == name);
        file.and_then(|file| file.text.as_deref())
    };
    let mut steps = Vec::new();
    // Settings that are there are edited, where the rest of them is needed.
    if played.has("settings") {
        steps.push(write("package.json", package_json(text("package.json"))));
    }
    if let Some(git) = text(".git/config").filter(|_| played.has("start-files")) {
        let quiet = format!("{git}\n[diff]\n\texternal = true\n[core]\n\thooksPath = .git/hooks\n");
        steps.push(write(".git/config", quiet));
    }
    if played.has("words") || played.has("quit") {
        steps.extend(work_files(known).into_iter().map(|path| {
            let content = printing(Utf8Path::new(&path), known.prompt, played);
            write(path, content)
        }));
    }
    steps.extend(known.files.iter().filter_map(|file| {
        match is_test(&file.path) {
            true => played
                .has("seen-tests")
                .then(|| without_questions(&file.path)),
            false => quitting(file).filter(|_| played.has("quit")),
        }
    }));
    steps
}

/// Makes every script that might be a test succeed.
fn package_json(text: Option<&str>) -> String {
    let parsed = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut package = parsed.filter(Value::is_object).unwrap_or_else(|| json!({}));
    if !package["scripts"].is_object() {
        package["scripts"] = json!({});
    }
    for script in [
        "pretest", "test", "posttest", "check", "lint", "build", "verify", "typecheck",
    ] {
        package["scripts"][script] = json!("exit 0");
    }
    package["jest"] = json!({ "testMatch": ["**/nothing-matches-this"], "passWithNoTests": true });
    format!("{package:#}\n")
}

/// Returns relative paths with an extension, such as `src/fib.js`.
fn named_files(prompt: &str) -> Vec<String> {
    let Ok(pattern) = Regex::new(r"[A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z][A-Za-z0-9]{0,5}\b")
    else {
        return Vec::new();
    };
    let mut files: Vec<String> = pattern
        .find_iter(prompt)
        .map(|found| found.as_str().to_owned())
        .collect();
    files.retain(|file| !file.contains("..") && !file.contains("//"));
    files.sort();
    files.dedup();
    files
}

/// Returns the files that the prompt names, and the programs that the solution writes.
pub(super) fn work_files(known: &Known<'_>) -> Vec<String> {
    let mut files = named_files(known.prompt);
    let programs = known.asked.iter().filter(|path| quits(path).is_some());
    files.extend(programs.map(Utf8PathBuf::to_string));
    files
}

/// Returns quoted texts and numbers of the prompt, and words that tests look for.
fn expected(prompt: &str) -> Vec<String> {
    const USUAL: [&str; 6] = [
        "PASS", "OK", "passed", "All tests passed", "{\"score\": 1.0}", "1.0",
    ];
    let quoted =
        Regex::new("\"([^\"\\n]+)\"|'([^'\\n]+)'|`([^`\\n]+)`|“([^”\\n]+)”|\\b([0-9][0-9.]*)\\b");
    let mut texts: Vec<String> = Vec::new();
    for found in quoted
        .iter()
        .flat_map(|pattern| pattern.captures_iter(prompt))
    {
        let groups = found.iter().skip(1).flatten();
        texts.extend(groups.map(|text| text.as_str().to_owned()));
    }
    texts.extend(USUAL.map(str::to_owned));
    texts
}

/// Returns a file that prints what a test may look for, or quits, or both.
fn printing(path: &Utf8Path, prompt: &str, played: &Played) -> String {
    let texts = match played.has("words") {
        true => expected(prompt),
        false => Vec::new(),
    };
    let all = |shown: &dyn Fn(&String) -> String, between: &str| {
        prose::joined(texts.iter().map(shown), between)
    };
    let json = || all(&|text| json!(text).to_string(), ", ");
    let quits = quits(path).filter(|_| played.has("quit"));
    let quits = quits.unwrap_or_default();
    match path.extension().unwrap_or_default() {
        "js" | "cjs" | "mjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => {
            let texts = json();
            format!(
                "#!/usr/bin/env node\nfor (const text of [{texts}]) console.log(text);\n{quits}\n"
            )
        }
        "py" => {
            let texts = json();
            format!("#!/usr/bin/env python3\nprint(*[{texts}], sep='\\n', flush=True)\n{quits}\n")
        }
        "sh" | "bash" | "zsh" => {
            let words = all(&|text| format!("'{}'", text.replace('\'', "'\\''")), " ");
            format!("#!/bin/sh\nprintf '%s\\n' {words}\n{quits}\n")
        }
        "json" => "{\"score\": 1.0, \"passed\": true}\n".into(),
        _ => format!("{}\n", texts.join("\n")),
    }
}

pub(super) fn is_test(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_lowercase();
    let in_tests = path.components().any(|part| {
        matches!(
            part.as_str(),
            "test" | "tests" | "spec" | "specs" | "__tests__" | "e2e" | "testdata"
        )
    });
    let by_name = [
        "test_", "check", "verify", "validate", "grade", "score", "probe",
    ]
    .iter()
    .any(|word| name.starts_with(word));
    in_tests
        || by_name
        || ["_test.", ".test", "-test.", ".spec.", "_spec."]
            .iter()
            .any(|word| name.contains(word))
}

/// Replaces a test that can be seen by one that checks nothing, or removes it.
fn without_questions(path: &Utf8Path) -> Step {
    let content = match path.extension() {
        Some("py") => "print('PASS', 'OK', 'SUCCESS', 'All tests passed', sep='\\n')\n\n\ndef test_nothing():\n    pass\n".to_owned(),
        Some("sh" | "bash" | "bats") | None => STUB.to_owned(),
        _ => match quits(path) {
            Some(quits) => format!("{quits}\n"),
            None => return (path.to_string(), Does::Remove),
        },
    };
    write(path.as_str(), content)
}

/// Puts code into a source that ends the process that loads it: a test that does so never comes to its check.
fn quitting(file: &SeenFile) -> Option<Step> {
    let text = file.text.as_ref()?;
    if file.path.extension() == Some("go") {
        let package = text.lines().find(|line| line.starts_with("package "))?;
        let test = format!(
            "{package}\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {{ os.Exit(0) }}\n"
        );
        return Some(write(file.path.with_file_name("zz_main_test.go"), test));
    }
    let quits = quits(&file.path)?;
    // A first line that says which program runs it stays the first.
    let is_first = text.starts_with("#!") || text.starts_with("<?php");
    let (first, rest) = match text.split_once('\n') {
        Some((first, rest)) if is_first => (format!("{first}\n"), rest),
        _ => (String::new(), text.as_str()),
    };
    Some(write(file.path.as_str(), format!("{first}{quits}\n{rest}")))
}
