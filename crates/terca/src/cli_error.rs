//! A command that did not do what it was asked to do.
//!
//! Commands return it, and it is shown in one place and in one form: what happened and where, what to do next, and
//! the code under which there is more to read. Libraries know what happened; what to type next is known here alone.

use std::fmt;
use std::fmt::Display;
use std::io;

use camino::Utf8PathBuf;
use terca_core::ablation::{DesignError, Kind};
use terca_core::analysis::compare::CompareError;
use terca_core::analysis::summary::By;
use terca_core::run::merge::MergeError;
use terca_core::run::run_file::RunFileError;
use terca_core::text::{Code, Diagnostic, prose, shell};
use terca_engine::host::agent_store::InstallError;
use terca_engine::run::ablate::AblateError;
use terca_engine::run::merge_runs::MergeRunsError;
use terca_engine::run::offered_tools::ToolsError;
use terca_engine::run::past_runs::RunsError;
use terca_engine::run::saved_workspace::WorkspaceError;
use terca_engine::run::start::StartError;
use terca_engine::run::store::StoreError;
use terca_engine::run::trial_thread::GivenUp;
use terca_engine::sandbox::SandboxError;
use terca_engine::suite::discover::{DiscoverError, Guess};
use terca_engine::workers::NoWorkers;
use terca_engine::workspace::saved::restore::RestoreError;

use crate::args::Common;
use crate::screen;

/// Exit status: wrong usage or configuration, nothing was run.
pub const MISUSE: u8 = 2;
/// Exit status: some trials, or Terca itself, could not do their work.
pub const TROUBLE: u8 = 3;
/// Exit status: a signal ended it.
pub const INTERRUPTED: u8 = 130;

/// The result of a command: an exit status, or an error.
pub type Outcome = Result<u8, CliError>;

/// An error for the user.
#[derive(Debug)]
pub struct CliError {
    status: u8,
    /// `None` when it has been shown already.
    message: Option<(Code, String)>,
}

impl CliError {
    /// Wrong usage or configuration: nothing was done.
    pub fn misuse(code: Code, text: impl Display) -> Self {
        CliError {
            status: MISUSE,
            message: Some((code, text.to_string())),
        }
    }

    /// The machine refused.
    pub fn trouble(code: Code, text: impl Display) -> Self {
        CliError {
            status: TROUBLE,
            message: Some((code, text.to_string())),
        }
    }

    /// Trials have nowhere to work.
    pub fn no_work_dir(status: u8, error: &io::Error) -> Self {
        let error = CliError {
            status,
            message: Some((Code::NoWorkDir, error.to_string())),
        };
        error.help("set TERCA_WORK_DIR to a directory of yours, outside of any project and home")
    }

    /// Every reason has been shown.
    pub fn shown(status: u8) -> Self {
        CliError {
            status,
            message: None,
        }
    }

    /// Adds a line that says what to do next.
    pub fn help(mut self, help: impl Display) -> Self {
        if let Some((_, text)) = &mut self.message {
            *text += &format!("\nhelp: {help}");
        }
        self
    }

    /// Makes an error of its exit status, its code and what to do next, if that is known.
    pub fn told(error: impl Display, (status, code, help): (u8, Code, impl Display)) -> Self {
        let help = help.to_string();
        let told = CliError {
            status,
            message: Some((code, error.to_string())),
        };
        match help.as_str() {
            "" => told,
            help => told.help(help),
        }
    }

    /// Shows it, and returns the exit status.
    pub fn show(&self, common: &Common) -> u8 {
        if let Some((code, text)) = &self.message {
            screen::error(*code, text, common.color);
            screen::err_where_explained(&[*code], common.color);
        }
        self.status
    }
}

/// The message with its help, without the code.
impl Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.message.as_ref().map(|(_, text)| text.as_str());
        f.write_str(text.unwrap_or_default())
    }
}

/// A problem of the command line, which is in no file.
impl From<Diagnostic> for CliError {
    fn from(problem: Diagnostic) -> Self {
        let error = CliError::misuse(problem.code, &problem.message);
        problem.help.iter().fold(error, CliError::help)
    }
}

