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
use terca_core::config::sandbox::ContainerEngine;
use terca_core::run::merge::MergeError;
use terca_core::run::run_file::RunFileError;
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_core::text::shell;
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
        error.help("set TERCA_WORK_DIR to a directory outside of any project and home")
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

    fn maybe_help(self, help: Option<impl Display>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
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

impl From<AblateError> for CliError {
    fn from(error: AblateError) -> Self {
        let text = error.to_string();
        match error {
            AblateError::Unknown { known, .. } => CliError::misuse(Code::NoMatch, text).help(
                format!("its experiments are {}", prose::quoted_list(&known, "and")),
            ),
            AblateError::Nothing { key, .. } => CliError::misuse(Code::Usage, text).help(format!(
                "write `{key}` into the experiment itself: those of environments are not split"
            )),
            AblateError::Tools(ToolsError::Start(error)) => error.into(),
            AblateError::Tools(ToolsError::Interrupted) => CliError {
                status: INTERRUPTED,
                message: Some((Code::Interrupted, text)),
            },
            AblateError::Tools(ToolsError::Server { .. }) => CliError::trouble(Code::Mcp, text)
                .help("it is started in an empty directory, without `before`; `--parts servers` leaves out whole servers"),
            AblateError::Unreadable(_) => CliError::trouble(Code::MissingFile, text),
            AblateError::Changed(_) => CliError::misuse(Code::SuiteChanged, text)
                .help("restore the rules that the run was made from, or run the ablation again"),
            AblateError::Design { error, .. } => {
                let code = match error {
                    DesignError::TooFewTrials { .. } => Code::OutOfRange,
                    _ => Code::Usage,
                };
                CliError::misuse(code, text).help(match error {
                    DesignError::TooFewParts { kind: Kind::Rules, .. } => {
                        "give the rules headings, mark parts with `<!-- part: NAME -->`, or split lists with `--split items`".to_owned()
                    }
                    DesignError::TooFewParts { .. } => {
                        "`terca run` compares a single one with the baseline".to_owned()
                    }
                    DesignError::TooManyParts(_) => {
                        "mark larger parts with `<!-- part: NAME -->`".to_owned()
                    }
                    DesignError::TooFewTrials { needed, .. } => {
                        format!("give at least `-n {needed}`, or select more evals")
                    }
                })
            }
        }
    }
}

const IS_IT_WHOLE: &str = "check that no file of the run is missing; `terca list` lists the runs";

impl From<DiscoverError> for CliError {
    fn from(error: DiscoverError) -> Self {
        let help = match &error {
            DiscoverError::Open { meant, .. } => Some(match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => {
                    "a relative path is relative to the directory that Terca is started in".into()
                }
            }),
            DiscoverError::NotUtf8 { .. } => None,
            DiscoverError::File { .. } => Some("name the directory it is in".into()),
            DiscoverError::NoSuite { guess, .. } => Some(match guess {
                Some(Guess::Misnamed { path, right }) => format!(
                    "Terca does not read {}: rename it to {right}",
                    screen::short(path)
                ),
                Some(Guess::Below(suites)) => suites_below(suites),
                None => "`terca init` makes a suite; `-C DIR` names another directory".into(),
            }),
        };
        let code = match &error {
            DiscoverError::Open { .. }
            | DiscoverError::NotUtf8 { .. }
            | DiscoverError::File { .. } => Code::NoDirectory,
            DiscoverError::NoSuite { .. } => Code::NoSuite,
        };
        CliError::misuse(code, error).maybe_help(help)
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
        match &error {
            WorkspaceError::Saved { source, .. } => match source {
                RestoreError::NotSaved => CliError::misuse(Code::NoWorkspace, error).help(
                    "the trial's changes.diff shows what the agent changed; `--keep` sets which workspaces are kept",
                ),
                RestoreError::OtherVersion(_) => {
                    CliError::trouble(Code::DamagedRun, error).help("use that version of Terca")
                }
                _ => CliError::trouble(Code::DamagedRun, error).help(IS_IT_WHOLE),
            },
            WorkspaceError::Taken(_) => CliError::misuse(Code::AlreadyThere, error)
                .help("name a directory that is not there yet: `--to DIR`"),
            WorkspaceError::Write(_) => CliError::trouble(Code::CannotWrite, error)
                .help("`--to DIR` names another directory"),
        }
    }
}

