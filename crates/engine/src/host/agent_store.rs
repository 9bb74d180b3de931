//! Agents that Terca installs, each in the version that a suite asks for.
//!
//! They are in `.terca/cache/agents`, apart from what the user has installed. A package manager fills a directory of its own, under
//! a lock that one run alone holds. The program must then say the version that was asked for, and a link gives the directory
//! its name: an installation that broke off has none, and is never used. Nothing is moved, since programs of Python have
//! their own place written down.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{AgentChoice, LATEST, Package, Profile};
use terca_core::grade::failure_line;
use terca_core::text::mask::Mask;
use thiserror::Error;

pub use super::package_manager::Means;
use super::package_manager::{Manager, Refusal};
use crate::host::environment::{Host, Variables, is_program};
use crate::host::version::{self, VersionQuestion};
use crate::locked;
use crate::process::supervise::Launcher;
use crate::workspace::layers::{cache_dir, wait_for_turn};
use crate::workspace::own_dirs::remove_and_tell;

/// The directory of the agents in the cache of a suite.
pub const AGENTS: &str = "agents";

/// An agent that could not be installed.
#[derive(Debug, Error)]
pub enum InstallError {
    /// The package manager is not there.
    #[error("{agent} cannot be installed: {program} was not found")]
    NoManager {
        /// The agent and its version.
        agent: String,
        /// The program that installs it.
        program: &'static str,
    },
    /// The registry has no such version.
    #[error("there is no {agent}: the package {package} has no such version")]
    NoSuchVersion {
        /// The agent and its version.
        agent: String,
        /// The name of its package.
        package: &'static str,
    },
    /// The package manager gave up.
    #[error("{agent} could not be installed:{said}")]
    Failed {
        /// The agent and its version.
        agent: String,
        /// The last lines that it printed, each after a line break.
        said: String,
    },
    /// The program is another than was asked for.
    #[error("{agent} was installed, but the program says {said}")]
    OtherVersion {
        /// The agent and its version.
        agent: String,
        /// The version that it reports, in words.
        said: String,
    },
    /// The user has interrupted it.
    #[error("interrupted while {0} was installed")]
    Interrupted(String),
    /// Its files cannot be written.
    #[error("the agents of the suite cannot be kept: {0}")]
    Files(#[from] io::Error),
}

/// An agent that Terca has installed.
#[derive(Debug, Clone)]
pub struct InstalledAgent {
    /// Its version.
    pub version: String,
    /// The directory with its program and no other.
    pub bin: Utf8PathBuf,
}

/// The agents of a suite that Terca has installed.
#[derive(Debug)]
pub struct AgentStore {
    dir: Utf8PathBuf,
    /// The versions that `latest` means, by agent.
    latest: Mutex<BTreeMap<String, String>>,
    /// The agents that were found or installed, by program and version.
    known: Mutex<HashMap<String, InstalledAgent>>,
    /// Keeps `terca clean` from removing them.
    in_use: Mutex<Option<File>>,
}

impl AgentStore {
    /// Opens the store of a suite, in which `latest` means these versions.
    pub fn of_suite(suite_dir: &Utf8Path, latest: BTreeMap<String, String>) -> Self {
        AgentStore::in_dir(cache_dir(suite_dir).join(AGENTS), latest)
    }

    /// Opens a store in this directory.
    pub fn in_dir(dir: Utf8PathBuf, latest: BTreeMap<String, String>) -> Self {
        AgentStore {
            dir,
            latest: Mutex::new(latest),
            known: Mutex::default(),
            in_use: Mutex::default(),
        }
    }

    /// Returns the versions that `latest` means, by agent, as far as it was asked.
    pub fn latest(&self) -> BTreeMap<String, String> {
        locked(&self.latest).clone()
    }

