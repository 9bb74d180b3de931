//! `sandbox` of a suite, an environment or an experiment: the wall around the commands of a trial.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::reader::patterns::{has_form, text_of_form};
use crate::reader::{Fields, Kind, object, or_map, word};
use crate::text::Code;

/// The sandbox that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// No sandbox: commands run as the user and can reach what the user can.
    None,
    /// bubblewrap, or an error.
    Bwrap,
    /// Rules of the kernel in the place of namespaces, or an error.
    Landlock,
    /// The best sandbox that works on this machine, or an error.
    Auto,
    /// A container that Docker makes of this image, or an error.
    Docker(Image),
    /// A container that Podman makes of this image, or an error.
    Podman(Image),
}

impl Sandbox {
    /// Those that are a single word.
    const WORDS: [(&'static str, Sandbox); 4] = [
        ("none", Sandbox::None),
        ("bwrap", Sandbox::Bwrap),
        ("landlock", Sandbox::Landlock),
        ("auto", Sandbox::Auto),
    ];

    /// Returns the engine and the image of a container.
    pub fn container(&self) -> Option<(ContainerEngine, &Image)> {
        match self {
            Sandbox::None | Sandbox::Bwrap | Sandbox::Landlock | Sandbox::Auto => None,
            Sandbox::Docker(image) => Some((ContainerEngine::Docker, image)),
            Sandbox::Podman(image) => Some((ContainerEngine::Podman, image)),
        }
    }
}

/// Reads the form of the command line, in which a container is `docker:IMAGE`.
impl FromStr for Sandbox {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = Sandbox::WORDS.into_iter();
        if let Some((_, sandbox)) = words.find(|(word, _)| *word == text) {
            return Ok(sandbox);
        }
        let image = |name: &str| Image::try_from(name.to_owned());
        match text.split_once(':') {
            Some(("docker", name)) => Ok(Sandbox::Docker(image(name)?)),
            Some(("podman", name)) => Ok(Sandbox::Podman(image(name)?)),
            _ => {
                Err("expected none, bwrap, landlock, auto, docker:IMAGE or podman:IMAGE".to_owned())
            }
        }
    }
}

/// A program that makes containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerEngine {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
}

impl ContainerEngine {
    /// Both of them.
    pub const ALL: [ContainerEngine; 2] = [ContainerEngine::Docker, ContainerEngine::Podman];

    /// Returns the name of its program, which is also its key in `sandbox`.
    pub fn program(self) -> &'static str {
        match self {
            ContainerEngine::Docker => "docker",
            ContainerEngine::Podman => "podman",
        }
    }

    /// Returns its name for people.
    pub fn title(self) -> &'static str {
        match self {
            ContainerEngine::Docker => "Docker",
            ContainerEngine::Podman => "Podman",
        }
    }
}

/// The name of an image, such as `node:22`. It can be an argument of a program, and is never taken for an option.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Image(String);

impl Image {
    const PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$";
    const FORM: &str = "the name of an image has letters, digits and `._-/:@`, begins with a letter or digit, and is at \
                        most 255 characters long";

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Image {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, &'static str> {
        match has_form(&name, Image::PATTERN) {
            true => Ok(Image(name)),
            false => Err(Image::FORM),
        }
    }
}

impl From<Image> for String {
    fn from(image: Image) -> String {
        image.0
    }
}

/// The sandbox that commands really ran in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainedBy {
    /// Nothing: they ran as the user.
    None,
    /// bubblewrap.
    Bwrap,
    /// Landlock.
    Landlock,
    /// Docker, in a container.
    Docker,
    /// Podman, in a container.
    Podman,
}

impl ContainedBy {
    /// Returns the name of the program, for people. `None` if there is no sandbox.
    pub fn program(self) -> Option<&'static str> {
        match self {
            ContainedBy::None => None,
            ContainedBy::Bwrap => Some("bubblewrap"),
            ContainedBy::Landlock => Some("Landlock"),
            ContainedBy::Docker => Some(ContainerEngine::Docker.title()),
            ContainedBy::Podman => Some(ContainerEngine::Podman.title()),
        }
    }

    /// Returns whether it is a container of an image.
    pub fn is_container(self) -> bool {
        matches!(self, ContainedBy::Docker | ContainedBy::Podman)
    }

    /// Returns whether agents share the machine's network, with rules for its ports.
    pub fn has_rules_for_ports(self) -> bool {
        self == ContainedBy::Landlock
    }

    /// Returns what it does less than the best sandbox, for people.
    pub fn shortcoming(self) -> Option<&'static str> {
        (self == ContainedBy::Landlock).then_some(
            "Landlock does less than bubblewrap: UDP passes, ports are allowed on any host, and the names of other \
             processes can be seen",
        )
    }
}

impl From<ContainerEngine> for ContainedBy {
    fn from(engine: ContainerEngine) -> Self {
        match engine {
            ContainerEngine::Docker => ContainedBy::Docker,
            ContainerEngine::Podman => ContainedBy::Podman,
        }
    }
}

/// `sandbox`: a word, or the image of a container.
pub(super) fn sandbox() -> Kind<Sandbox> {
    let help = "`none` runs commands without a sandbox; a container has an image: `sandbox: {docker: IMAGE}` or \
                `sandbox: {podman: IMAGE}`";
    let word = word(Sandbox::WORDS, Some(help)).value();
    let container = object("container", "`sandbox`", container)
        .about("A container of an image, instead of a word.")
        .linked("[map](terca-yaml.md#containers)")
        .kind();
    or_map(word, container)
}

fn container(fields: &mut Fields<'_, '_>) -> Option<Sandbox> {
    let engines = ContainerEngine::ALL.map(ContainerEngine::program);
    let present = fields.one_of(&engines);
    let docker = fields.filled(
        "docker",
        image(),
        "The image that Docker makes containers of.",
    );
    let podman = fields.filled(
        "podman",
        image(),
        "The image that Podman makes containers of.",
    );
    fields.only(Code::MissingKey, &engines, present)?;
    docker.map(Sandbox::Docker).or(podman.map(Sandbox::Podman))
}

/// The name of an image.
pub(super) fn image() -> Kind<Image> {
    text_of_form("the name of an image", Image::PATTERN, Image::FORM)
        .called("the name of an image")
        .map(|name| Image(name.value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_image_is_never_an_option_of_the_program() {
        for name in ["node:22", "a.b/c_d/e:1@sha256:00", "X"] {
            assert_eq!(Image::try_from(name.to_owned()).unwrap().as_str(), name);
        }
        let long = "x".repeat(256);
        for name in [
            "", "-v/:/host", "--privileged", "a b", "a\nb", "ä", "a,b", "/a", &long,
        ] {
            assert_eq!(Image::try_from(name.to_owned()), Err(Image::FORM), "{name}");
            let written = json!({ "docker": name });
            assert!(
                serde_json::from_value::<Sandbox>(written).is_err(),
                "{name}"
            );
            assert!(
                format!("podman:{name}").parse::<Sandbox>().is_err(),
                "{name}"
            );
        }
    }

    #[test]
    fn a_container_is_written_and_read_in_both_forms() {
        let asked: Sandbox = "docker:node:22".parse().unwrap();
        let written = serde_json::to_value(&asked).unwrap();
        assert_eq!(written, json!({ "docker": "node:22" }));
        assert_eq!(serde_json::from_value::<Sandbox>(written).unwrap(), asked);
        assert_eq!(serde_json::to_value(Sandbox::Auto).unwrap(), "auto");
        assert_eq!("bwrap".parse(), Ok(Sandbox::Bwrap));
        assert!("docker".parse::<Sandbox>().is_err());
    }
}
