//! Makes evals from the history of a local repository, and proves each before it is written.
//!
//! Git is asked for objects alone ([`git`]), drafts are written outside of every repository and proven in a sandbox
//! ([`prove`]), and only those that hold are put into the suite ([`staged`]). An agent may write their prompts ([`describe`]).

mod describe;
mod git;
mod prove;
mod staged;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::sandbox::Sandbox;
use terca_core::new_suite::mine::choice::{Chosen, choose, parent_of};
use terca_core::new_suite::mine::commit::{Change, Commit, Entry};
use terca_core::new_suite::mine::describe::Described;
use terca_core::new_suite::mine::draft::{Draft, Wishes, draft};
use terca_core::new_suite::mine::recipe::{Project, Recipe, recipes};
use terca_core::new_suite::mine::{
    MARK, Mined, MinedCommit, Reason, Refusal, contents, proof_file,
};
use thiserror::Error;

use crate::host::environment::{Host, find_program};
use crate::run::signals;
use crate::run::start::StartError;
use crate::run::store::StoreError;
use crate::suite::commit::Repository;
use crate::suite::discover::{DiscoverError, SUITE_FILE};
use crate::workspace::trial_dirs::WorkDir;
use describe::Answers;
pub use describe::Describing;
use git::Git;

/// Drafts that are proven at the same time.
const BATCH: usize = 10;
/// Drafts that are proven for each eval that is wanted, at most.
const TRIES: usize = 5;
/// A larger tree is no project to copy for every eval.
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 200 << 20;
/// A changed file is smaller.
const LARGEST_CHANGE: u64 = 1 << 20;

/// A repository that could not be mined.
#[derive(Debug, Error)]
pub enum MineError {
    /// There is no repository, or it has no commit.
    #[error("{0} is in no git repository that has a commit")]
    NoRepository(Utf8PathBuf),
    /// Git is missing.
    #[error("git is not installed")]
    NoGit,
    /// The directory for the evals is something else.
    #[error("{0} exists, and `terca mine` did not make it")]
    Taken(Utf8PathBuf),
    /// Git or the file system refused.
    #[error(transparent)]
    Files(#[from] io::Error),
    /// The drafts are no suite.
    #[error("the drafts cannot be read as a suite:\n{0}")]
    Drafts(String),
    /// The agent that is to write prompts cannot be asked.
    #[error("the agent that is to write the prompts cannot be asked:\n{0}")]
    Describing(String),
    /// The drafts cannot be found.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The drafts cannot be run.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run of the drafts cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The wishes for evals from a history.
#[allow(missing_debug_implementations, reason = "it holds a function")]
pub struct Request<'a> {
    /// A directory in the repository.
    pub repository: &'a Utf8Path,
    /// The directory of the suite. Default: a new one in `here`, named after the repository.
    pub into: Option<&'a Utf8Path>,
    /// The directory that the command is about.
    pub here: &'a Utf8Path,
    /// The time of the oldest commit, in seconds since 1970.
    pub since: Option<i64>,
    /// The most evals to make.
    pub limit: usize,
    /// The most lines of code that a commit may change.
    pub most_lines: usize,
    /// How drafts are set up and tested.
    pub wishes: Wishes,
    /// The sandbox that drafts are proven in.
    pub sandbox: Sandbox,
    /// Trials to run at once.
    pub concurrency: Option<u32>,
    /// The agent that writes prompts, if one does.
    pub describing: Option<Describing>,
    /// The environment of this process.
    pub host: &'a Host,
    /// Told what is done.
    pub tell: &'a (dyn Fn(Stage) + Sync),
}

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// So many drafts are being proven; so many commits were looked at.
    Proving {
        /// The drafts.
        drafts: usize,
        /// The commits.
        looked_at: usize,
    },
    /// An agent is asked for the prompts of so many proven drafts.
    Describing {
        /// The drafts.
        drafts: usize,
    },
    /// So many trials of them have ended.
    Trials {
        /// Those that have ended.
        ended: usize,
        /// All.
        of: usize,
    },
}

/// What became of the commits.
#[derive(Debug)]
pub struct Mining {
    /// The commits.
    pub mined: Mined,
    /// Tells whether a signal ended it. Evals that were written before are whole.
    pub interrupted: bool,
    /// A line for each thing that could not be removed.
    pub not_removed: Vec<String>,
}