    /// Returns the version that a suite asks for, as a number. The registry is asked once for the latest. `None` where it
    /// asks for none.
    pub fn version_of(
        &self,
        choice: &AgentChoice,
        means: Means<'_>,
    ) -> Result<Option<String>, InstallError> {
        let profile = choice.agent.profile();
        let (Some(asked), Some(package)) = (&choice.version, profile.package) else {
            return Ok(None);
        };
        if asked != LATEST {
            return Ok(Some(asked.clone()));
        }
        let mut latest = locked(&self.latest);
        if let Some(known) = latest.get(profile.name) {
            return Ok(Some(known.clone()));
        }
        let agent = format!("{} {LATEST}", profile.name);
        let manager = Manager::find(package, means.host).map_err(no_manager(&agent))?;
        let found = manager.latest(means).map_err(refused(&agent, package))?;
        latest.insert(profile.name.to_owned(), found.clone());
        Ok(Some(found))
    }

    /// Returns the agent that a suite asks for by its version, installed now if it was not. `None` for one without a version.
    pub fn get(
        &self,
        choice: &AgentChoice,
        means: Means<'_>,
    ) -> Result<Option<InstalledAgent>, InstallError> {
        let profile = choice.agent.profile();
        let Some(version) = self.version_of(choice, means)? else {
            return Ok(None);
        };
        let Some(key) = key(profile, &version) else {
            return Ok(None);
        };
        let mut known = locked(&self.known);
        if let Some(known) = known.get(&key) {
            return Ok(Some(known.clone()));
        }
        fs_err::create_dir_all(&self.dir)?;
        self.hold()?;
        let bin = match self.find(profile, &version) {
            Some(bin) => bin,
            None => (self.install(profile, &version, means)).map_err(|error| {
                match means.interrupt.is_stop() {
                    true => InstallError::Interrupted(format!("{} {version}", profile.name)),
                    false => error,
                }
            })?,
        };
        let installed = InstalledAgent { version, bin };
        known.insert(key, installed.clone());
        Ok(Some(installed))
    }

    /// Returns the program that a suite asks for by its version, if it is there already.
    pub fn program(&self, choice: &AgentChoice) -> Option<Utf8PathBuf> {
        let profile = choice.agent.profile();
        let asked = choice.version.clone()?;
        let latest = self.latest().get(profile.name).cloned();
        let version = latest.filter(|_| asked == LATEST).unwrap_or(asked);
        Some(self.find(profile, &version)?.join(profile.program?))
    }

    /// Returns the reason why an agent that is not there yet cannot be installed here. Asks no registry.
    pub fn cannot_install(&self, choice: &AgentChoice, host: &Host) -> Option<InstallError> {
        let profile = choice.agent.profile();
        let agent = format!("{} {}", profile.name, choice.version.as_ref()?);
        if self.program(choice).is_some() {
            return None;
        }
        let manager = Manager::find(profile.package?, host);
        manager.err().map(no_manager(&agent))
    }

    /// Returns the directory of an agent's program, if it is there already.
    fn find(&self, profile: &Profile, version: &str) -> Option<Utf8PathBuf> {
        let link = self.dir.join(key(profile, version)?);
        let bin = link.canonicalize_utf8().ok()?.join("bin");
        is_program(&bin.join(profile.program?)).then_some(bin)
    }

    /// Keeps `terca clean` away. Where directories cannot be locked, they may be removed while they are used.
    fn hold(&self) -> io::Result<()> {
        let mut in_use = locked(&self.in_use);
        if in_use.is_none() {
            let lock = File::open(&self.dir)?;
            *in_use = lock.try_lock_shared().is_ok().then_some(lock);
        }
        Ok(())
    }

