//! A service: a program beside the trial, such as a database, which the agent and the tests reach at a port.

use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::config::names::unique;
use crate::config::sandbox::{Image, image};
use crate::config::variables::{Template, set_only, variables};
use crate::reader::patterns::text_of_form;
use crate::reader::{Fields, Kind, Reader, command_line, list_of, object, port, positive, word};
use crate::text::{Code, Diagnostic, Located, Place, json};

const DEFAULT_READY_SECONDS: f64 = 60.0;

/// A service of a trial.
///
/// In a suite the values of its variables are templates; in a plan they are filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Default")]
pub struct Service<T = String> {
    /// Its name, unique in its trial.
    pub name: String,
    /// The program that it is.
    #[serde(flatten)]
    pub source: ServiceSource,
    /// The port that it is known by, where the trial has a network of its own.
    pub port: u16,
    /// A command that succeeds once the service is ready; `None` waits until the port accepts connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// The time that it has to be ready.
    #[serde(rename = "timeoutSeconds", with = "json::seconds")]
    pub timeout: Duration,
    /// Its own variables.
    #[serde(with = "json::names_only")]
    pub env: Vec<(String, T)>,
    /// The trials that share it.
    pub scope: ServiceScope,
    /// The directory of the YAML file that names it.
    pub dir: Utf8PathBuf,
    /// The place of its name, for messages. It is no part of what runs.
    #[serde(skip)]
    pub place: Place,
}

/// The program that a service is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServiceSource {
    /// A shell command that stays in the foreground.
    Command(String),
    /// A container of an image.
    Image(Image),
}

impl ServiceSource {
    /// Returns the shell command.
    pub fn command(&self) -> Option<&str> {
        match self {
            ServiceSource::Command(command) => Some(command),
            ServiceSource::Image(_) => None,
        }
    }
}

/// The trials that share a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServiceScope {
    /// None: each trial has its own.
    #[default]
    Trial,
    /// All trials of a run on one machine.
    Suite,
}

impl Service {
    /// Returns the name of one of the variables that lead to a service, such as `TERCA_SERVICE_DB_PORT`.
    pub fn variable(name: &str, part: &str) -> String {
        let name = name.to_uppercase().replace('-', "_");
        format!("TERCA_SERVICE_{name}_{part}")
    }
}

impl<T> Service<T> {
    /// Returns the same service with other values of its variables.
    pub(crate) fn with_env<U>(&self, fill: impl FnMut(&(String, T)) -> (String, U)) -> Service<U> {
        Service {
            name: self.name.clone(),
            source: self.source.clone(),
            port: self.port,
            ready: self.ready.clone(),
            timeout: self.timeout,
            env: self.env.iter().map(fill).collect(),
            scope: self.scope,
            dir: self.dir.clone(),
            place: self.place,
        }
    }
}

/// A list of services.
pub(super) fn services() -> Kind<Vec<Service<Template>>> {
    let service = object("service", "a service", service)
        .about("A program beside the trial, such as a database: either a `command` or an `image`.")
        .example("{name: db, command: redis-server --port $TERCA_SERVICE_DB_PORT, port: 6379}")
        .linked("[service](terca-yaml.md#services)")
        .kind();
    list_of(service).then(different)
}

fn service(fields: &mut Fields<'_, '_>) -> Option<Service<Template>> {
    let given = fields.one_of(&["command", "image"]);
    let name = fields.required(
        "name",
        text_of_form("the name of a service", NAME, FORM),
        "Its name: `db` gives `TERCA_SERVICE_DB_PORT` and `TERCA_SERVICE_DB_HOST`.",
    );
    let command = fields.filled(
        "command",
        command_line(),
        "A shell command that stays in the foreground and listens on `127.0.0.1` at `$TERCA_SERVICE_<NAME>_PORT`. It \
         starts in an empty directory of its own.",
    );
    let image = fields.filled(
        "image",
        image(),
        "The image of a container, for Docker or Podman. Terca does not download it.",
    );
    let port = fields.required(
        "port",
        port(),
        "The port that agents in a sandbox find it at, and the one that it listens on in a container.",
    );
    let ready = fields.optional(
        "ready",
        command_line(),
        "A shell command that succeeds once the service is ready. Default: its port accepts connections.",
    );
    let seconds = fields.or(
        "timeoutSeconds",
        positive(),
        DEFAULT_READY_SECONDS,
        "The time that it has to be ready.",
    );
    let env = fields.optional(
        "env",
        variables(),
        "Its own [environment variables](terca-yaml.md#variables).",
    );
    let scope = fields.optional(
        "scope",
        word(
            [("trial", ServiceScope::Trial), ("suite", ServiceScope::Suite)],
            None,
        ),
        "`trial`: each trial has its own. `suite`: all trials of a run on one machine share it. Default: `trial`.",
    );
    fields.only(Code::MissingKey, &["command", "image"], given)?;
    let source = command
        .map(|command| ServiceSource::Command(command.value))
        .or(image.map(ServiceSource::Image))?;
    let name = name?;
    Some(Service {
        dir: fields.reader.dir(name.place).to_owned(),
        place: name.place,
        name: name.value,
        source,
        port: port?.value,
        ready: ready.map(|ready| ready.value),
        timeout: Duration::from_secs_f64(seconds),
        env: set_only(env),
        scope: scope.map(|scope| scope.value).unwrap_or_default(),
    })
}

/// The form of a name: a part of the name of a variable.
const NAME: &str = "^[a-z][a-z0-9-]{0,39}$";
const FORM: &str = "the name of a service has small letters, digits and `-`, begins with a letter, and is at most 40 \
                    characters long";

/// Refuses two services of one name.
fn different(
    services: Vec<Service<Template>>,
    reader: &mut Reader<'_>,
) -> Option<Vec<Service<Template>>> {
    let names = services.iter();
    let names = names.map(|service| Located::new(service.name.clone(), service.place));
    let names: Vec<Located<String>> = names.collect();
    unique(&names, "service", str::to_owned, reader);
    Some(services)
}

/// Reports two services of a trial that have one port.
pub(crate) fn same_port(services: &[Service]) -> Option<Diagnostic> {
    let (second, first) = services.iter().enumerate().find_map(|(index, one)| {
        let mut earlier = services[..index].iter();
        Some((one, earlier.find(|other| other.port == one.port)?))
    })?;
    let message = format!(
        "the services `{}` and `{}` have the same port {}",
        first.name, second.name, first.port
    );
    Some(
        Diagnostic::error(Code::WrongValue, message)
            .at(second.place, "a sandbox has one service at a port")
            .beside(first.place, "the first is here")
            .help("give one of them another `port`; the program itself listens at `$TERCA_SERVICE_<NAME>_PORT`"),
    )
}