impl From<RunsError> for CliError {
    fn from(error: RunsError) -> Self {
        match &error {
            RunsError::None(_) => CliError::misuse(Code::NoRuns, error)
                .help("`terca` runs the suite; `-C DIR` names another suite"),
            RunsError::Unknown { .. } => CliError::misuse(Code::UnknownRun, error)
                .help("`terca list` says more about them"),
            RunsError::Read { .. } => {
                CliError::trouble(Code::DamagedRun, error).help(IS_IT_WHOLE)
            }
            RunsError::OnlyValidations(name) => {
                let help = format!("name it: `terca show {name}`; `terca` runs the suite");
                CliError::misuse(Code::NoRuns, error).help(help)
            }
            RunsError::Journal { .. } => CliError::trouble(Code::DamagedRun, error).help(
                "the file was edited, or is of another version of Terca; `terca verify` checks a run, `terca show` shows \
                 the undamaged part",
            ),
            RunsError::RunFileChanged(_) => CliError::trouble(Code::DamagedRun, error)
                .help("restore the file; `terca verify` checks a run"),
            RunsError::Shorter { .. } => CliError::trouble(Code::DamagedRun, error).help(
                "restore the journal from a copy; to continue with this one, move results.json away",
            ),
            RunsError::OtherResults(_) => CliError::trouble(Code::DamagedRun, error).help(
                "restore the files from a copy; if the journal is right, move results.json away",
            ),
            RunsError::RunFile { source, .. } => {
                let help = match source {
                    RunFileError::OtherVersion { .. } => {
                        "use that version of Terca, or start a new run with `terca run`"
                    }
                    RunFileError::Invalid(_) => IS_IT_WHOLE,
                };
                CliError::trouble(Code::DamagedRun, error).help(help)
            }
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::GoingOn(_) => CliError::trouble(Code::RunGoingOn, error)
                .help("wait until it ends, or stop it with Ctrl+C in its terminal"),
            StoreError::Runs(error) => error.into(),
            StoreError::Open { .. } => CliError::trouble(Code::DamagedRun, error).help(IS_IT_WHOLE),
            StoreError::Refused { .. } => CliError::trouble(Code::CannotWrite, error)
                .help("check the disk space and the permissions"),
        }
    }
}

impl From<NoWorkers> for CliError {
    fn from(error: NoWorkers) -> Self {
        match error {
            NoWorkers::Interrupted => CliError {
                status: INTERRUPTED,
                message: None,
            },
            NoWorkers::Io(error) => CliError::no_work_dir(MISUSE, &error),
            NoWorkers::GivenUp(place, GivenUp { reason, help }) => {
                let message = format!("no worker of `{place}` can be started: {reason}");
                let problem = CliError::misuse(Code::NoWorker, message);
                match help {
                    Some(help) => problem.help(help),
                    None => problem,
                }
            }
        }
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::NoWorkDir(error) => CliError::no_work_dir(MISUSE, &error),
            StartError::Variable(text) => CliError::misuse(Code::Usage, text)
                .help("correct the variable, or remove it"),
            StartError::Store(error) => error.into(),
            StartError::Replay(error) => error.into(),
            StartError::NoCopyOfSuite(_) => CliError::trouble(Code::CannotWrite, error)
                .help("free some disk space, or choose another directory with `TERCA_WORK_DIR`"),
            StartError::Sandbox(SandboxError::Files(_)) => {
                CliError::trouble(Code::CannotWrite, error)
                    .help("free some disk space, or choose another directory with `TERCA_WORK_DIR`")
            }
            StartError::SandboxOfRun(_) => CliError::misuse(Code::NoSandbox, error).help(
                "repair it (`terca doctor` shows which sandboxes work here), or resume on a machine where it works; \
                 for another sandbox, start a new run with `terca run`",
            ),
            StartError::Sandbox(SandboxError::NoLandlock(_)) => {
                CliError::misuse(Code::NoSandbox, error).help(
                    "write `sandbox: bwrap` or `sandbox: auto`; `terca doctor` shows which sandboxes work here",
                )
            }
            StartError::Sandbox(SandboxError::EngineMissing { engine }) => {
                CliError::misuse(Code::NoSandbox, error).help(format!(
                    "install it, and try `{} info`; `--sandbox auto` contains agents without an image",
                    engine.program()
                ))
            }
            StartError::Sandbox(SandboxError::EngineRefused { engine, .. }) => {
                CliError::misuse(Code::NoSandbox, error).help(format!(
                    "start its service, check that you have permission to use it, and try `{} info`",
                    engine.program()
                ))
            }
            StartError::Sandbox(SandboxError::EngineUnknown { engine, .. }) => {
                CliError::misuse(Code::NoSandbox, error).help(unknown_engine(engine))
            }
            StartError::Sandbox(SandboxError::ImageMissing { engine, ref image }) => {
                let help = format!("fetch it with `{} pull {image}`, or build it", engine.program());
                CliError::misuse(Code::NoSandbox, error).help(help)
            }
            StartError::Sandbox(SandboxError::ImageRefused { engine, ref image, .. }) => {
                let help = format!(
                    "check that it is an image for this machine's processor: `{} image inspect {image}`",
                    engine.program()
                );
                CliError::misuse(Code::NoSandbox, error).help(help)
            }
            StartError::Sandbox(SandboxError::UnknownDefault(_)) => CliError::misuse(Code::Usage, error)
                .help("write `none`, `bwrap`, `landlock`, `auto`, `docker:IMAGE` or `podman:IMAGE`"),
            StartError::Sandbox(_) => CliError::misuse(Code::NoSandbox, error).help(
                "install bubblewrap (`apt-get install bubblewrap`) and allow user namespaces, then try `terca \
                 doctor`; with `--sandbox none` agents run with your permissions and can reach everything that you \
                 can",
            ),
            StartError::Signals(_) | StartError::RunFile(_) => {
                CliError::trouble(Code::Internal, error)
            }
        }
    }
}

