//! Puts bugs into the newest commit, and proves each by the project's own tests.
//!
//! All bugs are evals of one suite while they are proven. Its `_base` is the project and its `prepare` the setup, which is
//! therefore made once. A batch is run as it is first: a bug that no test notices costs one trial. The others are proven.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::analysis::results::Results;
use terca_core::analysis::validation::proofs;
use terca_core::grade::test_report::CaseEnd;
use terca_core::new_suite::mine::choice::Chosen;
use terca_core::new_suite::mine::commit::{Commit, Entry, Kind};
use terca_core::new_suite::mine::draft::{Draft, Placed, injected, shared_keys, tools};
use terca_core::new_suite::mine::inject::{Ground, Source, symptoms};
use terca_core::new_suite::mine::lists::Lists;
use terca_core::new_suite::mine::{MinedCommit, Reason, Refusal, bugs_file, contents, proof_file};
use terca_core::run::outcome::Status;
use terca_core::run::state::Trial;

use super::prove::{refusal, run, settings};
use super::{MineError, Miner, Stage, check_size, staged};
use crate::locked;
use crate::run::scheduler::FinishedRun;
use crate::suite::create;
use crate::suite::discover::SUITE_FILE;
use crate::workspace::own_dirs::remove_and_tell;

/// A larger file is not read.
const LARGEST: u64 = 200 << 10;
/// The most test files that are tried.
const MOST_TESTS: usize = 60;
/// Bugs that are tried together for each trial that may run at once.
const BATCH: usize = 3;

/// The suite in which bugs are proven.
struct Room {
    dir: Utf8PathBuf,
    head: Commit,
    tree: Vec<Entry>,
    keys: String,
}

impl Miner {
    /// Makes evals of bugs until there are enough. Returns the number of tries, if that ended the search.
    pub(super) fn inject(&mut self, head: &str, seed: u64) -> Result<Option<usize>, MineError> {
        let unreadable = |refusal: Refusal| MineError::NoBugs(refusal.to_string());
        let commit = self.git.commit(head).map_err(unreadable)?;
        let head = commit.ok_or_else(|| MineError::NoBugs("it cannot be read".to_owned()))?;
        let tree = self.git.tree(&head.id).map_err(unreadable)?;
        check_size(&tree, &self.bench.request).map_err(unreadable)?;
        let files = self.sources(&tree).map_err(unreadable)?;
        let none = || MineError::NoBugs("it has no tests that are known how to run".to_owned());
        let mut ground = Ground::new(files).ok_or_else(none)?;
        let room = self.room(head, tree, &ground)?;
        self.keep_passing(&mut ground, &room)?;
        let bench = self.bench.clone();
        let request = &bench.request;
        let mut bugs = ground.bugs(seed).into_iter();
        let size = BATCH * request.concurrency.unwrap_or(1).max(2) as usize;
        loop {
            let left = request.limit.saturating_sub(bench.written());
            let tries = request.max_tries.saturating_sub(self.tried);
            if left == 0 || tries == 0 || bench.is_interrupted() {
                let is_spent = left > 0 && tries == 0 && bugs.len() > 0;
                return Ok(Some(self.tried).filter(|_| is_spent));
            }
            let mut batch: Vec<Draft> = Vec::new();
            for bug in bugs.by_ref() {
                let (chosen, with_bug) = ground.task(&bug, &room.head);
                let draft = self.staged(&room, chosen, &with_bug)?;
                batch.extend(draft.filter(|draft| !self.known.contains(&draft.folder)));
                if batch.len() == size.min(tries) {
                    break;
                }
            }
            if batch.is_empty() {
                return Ok(None);
            }
            self.tried += batch.len();
            self.try_batch(batch, &room)?;
        }
    }

    /// Reads the files of the project that are text and small.
    fn sources(&mut self, tree: &[Entry]) -> Result<Vec<Source>, Refusal> {
        let mut sources = Vec::new();
        for entry in tree {
            let is_file = matches!(entry.object.kind, Kind::File(_));
            if !is_file || entry.size > LARGEST || !Source::may_be(&entry.path) {
                continue;
            }
            let content = self.git.content(&entry.object.id, LARGEST)?;
            if let Some(text) = content.and_then(contents::text) {
                let mut object = entry.object.clone();
                object.text = text;
                let path = entry.path.clone();
                sources.push(Source { path, object });
            }
        }
        Ok(sources)
    }

