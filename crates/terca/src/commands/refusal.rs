//! Why a command did not do what it was asked to do.
//!
//! A command returns it, and it is said in one place and in one form: what happened and where, what to do next, and
//! under which code there is more to read.

use std::fmt::Display;
use std::io;

use terca_core::analysis::compare::CompareError;
use terca_core::text::explain::Code;
use terca_engine::run::merge_runs::JoinError;
use terca_engine::run::past_runs::RunsError;
use terca_engine::run::store::StoreError;
use terca_engine::suite::discover::DiscoverError;

use super::{MISUSE, TROUBLE};
use crate::args::Common;
use crate::screen;

/// What a command gives back: an exit status, or a refusal.
pub(super) type Outcome = Result<u8, Refusal>;

#[derive(Debug)]
pub(crate) struct Refusal {
    status: u8,
    /// Nothing, when it has been said already.
    complaint: Option<(Code, String)>,
}

impl Refusal {
    /// Wrong usage or configuration: nothing was done.
    pub(super) fn misuse(code: Code, text: impl Display) -> Self {
        Refusal {
            status: MISUSE,
            complaint: Some((code, text.to_string())),
        }
    }

    /// The machine refused.
    pub(super) fn trouble(code: Code, text: impl Display) -> Self {
        Refusal {
            status: TROUBLE,
            complaint: Some((code, text.to_string())),
        }
    }

    /// Trials have nowhere to work.
    pub(super) fn no_work_dir(status: u8, error: &io::Error) -> Self {
        let refusal = Refusal {
            status,
            complaint: Some((Code::NoWorkDir, error.to_string())),
        };
        refusal.help(
            "TERCA_WORK_DIR names the place where trials work; choose one outside of any project and home",
        )
    }

    /// Every reason has been said.
    pub(super) fn told(status: u8) -> Self {
        Refusal {
            status,
            complaint: None,
        }
    }

    pub(super) fn help(mut self, help: impl Display) -> Self {
        if let Some((_, text)) = &mut self.complaint {
            *text += &format!("\nhelp: {help}");
        }
        self
    }

    /// Says it, and gives the exit status.
    pub(super) fn say(&self, common: &Common) -> u8 {
        if let Some((code, text)) = &self.complaint {
            screen::complain(*code, text, common.color);
            screen::say_more_about(&[*code], common.color);
        }
        self.status
    }
}

impl From<DiscoverError> for Refusal {
    fn from(error: DiscoverError) -> Self {
        let code = match &error {
            DiscoverError::Open { .. }
            | DiscoverError::NotUtf8 { .. }
            | DiscoverError::File { .. } => Code::NoDirectory,
            DiscoverError::NoSuite { .. } => Code::NoSuite,
        };
        Refusal::misuse(code, error)
    }
}

impl From<RunsError> for Refusal {
    fn from(error: RunsError) -> Self {
        match &error {
            RunsError::None(_) => Refusal::misuse(Code::NoRuns, error),
            RunsError::Unknown { .. } => Refusal::misuse(Code::UnknownRun, error),
            RunsError::Read { .. } | RunsError::Journal { .. } => {
                Refusal::trouble(Code::DamagedRun, error)
            }
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::GoingOn(_) => Refusal::trouble(Code::RunGoingOn, error),
            StoreError::Open { .. } => Refusal::trouble(Code::DamagedRun, error),
            StoreError::Refused { .. } => Refusal::trouble(Code::CannotWrite, error)
                .help("is there room on the disk, and may you write there?"),
        }
    }
}

impl From<JoinError> for Refusal {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Runs(error) => error.into(),
            JoinError::Store(error) => error.into(),
            JoinError::Copy { .. } => Refusal::trouble(Code::CannotWrite, error),
            JoinError::Plan { .. } => Refusal::misuse(Code::DamagedRun, error),
            JoinError::GoingOn(_) => Refusal::misuse(Code::RunGoingOn, error),
            JoinError::Merge(_)
            | JoinError::NotAPart(_)
            | JoinError::Different { .. }
            | JoinError::Missing { .. } => Refusal::misuse(Code::CannotMerge, error),
        }
    }
}

impl From<CompareError> for Refusal {
    fn from(error: CompareError) -> Self {
        let code = match &error {
            CompareError::GoingOn(_) => Code::RunGoingOn,
            CompareError::Unknown { .. } | CompareError::NoBaseline { .. } => Code::UnknownBaseline,
            CompareError::Empty(_)
            | CompareError::Alone { .. }
            | CompareError::NothingInCommon { .. }
            | CompareError::AllChanged { .. } => Code::NothingToCompare,
        };
        Refusal::misuse(code, error)
    }
}