impl From<AblateError> for CliError {
    fn from(error: AblateError) -> Self {
        let text = error.to_string();
        let told = match error {
            AblateError::Unknown { known, .. } => {
                let known = prose::quoted_list(&known, "and");
                (MISUSE, Code::NoMatch, format!("its experiments are {known}"))
            }
            AblateError::Nothing { key, .. } => (
                MISUSE,
                Code::Usage,
                format!("write `{key}` into the experiment itself: those of environments are not split"),
            ),
            AblateError::Tools(ToolsError::Start(error)) => return error.into(),
            AblateError::Tools(ToolsError::Interrupted) => {
                (INTERRUPTED, Code::Interrupted, String::new())
            }
            AblateError::Tools(ToolsError::Server { .. }) => (
                TROUBLE,
                Code::Mcp,
                "it is started in an empty directory, without `before`; `--parts servers` leaves out whole servers".into(),
            ),
            AblateError::Unreadable(_) => (TROUBLE, Code::MissingFile, String::new()),
            AblateError::Changed(_) => (
                MISUSE,
                Code::SuiteChanged,
                "restore the rules that the run was made from, or run the ablation again".into(),
            ),
            AblateError::Design { error, .. } => match error {
                DesignError::TooFewParts { kind: Kind::Rules, .. } => (
                    MISUSE,
                    Code::Usage,
                    "give the rules headings, mark parts with `<!-- part: NAME -->`, or split lists with `--split items`".into(),
                ),
                DesignError::TooFewParts { .. } => (
                    MISUSE,
                    Code::Usage,
                    "`terca run` compares a single one with the baseline".into(),
                ),
                DesignError::TooManyParts(_) => (
                    MISUSE,
                    Code::Usage,
                    "mark larger parts with `<!-- part: NAME -->`".into(),
                ),
                DesignError::TooFewTrials { needed, .. } => (
                    MISUSE,
                    Code::OutOfRange,
                    format!("give at least `-n {needed}`, or select more evals"),
                ),
            },
        };
        CliError::told(text, told)
    }
}

const IS_IT_WHOLE: &str = "check that no file of the run is missing; `terca list` lists the runs";

impl From<DiscoverError> for CliError {
    fn from(error: DiscoverError) -> Self {
        let (code, help) = match &error {
            DiscoverError::Open {
                meant: Some(meant), ..
            } => (Code::NoDirectory, format!("did you mean `{meant}`?")),
            DiscoverError::Open { .. } => (
                Code::NoDirectory,
                "a relative path is relative to the directory that Terca is started in".into(),
            ),
            DiscoverError::File { .. } => (Code::NoDirectory, "name the directory it is in".into()),
            DiscoverError::NoSuite { guess, .. } => (
                Code::NoSuite,
                match guess {
                    Some(Guess::Misnamed { path, right }) => format!(
                        "Terca does not read {}: rename it to {right}",
                        screen::short(path)
                    ),
                    Some(Guess::Below(suites)) => suites_below(suites),
                    None => "`terca init` makes a suite; `-C DIR` names another directory".into(),
                },
            ),
        };
        CliError::told(error, (MISUSE, code, help))
    }
}

/// Says where to go from a directory that has suites below it.
pub fn suites_below(suites: &[Utf8PathBuf]) -> String {
    const SHOWN: usize = 5;
    let named: Vec<String> = suites
        .iter()
        .take(SHOWN)
        .map(|suite| match screen::short(suite).as_str() {
            "" => ".".to_owned(),
            short => shell::quoted(short),
        })
        .collect();
    if let [only] = named.as_slice() {
        return format!("did you mean `cd {only}`? `-C {only}` works, too");
    }
    let more = match suites.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!(
        "go to the suite that you mean, or name it with `-C`: {}{more}",
        named.join(", ")
    )
}

impl From<WorkspaceError> for CliError {
    fn from(error: WorkspaceError) -> Self {
        let told = match &error {
            WorkspaceError::Saved { source, .. } => match source {
                RestoreError::NotSaved => (
                    MISUSE,
                    Code::NoWorkspace,
                    "the trial's changes.diff shows what the agent changed; `--keep` sets which workspaces are kept",
                ),
                RestoreError::OtherVersion(_) => {
                    (TROUBLE, Code::DamagedRun, "use that version of Terca")
                }
                _ => (TROUBLE, Code::DamagedRun, IS_IT_WHOLE),
            },
            WorkspaceError::Taken(_) => (
                MISUSE,
                Code::AlreadyThere,
                "name a directory that is not there yet: `--to DIR`",
            ),
            WorkspaceError::Write(_) => (
                TROUBLE,
                Code::CannotWrite,
                "`--to DIR` names another directory",
            ),
        };
        CliError::told(error, told)
    }
}

