//! The programs that install packages: npm for Node, `uv` or else pip for Python.

use std::io::{self, Read};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::Package;
use terca_core::process::Signal;
use terca_core::text::prose;
use terca_core::text::stripped::stripped;

use crate::host::environment::{Host, find_program};
use crate::host::version::version_in;
use crate::process::interrupt::Interrupt;
use crate::process::output_file::Output;
use crate::process::supervise::{Job, Launcher, Supervisor, Turn};
use crate::workspace::trial_dirs::WorkDir;

/// The time after which a package manager is ended. Agents have hundreds of megabytes.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
const GRACE: Duration = Duration::from_secs(5);
/// The most lines of its output that a message has.
const MOST_LINES: usize = 8;
/// The words of npm, pip and uv for a version that there is not.
const NO_VERSION: [&str; 3] = [
    "No matching version found for ", "satisfies the requirement ", "there is no version of ",
];
/// The words of pip if it has reached no registry.
const NO_REGISTRY: &str = "(from versions: none)";

/// The means to install an agent.
#[derive(Debug, Clone, Copy)]
pub struct Means<'a> {
    /// The environment that Terca was started with: the registry that its user has chosen is there.
    pub host: &'a Host,
    /// The directory for files that are in the way afterwards.
    pub work: &'a WorkDir,
    /// The signal to stop.
    pub interrupt: &'a Interrupt,
    /// Tells the user that it begins, since it may take long.
    pub tell: Option<fn(&str)>,
}

/// A package that could not be installed.
#[derive(Debug)]
pub(super) enum Refusal {
    NoSuchVersion,
    /// The last lines that were printed, each after a line break.
    Failed(String),
    Files(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal::Files(error)
    }
}

/// A program that installs a package.
pub(super) struct Manager {
    kind: Kind,
    program: Utf8PathBuf,
}

