//! The reader of `run.json`. Any bytes are refused with a place, or are a document that is read again as it was
//! written and whose settings can be used.

use std::time::Duration;

use terca_core::run::run_file::{RunFile, RunFileError};

pub fn target(data: &[u8]) {
    match RunFile::parse(data) {
        Ok(file) => check(&file),
        Err(RunFileError::OtherVersion { version, .. }) => assert_ne!(version, 1),
        Err(RunFileError::Invalid(error)) => assert!(error.line() > 0, "{error}"),
    }
}

fn check(file: &RunFile) {
    let text = serde_json::to_vec(file).expect("a document");
    let again = RunFile::parse(&text).unwrap_or_else(|error| panic!("as it was written: {error}"));
    assert_eq!(
        serde_json::to_value(&again).expect("a document"),
        serde_json::to_value(file).expect("a document")
    );
    let selection = &file.settings.selection;
    if let Some(timeout) = selection.timeout {
        Duration::try_from_secs_f64(timeout).expect("a time limit");
    }
    assert!(selection.repetitions.is_none_or(|number| number > 0));
    assert!((0.0..=1.0).contains(&file.settings.fail_under));
}
