//! Reads `docker-compose.yaml` of a task of Terminal-Bench 1.

use camino::Utf8Path;
use serde_json::Value;

use super::RUNNER;
use crate::new_suite::imported::{self, Loss, Note};

/// The name of the file.
pub(super) const FILE: &str = "docker-compose.yaml";
/// Keys of the one container that say nothing about what is in it.
const USUAL: [&str; 11] = [
    "build", "image", "container_name", "command", "environment", "volumes", "deploy",
    "working_dir", "tty", "stdin_open", "platform",
];

/// What the file says.
#[derive(Debug, Default)]
pub(super) struct Compose {
    /// What an eval has not, or has otherwise.
    pub notes: Vec<Note>,
    /// The image of the one container, where it is not made from the Dockerfile.
    pub image: Option<String>,
    /// Variables of the container.
    pub env: Vec<(String, String)>,
    /// Files of the tests below the place to work in: their path in the task of Harbor's, and the place.
    pub mounts: Vec<(String, String)>,
}

impl Compose {
    /// Reads the file of a task whose agent works in `workdir`.
    pub(super) fn read(text: &str, workdir: &Utf8Path) -> Result<Self, String> {
        let document = imported::yaml(text).map_err(|error| format!("{FILE}: {error}"))?;
        let services = document["services"].as_object();
        let mut services = services.into_iter().flatten();
        let (Some((_, client)), None) = (services.next(), services.next()) else {
            let note = Note::lost(Loss::Services, format!("{FILE}: no services are started"));
            return Ok(Compose {
                notes: vec![note],
                ..Compose::default()
            });
        };
        let image = client["image"].as_str().filter(|image| !is_ours(image));
        let mut compose = Compose {
            image: image.map(str::to_owned),
            env: variables(&client["environment"]),
            ..Compose::default()
        };
        let unusual = imported::unused(FILE, client, &USUAL);
        let lost = unusual.map(|note| Note::lost(Loss::Services, note.text));
        compose.notes.extend(lost);
        let build = &client["build"];
        let build = build.as_str().or(build["context"].as_str()).unwrap_or(".");
        if ![".", "./"].contains(&build) {
            let text = format!("{FILE}: the image is built from {build}, which is not read");
            compose.notes.push(Note::lost(Loss::Files, text));
        }
        for volume in client["volumes"].as_array().into_iter().flatten() {
            compose.mount(volume, workdir);
        }
        Ok(compose)
    }

    fn mount(&mut self, volume: &Value, workdir: &Utf8Path) {
        let text = volume.as_str().unwrap_or_default();
        if is_ours(text) {
            return;
        }
        match tests_mount(text) {
            Some((_, to)) if to.trim_end_matches('/') == "/tests" => {}
            Some((from, to)) if Utf8Path::new(to).starts_with(workdir) => {
                let text = format!("{FILE}: {to} is there for the tests, and not for the agent");
                self.notes.push(Note::change(text));
                self.mounts
                    .push((from, to.trim_end_matches('/').to_owned()));
            }
            _ => {
                let text = format!("{FILE}: {} is not mounted", imported::plain(volume));
                self.notes.push(Note::lost(Loss::Files, text));
            }
        }
    }
}

/// Returns whether Terminal-Bench itself says what is meant.
fn is_ours(text: &str) -> bool {
    text.contains("T_BENCH_")
}

/// Returns what a mount shows of the tests, and where.
fn tests_mount(volume: &str) -> Option<(String, &str)> {
    let mut parts = volume.split(':');
    let (from, to) = (parts.next()?, parts.next()?);
    let from = from.strip_prefix("./")?.trim_end_matches('/');
    match from {
        RUNNER => Some((format!("tests/{RUNNER}"), to)),
        _ if Utf8Path::new(from).starts_with("tests") => Some((from.to_owned(), to)),
        _ => None,
    }
}

/// Returns variables of a container that are not Terminal-Bench's own, as a list or a map has them.
fn variables(value: &Value) -> Vec<(String, String)> {
    let items = value.as_array().into_iter().flatten();
    let items = items
        .filter_map(Value::as_str)
        .filter_map(|item| item.split_once('='));
    let items = items.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let map = value.as_object().into_iter().flatten();
    let map = map.map(|(name, value)| (name.clone(), imported::plain(value)));
    items
        .chain(map)
        .filter(|(_, value)| !value.contains('$'))
        .collect()
}