    /// Makes the suite, with the setup of all tests.
    fn room(&mut self, head: Commit, tree: Vec<Entry>, ground: &Ground) -> Result<Room, MineError> {
        let bench = self.bench.clone();
        let chosen = ground.unchanged(&ground.all_tests(), 0, &head);
        let recipes = self.recipes(&chosen, &tree);
        let keys = shared_keys(&recipes, &bench.request.wishes);
        let dir = self.work.new_dir()?;
        let files = bugs_file(&bench.name, &head.id, &keys);
        fs_err::write(dir.join(SUITE_FILE), proof_file(&files))?;
        let base = tree.iter().map(|entry| Placed {
            below: "_base",
            path: entry.path.clone(),
            object: entry.object.clone(),
        });
        let base: Vec<Placed> = base.collect();
        let written = staged::place(&base, &dir, &mut self.git)?;
        written.map_err(|refusal| MineError::NoBugs(refusal.to_string()))?;
        if let Some(tool) = bench.missing(&tools(&recipes, &bench.request.wishes)) {
            let commit = head.short().to_owned();
            return Err(MineError::NoTool { tool, commit });
        }
        Ok(Room {
            dir,
            head,
            tree,
            keys,
        })
    }

    /// Writes a draft into the suite; `None` if it cannot be one.
    fn staged(
        &mut self,
        room: &Room,
        chosen: Chosen,
        with_bug: &str,
    ) -> Result<Option<Draft>, MineError> {
        let recipes = self.recipes(&chosen, &room.tree);
        let wishes = &self.bench.request.wishes;
        let Ok(draft) = injected(chosen, with_bug, &room.tree, &recipes, wishes) else {
            return Ok(None);
        };
        let dir = room.dir.join(&draft.folder);
        // Two bugs may have one name.
        if dir.exists() || self.known.contains(&draft.folder) {
            return Ok(None);
        }
        let written = staged::write(&draft, &dir, &mut self.git)?;
        Ok(written.is_ok().then_some(draft))
    }

    /// Leaves out the tests that do not pass as they are, twice.
    fn keep_passing(&mut self, ground: &mut Ground, room: &Room) -> Result<(), MineError> {
        let groups = ground.groups();
        let mut drafts = Vec::new();
        for (number, group) in groups.into_iter().take(MOST_TESTS).enumerate() {
            let chosen = ground.unchanged(&group, number, &room.head);
            if let Some(draft) = self.staged(room, chosen, "")? {
                drafts.push((draft, group));
            }
        }
        if drafts.is_empty() {
            ground.tests.clear();
            return Ok(());
        }
        (self.bench.request.tell)(Stage::Proving("the tests of the project as they are"));
        let finished = self.run_as_it_is(room, 2)?;
        let error = finished
            .state
            .trials()
            .iter()
            .find_map(|trial| trial.report.error.as_ref());
        if let Some(error) = error {
            return Err(MineError::NoBugs(error.message.clone()));
        }
        let mut passing: BTreeSet<Utf8PathBuf> = BTreeSet::new();
        for (draft, group) in drafts {
            let mut trials = trials_of(&finished, &draft.folder);
            if trials.all(|trial| trial.report.status == Status::Passed) {
                passing.extend(group.into_iter().map(|(_, test)| test));
            }
            remove_and_tell(&room.dir.join(&draft.folder));
        }
        ground.tests.retain(|test| passing.contains(&test.path));
        let losses = finished.state.trials().iter();
        let loss = losses.flat_map(|trial| trial.report.losses()).next();
        match loss {
            Some((_, grade)) if ground.tests.is_empty() && !finished.interrupted => {
                let text = format!("its tests do not pass as they are: {}", grade.message);
                Err(MineError::NoBugs(text))
            }
            _ => Ok(()),
        }
    }

    /// Runs the evals of the suite with nobody who works on them.
    fn run_as_it_is(&self, room: &Room, repetitions: u32) -> Result<FinishedRun, MineError> {
        let request = &self.bench.request;
        let mut settings = settings(request);
        settings.validate = false;
        settings.selection.repetitions = Some(repetitions);
        run(&room.dir, &settings, request)
    }

