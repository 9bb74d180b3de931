//! `workers`: the machines beside this one on which trials can run, in `terca.yaml` or in `workers.yaml`.

use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::json;

use crate::config::names::unique_names;
use crate::config::sandbox::{Image, image};
use crate::reader::values::{count, filled_text, plain_text, silence};
use crate::reader::{Fields, Kind, Node, Reader, Value, list_of, object, pairs_of, unlike};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::{Located, Place};
use crate::worker_pool::{LOCAL, Preset, SILENCE, StartTemplate, WorkerPool};

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

/// The workers of a suite.
#[derive(Debug, Default)]
pub(super) struct Workers {
    pub(super) local_slots: Option<u32>,
    pub(super) pools: Vec<WorkerPool>,
}

/// Joins the workers of all files. No two have one name.
pub(super) fn joined(read: ReadWorkers, reader: &mut Reader<'_>) -> Workers {
    let names: Vec<Located<String>> = read.iter().map(|(name, _)| name.clone()).collect();
    unique_names(&names, "pool", reader);
    let mut workers = Workers::default();
    for (_, pool) in read {
        match pool {
            ReadPool::Local(slots) => workers.local_slots = slots,
            ReadPool::Pool(pool) => workers.pools.push(pool),
        }
    }
    workers
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
#[derive(Debug)]
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
}

impl Written {
    fn key(&self, name: &str) -> Option<Place> {
        let found = self.keys.iter().find(|key| key.value == name);
        found.map(|key| key.place)
    }
}

fn fields_of(fields: &mut Fields<'_, '_>) -> Option<Written> {
    let all = [
        "start", "preset", "options", "hosts", "slots", "image", "terca", "dir", "silenceSeconds",
    ];
    let keys = fields.present(&all);
    let problems = fields.problem_count();
    let start = fields.filled(
        "start",
        filled_text().called("a shell command"),
        "A command line for `sh` that starts a command elsewhere, with its input and output connected. The command \
         of the worker is appended to it. `{host}` becomes each of `hosts`, and `{name}` a new name at each start.",
    );
    let preset = fields.filled(
        "preset",
        preset(),
        "A predefined command line instead of `start`.",
    );
    let options = fields.list(
        "options",
        plain_text().value(),
        "With `preset`: further options of its program, as in `srun --mem=4G`.",
    );
    let hosts = fields.filled(
        "hosts",
        hosts(),
        "The hosts that workers are started on. `start` has `{host}` where the host belongs.",
    );
    let slots = fields.optional(
        "slots",
        count().value(),
        "The number of workers on each host, or in all where there are no `hosts`. Default: 1.",
    );
    let image = fields.filled(
        "image",
        image(),
        "For the presets `kubernetes` and `docker`: the image, which has Terca and the agents in it.",
    );
    let terca = fields.optional(
        "terca",
        terca(),
        "The path of Terca on the other machine, which has the same version. Default: `terca`, on `PATH`.",
    );
    let dir = fields.optional(
        "dir",
        dir(),
        "The suite's directory on the other machine, where it is there already. Without it, the suite is sent to each \
         worker.",
    );
    let silence = fields.optional(
        "silenceSeconds",
        silence().value(),
        "A worker that is silent for this long counts as lost. Default: 30, at least 5. Use more on a network with \
         longer pauses.",
    );
    // A key that is unknown may be one that is missing.
    let is_right = fields.problem_count() == problems && !fields.has_more();
    is_right.then(|| Written {
        place: fields.place,
        keys,
        start,
        preset,
        options,
        hosts: hosts.unwrap_or_default(),
        slots,
        image,
        terca,
        dir,
        silence,
    })
}

/// Makes a pool of an entry, or reports why it is none.
fn resolved(name: &Located<String>, written: Written, reader: &mut Reader<'_>) -> Option<ReadPool> {
    check_name(name, reader)?;
    if name.value == LOCAL {
        return local(&written, reader).map(ReadPool::Local);
    }
    let start = start(&written, reader)?;
    check_hosts(&start, &written, reader)?;
    Some(ReadPool::Pool(WorkerPool {
        name: name.value.clone(),
        start,
        hosts: written.hosts,
        slots: written.slots.unwrap_or(1),
        terca: written.terca.unwrap_or_else(|| "terca".into()),
        dir: written.dir,
        silence: (written.silence).map_or(SILENCE, |seconds| Duration::from_secs(seconds.into())),
    }))
}

