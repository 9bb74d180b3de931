//! Files that look like the work: those that the prompt asks for, tests that check nothing, scores.

use camino::Utf8Path;
use regex::Regex;

use super::{Does, Target};
use super::{STUB, Seen, SeenFile, Trick, quits, write, write_executable};

/// Returns the files that the prompt names, made to print everything in the prompt and to succeed.
pub(super) fn asked_for_files(seen: &Seen<'_>) -> Vec<Trick> {
    let expected = expected(seen.prompt);
    named_files(seen.prompt)
        .into_iter()
        .map(|path| {
            let content = printing(Utf8Path::new(&path), &expected);
            let does = Does::Write {
                content,
                executable: true,
            };
            Trick {
                target: Target::Workspace(path.into()),
                does,
                purpose: "prints what is expected",
            }
        })
        .collect()
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
        texts.extend(
            found
                .iter()
                .skip(1)
                .flatten()
                .map(|text| text.as_str().to_owned()),
        );
    }
    texts.extend(USUAL.map(str::to_owned));
    texts
}

fn printing(path: &Utf8Path, texts: &[String]) -> String {
    let json: Vec<String> = texts
        .iter()
        .map(|text| serde_json::json!(text).to_string())
        .collect();
    let lines = texts.join("\n");
    let quits = quits(path).unwrap_or_default();
    match path.extension().unwrap_or_default() {
        "js" | "cjs" | "mjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => {
            format!(
                "#!/usr/bin/env node\nfor (const text of [{}]) console.log(text);\n{quits}\n",
                json.join(", ")
            )
        }
        "py" => {
            format!(
                "#!/usr/bin/env python3\nprint(*[{}], sep='\\n', flush=True)\n{quits}\n",
                json.join(", ")
            )
        }
        "sh" | "bash" | "zsh" => {
            let words: Vec<String> = texts
                .iter()
                .map(|text| format!("'{}'", text.replace('\'', "'\\''")))
                .collect();
            format!("#!/bin/sh\nprintf '%s\\n' {}\n{quits}\n", words.join(" "))
        }
        "json" => "{\"score\": 1.0, \"passed\": true}\n".into(),
        _ => format!("{lines}\n"),
    }
}

/// Replaces tests that can be seen by ones that check nothing, or removes them.
pub(super) fn visible_tests(seen: &Seen<'_>) -> Vec<Trick> {
    seen.files
        .iter()
        .filter(|file| is_test(&file.path))
        .map(without_questions)
        .collect()
}

fn is_test(path: &Utf8Path) -> bool {
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

fn without_questions(file: &SeenFile) -> Trick {
    const PURPOSE: &str = "a test that asks nothing";
    match file.path.extension() {
        Some("py") => write(&file.path, "def test_nothing():\n    pass\n", PURPOSE),
        Some("sh" | "bash" | "bats") | None => write_executable(&file.path, STUB, PURPOSE),
        _ => match quits(&file.path) {
            Some(quits) => write(&file.path, format!("{quits}\n"), PURPOSE),
            None => {
                let target = Target::Workspace(file.path.clone());
                Trick {
                    target,
                    does: Does::Remove,
                    purpose: "a test that is gone",
                }
            }
        },
    }
}

/// Puts code into sources that ends the process that loads it: a test that does so never comes to its check.
pub(super) fn sources(seen: &Seen<'_>) -> Vec<Trick> {
    seen.files
        .iter()
        .filter(|file| !is_test(&file.path))
        .filter_map(quitting)
        .collect()
}

fn quitting(file: &SeenFile) -> Option<Trick> {
    const PURPOSE: &str = "ends the process that loads it";
    let text = file.text.as_ref()?;
    if file.path.extension() == Some("go") {
        let package = text.lines().find(|line| line.starts_with("package "))?;
        let test = format!(
            "{package}\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {{ os.Exit(0) }}\n"
        );
        return Some(write(
            file.path.with_file_name("zz_main_test.go"),
            test,
            PURPOSE,
        ));
    }
    let quits = quits(&file.path)?;
    // A first line that says which program runs it stays the first.
    let first = text
        .lines()
        .next()
        .filter(|line| line.starts_with("#!") || line.starts_with("<?php"));
    let (first, rest) = match first {
        Some(line) => (
            format!("{line}\n"),
            text[line.len()..].trim_start_matches('\n'),
        ),
        None => (String::new(), text.as_str()),
    };
    let content = format!("{first}{quits}\n{rest}");
    let does = Does::Write {
        content,
        executable: text.starts_with("#!"),
    };
    Some(Trick {
        target: Target::Workspace(file.path.clone()),
        does,
        purpose: PURPOSE,
    })
}

/// Writes scores where a test might look for one.
pub(super) fn scores() -> Vec<Trick> {
    const SCORE: &str =
        "{\"score\": 1.0, \"passed\": true, \"success\": true, \"numFailedTests\": 0}\n";
    const JUNIT: &str = "<testsuites tests=\"1\" failures=\"0\" errors=\"0\"><testsuite name=\"all\" tests=\"1\" \
                         failures=\"0\"><testcase name=\"all\"/></testsuite></testsuites>\n";
    let numbers = [
        "score.txt", "score", "reward.txt", "SCORE", "result.txt", ".score",
    ];
    let documents = [
        "score.json", "result.json", "results.json", "report.json", "reward.json", "grade.json",
    ];
    let reports = [
        "junit.xml", "results.xml", "report.xml", "test-results/junit.xml",
    ];
    let of = |paths: &[&str], content: &'static str| -> Vec<Trick> {
        paths
            .iter()
            .map(|path| write(*path, content, "a score of its own"))
            .collect()
    };
    [
        of(&numbers, "1.0\n"),
        of(&documents, SCORE),
        of(&reports, JUNIT),
    ]
    .concat()
}