    /// Tries bugs, and puts those into the suite that are proven.
    fn try_batch(&mut self, batch: Vec<Draft>, room: &Room) -> Result<(), MineError> {
        let bench = self.bench.clone();
        let alone = self.run_as_it_is(room, 1)?;
        let mut noticed = Vec::new();
        for mut draft in batch {
            let trial = trials_of(&alone, &draft.folder).next();
            match trial.map(|trial| (trial, symptom(trial))) {
                Some((trial, Ok(prompt))) => {
                    let dir = room.dir.join(&draft.folder);
                    fs_err::write(dir.join("prompt.md"), prompt)?;
                    if draft.is_reported() {
                        // Nobody gets a share of the score for tests that pass with the bug.
                        let lists = draft
                            .checks
                            .iter()
                            .map(|check| demanded(trial, &check.name));
                        let (name, text) = draft.demand(lists.collect());
                        fs_err::write(dir.join(name), text)?;
                    }
                    noticed.push(draft);
                }
                Some((_, Err(refusal))) if !alone.interrupted => {
                    self.end_bug(&draft, room, Err(refusal))?;
                }
                _ => {
                    remove_and_tell(&room.dir.join(&draft.folder));
                }
            }
        }
        if noticed.is_empty() || bench.is_interrupted() {
            return Ok(());
        }
        (bench.request.tell)(Stage::Proving(&format!("{} bugs", noticed.len())));
        let finished = run(&room.dir, &settings(&bench.request), &bench.request)?;
        let results = Results::of(&finished.state);
        let proofs = proofs(&results);
        for draft in noticed {
            let proof = proofs.iter().find(|proof| proof.eval == draft.folder);
            let refusal = proof.map(|proof| refusal(proof, &bench.request));
            match refusal {
                Some(None) => self.end_bug(&draft, room, Ok(()))?,
                Some(Some(refusal)) if !finished.interrupted => {
                    self.end_bug(&draft, room, Err(refusal))?;
                }
                _ => {
                    remove_and_tell(&room.dir.join(&draft.folder));
                }
            }
        }
        Ok(())
    }

    /// Notes what became of a bug, and puts it into the suite if it is proven.
    fn end_bug(
        &self,
        draft: &Draft,
        room: &Room,
        end: Result<(), Refusal>,
    ) -> Result<(), MineError> {
        let bench = &self.bench;
        let staging = room.dir.join(&draft.folder);
        let commit = &draft.chosen.commit;
        let ended = match end {
            _ if bench.written() >= bench.request.limit => None,
            Ok(()) => {
                begin_suite(room, &bench.suite, &bench.name)?;
                staged::publish(&staging, &bench.suite, &bench.name)?;
                Some(MinedCommit::written(commit, &draft.folder))
            }
            Err(refusal) => Some(MinedCommit::refused(commit, refusal)),
        };
        if let Some(ended) = ended {
            (bench.request.tell)(Stage::Ended(&ended));
            let place = locked(&bench.ended).as_ref().map_or(0, Vec::len);
            bench.end(place, ended);
        }
        remove_and_tell(&staging);
        Ok(())
    }
}

/// Returns what a trial without any work tells about a bug.
fn symptom(trial: &Trial) -> Result<String, Refusal> {
    let report = &trial.report;
    if let Some(error) = &report.error {
        return Err(Refusal::with(Reason::Unknown, error.message.clone()));
    }
    if report.status == Status::Passed {
        return Err(Reason::Unnoticed.into());
    }
    let losses = report.losses().map(|(_, grade)| grade);
    symptoms(losses).ok_or_else(|| Reason::NoSymptom.into())
}

/// Returns the tests of a check that must pass: those that fail with the bug, and those that it does not break.
fn demanded(trial: &Trial, check: &str) -> Lists {
    let mut grades = trial.report.tests.iter();
    let grade = grades.find(|(name, _)| name == check);
    let report = grade.and_then(|(_, grade)| grade.report.as_ref());
    let named = |end: CaseEnd| {
        let cases = report.iter().flat_map(|report| &report.cases);
        let names: BTreeSet<&String> = cases
            .filter(|case| case.end == end)
            .map(|case| &case.name)
            .collect();
        names.into_iter().cloned().collect()
    };
    Lists {
        fail_to_pass: named(CaseEnd::Failed),
        pass_to_pass: named(CaseEnd::Passed),
    }
}

fn trials_of<'a>(run: &'a FinishedRun, eval: &'a str) -> impl Iterator<Item = &'a Trial> {
    let trials = run.state.trials().iter();
    trials.filter(move |trial| trial.head.eval == eval)
}

/// Makes the suite with the project in it, before its first eval.
fn begin_suite(room: &Room, suite: &Utf8Path, name: &str) -> Result<(), MineError> {
    if suite.join(SUITE_FILE).exists() {
        return Ok(());
    }
    fs_err::create_dir_all(suite)?;
    staged::copy_whole(&room.dir.join("_base"), suite)?;
    create::write(suite, &bugs_file(name, &room.head.id, &room.keys))?;
    Ok(())
}