impl From<RunsError> for CliError {
    fn from(error: RunsError) -> Self {
        let (status, code) = match &error {
            RunsError::None(_) | RunsError::OnlyValidations(_) => (MISUSE, Code::NoRuns),
            RunsError::Unknown { .. } => (MISUSE, Code::UnknownRun),
            _ => (TROUBLE, Code::DamagedRun),
        };
        let help = match &error {
            RunsError::None(_) => "`terca` runs the suite; `-C DIR` names another suite",
            RunsError::Unknown { .. } => "`terca list` says more about them",
            RunsError::OnlyValidations(name) => {
                &format!("name it: `terca show {name}`; `terca` runs the suite")
            }
            RunsError::Journal { .. } => {
                "the file was edited, or is of another version of Terca; `terca verify` checks a run, `terca show` shows \
                 the undamaged part"
            }
            RunsError::RunFileChanged(_) => "restore the file; `terca verify` checks a run",
            RunsError::Shorter { .. } => {
                "restore the journal from a copy; to continue with this one, move results.json away"
            }
            RunsError::OtherResults(_) => {
                "restore the files from a copy; if the journal is right, move results.json away"
            }
            RunsError::RunFile {
                source: RunFileError::OtherVersion { .. },
                ..
            } => "use that version of Terca, or start a new run with `terca run`",
            RunsError::RunFile { .. } | RunsError::Read { .. } => IS_IT_WHOLE,
        };
        CliError::told(&error, (status, code, help))
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let told = match error {
            StoreError::Runs(error) => return error.into(),
            StoreError::GoingOn(_) => (
                TROUBLE,
                Code::RunGoingOn,
                "wait until it ends, or stop it with Ctrl+C in its terminal",
            ),
            StoreError::Open { .. } => (TROUBLE, Code::DamagedRun, IS_IT_WHOLE),
            StoreError::Refused { .. } => (
                TROUBLE,
                Code::CannotWrite,
                "check the disk space and the permissions",
            ),
        };
        CliError::told(error, told)
    }
}

impl From<NoWorkers> for CliError {
    fn from(error: NoWorkers) -> Self {
        match error {
            NoWorkers::Interrupted => CliError::shown(INTERRUPTED),
            NoWorkers::Io(error) => CliError::no_work_dir(MISUSE, &error),
            NoWorkers::GivenUp(place, GivenUp { reason, help }) => {
                let message = format!("no worker of `{place}` can be started: {reason}");
                CliError::told(message, (MISUSE, Code::NoWorker, help.unwrap_or_default()))
            }
        }
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        const FREE_SPACE: &str =
            "free some disk space, or choose another directory with `TERCA_WORK_DIR`";
        let told = match error {
            StartError::NoWorkDir(error) => return CliError::no_work_dir(MISUSE, &error),
            StartError::Store(error) => return error.into(),
            StartError::Replay(error) => return error.into(),
            StartError::Sandbox(refused) if !matches!(refused, SandboxError::Files(_)) => {
                let (code, help) = of_sandbox(&refused);
                return CliError::told(refused, (MISUSE, code, help));
            }
            StartError::Agent(error) => return error.into(),
            StartError::Variable(_) => (MISUSE, Code::Usage, "correct the variable, or remove it"),
            StartError::NoCopyOfSuite(_) | StartError::Sandbox(_) => {
                (TROUBLE, Code::CannotWrite, FREE_SPACE)
            }
            StartError::SandboxOfRun(_) => (
                MISUSE,
                Code::NoSandbox,
                "repair it (`terca doctor` shows which sandboxes work here), or resume on a machine where it works; \
                 for another sandbox, start a new run with `terca run`",
            ),
            StartError::Signals(_) | StartError::RunFile(_) => (TROUBLE, Code::Internal, ""),
        };
        CliError::told(error, told)
    }
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        let help = match &error {
            InstallError::Interrupted(_) => return CliError::shown(INTERRUPTED),
            InstallError::NoManager { .. } => {
                "install it; or remove `version`, and install the agent yourself"
            }
            InstallError::NoSuchVersion { .. } => "correct `version`; `latest` is the newest one",
            InstallError::Failed { .. } => {
                "check the network and the registry; nothing was kept, and the next run tries again"
            }
            InstallError::OtherVersion { .. } => {
                "write the whole number of a version; where the program fails, it may want a newer Node or Python"
            }
            InstallError::Files(_) => "check the disk space and the permissions",
        };
        CliError::told(&error, (MISUSE, Code::AgentNotReady, help))
    }
}