    /// Installs an agent, or waits for the run that does.
    fn install(
        &self,
        profile: &'static Profile,
        version: &str,
        means: Means<'_>,
    ) -> Result<Utf8PathBuf, InstallError> {
        let agent = format!("{} {version}", profile.name);
        let (Some(package), Some(key)) = (profile.package, key(profile, version)) else {
            return Err(InstallError::Files(io::ErrorKind::Unsupported.into()));
        };
        let lock = self.dir.join(format!("{key}.lock"));
        let _turn = wait_for_turn(&lock, means.interrupt)?;
        if let Some(bin) = self.find(profile, version) {
            return Ok(bin);
        }
        let manager = Manager::find(package, means.host).map_err(no_manager(&agent))?;
        self.remove_half(&key)?;
        if let Some(tell) = means.tell {
            tell(&format!("installing {agent} …"));
        }
        let name = format!("{key}.{:08x}", fastrand::u32(..));
        let place = self.dir.join(&name);
        fs_err::create_dir(&place)?;
        let program = profile.program.unwrap_or_default();
        let filled = manager.install(version, program, &place, means);
        let filled = filled.map_err(refused(&agent, package));
        let filled = filled.and_then(|()| prove(profile, version, &place, means));
        if let Err(error) = filled {
            remove_and_tell(&place);
            return Err(error);
        }
        let link = self.dir.join(&key);
        // One whose files are gone.
        let _ = fs_err::remove_file(&link);
        fs_err::os::unix::fs::symlink(&name, &link)?;
        Ok(place.join("bin"))
    }

    /// Removes what installations of an agent that broke off have left. None of them goes on: the caller has the lock.
    fn remove_half(&self, key: &str) -> io::Result<()> {
        for entry in self.dir.read_dir_utf8()?.flatten() {
            let rest = entry.file_name().strip_prefix(key);
            let is_half = rest.is_some_and(|rest| rest.starts_with('.') && rest != ".lock");
            if is_half {
                remove_and_tell(entry.path());
            }
        }
        Ok(())
    }
}

/// Returns the name of an agent in the store.
fn key(profile: &Profile, version: &str) -> Option<String> {
    Some(format!("{}-{version}", profile.program?))
}

fn no_manager(agent: &str) -> impl FnOnce(&'static str) -> InstallError {
    let agent = agent.to_owned();
    move |program| InstallError::NoManager { agent, program }
}

fn refused(agent: &str, package: Package) -> impl FnOnce(Refusal) -> InstallError {
    let agent = agent.to_owned();
    let (Package::Npm(package) | Package::PyPi(package, _)) = package;
    move |refusal| match refusal {
        Refusal::NoSuchVersion => InstallError::NoSuchVersion { agent, package },
        Refusal::Failed(said) => InstallError::Failed { agent, said },
        Refusal::Files(error) => InstallError::Files(error),
    }
}

/// Asks an agent that was installed here for its version, which must be the one that was asked for.
fn prove(
    profile: &'static Profile,
    version: &str,
    place: &Utf8Path,
    means: Means<'_>,
) -> Result<(), InstallError> {
    let program = place.join("bin").join(profile.program.unwrap_or_default());
    let dirs = means.work.trial_dirs()?;
    let mut env = means.host.base(dirs.for_agent());
    lead(&mut env, &place.join("bin"));
    let question = VersionQuestion {
        profile,
        program: &program,
        image: None,
        env: &env,
        dir: &dirs.root.join("probe"),
    };
    let launcher = Launcher::of_this_program();
    let said = match version::answer(&launcher, question, || None, means.interrupt) {
        Some(Ok(said)) if said == version => return Ok(()),
        Some(Ok(said)) => format!("that it is {said}"),
        Some(Err(words)) => match failure_line(&Mask::default().masked(&words)) {
            Some(line) => format!("no version: {line}"),
            None => "no version".to_owned(),
        },
        None => "no version".to_owned(),
    };
    Err(InstallError::OtherVersion {
        agent: format!("{} {version}", profile.name),
        said,
    })
}

/// Leads a `PATH` to the program of an agent first.
pub fn lead(env: &mut Variables, bin: &Utf8Path) {
    let path = env.entry("PATH".to_owned()).or_default();
    *path = match path.is_empty() {
        true => bin.to_string(),
        false => format!("{bin}:{path}"),
    };
}
