//! `sandbox` of a suite, an environment, an experiment or an eval: the wall around the commands of a trial.

use std::fmt;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::config::dockerfile::{Instruction, instructions};
use crate::reader::patterns::{has_form, text_of_form};
use crate::reader::{Fields, Kind, PathKind, Reader, filled_text, object, or_map, word};
use crate::text::{Code, Diagnostic, Located};

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
    /// A container of an image that Docker or Podman builds before the run, or an error.
    Build(Build),
}

/// An image that is built from a Dockerfile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The Dockerfile, absolute.
    pub file: Utf8PathBuf,
    /// The directory whose files it may copy, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Utf8PathBuf>,
}

impl Sandbox {
    /// Those that are a single word.
    const WORDS: [(&'static str, Sandbox); 4] = [
        ("none", Sandbox::None),
        ("bwrap", Sandbox::Bwrap),
        ("landlock", Sandbox::Landlock),
        ("auto", Sandbox::Auto),
    ];

    /// Returns the engine and the image of a container, where they are named.
    pub fn container(&self) -> Option<(ContainerEngine, &Image)> {
        match self {
            Sandbox::Docker(image) => Some((ContainerEngine::Docker, image)),
            Sandbox::Podman(image) => Some((ContainerEngine::Podman, image)),
            _ => None,
        }
    }

    /// Returns the Dockerfile that the image of a container is built from.
    pub fn build(&self) -> Option<&Build> {
        match self {
            Sandbox::Build(build) => Some(build),
            _ => None,
        }
    }

    /// Returns whether it is a container.
    pub fn is_container(&self) -> bool {
        self.container().is_some() || self.build().is_some()
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

    /// Returns whether its processes are in a namespace of their own, whose first one nobody inside can end.
    pub fn has_own_processes(self) -> bool {
        self == ContainedBy::Bwrap || self.is_container()
    }

    /// Returns whether agents share the machine's network, with rules for its ports.
    pub fn has_rules_for_ports(self) -> bool {
        self == ContainedBy::Landlock
    }

    /// Returns what it does less than the best sandbox, for people.
    pub fn shortcoming(self) -> Option<&'static str> {
        (self == ContainedBy::Landlock).then_some(
            "Landlock does less than bubblewrap: ports are allowed on any host, permissions and times of files can be \
             changed, and the names of other processes can be seen",
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
    let help = "`none` runs commands without a sandbox; a container has an image: `sandbox: {docker: IMAGE}`, \
                `sandbox: {podman: IMAGE}` or `sandbox: {build: DOCKERFILE}`";
    let word = word(Sandbox::WORDS, Some(help)).value();
    or_map(word, container())
}

/// `sandbox` of an eval: the image of a container.
pub(super) fn container() -> Kind<Sandbox> {
    object("container", "`sandbox`", container_fields)
        .about("A container of an image, instead of a word.")
        .linked("[map](terca-yaml.md#containers)")
        .kind()
}

fn container_fields(fields: &mut Fields<'_, '_>) -> Option<Sandbox> {
    let keys = ["docker", "podman", "build"];
    let present = fields.one_of(&keys);
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
    let build = fields.filled(
        "build",
        build(),
        "What Docker or Podman [builds an image of](terca-yaml.md#images-from-a-dockerfile), relative to the YAML file: a \
         Dockerfile, or a directory with a `Dockerfile` and the files that it copies.",
    );
    fields.only(Code::MissingKey, &keys, present)?;
    docker
        .map(Sandbox::Docker)
        .or(podman.map(Sandbox::Podman))
        .or(build.map(Sandbox::Build))
}

/// `build`: a path, or a Dockerfile with the directory of the files that it copies.
fn build() -> Kind<Build> {
    let short = filled_text().called("path").then(|path, reader| {
        let kinds = [PathKind::File, PathKind::Directory];
        let found = reader.existing(&path, "Dockerfile", &kinds)?;
        if reader.surroundings.kind(&found) == PathKind::File {
            return whole(&path, found, None, reader);
        }
        let inside = Located::new(format!("{}/Dockerfile", path.value), path.place);
        let file = reader.existing(&inside, "Dockerfile", &[PathKind::File])?;
        let context = Located::new(found, path.place);
        whole(&path, file, Some(context), reader)
    });
    let long = object("build", "`build`", |fields| {
        let path = || filled_text().called("path");
        let file = fields.required(
            "file",
            path().then(|path, reader| {
                let file = reader.existing(&path, "Dockerfile", &[PathKind::File])?;
                Some((path, file))
            }),
            "The Dockerfile, relative to the YAML file.",
        );
        let context = fields.optional(
            "context",
            path().then(|path, reader| {
                let context = reader.existing(&path, "context", &[PathKind::Directory])?;
                Some(Located::new(context, path.place))
            }),
            "The directory whose files it copies, relative to the YAML file. Default: it copies none.",
        );
        let (path, file) = file?;
        whole(&path, file, context, fields.reader)
    })
    .about("A Dockerfile, and the files that it copies.")
    .linked("[map](terca-yaml.md#images-from-a-dockerfile)")
    .kind();
    or_map(short, long)
}

/// Refuses a context that shows evals to agents, and a Dockerfile that copies files and has none to copy.
fn whole(
    written: &Located<String>,
    file: Utf8PathBuf,
    context: Option<Located<Utf8PathBuf>>,
    reader: &mut Reader<'_>,
) -> Option<Build> {
    if let Some(context) = context {
        let is_eval = |file: &Utf8PathBuf| file.file_name() == Some("eval.terca.yaml");
        let files = reader.surroundings.files_below(&context.value);
        if reader.dir(context.place).starts_with(&context.value) || files.iter().any(is_eval) {
            let problem = Diagnostic::error(Code::WrongValue, "the context of the image has evals in it")
                .at(context.place, "an image could show their tests and solutions to the agent")
                .help("move the Dockerfile and the files that it copies to a directory of their own, such as `image/`");
            return reader.refuse(problem);
        }
        let context = Some(context.value);
        return Some(Build { file, context });
    }
    let text = reader.surroundings.read_text(&file).unwrap_or_default();
    if let Some(copy) = instructions(&text).iter().find(|one| one.reads_context()) {
        return reader.refuse(without_context(written, copy));
    }
    Some(Build {
        file,
        context: None,
    })
}

fn without_context(written: &Located<String>, copy: &Instruction) -> Diagnostic {
    let (file, line) = (&written.value, copy.line);
    let message =
        format!("`{file}`, line {line}, copies files, and it is not known of which directory");
    let dir = Utf8Path::new(file).parent().filter(|dir| *dir != "");
    let help = match dir {
        Some(dir) => format!("write `build: {dir}`, or `build: {{file: {file}, context: DIR}}`"),
        None => "move the Dockerfile and the files that it copies to a directory of their own, and write `build: DIR`".to_owned(),
    };
    Diagnostic::error(Code::MissingKey, message)
        .at(written.place, format!("the line is: {}", copy.text()))
        .help(help)
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