/// Makes evals from a history.
pub fn mine(request: &Request<'_>) -> Result<Mining, MineError> {
    let host = request.host;
    let none = || MineError::NoRepository(request.repository.to_owned());
    let repository = Repository::around(request.repository).ok_or_else(none)?;
    let head = repository.commit().ok_or_else(none)?;
    let path = host.get("PATH").unwrap_or_default();
    if find_program("git", path).is_none() {
        return Err(MineError::NoGit);
    }
    let name = format!("{}-evals", repository.root.file_name().unwrap_or("mined"));
    let suite = match request.into {
        Some(into) => into.to_owned(),
        None => request.here.join(&name),
    };
    let known = evals_in(&suite)?;
    let interrupted = signals::noted().map_err(StartError::Signals)?;
    let work = WorkDir::create(host.get("TERCA_WORK_DIR")).map_err(StartError::NoWorkDir)?;
    let git = Git::new(&repository, &head, work.new_dir()?, path)?;
    let mut miner = Miner {
        request,
        git,
        name,
        suite,
        known,
        work,
        interrupted,
        commits: Vec::new(),
        written: 0,
        tried: 0,
        spent: None,
    };
    let mined = miner.mine(&head);
    let not_removed = miner.work.remove();
    let interrupted = !mined?;
    miner.commits.sort_by_key(|(place, _)| *place);
    let commits = miner.commits.into_iter().map(|(_, commit)| commit);
    Ok(Mining {
        mined: Mined::new(miner.suite, commits.collect(), miner.spent),
        interrupted,
        not_removed,
    })
}

/// Returns the names of the evals that a suite has already. A directory that is something else is refused.
fn evals_in(suite: &Utf8Path) -> Result<BTreeSet<String>, MineError> {
    let taken = || MineError::Taken(suite.to_owned());
    if suite.symlink_metadata().is_err() {
        return Ok(BTreeSet::new());
    }
    let entries = suite.read_dir_utf8().map_err(|_| taken())?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_owned()));
    let names: BTreeSet<String> = names.collect::<io::Result<_>>()?;
    let text = std::fs::read_to_string(suite.join(SUITE_FILE)).unwrap_or_default();
    let is_ours = text.lines().any(|line| line == MARK);
    (is_ours || names.is_empty())
        .then_some(names)
        .ok_or_else(taken)
}

struct Miner<'a> {
    request: &'a Request<'a>,
    git: Git,
    name: String,
    suite: Utf8PathBuf,
    known: BTreeSet<String>,
    work: WorkDir,
    interrupted: Arc<AtomicBool>,
    /// The commits that were looked at, with their places in the history.
    commits: Vec<(usize, MinedCommit)>,
    written: usize,
    tried: usize,
    /// The cost of the agent that writes prompts, where some of it is known.
    spent: Option<f64>,
}

