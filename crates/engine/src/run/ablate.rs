//! Makes the design of an ablation from the files of a suite, and the rules without what earned nothing.

use std::collections::BTreeSet;
use std::io;

use camino::Utf8Path;
use terca_core::ablation::parts::Rules;
use terca_core::ablation::{Ablation, DesignError, EvalRows, Kind, Part, Split};
use terca_core::config::suite::{Setup, Suite};
use terca_core::text::prose;
use terca_core::text::sha256;
use terca_core::text::tokens;
use thiserror::Error;

use crate::host::environment::Host;
use crate::run::load::RunPlan;
use crate::run::offered_tools::{self, ToolsError};

/// The file of a skill that agents are told of in every request.
const SKILL: &str = "SKILL.md";

/// An ablation that cannot be made.
#[derive(Debug, Error)]
pub enum AblateError {
    /// There is no experiment of this name.
    #[error("the suite has no experiment `{name}`")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The experiment has none of what is to be split.
    #[error("the experiment `{experiment}` has no `{key}` of its own")]
    Nothing {
        /// The experiment's name.
        experiment: String,
        /// The key.
        key: &'static str,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// The tools of a server are not known.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// The parts or the trials do not allow a design.
    #[error("the experiment `{experiment}`: {error}")]
    Design {
        /// The experiment's name.
        experiment: String,
        /// The reason.
        error: DesignError,
    },
    /// The rules are no longer those that the run was made from.
    #[error("the rules of `{0}` have changed since the run was started")]
    Changed(String),
}

/// Makes the design for the evals of a plan, from the parts of this kind of an experiment. `split` is the way in which rules
/// are split, if not the usual one; `trials` are those of each eval, if not one for each row.
pub fn design(
    plan: &RunPlan,
    experiment: &str,
    kind: Kind,
    split: Option<Split>,
    trials: Option<usize>,
    host: &Host,
) -> Result<Ablation, AblateError> {
    let experiment = named(&plan.suite, experiment)?;
    let nothing = || AblateError::Nothing {
        experiment: experiment.name.clone(),
        key: kind.key(),
    };
    let mut used_split = None;
    let mut hash = None;
    let parts = match kind {
        Kind::Rules => {
            let texts = rules(experiment)?.ok_or_else(nothing)?;
            let by = split.unwrap_or_else(|| Split::usual(&texts));
            (used_split, hash) = (Some(by), Some(hash_of(&texts)));
            Rules::of(&texts, by).parts()
        }
        Kind::Skills => {
            let skills = experiment.skills.set().ok_or_else(nothing)?;
            skills.iter().map(|skill| of_skill(skill)).collect()
        }
        Kind::Servers => {
            let servers = own_servers(experiment).ok_or_else(nothing)?;
            let part = |name: &&str| Part::new((*name).to_owned(), None);
            servers.iter().map(part).collect()
        }
        Kind::Tools => {
            let servers = own_servers(experiment).ok_or_else(nothing)?;
            offered_tools::parts(plan, &servers, host)?
        }
    };
    let mut seen = BTreeSet::new();
    let evals = plan.plan.cases().map(|case| case.eval.name.clone());
    let evals = evals.filter(|eval| seen.insert(eval.clone()));
    let wanted = Ablation {
        experiment: experiment.name.clone(),
        kind,
        split: used_split,
        sha256: hash,
        parts,
        rows: Vec::new(),
        evals: evals.map(EvalRows::new).collect(),
    };
    let designed = wanted.designed(trials, plan.seed);
    designed.map_err(|error| AblateError::Design {
        experiment: experiment.name.clone(),
        error,
    })
}

/// Returns the rules of an ablation's experiment with these parts alone, as the suite has them now.
pub fn slim(suite: &Suite, design: &Ablation, kept: &[usize]) -> Result<String, AblateError> {
    let changed = || AblateError::Changed(design.experiment.clone());
    let experiment = named(suite, &design.experiment)?;
    let texts = rules(experiment)?.ok_or_else(changed)?;
    let split = design.split.ok_or_else(changed)?;
    if design.sha256.as_ref() != Some(&hash_of(&texts)) {
        return Err(changed());
    }
    let files = Rules::of(&texts, split).with(|part| kept.contains(&part));
    let files: Vec<&str> = files.iter().map(|file| file.trim_end()).collect();
    Ok(prose::joined(files.into_iter().filter(|file| !file.is_empty()), "\n\n") + "\n")
}

/// Tells whether a path is one of the rules files of an ablation's experiment.
pub fn is_rules_file(suite: &Suite, design: &Ablation, path: &Utf8Path) -> bool {
    let Ok(path) = path.canonicalize_utf8() else {
        return false;
    };
    let experiment = named(suite, &design.experiment).ok();
    let files = experiment.and_then(|experiment| experiment.rules.set());
    files.is_some_and(|files| {
        let mut files = files
            .iter()
            .filter_map(|file| file.canonicalize_utf8().ok());
        files.any(|file| file == path)
    })
}

fn named<'a>(suite: &'a Suite, name: &str) -> Result<&'a Setup, AblateError> {
    let mut experiments = suite.experiments.iter();
    let found = experiments.find(|experiment| experiment.name == name);
    found.ok_or_else(|| AblateError::Unknown {
        name: name.to_owned(),
        known: (suite.experiments.iter())
            .map(|experiment| experiment.name.clone())
            .collect(),
    })
}

/// Returns the names of the servers that an experiment has of its own.
fn own_servers(experiment: &Setup) -> Option<Vec<&str>> {
    let servers = experiment.mcp_servers.set()?;
    let set = servers.iter().filter(|(_, server)| server.set().is_some());
    Some(set.map(|(name, _)| name.value.as_str()).collect())
}

fn rules(experiment: &Setup) -> io::Result<Option<Vec<String>>> {
    let files = experiment.rules.set();
    files
        .map(|files| files.iter().map(fs_err::read_to_string).collect())
        .transpose()
}

fn hash_of(texts: &[String]) -> String {
    sha256(texts.join("\0").as_bytes())
}

/// Agents are told the front matter of every skill, and read the rest where they need it.
fn of_skill(directory: &Utf8Path) -> Part {
    let text = fs_err::read_to_string(directory.join(SKILL)).unwrap_or_default();
    let front_matter = text
        .strip_prefix("---")
        .and_then(|rest| rest.split_once("\n---"));
    Part::new(
        directory.file_name().unwrap_or("skill").to_owned(),
        front_matter.map(|(front, _)| tokens::estimated(front.len() as u64)),
    )
}
