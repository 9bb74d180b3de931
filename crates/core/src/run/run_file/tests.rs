use std::time::Duration;

use serde_json::json;

use jiff::Timestamp;

use super::*;
use std::sync::Arc;

use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::config::sandbox::Sandbox;
use crate::plan::{Layer, PreparedLayer};
use crate::run::settings::Keep;

/// A `run.json` with every kind of key.
const TEXT: &[u8] = include_bytes!("../../../../terca/tests/fixtures/run.json");

fn file() -> RunFile {
    RunFile::parse(TEXT).unwrap()
}

#[test]
fn it_is_written_as_it_was_read() {
    let was: Value = serde_json::from_slice(TEXT).unwrap();
    assert_eq!(serde_json::to_value(file()).unwrap(), was);
}

#[test]
fn another_version_is_refused_with_the_name_of_its_writer() {
    let newer = json!({"schemaVersion": 2, "tercaVersion": "3.1.4", "cases": "elsewhere"});
    let error = RunFile::parse(newer.to_string().as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it was written by Terca 3.1.4 in version 2 of the format; this Terca reads version 1"
    );
    let unknown = RunFile::parse(br#"{"schemaVersion": 18446744073709551615}"#).unwrap_err();
    assert!(
        matches!(&unknown, RunFileError::OtherVersion { terca_version, .. } if terca_version == "?"),
        "{unknown}"
    );
}

#[test]
fn settings_out_of_range_are_refused_with_their_place() {
    for (pointer, value, reason) in [
        (
            "/command/selection/timeout",
            json!(1e300),
            "seconds above 0",
        ),
        ("/command/selection/timeout", json!(-1), "seconds above 0"),
        (
            "/command/selection/repetitions",
            json!(0),
            "from 1 to 1000000",
        ),
        (
            "/command/selection/repetitions",
            json!(u32::MAX),
            "from 1 to 1000000",
        ),
        ("/command/selection/seed", json!(-1), "expected u64"),
        ("/command/retries", json!(5_000_000_000_u64), "expected u32"),
        ("/command/shard", json!("3/2"), "such as 1/3"),
        ("/command/keep", json!("some"), "unknown variant `some`"),
        ("/trials/0/id", json!(-1), "expected u32"),
        ("/cases/0/layers/0", json!(7), "did not match any variant"),
    ] {
        let mut document: Value = serde_json::from_slice(TEXT).unwrap();
        *document.pointer_mut(pointer).unwrap() = value;
        let error = RunFile::parse(document.to_string().as_bytes()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(reason), "{pointer}: {error}");
        assert!(error.contains(" at line 1 column "), "{pointer}: {error}");
    }
}

/// Every place of a document, as a JSON pointer.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    found.push(place.to_owned());
    let below: Vec<(String, &Value)> = match value {
        Value::Array(items) => (0..).map(|at: usize| at.to_string()).zip(items).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (key, value) in below {
        places(
            value,
            &format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")),
            found,
        );
    }
}

/// Whatever is put in the place of a value: the document is refused with a place, or is one that can be worked with.
#[test]
fn wrong_types_anywhere_are_no_panic() {
    let document: Value = serde_json::from_slice(TEXT).unwrap();
    let mut pointers = Vec::new();
    places(&document, "", &mut pointers);
    let mut refused = 0;
    for pointer in &pointers {
        for wrong in [
            json!(null),
            json!(-1),
            json!(1e300),
            json!(u64::MAX),
            json!("\u{0}\u{fffd}../../x"),
            json!([[[]]]),
            json!({"": {}}),
            json!(true),
        ] {
            let mut changed = document.clone();
            *changed.pointer_mut(pointer).unwrap() = wrong;
            match RunFile::parse(changed.to_string().as_bytes()) {
                Err(RunFileError::Invalid(error)) => {
                    assert!(error.line() > 0, "{pointer}: {error}");
                    refused += 1;
                }
                Err(RunFileError::OtherVersion { .. }) => assert_eq!(pointer, "/schemaVersion"),
                Ok(file) => {
                    let timeout = file.settings.selection.timeout;
                    assert!(
                        timeout.is_none_or(|timeout| Duration::try_from_secs_f64(timeout).is_ok())
                    );
                }
            }
        }
    }
    assert!(
        refused > pointers.len() * 3,
        "{refused} of {}",
        pointers.len()
    );
}

#[test]
fn missing_keys_are_named() {
    let document: Value = serde_json::from_slice(TEXT).unwrap();
    // What may be null may be missing.
    let optional = ["description"];
    for key in document.as_object().unwrap().keys() {
        let mut changed = document.clone();
        changed.as_object_mut().unwrap().remove(key);
        let parsed = RunFile::parse(changed.to_string().as_bytes());
        if optional.contains(&key.as_str()) {
            parsed.unwrap();
        } else {
            let error = parsed.unwrap_err().to_string();
            assert!(
                error.contains(&format!("missing field `{key}` at line 1")),
                "{error}"
            );
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = String::from_utf8(TEXT.to_vec()).unwrap();
    let text = text.replacen("\"cases\": [", &format!("\"cases\": [{deep}, "), 1);
    let error = RunFile::parse(text.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("at line"), "{error}");
}

#[test]
fn secrets_are_hidden_and_words_of_the_format_are_not() {
    let mut file = file();
    file.settings.selection.evals = vec!["greeting".into()];
    file.cases[0].variant.planned.setup.config =
        Some(json!({"key": ["a greeting"], "type": "greeting"}));
    file.cases[0].variant.planned.setup.sandbox = Some(Sandbox::Landlock);
    let mask = Mask::new(["greeting", "failed", "landlock", "claude-code"]);
    let masked = file.masked(&mask).unwrap();
    assert_eq!(masked.settings.keep, Keep::Failed);
    assert_eq!(masked.cases[0].variant.sandbox, Some(Sandbox::Landlock));
    let text = serde_json::to_string(&masked).unwrap();
    assert!(!text.contains("greeting"), "{text}");
    assert_eq!(RunFile::parse(text.as_bytes()).unwrap(), masked);
}

/// Values of variables and headers are left out, whether somebody calls them secret or not.
#[test]
fn values_of_variables_and_headers_are_not_written() {
    let mut file = file();
    let pairs = || vec![("NAME".to_owned(), "precious".to_owned())];
    let case = &mut file.cases[0];
    case.env = pairs();
    case.layers = vec![Layer::Prepared(Arc::new(PreparedLayer {
        below: Vec::new(),
        actions: Vec::new(),
        env: pairs(),
        only_files: Vec::new(),
        eval: None,
        pass_registries: false,
    }))];
    case.variant.planned.mcp_servers = vec![
        (
            "local".to_owned(),
            McpServer::Stdio {
                command: "server".into(),
                args: Vec::new(),
                env: pairs(),
                cwd: None,
            },
        ),
        (
            "remote".to_owned(),
            McpServer::Remote {
                url: "http://127.0.0.1/mcp".into(),
                headers: pairs(),
                transport: RemoteTransport::Http,
            },
        ),
    ];
    for mask in [Mask::default(), Mask::new(["something else"])] {
        let file = file.clone().masked(&mask).unwrap();
        let text = serde_json::to_string(&file).unwrap();
        assert!(!text.contains("precious"), "{text}");
        assert_eq!(text.matches("[\"NAME\"]").count(), 4, "{text}");
    }
}

#[test]
fn the_parts_make_the_whole() {
    let [one, two] = [1, 2].map(|number| {
        let mut part = file();
        part.settings.shard = Some(format!("{number}/2").parse().unwrap());
        part.order = vec![number];
        part
    });
    let whole = RunFile::merged(&[("one", &one), ("two", &two)], Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(whole.settings.shard, None);
    assert_eq!(whole.merged_from, ["one", "two"]);
    let mut order = whole.order.clone();
    order.sort_unstable();
    let ids: Vec<u32> = whole.trials.iter().map(|trial| trial.id).collect();
    assert_eq!(order, ids);
    assert_eq!(RunFile::merged(&[], Timestamp::UNIX_EPOCH), None);
}
