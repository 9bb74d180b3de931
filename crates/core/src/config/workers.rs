//! `workers`: the machines beside this one on which trials can run, in `terca.yaml` or in `workers.yaml`.

use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::json;

use crate::config::names::unique;
use crate::config::sandbox::{Image, image};
use crate::reader::patterns::{has_form, text_of_form};
use crate::reader::{
    Fields, Kind, Node, Reader, Value, count, filled_text, list_of, object, pairs_of, plain_text,
    silence, word,
};
use crate::text::{Code, Diagnostic, Located, Place, prose};
use crate::worker_pool::{GRACE, LOCAL, Preset, SILENCE, WorkerPool, has_host};

/// The key in `terca.yaml`. In `workers.yaml` it is a mistake.
const KEY: &str = "workers";
const NAME_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._-]*$";
const HOST_PATTERN: &str = "^[A-Za-z0-9._:@%/+][A-Za-z0-9._:@%/+-]*$";
const TERCA_PATTERN: &str = "^[A-Za-z0-9._/+@%:,=][A-Za-z0-9._/+@%:,=-]*$";

/// The workers of one file, as far as they are right.
pub(super) type ReadWorkers = Vec<(Located<String>, ReadPool)>;

/// An entry of `workers`.
#[derive(Debug)]
pub(super) enum ReadPool {
    /// The slots of this machine, where they are given.
    Local(Option<u32>),
    Pool(WorkerPool),
}

/// Joins the workers of all files: the pools, and the slots of this machine. No two have one name.
pub(super) fn joined(read: ReadWorkers, reader: &mut Reader<'_>) -> (Vec<WorkerPool>, Option<u32>) {
    let names: Vec<Located<String>> = read.iter().map(|(name, _)| name.clone()).collect();
    unique(&names, "pool", str::to_owned, reader);
    let (mut pools, mut local_slots) = (Vec::new(), None);
    for (_, pool) in read {
        match pool {
            ReadPool::Local(slots) => local_slots = slots,
            ReadPool::Pool(pool) => pools.push(pool),
        }
    }
    (pools, local_slots)
}

/// `workers`, and the document `workers.yaml`.
pub(super) fn workers() -> Kind<ReadWorkers> {
    let pool = object("workerPool", "a pool of workers", fields_of)
        .about("A way to start workers, on machines beside this one.")
        .example("{preset: ssh, hosts: [build1, build2]}")
        .kind();
    pairs_of(pool, "a map, such as `{preset: slurm, slots: 8}`,")
        .with("propertyNames", json!({ "pattern": NAME_PATTERN }))
        .called("map of names and [pools](terca-yaml.md#workers)")
        .checked(no_second_key)
        .then(|pools, reader| {
            let read = pools.into_iter().filter_map(|(name, written)| {
                let pool = resolved(&name, written, reader)?;
                Some((name, pool))
            });
            Some(read.collect())
        })
}

/// A pool as it is written. A key may be there though its value is not: then that is reported.
struct Written {
    place: Place,
    keys: Vec<Located<String>>,
    start: Option<Located<String>>,
    preset: Option<Preset>,
    options: Vec<String>,
    hosts: Vec<String>,
    slots: Option<u32>,
    image: Option<Image>,
    terca: Option<String>,
    dir: Option<Utf8PathBuf>,
    silence: Option<u32>,
    grace: Option<u32>,
}

impl Written {
    fn key(&self, name: &str) -> Option<Place> {
        let found = self.keys.iter().find(|key| key.value == name);
        found.map(|key| key.place)
    }
}

fn fields_of(fields: &mut Fields<'_, '_>) -> Option<Written> {
    let keys = fields.keys();
    let problems = fields.problem_count();
    let written = Written {
        place: fields.place,
        keys,
        start: fields.filled(
            "start",
            filled_text().called("a shell command"),
            "A command line for `sh` that starts a command elsewhere, with its input and output connected. The command \
             of the worker is appended to it. `{host}` becomes each of `hosts`, and `{name}` a new name at each start.",
        ),
        preset: fields.filled(
            "preset",
            preset(),
            "A predefined command line instead of `start`.",
        ),
        options: fields.list(
            "options",
            plain_text().value(),
            "With `preset`: further options of its program, as in `srun --mem=4G`.",
        ),
        hosts: fields
            .filled(
                "hosts",
                hosts(),
                "The hosts that workers are started on. `start` has `{host}` where the host belongs.",
            )
            .unwrap_or_default(),
        slots: fields.optional(
            "slots",
            count().value(),
            "The number of workers on each host, or in all where there are no `hosts`. Default: 1.",
        ),
        image: fields.filled(
            "image",
            image(),
            "For the presets `kubernetes` and `docker`: the image, which has Terca and the agents in it.",
        ),
        terca: fields.optional(
            "terca",
            path_of_terca().value(),
            "The path of Terca on the other machine, which has the same version. Default: `terca`, on `PATH`.",
        ),
        dir: fields.optional(
            "dir",
            text_of_form(
                "an absolute path",
                "^/",
                "it is a directory of the other machine, from `/` on",
            )
            .called("absolute path")
            .map(|path| path.value.into()),
            "The suite's directory on the other machine, where it is there already. Without it, the suite is sent to each \
             worker.",
        ),
        silence: fields.optional(
            "silenceSeconds",
            silence().value(),
            "A worker that is silent for this long counts as lost. Default: 30, at least 5. Use more on a network with \
             longer pauses.",
        ),
        grace: fields.optional(
            "graceSeconds",
            count().value(),
            "A trial counts as lost when it takes this much longer than the limits of its setup, agent and tests \
             together. Default: 600. Use more where copies of large workspaces take long.",
        ),
    };
    // A key that is unknown may be one that is missing.
    (fields.problem_count() == problems && !fields.has_more()).then_some(written)
}

