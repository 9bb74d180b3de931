//! Makes evals from the history of a local repository, and proves each before it is written.
//!
//! Git is asked for objects alone ([`git`]), drafts are written outside of every repository and proven in a sandbox
//! ([`prove`]), and only those that hold are put into the suite ([`staged`]). An agent may write their prompts ([`describe`]).

mod describe;
mod git;
mod hear;
mod inject;
mod instances;
mod prove;
mod staged;

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::symlink;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::sandbox::Sandbox;
use terca_core::new_suite::mine::choice::{Chosen, choose, merged, parent_of};
use terca_core::new_suite::mine::commit::{Change, Commit, Entry};
use terca_core::new_suite::mine::draft::{Draft, Wishes, draft};
use terca_core::new_suite::mine::recipe::{Project, Recipe, recipes};
use terca_core::new_suite::mine::{
    MARK, Mined, MinedCommit, Reason, Refusal, bugs_mark, code, contents, proof_file, suite_file,
};
use thiserror::Error;

use crate::host::environment::{Host, find_program};
use crate::locked;
use crate::run::signals;
use crate::run::start::StartError;
use crate::run::store::StoreError;
use crate::suite::commit::Repository;
use crate::suite::discover::{DiscoverError, SUITE_FILE};
use crate::workspace::base_layers::layers_dir;
use crate::workspace::layers::cache_dir;
use crate::workspace::own_dirs::remove_and_tell;
use crate::workspace::trial_dirs::WorkDir;
pub use describe::Describing;
use describe::NoAnswer;
use git::Git;
pub use instances::LocalClone;