enum Kind {
    Npm(&'static str),
    /// The package, and others beside it.
    Uv(&'static str, &'static [&'static str]),
    /// Python's own.
    Pip(&'static str, &'static [&'static str]),
}

impl Manager {
    /// Finds the program that installs a package. Returns its name if it is not there.
    pub(super) fn find(package: Package, host: &Host) -> Result<Self, &'static str> {
        let path = host.get("PATH").unwrap_or_default();
        let (name, kind) = match package {
            Package::Npm(name) => ("npm", Kind::Npm(name)),
            Package::PyPi(name, beside) if find_program("uv", path).is_some() => {
                ("uv", Kind::Uv(name, beside))
            }
            Package::PyPi(name, beside) => ("python3", Kind::Pip(name, beside)),
        };
        let missing = match package {
            Package::Npm(_) => "`npm`",
            Package::PyPi(..) => "neither `uv` nor `python3`",
        };
        let program = find_program(name, path).ok_or(missing)?;
        Ok(Manager { kind, program })
    }

    /// Returns the latest version of the package that the registry has.
    pub(super) fn latest(&self, means: Means<'_>) -> Result<String, Refusal> {
        let said = match self.kind {
            Kind::Npm(name) => self.run(&["view", name, "version"], means),
            Kind::Uv(name, _) => {
                let file = means.work.new_dir()?.join("requirements.in");
                fs_err::write(&file, format!("{name}\n"))?;
                let plain = ["--no-deps", "--no-header", "--no-annotate", "--quiet"];
                self.run(
                    &[&["pip", "compile", file.as_str()], &plain[..]].concat(),
                    means,
                )
            }
            Kind::Pip(name, _) => self.run(&["-m", "pip", "index", "versions", name], means),
        }?;
        let unclear = || Refusal::Failed(format!("\n  it names no version: {}", said.trim()));
        version_in(&said).ok_or_else(unclear)
    }

    /// Installs a version of the package into an empty directory, and its program into `bin` there.
    pub(super) fn install(
        &self,
        version: &str,
        program: &str,
        place: &Utf8Path,
        means: Means<'_>,
    ) -> Result<(), Refusal> {
        let package = match self.kind {
            Kind::Npm(name) => format!("{name}@{version}"),
            Kind::Uv(name, _) | Kind::Pip(name, _) => format!("{name}=={version}"),
        };
        let filled = self.fill(&package, program, place, means);
        filled.map_err(|refusal| match refusal {
            Refusal::Failed(said) if is_no_version(&said, &package) => Refusal::NoSuchVersion,
            other => other,
        })
    }

    fn fill(
        &self,
        package: &str,
        program: &str,
        place: &Utf8Path,
        means: Means<'_>,
    ) -> Result<(), Refusal> {
        let (name, beside) = match self.kind {
            Kind::Npm(_) => {
                let quiet = ["--no-audit", "--no-fund", "--no-update-notifier"];
                let args = ["install", "--global", "--prefix", place.as_str(), package];
                return self.run(&[&args[..], &quiet].concat(), means).map(|_| ());
            }
            Kind::Uv(name, beside) | Kind::Pip(name, beside) => (name, beside),
        };
        let packages = [&[package], beside].concat();
        let environment = place.join("venv");
        let python = environment.join("bin/python");
        if let Kind::Uv(..) = self.kind {
            self.run(&["venv", "--quiet", environment.as_str()], means)?;
            let install = ["pip", "install", "--quiet", "--python", python.as_str()];
            self.run(&[&install[..], &packages].concat(), means)?;
        } else {
            self.run(&["-m", "venv", environment.as_str()], means)?;
            let own = Manager {
                program: python,
                kind: Kind::Pip(name, beside),
            };
            let install = [
                "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            ];
            own.run(&[&install[..], &packages].concat(), means)?;
        }
        // The environment's own `python` must not come before the user's.
        fs_err::create_dir(place.join("bin"))?;
        let target = format!("../venv/bin/{program}");
        Ok(fs_err::os::unix::fs::symlink(
            target,
            place.join("bin").join(program),
        )?)
    }

    /// Runs the program as its user would. Returns its output.
    fn run(&self, args: &[&str], means: Means<'_>) -> Result<String, Refusal> {
        let dir = means.work.new_dir()?;
        let (stdout, stderr) = (Output::create(&dir)?, Output::create(&dir)?);
        let variables = means.host.all();
        let job = Job {
            program: self.program.clone(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: (variables.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect(),
            dir,
            stdin: None,
            stdout: stdout.path.clone(),
            stderr: stderr.path.clone(),
            timeout: PATIENCE,
            stop_signal: Signal::Terminate,
            fixed_root: None,
            grace: GRACE,
            sweep: true,
        };
        let failed = |error: &dyn std::fmt::Display| Refusal::Failed(format!(" {error}"));
        let supervisor = Supervisor::start(&Launcher::of_this_program());
        let mut supervisor = supervisor.map_err(|error| failed(&error))?;
        let ended = supervisor.run(&job, means.interrupt, &mut || Turn::Wait);
        let ended = ended.map_err(|error| failed(&error))?;
        let output = text(&stdout)?;
        match ended.exit.code() {
            Some(0) => Ok(output),
            _ => Err(reason(&format!("{output}\n{}", text(&stderr)?))),
        }
    }
}

fn text(output: &Output) -> io::Result<String> {
    let mut bytes = Vec::new();
    output.rewound()?.read_to_end(&mut bytes)?;
    Ok(stripped(&String::from_utf8_lossy(&bytes)))
}

/// Tells whether the registry has no such package in this version. One that it depends on may be missing, too.
fn is_no_version(said: &str, package: &str) -> bool {
    let mut words = NO_VERSION.iter();
    words.any(|words| said.contains(&format!("{words}{package}"))) && !said.contains(NO_REGISTRY)
}

/// Returns the reason that a package manager gives, in its last lines.
fn reason(output: &str) -> Refusal {
    let is_telling = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("npm warn") && !line.contains("complete log of this")
    };
    let lines: Vec<&str> = output.lines().filter(is_telling).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(MOST_LINES));
    match lines.is_empty() {
        true => Refusal::Failed(" the package manager says nothing".to_owned()),
        false => Refusal::Failed(prose::joined(last.map(|line| format!("\n  {line}")), "")),
    }
}