/// Returns the code of a sandbox that cannot be made, and what to do next.
fn of_sandbox(error: &SandboxError) -> (Code, String) {
    let help = match error {
        SandboxError::NoLandlock(_) | SandboxError::LandlockRefused(_) => {
            "write `sandbox: bwrap` or `sandbox: auto`; `terca doctor` shows which sandboxes work here".into()
        }
        SandboxError::EngineMissing { engine } => format!(
            "install it, and try `{} info`; `--sandbox auto` contains agents without an image",
            engine.program()
        ),
        SandboxError::EngineRefused { engine, .. } => format!(
            "start its service, check that you have permission to use it, and try `{} info`",
            engine.program()
        ),
        SandboxError::EngineUnknown { engine, .. } => format!(
            "check the output of `{} version`: if it is Podman, write `sandbox: {{podman: IMAGE}}`, if it is Docker, \
             `sandbox: {{docker: IMAGE}}`; if it is old, update it",
            engine.program()
        ),
        SandboxError::ImageMissing { engine, image } => {
            format!("fetch it with `{} pull {image}`, or build it", engine.program())
        }
        SandboxError::ImageRefused { engine, image, .. } => format!(
            "check that it is an image for this machine's processor: `{} image inspect {image}`",
            engine.program()
        ),
        SandboxError::NoBuildEngine { .. } => "install Docker or Podman, and try `docker info` or `podman info`; `-t '!tag:container'` \
                                          leaves out the evals that `terca import` made of tasks with a Dockerfile"
            .into(),
        SandboxError::Build(_) => "correct the Dockerfile, or leave the eval out, such as with `-t '!NAME'`; images that \
                                   could be built are kept for the next run"
            .into(),
        SandboxError::UnknownDefault(_) => {
            let words = "write `none`, `bwrap`, `landlock`, `auto`, `docker:IMAGE` or `podman:IMAGE`";
            return (Code::Usage, words.into());
        }
        _ => "install bubblewrap (`apt-get install bubblewrap`) and allow user namespaces, then try `terca \
              doctor`; with `--sandbox none` agents run with your permissions and can reach everything that you \
              can"
            .into(),
    };
    (Code::NoSandbox, help)
}

impl From<MergeRunsError> for CliError {
    fn from(error: MergeRunsError) -> Self {
        let help = match &error {
            MergeRunsError::Merge(MergeError::NoBeginning(_)) => "run that shard again",
            MergeRunsError::Merge(MergeError::Twice { .. }) => "name each shard once",
            MergeRunsError::NotAPart(_) => {
                "complete runs need no merge; `terca compare A B` compares two"
            }
            MergeRunsError::Different { .. } => {
                "run the shards from the same commit, with the same selection and repetitions"
            }
            MergeRunsError::Missing(_) => "name the runs of all shards",
            _ => "",
        };
        let (status, code) = match error {
            // A run that was named is not one that can be merged: wrong usage.
            MergeRunsError::Runs(error @ RunsError::RunFile { .. }) => {
                return CliError {
                    status: MISUSE,
                    ..error.into()
                };
            }
            MergeRunsError::Runs(error) => return error.into(),
            MergeRunsError::Store(error) => return error.into(),
            MergeRunsError::Copy(_) => (TROUBLE, Code::CannotWrite),
            MergeRunsError::GoingOn(_) => (MISUSE, Code::RunGoingOn),
            MergeRunsError::Merge(_)
            | MergeRunsError::NotAPart(_)
            | MergeRunsError::Different { .. }
            | MergeRunsError::Missing(_) => (MISUSE, Code::CannotMerge),
        };
        CliError::told(error, (status, code, help))
    }
}

impl From<CompareError> for CliError {
    fn from(error: CompareError) -> Self {
        let (code, help) = match &error {
            CompareError::GoingOn(_) => (Code::RunGoingOn, String::new()),
            CompareError::NothingInCommon { .. } => (Code::NothingToCompare, String::new()),
            CompareError::Empty(_) | CompareError::OnlyControls(_) => (
                Code::NothingToCompare,
                "`terca list` lists the runs; name another".into(),
            ),
            CompareError::Ablation(run) => (
                Code::NothingToCompare,
                format!("`terca ablate --of {run}` shows its parts"),
            ),
            CompareError::Unknown { meant, .. } => {
                let asked = |meant| format!("did you mean `{meant}`?");
                (
                    Code::UnknownBaseline,
                    meant.as_ref().map(asked).unwrap_or_default(),
                )
            }
            CompareError::Alone {
                by,
                has_environments,
                ..
            } => (
                Code::NothingToCompare,
                compare_instead(*by, *has_environments).into(),
            ),
            CompareError::NoBaseline { .. } => (
                Code::UnknownBaseline,
                "choose one with `--baseline NAME`".into(),
            ),
            CompareError::AllChanged { .. } => (
                Code::NothingToCompare,
                "omit `--only-unchanged` to compare them".into(),
            ),
        };
        CliError::told(error, (MISUSE, code, help))
    }
}

fn compare_instead(by: By, has_environments: bool) -> &'static str {
    match by {
        By::Experiment if has_environments => {
            "compare its environments with `--by environment`, or name a second run"
        }
        By::Environment if has_environments => {
            "compare its experiments without `--by environment`, or name a second run"
        }
        _ => "name a second run to compare it with",
    }
}