/// The most drafts that are proven at the same time.
const MOST_AT_ONCE: usize = 10;
/// The trials of a draft that can run at the same time: the commit itself, doing nothing, and cheating.
const TRIALS: usize = 3;
/// The time between two looks at drafts that are being proven.
const GLANCE: Duration = Duration::from_millis(50);
/// After an interrupt, how long drafts have to end before Terca leaves anyway, and then how long their files have to go.
const LAST_WAIT: Duration = Duration::from_secs(3);
const LAST_REMOVAL: Duration = Duration::from_secs(1);
/// A merge of so many commits is of several tasks.
const MOST_MERGED: usize = 50;
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
    /// A program is missing that the newest draft needs.
    #[error("`{tool}` is not installed, and the commit {commit} needs it")]
    NoTool {
        /// Its name.
        tool: &'static str,
        /// The beginning of the commit's hash.
        commit: String,
    },
    /// No bug can be put into the newest commit.
    #[error("no bug can be put into the newest commit: {0}")]
    NoBugs(String),
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
#[derive(Debug)]
pub struct Request {
    /// A directory in the repository.
    pub repository: Utf8PathBuf,
    /// The directory of the suite. Default: a new one in `here`, named after the repository.
    pub into: Option<Utf8PathBuf>,
    /// The directory that the command is about.
    pub here: Utf8PathBuf,
    /// The time of the oldest commit, in seconds since 1970.
    pub since: Option<i64>,
    /// The most evals to make.
    pub limit: usize,
    /// The most drafts to prove.
    pub max_tries: usize,
    /// The most lines of code that a commit may change.
    pub most_lines: usize,
    /// The most files and bytes of a commit's tree, which each eval has a copy of.
    pub most_files: usize,
    /// See `most_files`.
    pub most_bytes: u64,
    /// How drafts are set up and tested.
    pub wishes: Wishes,
    /// The sandbox that drafts are proven in.
    pub sandbox: Sandbox,
    /// Trials to run at once.
    pub concurrency: Option<u32>,
    /// Puts bugs into the newest commit, in an order that this number decides, instead of looking at commits.
    pub inject: Option<u64>,
    /// The agent that writes prompts, if one does.
    pub describing: Option<Describing>,
    /// The environment of this process.
    pub host: Host,
    /// Told what is done, by several threads.
    pub tell: fn(Stage<'_>),
}

/// What is going on.
#[derive(Debug, Clone, Copy)]
pub enum Stage<'a> {
    /// A draft of this name is being proven.
    Proving(&'a str),
    /// An agent is asked for the prompt of an eval that is written.
    Describing(&'a str),
    /// A draft has ended: the eval is in the suite, or the commit is refused.
    Ended(&'a MinedCommit),
}

/// What became of the commits.
#[derive(Debug)]
pub struct Mining {
    /// The commits.
    pub mined: Mined,
    /// Tells whether a signal ended it. Evals that were written before are whole.
    pub interrupted: bool,
    /// Tells whether files of drafts were left for the next run to remove.
    pub leaves_files: bool,
    /// The number of drafts that were proven, if that ended the search.
    pub tries_spent: Option<usize>,
    /// A line for each thing that could not be removed.
    pub not_removed: Vec<String>,
}

/// Makes evals from a history.
pub fn mine(mut request: Request) -> Result<Mining, MineError> {
    let (repository, head) = repository(&request.repository)?;
    let (kind, mark) = match request.inject {
        Some(_) => ("bugs", bugs_mark(&head)),
        None => ("evals", MARK.to_owned()),
    };
    let name = format!("{}-{kind}", repository.root.file_name().unwrap_or("mined"));
    let suite = match &request.into {
        Some(into) => into.clone(),
        None => request.here.join(&name),
    };
    let known = evals_in(&suite, &mark)?;
    let interrupted = signals::noted().map_err(StartError::Signals)?;
    let (work, git) = open(&repository, &head, &request.host)?;
    // Several drafts share the trials that may run at once.
    let trials = match request.concurrency {
        Some(number) => number as usize,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let at_once = match request.inject {
        Some(_) => 1,
        None => trials.div_ceil(TRIALS).min(MOST_AT_ONCE),
    };
    let seed = request.inject;
    request.concurrency = u32::try_from(trials / at_once).ok();
    let mut miner = Miner {
        git,
        known,
        shared: work.new_dir()?,
        work,
        at_once,
        in_flight: Vec::new(),
        tried: 0,
        bench: Arc::new(Bench {
            request,
            name,
            suite,
            interrupted,
            ended: Mutex::new(Some(Vec::new())),
            spent: Mutex::default(),
            hopeless: Mutex::default(),
        }),
    };
    let tries_spent = match seed {
        Some(seed) => miner.inject(&head, seed),
        None => miner.mine(&head),
    };
    miner.end(tries_spent)
}

/// Returns the repository that a directory is in, and its newest commit.
fn repository(dir: &Utf8Path) -> Result<(Repository, String), MineError> {
    let none = || MineError::NoRepository(dir.to_owned());
    let repository = Repository::around(dir).ok_or_else(none)?;
    let head = repository.commit().ok_or_else(none)?;
    Ok((repository, head))
}

/// Makes a work directory, and a directory in it for git.
fn open(repository: &Repository, head: &str, host: &Host) -> Result<(WorkDir, Git), MineError> {
    let path = host.get("PATH").unwrap_or_default();
    if find_program("git", path).is_none() {
        return Err(MineError::NoGit);
    }
    let work = WorkDir::create(host.get("TERCA_WORK_DIR")).map_err(StartError::NoWorkDir)?;
    let git = Git::new(repository, head, work.new_dir()?, path)?;
    Ok((work, git))
}

/// Returns the names of the evals that a suite has already. A directory that is something else is refused.
fn evals_in(suite: &Utf8Path, mark: &str) -> Result<BTreeSet<String>, MineError> {
    let taken = || MineError::Taken(suite.to_owned());
    if suite.symlink_metadata().is_err() {
        return Ok(BTreeSet::new());
    }
    let entries = suite.read_dir_utf8().map_err(|_| taken())?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_owned()));
    let names: BTreeSet<String> = names.collect::<io::Result<_>>()?;
    let text = std::fs::read_to_string(suite.join(SUITE_FILE)).unwrap_or_default();
    let is_ours = text.lines().any(|line| line == mark);
    (is_ours || names.is_empty())
        .then_some(names)
        .ok_or_else(taken)
}

struct Miner {
    git: Git,
    known: BTreeSet<String>,
    work: WorkDir,
    /// The most drafts that are proven at the same time.
    at_once: usize,
    in_flight: Vec<JoinHandle<Result<(), MineError>>>,
    tried: usize,
    /// A directory with the downloads and the cached steps of all drafts.
    shared: Utf8PathBuf,
    bench: Arc<Bench>,
}

impl Miner {
    /// Looks at commits until there are enough evals. Returns the number of drafts, if that ended the search.
    fn mine(&mut self, head: &str) -> Result<Option<usize>, MineError> {
        let bench = self.bench.clone();
        let request = &bench.request;
        if let Some(describing) = &request.describing {
            describe::check(describing, &self.work.new_dir()?, request)?;
        }
        let ids = self.git.commits(head, request.since)?;
        let mut ids = ids.iter().enumerate();
        let mut leave_at = None;
        let mut result = Ok(());
        loop {
            while result.is_ok() && self.has_room() {
                let Some((place, id)) = ids.next() else { break };
                result = self.look_at(place, id);
            }
            if self.in_flight.is_empty() {
                break;
            }
            if bench.is_interrupted() {
                let leave_at = *leave_at.get_or_insert_with(|| Instant::now() + LAST_WAIT);
                if Instant::now() >= leave_at {
                    break;
                }
            }
            std::thread::sleep(GLANCE);
            for ended in self.in_flight.extract_if(.., |draft| draft.is_finished()) {
                let ended = ended.join().unwrap_or_else(|panic| resume_unwind(panic));
                result = result.and(ended);
            }
        }
        result?;
        let is_spent = self.tried >= request.max_tries && bench.written() < request.limit;
        Ok(Some(self.tried).filter(|_| is_spent && ids.len() > 0))
    }

    fn has_room(&self) -> bool {
        let request = &self.bench.request;
        let wanted = request.limit.saturating_sub(self.bench.written());
        let at_once = self.at_once.min(wanted);
        self.in_flight.len() < at_once
            && self.tried < request.max_tries
            && !self.bench.is_interrupted()
    }

    /// Makes a draft of a commit and begins to prove it, or refuses it.
    fn look_at(&mut self, place: usize, id: &str) -> Result<(), MineError> {
        let Ok(Some(commit)) = self.git.commit(id) else {
            return Ok(());
        };
        let started = match self.drafted(&commit) {
            Ok(draft) => self.start(place, draft)?,
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = started {
            self.bench
                .end(place, MinedCommit::refused(&commit, refusal));
        }
        Ok(())
    }

    /// Begins to prove a draft. The inner error is the reason why it cannot be one.
    fn start(&mut self, place: usize, draft: Draft) -> Result<Result<(), Refusal>, MineError> {
        let bench = self.bench.clone();
        if let Some(tool) = bench.missing(&draft.tools) {
            if self.tried == 0 {
                let commit = draft.chosen.commit.short().to_owned();
                return Err(MineError::NoTool { tool, commit });
            }
            let detail = format!("`{tool}` is not installed");
            return Ok(Err(Refusal::with(Reason::Setup, detail)));
        }
        let staging = self.work.new_dir()?;
        let file = proof_file(&suite_file(&bench.name));
        fs_err::write(staging.join(SUITE_FILE), file)?;
        // What one draft has fetched or made, the next one has.
        for own in [cache_dir(&staging), layers_dir(&staging)] {
            let shared = self.shared.join(own.file_name().unwrap_or_default());
            fs_err::create_dir_all(&shared)?;
            fs_err::create_dir_all(own.parent().unwrap_or(&own))?;
            symlink(shared, own)?;
        }
        let written = staged::write(&draft, &staging.join(&draft.folder), &mut self.git)?;
        if let Err(refusal) = written {
            remove_and_tell(&staging);
            return Ok(Err(refusal));
        }
        self.tried += 1;
        let room = self.work.new_dir()?;
        let prove = move || {
            let ended = bench.prove(place, draft, &staging, &room);
            // Nobody waits for this. What is left is removed with the work directory.
            std::thread::spawn(move || remove_and_tell(&staging));
            ended
        };
        self.in_flight.push(std::thread::spawn(prove));
        Ok(Ok(()))
    }

    /// Tells what became of the commits, and removes the rest. After an interrupt, what takes long is left to the next run,
    /// which finds that nobody holds it.
    fn end(self, tries_spent: Result<Option<usize>, MineError>) -> Result<Mining, MineError> {
        let bench = self.bench;
        let mut commits = locked(&bench.ended).take().unwrap_or_default();
        commits.sort_by_key(|(place, _)| *place);
        let commits = commits.into_iter().map(|(_, commit)| commit).collect();
        let interrupted = bench.is_interrupted();
        let (sender, removed) = channel();
        let work = self.work;
        std::thread::spawn(move || sender.send(work.remove()));
        let not_removed = match interrupted {
            true => removed.recv_timeout(LAST_REMOVAL).ok(),
            false => removed.recv().ok(),
        };
        Ok(Mining {
            tries_spent: tries_spent?,
            mined: Mined::new(bench.suite.clone(), commits, *locked(&bench.spent)),
            interrupted,
            leaves_files: not_removed.is_none() || !self.in_flight.is_empty(),
            not_removed: not_removed.unwrap_or_default(),
        })
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
        code::settle(&mut chosen)?;
        contents::check(&chosen, self.bench.request.most_lines)?;
        let tree = self.git.tree(&chosen.parent)?;
        check_size(&tree, &self.bench.request)?;
        let recipes = self.recipes(&chosen, &tree);
        draft(chosen, &tree, &recipes, &self.bench.request.wishes)
    }

    fn chosen(&mut self, commit: &Commit) -> Result<Chosen, Refusal> {
        let parent = parent_of(commit)?;
        let end = format!("-{}", commit.short());
        if let Some(eval) = self.known.iter().find(|name| name.ends_with(&end)) {
            return Err(Refusal::with(Reason::Already, eval));
        }
        let changes = self.git.changes(parent, &commit.id)?;
        if commit.parents.len() == 1 {
            return choose(commit.clone(), parent, changes);
        }
        let chosen = choose(merged(commit)?, parent, changes).map_err(|_| Reason::Merge)?;
        match self.is_made_of_others(parent, &commit.id) {
            true => Err(Reason::Merge.into()),
            false => Ok(chosen),
        }
    }

    /// Tells whether a commit of a merge could be chosen by itself, or there are too many to know.
    fn is_made_of_others(&mut self, parent: &str, id: &str) -> bool {
        let ids = self.git.merged(parent, id, MOST_MERGED).unwrap_or_default();
        let mut is_chosen = |id: &String| {
            let commit = self.git.commit(id).ok().flatten()?;
            let parent = parent_of(&commit).ok()?;
            let changes = self.git.changes(parent, id).ok()?;
            choose(commit.clone(), parent, changes).ok()
        };
        ids.len() == MOST_MERGED || ids.iter().any(|id| is_chosen(id).is_some())
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
}

/// What the drafts share that are proven at the same time.
struct Bench {
    request: Request,
    name: String,
    suite: Utf8PathBuf,
    interrupted: Arc<AtomicBool>,
    /// The commits that were looked at, with their places in the history; `None` when Terca leaves. Who puts an eval into the
    /// suite holds it, so that it is whole then, and told.
    ended: Mutex<Option<Vec<(usize, MinedCommit)>>>,
    /// The cost of the agent that writes prompts, where some of it is known.
    spent: Mutex<Option<f64>>,
    /// Held by who asks the agent. It is the error that each further question would meet.
    hopeless: Mutex<Option<NoAnswer>>,
}

impl Bench {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn written(&self) -> usize {
        let ended = locked(&self.ended);
        let commits = ended.iter().flatten();
        commits.filter(|(_, commit)| commit.eval.is_some()).count()
    }

    fn end(&self, place: usize, commit: MinedCommit) {
        if let Some(ended) = &mut *locked(&self.ended) {
            ended.push((place, commit));
        }
    }

    /// Returns the first of these programs that this machine does not have. What an image has is not known.
    fn missing(&self, tools: &[&'static str]) -> Option<&'static str> {
        let path = self.request.host.get("PATH").unwrap_or_default();
        let is_known = !self.request.sandbox.is_container();
        let mut tools = tools.iter().filter(|_| is_known);
        tools
            .find(|tool| find_program(tool, path).is_none())
            .copied()
    }

    /// Proves a draft, and puts it into the suite if it holds. `room` is an empty directory for the agent that writes prompts.
    fn prove(
        &self,
        place: usize,
        mut draft: Draft,
        staging: &Utf8Path,
        room: &Utf8Path,
    ) -> Result<(), MineError> {
        let tell = self.request.tell;
        tell(Stage::Proving(&draft.folder));
        let Some(proven) = prove::prove(staging, &mut draft, &self.request)? else {
            return Ok(());
        };
        let commit = &draft.chosen.commit;
        let mut ended = locked(&self.ended);
        let Some(commits) = &mut *ended else {
            return Ok(());
        };
        let is_proven = proven.is_ok();
        let end = match proven {
            Err(refusal) => MinedCommit::refused(commit, refusal),
            Ok(()) => {
                staged::publish(&staging.join(&draft.folder), &self.suite, &self.name)?;
                MinedCommit::written(commit, &draft.folder)
            }
        };
        tell(Stage::Ended(&end));
        commits.push((place, end));
        drop(ended);
        match &self.request.describing {
            Some(describing) if is_proven => self.describe(place, &draft, describing, room),
            _ => Ok(()),
        }
    }

    /// Has an agent write the prompt of an eval that is in the suite.
    fn describe(
        &self,
        place: usize,
        draft: &Draft,
        describing: &Describing,
        room: &Utf8Path,
    ) -> Result<(), MineError> {
        let (prompt, described) = describe::describe(describing, draft, room, self);
        let mut ended = locked(&self.ended);
        let mut commits = ended.iter_mut().flatten();
        let Some((_, commit)) = commits.find(|(own, _)| *own == place) else {
            return Ok(());
        };
        if let Some(prompt) = prompt {
            for (name, text) in draft.described(prompt, &described.by) {
                fs_err::write(self.suite.join(&draft.folder).join(name), text)?;
            }
        }
        commit.described = Some(described);
        Ok(())
    }
}

fn check_size(tree: &[Entry], request: &Request) -> Result<(), Refusal> {
    let bytes: u64 = tree.iter().map(|entry| entry.size).sum();
    if tree.len() > request.most_files || bytes > request.most_bytes {
        let detail = format!("its tree has {} files and {} MB", tree.len(), bytes >> 20);
        return Err(Refusal::with(Reason::TooLarge, detail));
    }
    let large = tree.iter().find(|entry| entry.size > staged::LARGEST_FILE);
    large.map_or(Ok(()), |entry| {
        Err(Refusal::with(Reason::TooLarge, entry.path.as_str()))
    })
}