/// Says what to do about a program that has an engine's name and answers otherwise.
fn unknown_engine(engine: ContainerEngine) -> String {
    let other = match engine {
        ContainerEngine::Docker => ContainerEngine::Podman,
        ContainerEngine::Podman => ContainerEngine::Docker,
    };
    format!(
        "check the output of `{program} version`: if it is {title}, write `sandbox: {{{key}: IMAGE}}`; if it is old, \
         update it",
        program = engine.program(),
        title = other.title(),
        key = other.program(),
    )
}

impl From<MergeRunsError> for CliError {
    fn from(error: MergeRunsError) -> Self {
        let help = match &error {
            MergeRunsError::Merge(MergeError::NoBeginning(_)) => Some("run that shard again"),
            MergeRunsError::Merge(MergeError::Twice { .. }) => Some("name each shard once"),
            MergeRunsError::NotAPart(_) => {
                Some("complete runs need no merge; `terca compare A B` compares two")
            }
            MergeRunsError::Different { .. } => {
                Some("run the shards from the same commit, with the same selection and repetitions")
            }
            MergeRunsError::Missing { .. } => Some("name the runs of all shards"),
            _ => None,
        };
        let error = match error {
            // A run that was named is not one that can be merged: wrong usage.
            MergeRunsError::Runs(error @ RunsError::RunFile { .. }) => CliError {
                status: MISUSE,
                ..error.into()
            },
            MergeRunsError::Runs(error) => error.into(),
            MergeRunsError::Store(error) => error.into(),
            MergeRunsError::Copy { .. } => CliError::trouble(Code::CannotWrite, error),
            MergeRunsError::GoingOn(_) => CliError::misuse(Code::RunGoingOn, error),
            MergeRunsError::Merge(_)
            | MergeRunsError::NotAPart(_)
            | MergeRunsError::Different { .. }
            | MergeRunsError::Missing { .. } => CliError::misuse(Code::CannotMerge, error),
        };
        error.maybe_help(help)
    }
}

impl From<CompareError> for CliError {
    fn from(error: CompareError) -> Self {
        let code = match &error {
            CompareError::GoingOn(_) => Code::RunGoingOn,
            CompareError::Unknown { .. } | CompareError::NoBaseline { .. } => Code::UnknownBaseline,
            CompareError::Empty(_)
            | CompareError::OnlyControls(_)
            | CompareError::Ablation(_)
            | CompareError::Alone { .. }
            | CompareError::NothingInCommon { .. }
            | CompareError::AllChanged { .. } => Code::NothingToCompare,
        };
        let help = match &error {
            CompareError::GoingOn(_) | CompareError::NothingInCommon { .. } => None,
            CompareError::Empty(_) | CompareError::OnlyControls(_) => {
                Some("`terca list` lists the runs; name another".to_owned())
            }
            CompareError::Ablation(run) => {
                Some(format!("`terca ablate --of {run}` shows its parts"))
            }
            CompareError::Unknown { meant, .. } => meant
                .as_ref()
                .map(|meant| format!("did you mean `{meant}`?")),
            CompareError::Alone {
                by,
                has_environments,
                ..
            } => Some(compare_instead(*by, *has_environments).to_owned()),
            CompareError::NoBaseline { .. } => Some("choose one with `--baseline NAME`".to_owned()),
            CompareError::AllChanged { .. } => {
                Some("omit `--only-unchanged` to compare them".to_owned())
            }
        };
        CliError::misuse(code, error).maybe_help(help)
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