impl Miner<'_> {
    /// Looks at commits until there are enough evals. Returns false when it was interrupted.
    fn mine(&mut self, head: &str) -> Result<bool, MineError> {
        if let Some(describing) = &self.request.describing {
            describe::check(describing, &self.work.new_dir()?, self.request)?;
        }
        let ids = self.git.commits(head, self.request.since)?;
        let mut batch = Vec::new();
        for (place, id) in ids.iter().enumerate() {
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let Ok(Some(commit)) = self.git.commit(id) else {
                continue;
            };
            match self.drafted(&commit) {
                Ok(draft) => batch.push((place, draft)),
                Err(refusal) => self.refuse(place, &commit, refusal),
            }
            let wanted = self.request.limit - self.written;
            if batch.len() >= wanted.min(BATCH) {
                if !self.prove(std::mem::take(&mut batch))? {
                    return Ok(false);
                }
                let is_enough = self.written >= self.request.limit;
                if is_enough || self.tried >= self.request.limit.saturating_mul(TRIES) {
                    return Ok(true);
                }
            }
        }
        self.prove(batch)
    }

    fn refuse(&mut self, place: usize, commit: &Commit, refusal: Refusal) {
        self.commits
            .push((place, MinedCommit::refused(commit, refusal)));
    }

    /// Makes a draft of a commit, or says why not.
    fn drafted(&mut self, commit: &Commit) -> Result<Draft, Refusal> {
        let mut chosen = self.chosen(commit)?;
        for Change { path, old, new } in chosen.solution.iter_mut().chain(&mut chosen.tests) {
            for object in old.iter_mut().chain(new) {
                let content = self.git.content(&object.id, LARGEST_CHANGE)?;
                let content =
                    content.ok_or_else(|| Refusal::with(Reason::TooLarge, path.as_str()))?;
                let text = contents::text(content);
                object.text = text.ok_or_else(|| Refusal::with(Reason::Binary, path.as_str()))?;
            }
        }
        contents::check(&chosen, self.request.most_lines)?;
        let tree = self.git.tree(&chosen.parent)?;
        check_size(&tree)?;
        let recipes = self.recipes(&chosen, &tree);
        draft(chosen, &tree, &recipes, &self.request.wishes)
    }

    fn chosen(&self, commit: &Commit) -> Result<Chosen, Refusal> {
        let parent = parent_of(commit)?;
        let end = format!("-{}", commit.short());
        if let Some(eval) = self.known.iter().find(|name| name.ends_with(&end)) {
            return Err(Refusal::with(Reason::Already, eval));
        }
        let changes = self.git.changes(parent, &commit.id)?;
        choose(commit.clone(), parent, changes)
    }

    /// Returns how the tests of a commit are run in the project that it leaves.
    fn recipes(&mut self, chosen: &Chosen, tree: &[Entry]) -> Vec<Recipe> {
        let mut files: BTreeSet<Utf8PathBuf> =
            tree.iter().map(|entry| entry.path.clone()).collect();
        files.extend(chosen.run.iter().map(|(_, test)| test.clone()));
        let git = std::cell::RefCell::new(&mut self.git);
        let text = |path: &Utf8Path| {
            let mut changed = chosen.solution.iter().chain(&chosen.tests);
            if let Some(change) = changed.find(|change| change.path == path) {
                return Some(change.texts()[1].to_owned());
            }
            let entry = tree.iter().find(|entry| entry.path == path)?;
            let content = git.borrow_mut().content(&entry.object.id, LARGEST_CHANGE);
            String::from_utf8(content.ok()??).ok()
        };
        let project = Project {
            files: &files,
            text: &text,
        };
        recipes(&chosen.run, &project)
    }

    /// Proves drafts, and puts those that hold into the suite. Returns false when it was interrupted.
    fn prove(&mut self, batch: Vec<(usize, Draft)>) -> Result<bool, MineError> {
        let staging = self.work.new_dir()?;
        fs_err::write(staging.join(SUITE_FILE), proof_file(&self.name))?;
        let mut drafts = Vec::new();
        for (place, draft) in batch {
            match staged::write(&draft, &staging.join(&draft.folder), &mut self.git)? {
                Ok(()) => drafts.push((place, draft)),
                Err(refusal) => {
                    let left = staging.join(&draft.folder);
                    let _ = crate::tree::remove(&left, &crate::tree::Options::default());
                    self.refuse(place, &draft.chosen.commit, refusal);
                }
            }
        }
        if drafts.is_empty() {
            return Ok(true);
        }
        self.tried += drafts.len();
        (self.request.tell)(Stage::Proving {
            drafts: drafts.len(),
            looked_at: self.commits.len() + drafts.len(),
        });
        let Some(mut refusals) = prove::prove(&staging, self.request)? else {
            return Ok(false);
        };
        let mut proven = Vec::new();
        for (place, draft) in drafts {
            match refusals.remove(&draft.folder) {
                Some(refusal) => self.refuse(place, &draft.chosen.commit, refusal),
                None => proven.push((place, draft)),
            }
        }
        let mut answers = self.described(&proven)?;
        for (place, draft) in proven {
            let staged = staging.join(&draft.folder);
            let (prompt, described) = answers.by_draft.remove(&draft.folder).unzip();
            if let (Some(prompt), Some(Described { by, .. })) = (prompt.flatten(), &described) {
                for (name, text) in draft.described(prompt, by) {
                    fs_err::write(staged.join(name), text)?;
                }
            }
            staged::publish(&staged, &self.suite, &self.name)?;
            self.written += 1;
            let written = MinedCommit::written(&draft.chosen.commit, &draft.folder, described);
            self.commits.push((place, written));
        }
        Ok(!answers.is_interrupted)
    }

    /// Has an agent write the prompts of proven drafts, if one is to.
    fn described(&mut self, proven: &[(usize, Draft)]) -> Result<Answers, MineError> {
        let request = self.request;
        let wanted = request.describing.as_ref();
        let Some(describing) = wanted.filter(|_| !proven.is_empty()) else {
            return Ok(Answers::default());
        };
        let dir = self.work.new_dir()?;
        (request.tell)(Stage::Describing {
            drafts: proven.len(),
        });
        let answers = describe::describe(describing, self.spent, proven, &dir, request);
        if let Some(cost) = answers.cost_usd {
            self.spent = Some(self.spent.unwrap_or(0.0) + cost);
        }
        Ok(answers)
    }
}

fn check_size(tree: &[Entry]) -> Result<(), Refusal> {
    let bytes: u64 = tree.iter().map(|entry| entry.size).sum();
    if tree.len() > MOST_FILES || bytes > MOST_BYTES {
        let detail = format!("its tree has {} files and {} MB", tree.len(), bytes >> 20);
        return Err(Refusal::with(Reason::TooLarge, detail));
    }
    let large = tree.iter().find(|entry| entry.size > staged::LARGEST_FILE);
    large.map_or(Ok(()), |entry| {
        Err(Refusal::with(Reason::TooLarge, entry.path.as_str()))
    })
}
