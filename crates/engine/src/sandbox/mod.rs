//! Sandboxes: each command of a trial runs behind a wall of its own.
//!
//! Inside there is the system's software (read-only), the programs on the trial's `PATH` wherever they are installed
//! (read-only), the trial's own directories, and nothing else: not the user's home, not
//! the suite (for agents), not the run, not other trials. It is a list of what is there, never of what is hidden: a list
//! of secrets is always one behind.
//!
//! bubblewrap makes the wall from user, mount, PID, IPC and UTS namespaces. Nothing in it has the id of the superuser,
//! a capability, or the right to make further user namespaces. Files that are made inside belong to the caller outside.
//! The first process inside is Terca's own supervisor (`crate::process::supervise`), which requests and results pass
//! through.
//!
//! Where namespaces are forbidden, rules of the kernel (Landlock) keep commands to the same list.
//!
//! Commands of the suite (`before`, tests) also see the suite and the repository around it, since they use both. Tests
//! run the agent's code, so the eval's solution and earlier runs are hidden from them.
//!
//! The network is that of the machine.

mod bwrap;
mod carried_program;
mod container;
mod contents;
mod image_build;
mod landlock;
pub mod limits;
mod mounts;
mod programs;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::sandbox::{ContainedBy, ContainerEngine, Image, Sandbox};
use terca_core::run::run_file::SettledSandboxes;
use thiserror::Error;

use crate::host::environment::{Host, Variables};
use crate::process::fixed_root::FixedRoot;
use crate::process::supervise::Enclosure;
use crate::process::walls::{Strength, TooWeak};
use crate::workspace::trial_dirs::{CommandDirs, WorkDir};
use bwrap::Bwrap;
pub use container::service_container;
use container::{Containers, EngineProgram, FoundImage};
use contents::{Contents, SUPERVISOR};
pub use image_build::{BuildFailure, Builds};

/// The variable that names the sandbox of suites that do not say.
pub const DEFAULT_SANDBOX: &str = "TERCA_SANDBOX";

/// A sandbox that was asked for cannot be made on this machine.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The system has no sandboxes.
    #[error("sandboxes need Linux")]
    NotLinux,
    /// The program is not installed.
    #[error("bubblewrap (`bwrap`) is not installed")]
    Missing,
    /// The program is there and does not work.
    #[error("bubblewrap ({program}) cannot make a sandbox here: {reason}")]
    Refused {
        /// Its file.
        program: Utf8PathBuf,
        /// Its last words.
        reason: String,
    },
    /// The kernel cannot take the place of namespaces.
    #[error("{0}")]
    NoLandlock(TooWeak),
    /// The kernel has Landlock, and a command that keeps its rules cannot be started.
    #[error("Landlock does not work here: {0}")]
    LandlockRefused(String),
    /// Neither bubblewrap nor Landlock works.
    #[error("{bwrap}; and {landlock}")]
    Neither {
        /// The trouble with bubblewrap.
        bwrap: Box<SandboxError>,
        /// The trouble with Landlock.
        landlock: Box<SandboxError>,
    },
    /// The variable with the machine's default has another word.
    #[error("{DEFAULT_SANDBOX}={0} is not a sandbox")]
    UnknownDefault(String),
    /// The program of an engine for containers is not installed.
    #[error("{title} (`{program}`) is not installed", title = engine.title(), program = engine.program())]
    EngineMissing {
        /// The engine.
        engine: ContainerEngine,
    },
    /// No program of an engine for containers is installed.
    #[error("needs Docker or Podman for its `image`, and neither is installed")]
    NoEngine,
    /// An engine for containers does not work.
    #[error("{title} ({program}) does not work: {reason}", title = engine.title())]
    EngineRefused {
        /// The engine.
        engine: ContainerEngine,
        /// The file of its program.
        program: Utf8PathBuf,
        /// Its last words.
        reason: String,
    },
    /// A program of that name works and answers otherwise than the engine.
    #[error("{title} ({program}) gives an unexpected answer: {reason}", title = engine.title())]
    EngineUnknown {
        /// The engine.
        engine: ContainerEngine,
        /// The file of its program.
        program: Utf8PathBuf,
        /// Its last words.
        reason: String,
    },
    /// An image is not on this machine.
    #[error("{title} has no image `{image}`, and Terca does not download images", title = engine.title())]
    ImageMissing {
        /// The engine.
        engine: ContainerEngine,
        /// The image.
        image: Image,
    },
    /// An image is there, and Terca's own program does not run in a container of it.
    #[error("{title} cannot make a container of `{image}`: {reason}", title = engine.title())]
    ImageRefused {
        /// The engine.
        engine: ContainerEngine,
        /// The image.
        image: Image,
        /// The engine's last words.
        reason: String,
    },
    /// Nothing can build an image.
    #[error("an image has to be built, and no engine works: {docker}; and {podman}")]
    NoBuildEngine {
        /// The trouble with Docker.
        docker: Box<SandboxError>,
        /// The trouble with Podman.
        podman: Box<SandboxError>,
    },
    /// Images could not be built.
    #[error("{}", image_build::told(.0))]
    Build(Vec<BuildFailure>),
    /// The files that every sandbox needs could not be made.
    #[error("the files for sandboxes could not be made: {0}")]
    Files(#[from] io::Error),
}