/// Makes a pool of an entry, or reports why it is none.
fn resolved(name: &Located<String>, written: Written, reader: &mut Reader<'_>) -> Option<ReadPool> {
    if !has_form(&name.value, NAME_PATTERN) {
        let message = format!(
            "a pool of workers cannot be named `{}`",
            name.value.escape_debug()
        );
        return reader.refuse(
            Diagnostic::error(Code::InvalidName, message)
                .at(name.place, "the name of a pool")
                .help("a name has letters, digits and `._-`, and begins with a letter or digit"),
        );
    }
    if name.value == LOCAL {
        if let Some(key) = written.keys.iter().find(|key| key.value != "slots") {
            let message = format!("`{LOCAL}` takes no `{}`", key.value);
            return reader.refuse(
                Diagnostic::error(Code::MisplacedKey, message)
                    .at(key.place, format!("`{LOCAL}` is this machine"))
                    .help("write `slots` alone, or give the pool another name"),
            );
        }
        return Some(ReadPool::Local(written.slots));
    }
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    let start = match start(&written) {
        Ok(start) => start,
        Err(problem) => return reader.refuse(problem),
    };
    Some(ReadPool::Pool(WorkerPool {
        name: name.value.clone(),
        start,
        hosts: written.hosts,
        slots: written.slots.unwrap_or(1),
        terca: written.terca.unwrap_or_else(|| "terca".into()),
        dir: written.dir,
        silence: written.silence.map_or(SILENCE, seconds),
        grace: written.grace.map_or(GRACE, seconds),
    }))
}

/// Refuses the key of `terca.yaml` among the names of pools: `workers.yaml` has the map alone.
fn no_second_key(node: &Node, reader: &mut Reader<'_>) -> Option<()> {
    let Value::Map(entries) = &node.value else {
        return Some(());
    };
    let Some((key, _)) = entries.iter().find(|(key, _)| key.value == KEY) else {
        return Some(());
    };
    reader.refuse(
        Diagnostic::error(
            Code::InvalidName,
            format!("a pool of workers cannot be named `{KEY}`"),
        )
        .at(key.place, "expected the name of a pool")
        .help("`workers` is a key of terca.yaml; workers.yaml begins with the names of pools"),
    )
}

/// Returns the command line: that of the user, or that of the preset. There are hosts exactly where it has a place for them.
fn start(written: &Written) -> Result<String, Diagnostic> {
    let (start, whose) = match (&written.start, written.preset) {
        (Some(line), None) => (line.value.clone(), "a pool with this `start`".to_owned()),
        (None, Some(preset)) => {
            let image = written.image.as_ref().map_or("", Image::as_str);
            (
                preset.template(&written.options, image),
                format!("the preset `{}`", preset.as_str()),
            )
        }
        (Some(_), Some(_)) => {
            return Err(Diagnostic::error(
                Code::ConflictingKeys,
                "both `start` and `preset` are given",
            )
            .maybe_at(written.key("preset"), "this is a command line too")
            .help("remove one of them; `options` adds options to a preset"));
        }
        (None, None) => {
            return Err(
                Diagnostic::error(Code::MissingKey, "missing key `start` or `preset`")
                    .at(written.place, "there is no command to start a worker")
                    .help(format!(
                        "write `preset:` with {}, or `start:` with a command line of your own",
                        prose::quoted_list(&Preset::ALL.map(Preset::as_str), "or")
                    )),
            );
        }
    };
    let takes_image = written.preset.is_some_and(Preset::takes_image);
    for (key, is_taken, is_needed, help) in [
        (
            "options",
            written.preset.is_some(),
            false,
            "write the options into the line of `start`",
        ),
        (
            "image",
            takes_image,
            takes_image,
            "`image: NAME` is for presets that make containers; the image has Terca and the agents in it",
        ),
        (
            "hosts",
            has_host(&start),
            has_host(&start),
            "`hosts: [NAME, …]` takes the place of `{host}` in the command line, as in `ssh {host}`",
        ),
    ] {
        let is_empty = key == "hosts" && written.hosts.is_empty();
        match written.key(key).filter(|_| !is_empty) {
            None if is_needed => {
                return Err(
                    Diagnostic::error(Code::MissingKey, format!("missing key `{key}`"))
                        .at(written.place, format!("{whose} needs `{key}`"))
                        .help(help),
                );
            }
            Some(place) if !is_taken => {
                return Err(Diagnostic::error(
                    Code::MisplacedKey,
                    format!("{whose} takes no `{key}`"),
                )
                .at(place, "it would change nothing")
                .help(help));
            }
            _ => {}
        }
    }
    Ok(start)
}

fn preset() -> Kind<Preset> {
    let words = Preset::ALL.map(|preset| (preset.as_str(), preset));
    let name = words.map(|(word, _)| format!("`{word}`")).join(", ");
    let preset = word(words, Some("`start` takes any other command line"));
    preset.value().called(&name)
}

fn path_of_terca() -> Kind<Located<String>> {
    let path = text_of_form(
        "a path of Terca",
        TERCA_PATTERN,
        "a path has letters, digits and `._/+@%:,=-`, and begins neither with `~` nor with `-`",
    );
    path.called("path")
}

fn hosts() -> Kind<Vec<String>> {
    let host = text_of_form(
        "a valid host name",
        HOST_PATTERN,
        "a host has letters, digits and `._-:@%/+`, and does not begin with `-`",
    );
    list_of(host.called("host"))
        .with("minItems", json!(1))
        .then(|hosts, reader| {
            unique(&hosts, "host", str::to_owned, reader);
            Some(hosts.into_iter().map(|host| host.value).collect())
        })
}