fn check_name(name: &Located<String>, reader: &mut Reader<'_>) -> Option<()> {
    let text = &name.value;
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
    if begins_well && text.bytes().all(is_known) {
        return Some(());
    }
    reader.refuse(
        Diagnostic::error(
            Code::InvalidName,
            format!(
                "a pool of workers cannot be named `{}`",
                text.escape_debug()
            ),
        )
        .at(name.place, "the name of a pool")
        .help("a name has letters, digits and `._-`, and begins with a letter or digit"),
    )
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

/// Returns the slots of this machine. They are all that can be said of it.
fn local(written: &Written, reader: &mut Reader<'_>) -> Option<Option<u32>> {
    if let Some(key) = written.keys.iter().find(|key| key.value != "slots") {
        let message = format!("`{LOCAL}` takes no `{}`", key.value);
        return reader.refuse(
            Diagnostic::error(Code::MisplacedKey, message)
                .at(key.place, format!("`{LOCAL}` is this machine"))
                .help("write `slots` alone, or give the pool another name"),
        );
    }
    Some(written.slots)
}

/// Returns the command line: that of the user, or that of the preset.
fn start(written: &Written, reader: &mut Reader<'_>) -> Option<StartTemplate> {
    match (&written.start, written.preset) {
        (Some(line), None) => {
            for (key, program) in [("options", ""), ("image", " with an image")] {
                if let Some(place) = written.key(key) {
                    let message = format!("`{key}` is for a preset{program}");
                    return reader.refuse(
                        Diagnostic::error(Code::MisplacedKey, message)
                            .at(place, "this pool has a `start`")
                            .beside(line.place, "this is the whole command line")
                            .help(format!("remove `{key}`, and write its value into `start`")),
                    );
                }
            }
            Some(StartTemplate::new(&line.value))
        }
        (None, Some(preset)) => of_preset(preset, written, reader),
        (Some(_), Some(_)) => reader.refuse(both(written)),
        (None, None) => reader.refuse(
            Diagnostic::error(Code::MissingKey, "missing key `start` or `preset`")
                .at(written.place, "there is no command to start a worker")
                .help(format!(
                    "write `preset:` with {}, or `start:` with a command line of your own",
                    prose::quoted_list(&Preset::ALL.map(Preset::as_str), "or")
                )),
        ),
    }
}

fn both(written: &Written) -> Diagnostic {
    let mut problem =
        Diagnostic::error(Code::ConflictingKeys, "both `start` and `preset` are given");
    if let Some(place) = written.key("preset") {
        problem = problem.at(place, "this is a command line too");
    }
    if let Some(place) = written.key("start") {
        problem = problem.beside(place, "this is the whole command line");
    }
    problem.help("remove one of them; `options` adds options to a preset")
}

fn of_preset(preset: Preset, written: &Written, reader: &mut Reader<'_>) -> Option<StartTemplate> {
    let word = preset.as_str();
    for (key, takes) in [
        ("image", preset.takes_image()),
        ("hosts", preset.takes_hosts()),
    ] {
        let problem = match (takes, written.key(key)) {
            (true, None) => Diagnostic::error(Code::MissingKey, format!("missing key `{key}`"))
                .at(written.place, format!("the preset `{word}` needs `{key}`"))
                .help(match key {
                    "hosts" => "write `hosts: [NAME, …]`",
                    _ => "write `image: NAME`, with an image that has Terca and the agents in it",
                }),
            (false, Some(place)) => {
                let message = format!("the preset `{word}` takes no `{key}`");
                let label = match key {
                    "hosts" => format!("`{word}` itself chooses where a worker is started"),
                    _ => "no container is made".to_owned(),
                };
                let problem = Diagnostic::error(Code::MisplacedKey, message).at(place, label);
                problem.help(format!("remove `{key}`"))
            }
            _ => continue,
        };
        return reader.refuse(problem);
    }
    let image = written.image.as_ref().map_or("", Image::as_str);
    Some(preset.template(&written.options, image))
}

/// Checks that there are hosts exactly where there is a place for them.
fn check_hosts(start: &StartTemplate, written: &Written, reader: &mut Reader<'_>) -> Option<()> {
    let line = written.key("start").or(written.key("options"));
    let line = line.unwrap_or(written.place);
    match (start.has_host(), written.key("hosts")) {
        (true, Some(_)) | (false, None) => Some(()),
        (true, None) => reader.refuse(
            Diagnostic::error(Code::MissingKey, "missing key `hosts`")
                .at(line, "`{host}` needs a list of hosts")
                .help("write `hosts: [NAME, …]`, or the host itself in the place of `{host}`"),
        ),
        (false, Some(hosts)) => reader.refuse(
            Diagnostic::error(Code::ConflictingKeys, "`start` has no place for a host")
                .at(line, "`{host}` is missing here")
                .beside(hosts, "because of these hosts")
                .help("write `{host}` where the host belongs, as in `ssh {host}`"),
        ),
    }
}

fn preset() -> Kind<Preset> {
    let words = Preset::ALL.map(Preset::as_str);
    let name = words.map(|word| format!("`{word}`")).join(", ");
    let expected = prose::quoted_list(&words, "or");
    Kind::scalar(&name, json!({ "enum": words }), move |node, reader| {
        let found = match &node.value {
            Value::Text(word) => Preset::ALL
                .into_iter()
                .find(|preset| preset.as_str() == word),
            _ => None,
        };
        match found {
            Some(preset) => Some(preset),
            None => {
                let word = match &node.value {
                    Value::Text(word) => word.to_lowercase(),
                    _ => String::new(),
                };
                let problem = unlike(&node, &expected);
                reader.refuse(match prose::did_you_mean(&word, words) {
                    Some(meant) => problem.help(format!("did you mean `{meant}`?")),
                    None => problem.help("`start` takes any other command line"),
                })
            }
        }
    })
}

fn hosts() -> Kind<Vec<String>> {
    list_of(host())
        .with("minItems", json!(1))
        .checked(|node, reader| match &node.value {
            Value::List(hosts) if hosts.is_empty() => reader.refuse(
                Diagnostic::error(Code::WrongValue, "`hosts` is empty")
                    .at(node.place, "expected at least one host")
                    .help("write `hosts: [NAME, …]`, or remove the key"),
            ),
            _ => Some(()),
        })
        .then(|hosts, reader| {
            for (index, host) in hosts.iter().enumerate() {
                let Some(first) = hosts[..index]
                    .iter()
                    .find(|first| first.value == host.value)
                else {
                    continue;
                };
                let message = format!("the host `{}` is in the list twice", host.value);
                reader.problems.push(
                    Diagnostic::error(Code::DuplicateName, message)
                        .at(host.place, "the second time")
                        .beside(first.place, "the first time")
                        .help("remove one of them; `slots` is the number of workers on each host"),
                );
            }
            Some(hosts.into_iter().map(|host| host.value).collect())
        })
}

fn host() -> Kind<Located<String>> {
    let text = filled_text()
        .called("host")
        .with("pattern", json!(HOST_PATTERN));
    text.then(|host, reader| {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:@%/+".contains(&byte);
        let reason = if host.value.starts_with('-') {
            "a program would read it as an option"
        } else if !host.value.bytes().all(is_known) {
            "a host has letters, digits and `._-:@%/+`"
        } else {
            return Some(host);
        };
        let message = format!("`{}` is not a valid host name", host.value.escape_debug());
        reader.refuse(Diagnostic::error(Code::WrongValue, message).at(host.place, reason))
    })
}

fn terca() -> Kind<String> {
    let text = filled_text()
        .called("path")
        .with("pattern", json!(TERCA_PATTERN));
    text.then(|path, reader| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/+@%:,=-".contains(&byte);
        let (reason, help) = if path.value.starts_with('~') {
            ("no shell expands the `~`", "write the whole path")
        } else if path.value.starts_with('-') {
            (
                "a program would read it as an option",
                "write the path of Terca on the other machine",
            )
        } else if !path.value.bytes().all(is_plain) {
            (
                "it has characters that a shell on the way may change",
                "use a path with letters, digits and `._/+@%:,=-`, such as that of a link to Terca",
            )
        } else {
            return Some(path.value);
        };
        let message = format!("`{}` is not a path of Terca", path.value.escape_debug());
        let problem = Diagnostic::error(Code::WrongValue, message).at(path.place, reason);
        reader.refuse(problem.help(help))
    })
}

fn dir() -> Kind<Utf8PathBuf> {
    let text = filled_text()
        .called("absolute path")
        .with("pattern", json!("^/"));
    text.then(|path, reader| {
        if path.value.starts_with('/') {
            return Some(path.value.into());
        }
        let message = format!("`{}` is not an absolute path", path.value.escape_debug());
        let problem = Diagnostic::error(Code::WrongValue, message);
        let problem = problem.at(path.place, "it is a directory of the other machine");
        reader.refuse(problem.help("write the whole path, from `/` on"))
    })
}
