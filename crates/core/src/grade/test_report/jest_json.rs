//! The JSON of jest, which vitest writes too.

use serde::Deserialize;

use super::{CaseEnd, Cases};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    test_results: Vec<File>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    name: String,
    status: String,
    message: String,
    assertion_results: Vec<Assertion>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Assertion {
    full_name: String,
    status: String,
    failure_messages: Vec<String>,
}

/// Reads the document that a text begins with.
pub(super) fn read(text: &str) -> Result<Cases, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let document = Document::deserialize(&mut reader)
        .map_err(|error| format!("it is not the JSON of vitest or jest: {error}"))?;
    Ok(cases(&document))
}

fn cases(document: &Document) -> Cases {
    let mut cases = Cases::default();
    for file in &document.test_results {
        for test in &file.assertion_results {
            let end = match test.status.as_str() {
                "passed" => CaseEnd::Passed,
                "failed" => CaseEnd::Failed,
                _ => CaseEnd::Skipped,
            };
            let message = test.failure_messages.first().map_or("", String::as_str);
            cases.add(test.full_name.trim(), end, message);
        }
        // A file that could not be loaded has no tests.
        if file.status == "failed" && file.assertion_results.is_empty() {
            let name = file.name.rsplit('/').next().unwrap_or_default();
            let without_title = file.message.lines().find(|line| {
                let line = line.trim();
                !line.is_empty() && !line.starts_with('●')
            });
            cases.add(name, CaseEnd::Failed, without_title.unwrap_or_default());
        }
    }
    cases
}