/// The part of the machine that a command sees, beside the system's software and the programs on its `PATH`.
#[derive(Debug)]
pub struct View<'a> {
    /// Its home, its temporary directory, and the workspace.
    pub dirs: CommandDirs<'a>,
    /// The path at which it finds them.
    pub fixed_root: Option<&'a FixedRoot>,
    /// Its environment: `PATH`, and the places of toolchains and certificates.
    pub env: &'a Variables,
    /// Other directories that it can write to.
    pub writable: Vec<Utf8PathBuf>,
    /// Files and directories that it can read.
    pub readable: Vec<Utf8PathBuf>,
    /// Files and directories that it cannot see, although they are in one that it can read.
    pub hidden: Vec<Utf8PathBuf>,
    /// Its network is one of its own, in which nothing but loopback is there.
    pub own_network: bool,
    /// The ports that are a way out of that, where rules take the place of a network.
    pub reachable_ports: Vec<u16>,
    /// It is a service of the suite.
    pub is_service: bool,
    /// Its own words, which may name programs and scripts: they are shown with what they need.
    pub words: Words<'a>,
    /// The workspace once more, for the work that a test starts.
    pub mirror: Option<Mirror<'a>>,
}

/// The workspace at a second path, with an empty file over each hidden one.
#[derive(Debug, Clone)]
pub struct Mirror<'a> {
    /// The directory that has it.
    pub dir: Utf8PathBuf,
    /// The hidden files, as paths in the workspace.
    pub hidden: &'a [Utf8PathBuf],
}

impl View<'_> {
    /// Returns the directories that it can write to.
    fn own_dirs(&self) -> Vec<&Utf8Path> {
        let dirs = self.dirs;
        let own = [dirs.workspace, dirs.home, dirs.tmp];
        let writable = self.writable.iter().map(Utf8PathBuf::as_path);
        own.into_iter().chain(writable).collect()
    }
}

/// The words of a command that may name files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words<'a> {
    /// The file of its program.
    pub program: Option<&'a Utf8Path>,
    /// Other words, of which those that are absolute paths count.
    pub others: &'a [String],
}

/// A sandbox, as it works on this machine.
#[derive(Debug)]
struct Wall {
    kind: ContainedBy,
    /// Terca's own program, as it is found inside.
    own_program: Utf8PathBuf,
    /// Commands have the number of the superuser inside.
    is_superuser: bool,
    means: Means,
}

/// The way in which a sandbox is made.
#[derive(Debug)]
enum Means {
    Bwrap(Bwrap),
    Landlock(Contents),
    /// The image has the software inside, in the place of the machine's.
    Container(Arc<Containers>, FoundImage),
}

impl Wall {
    fn of_container(containers: Arc<Containers>, image: FoundImage) -> Self {
        Wall {
            kind: containers.engine.engine.into(),
            own_program: container::own_program(),
            is_superuser: containers.is_superuser,
            means: Means::Container(containers, image),
        }
    }

    fn image(&self) -> Option<&FoundImage> {
        match &self.means {
            Means::Container(_, image) => Some(image),
            Means::Bwrap(_) | Means::Landlock(_) => None,
        }
    }

    /// Returns the enclosure of a command that sees `view`.
    fn enclosure(&self, view: &View<'_>) -> Enclosure {
        let enclosure = match &self.means {
            Means::Bwrap(bwrap) => bwrap.enclosure(view),
            Means::Landlock(contents) => landlock::enclosure(contents, view),
            Means::Container(containers, image) => containers.enclosure(image, view),
        };
        Enclosure {
            supervisor: self.own_program.clone(),
            // Rules mount nothing.
            has_fixed_root: !matches!(self.means, Means::Landlock(_)),
            ..enclosure
        }
    }
}

/// The sandboxes of a run.
#[derive(Debug, Default)]
pub struct Sandboxes {
    /// A wall for each sandbox that is asked for by name.
    walls: Walls,
    /// The sandboxes that there should be, and whose images could not be built.
    failures: Failures,
    /// The sandbox of commands that leave the choice to the machine.
    best: Option<Sandbox>,
    /// The sandbox of commands for which none is asked, and of those that ask for the best one: as the run has
    /// settled it, or as the machine's owner has chosen it.
    settled: SettledSandboxes,
    /// The sandbox that the run has settled for commands for which none is asked, where a new run has another.
    pub kept: Option<Sandbox>,
    /// The reason why commands for which none is asked have no sandbox, although nobody wanted that.
    pub impossible: Option<SandboxError>,
}

/// Makes walls.
struct Builder<'a> {
    /// Makes an empty directory for files that all walls of a kind need.
    new_dir: &'a dyn Fn() -> io::Result<Utf8PathBuf>,
    host: &'a Host,
    /// Nothing in these directories is ever shown because it is beside something else.
    secluded: Vec<Utf8PathBuf>,
    builds: Builds<'a>,
    engines: BTreeMap<ContainerEngine, Arc<Containers>>,
    /// The walls that were made so far.
    walls: Walls,
    failures: Failures,
}

/// The images that could not be built, by the sandbox that asks for them.
type Failures = Vec<(Sandbox, BuildFailure)>;

/// Walls by the sandbox that asks for them.
type Walls = Vec<(Sandbox, Wall)>;

impl Builder<'_> {
    /// Makes the wall of a sandbox that has a name, once. An image that cannot be built is noted: the trials that need it
    /// end in an error, and others do not need it.
    fn wall(&mut self, sandbox: &Sandbox) -> Result<(), SandboxError> {
        let is_known = |known: &Sandbox| known == sandbox;
        if self.walls.iter().any(|(known, _)| is_known(known))
            || self.failures.iter().any(|(known, _)| is_known(known))
        {
            return Ok(());
        }
        match self.make(sandbox) {
            Ok(wall) => self.walls.push((sandbox.clone(), wall)),
            Err(SandboxError::Build(failures)) => {
                let failures = failures
                    .into_iter()
                    .map(|failure| (sandbox.clone(), failure));
                self.failures.extend(failures);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn make(&mut self, sandbox: &Sandbox) -> Result<Wall, SandboxError> {
        if let Some((engine, image)) = sandbox.container() {
            let containers = self.engine(engine)?;
            let mut image = containers.try_image(image, self.host)?;
            // Whoever made it did not know of the workspace.
            image.workdir = None;
            return Ok(Wall::of_container(containers, image));
        }
        if let Some(build) = sandbox.build() {
            let containers = self.any_engine()?;
            let dir = (self.new_dir)()?;
            let name = self.builds.build(build, &containers.engine, &dir)?;
            let image = containers.try_image(&name, self.host)?;
            return Ok(Wall::of_container(containers, image));
        }
        let dir = (self.new_dir)()?;
        let contents = Contents::set_up(&dir, &self.secluded)?;
        if *sandbox == Sandbox::Landlock {
            landlock::try_out(&contents)?;
            return Ok(Wall {
                kind: ContainedBy::Landlock,
                own_program: contents.own_program.clone(),
                // Rules change nobody's number.
                is_superuser: rustix::process::geteuid().is_root(),
                means: Means::Landlock(contents),
            });
        }
        Ok(Wall {
            kind: ContainedBy::Bwrap,
            own_program: SUPERVISOR.into(),
            is_superuser: false,
            means: Means::Bwrap(Bwrap::set_up(&dir, self.host, contents)?),
        })
    }

    /// Returns the engine that builds images: Docker, or Podman where Docker does not work.
    fn any_engine(&mut self) -> Result<Arc<Containers>, SandboxError> {
        let docker = match self.engine(ContainerEngine::Docker) {
            Ok(containers) => return Ok(containers),
            Err(error @ SandboxError::Files(_)) => return Err(error),
            Err(error) => Box::new(error),
        };
        self.engine(ContainerEngine::Podman)
            .map_err(|error| SandboxError::NoBuildEngine {
                docker,
                podman: Box::new(error),
            })
    }

    fn engine(&mut self, engine: ContainerEngine) -> Result<Arc<Containers>, SandboxError> {
        if let Some(known) = self.engines.get(&engine) {
            return Ok(known.clone());
        }
        let dir = (self.new_dir)()?;
        let containers = Arc::new(Containers::set_up(engine, &dir, self.host, &self.secluded)?);
        self.engines.insert(engine, containers.clone());
        Ok(containers)
    }

    /// Makes the best wall that works on this machine. Returns its sandbox.
    fn best(&mut self) -> Result<Sandbox, SandboxError> {
        let bwrap = match self.wall(&Sandbox::Bwrap) {
            Ok(()) => return Ok(Sandbox::Bwrap),
            Err(error @ SandboxError::Files(_)) => return Err(error),
            Err(error) => error,
        };
        match self.wall(&Sandbox::Landlock) {
            Ok(()) => Ok(Sandbox::Landlock),
            Err(landlock) => Err(SandboxError::Neither {
                bwrap: Box::new(bwrap),
                landlock: Box::new(landlock),
            }),
        }
    }
}

impl Sandboxes {
    /// Settles, once for a run, how its sandboxes are made, and tries it. `asked` has `None` for those who do not
    /// say: they get a sandbox if the machine can make one. A run that goes on keeps what it has `settled`. `new_dir`
    /// makes an empty directory for files that all of them need; nothing in one of `secluded` is ever shown because it
    /// is beside something else.
    pub fn set_up<'a>(
        asked: impl IntoIterator<Item = Option<&'a Sandbox>>,
        settled: &SettledSandboxes,
        new_dir: impl Fn() -> io::Result<Utf8PathBuf>,
        host: &Host,
        secluded: &[&Utf8Path],
        builds: Builds<'_>,
    ) -> Result<Self, SandboxError> {
        let of_machine = of_machine(host)?;
        let kept = settled.unsaid.as_ref();
        let mut sandboxes = Sandboxes {
            kept: kept
                .filter(|kept| is_other(kept, of_machine.as_ref()))
                .cloned(),
            settled: SettledSandboxes {
                unsaid: kept.cloned().or(of_machine),
                auto: settled.auto.clone(),
            },
            ..Sandboxes::default()
        };
        let mut builder = Builder {
            new_dir: &new_dir,
            host,
            secluded: with_real_names(secluded, host),
            builds,
            engines: BTreeMap::new(),
            walls: Walls::new(),
            failures: Failures::new(),
        };
        let mut is_best_required = false;
        let mut is_best_wanted = false;
        let mut has_none = false;
        for asked in asked {
            match sandboxes.meant(asked) {
                Some(Sandbox::None) => has_none = true,
                Some(Sandbox::Auto) => is_best_required = true,
                None => is_best_wanted = true,
                Some(named) => builder.wall(named)?,
            }
        }
        let has_others =
            has_none || is_best_required || is_best_wanted || !builder.walls.is_empty();
        if !builder.failures.is_empty() && !has_others {
            let failures = builder.failures.into_iter().map(|(_, failure)| failure);
            return Err(SandboxError::Build(failures.collect()));
        }
        if is_best_required || is_best_wanted {
            match builder.best() {
                Ok(best) => sandboxes.best = Some(best),
                Err(error @ SandboxError::Files(_)) => return Err(error),
                Err(error) if is_best_required => return Err(error),
                Err(SandboxError::Neither { bwrap, .. }) => sandboxes.impossible = Some(*bwrap),
                Err(error) => sandboxes.impossible = Some(error),
            }
        }
        sandboxes.walls = builder.walls;
        sandboxes.failures = builder.failures;
        Ok(sandboxes)
    }

    /// Returns the sandbox that is meant where this one is asked for.
    fn meant<'a>(&'a self, asked: Option<&'a Sandbox>) -> Option<&'a Sandbox> {
        let meant = match asked {
            None => self.settled.unsaid.as_ref(),
            Some(Sandbox::Auto) => self.settled.auto.as_ref().or(asked),
            Some(_) => asked,
        };
        match meant {
            None | Some(Sandbox::Auto) => self.best.as_ref().or(meant),
            named => named,
        }
    }

    /// Returns the wall of commands, where this sandbox is asked for.
    fn wall(&self, asked: Option<&Sandbox>) -> Option<&Wall> {
        let meant = self.meant(asked)?;
        let mut walls = self.walls.iter();
        walls.find_map(|(name, wall)| (name == meant).then_some(wall))
    }

    /// Returns the image of the containers that commands run in, where this sandbox is asked for.
    pub fn image(&self, asked: Option<&Sandbox>) -> Option<&Image> {
        self.wall(asked)?.image().map(|image| &image.name)
    }

    /// Returns the directory of an image that becomes the workspace: commands find the workspace there.
    pub fn workdir(&self, asked: Option<&Sandbox>) -> Option<&Utf8Path> {
        self.wall(asked)?.image()?.workdir.as_deref()
    }

    /// Copies what an image has in that directory to an empty directory. The error is in the words of the engine.
    pub fn copy_workdir(&self, asked: Option<&Sandbox>, to: &Utf8Path) -> Result<(), String> {
        match self.wall(asked).map(|wall| &wall.means) {
            Some(Means::Container(containers, image)) => match &image.workdir {
                Some(workdir) => containers.copy_out(image, workdir, to),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Returns the hash of a container's image.
    pub fn image_id(&self, asked: Option<&Sandbox>) -> Option<&str> {
        self.wall(asked)?.image().map(|image| image.id.as_str())
    }

    /// Returns the environment that commands are made from: that of a container's image, or this one.
    pub fn host<'a>(&'a self, asked: Option<&Sandbox>, own: &'a Host) -> &'a Host {
        let image = self.wall(asked).and_then(Wall::image);
        image.map_or(own, |image| &image.host)
    }

    /// Returns whether commands have the number of the superuser.
    pub fn is_superuser(&self, asked: Option<&Sandbox>) -> bool {
        match self.wall(asked) {
            Some(wall) => wall.is_superuser,
            None => rustix::process::geteuid().is_root(),
        }
    }

    /// Returns what commands are contained by, where this sandbox is asked for.
    pub fn contained_by(&self, asked: Option<&Sandbox>) -> ContainedBy {
        let failed = || self.failed(asked).map(|failure| failure.engine().into());
        let wall = self.wall(asked).map(|wall| wall.kind);
        wall.or_else(failed).unwrap_or(ContainedBy::None)
    }

    fn failed(&self, asked: Option<&Sandbox>) -> Option<&BuildFailure> {
        let mut failures = self.failures.iter();
        failures.find_map(|(sandbox, failure)| (asked == Some(sandbox)).then_some(failure))
    }

    /// Refuses a trial whose image could not be built: there is nothing that its commands may run in.
    pub fn check(&self, asked: Option<&Sandbox>) -> Result<(), String> {
        self.failed(asked)
            .map_or(Ok(()), |failure| Err(failure.in_short()))
    }

    /// Returns Terca's own program as commands find it in this sandbox; `None` where there is none.
    pub fn tap_program(&self, asked: Option<&Sandbox>) -> Option<Utf8PathBuf> {
        self.wall(asked).map(|wall| wall.own_program.clone())
    }

    /// Returns what rules inside of a sandbox can allow a command to read that has this view. Where the rest of the machine is
    /// not there, or is in reach anyway, that is all.
    pub fn readable(&self, asked: Option<&Sandbox>, view: &View<'_>) -> Vec<Utf8PathBuf> {
        match self.wall(asked).map(|wall| &wall.means) {
            Some(Means::Landlock(contents)) => landlock::readable(contents, view),
            _ => vec!["/".into()],
        }
    }

    /// Returns the enclosure of a command that sees `view`; `None` where there is no sandbox.
    pub fn enclosure(&self, asked: Option<&Sandbox>, view: &View<'_>) -> Option<Enclosure> {
        self.wall(asked).map(|wall| wall.enclosure(view))
    }
}

/// Returns whether a new run may have another sandbox than this one, where the machine's owner has chosen `of_machine`.
fn is_other(kept: &Sandbox, of_machine: Option<&Sandbox>) -> bool {
    match of_machine {
        None | Some(Sandbox::Auto) => *kept == Sandbox::None,
        Some(chosen) => chosen != kept,
    }
}

/// Returns the sandbox of those who do not say, if the machine's owner has chosen one.
fn of_machine(host: &Host) -> Result<Option<Sandbox>, SandboxError> {
    match host.get(DEFAULT_SANDBOX) {
        None | Some("") => Ok(None),
        Some(word) => match word.parse() {
            Ok(sandbox) => Ok(Some(sandbox)),
            Err(_) => Err(SandboxError::UnknownDefault(word.to_owned())),
        },
    }
}

/// Tries a sandbox. Returns the file of the program that made it.
pub fn try_out(host: &Host) -> Result<Utf8PathBuf, SandboxError> {
    let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
    let dir = work.new_dir()?;
    let secluded = with_real_names(&[], host);
    let contents = Contents::set_up(&dir, &secluded)?;
    Bwrap::set_up(&dir, host, contents).map(|bwrap| bwrap.program)
}

/// Tries the rules of the kernel. Returns their strength.
pub fn try_landlock(host: &Host) -> Result<Strength, SandboxError> {
    let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
    landlock::try_out(&Contents::set_up(&work.new_dir()?, &[])?)
}

/// Asks an engine for containers whether it works. Returns the file of its program and its version.
pub fn try_engine(
    engine: ContainerEngine,
    host: &Host,
) -> Result<(Utf8PathBuf, String), SandboxError> {
    let program = EngineProgram::find(engine, host)?;
    let answer = program.answer()?;
    Ok((program.program, answer.version))
}

/// Adds the home directory, and the same directories under their real names.
fn with_real_names(secluded: &[&Utf8Path], host: &Host) -> Vec<Utf8PathBuf> {
    let home = host.get("HOME").map(Utf8Path::new);
    let mut all = Vec::new();
    for place in secluded.iter().copied().chain(home) {
        all.push(place.to_owned());
        all.extend(place.canonicalize_utf8());
    }
    all
}
