//! The ground that each test stands on: the work as the agent left it, the hidden files over it, and a home and a temporary
//! directory as they were before the first test. A test runs the agent's work, which could change any of them for the next.

use std::io;

use camino::Utf8Path;
use terca_core::grade::{Grade, Question, TestSpec};
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::shadows::remove_shadows;
use crate::tree::{Dir, Limits, Meta, TreeError, copy};
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;
use crate::workspace::laid::{Laid, restore};

/// The ground of a trial's tests.
#[derive(Debug)]
pub(super) struct Ground {
    /// The hidden files in the workspace, where the eval has some.
    hidden: Option<Laid>,
    /// What has to be laid again before another test, where another test follows one that runs the work.
    again: Option<Again>,
    /// The work has run since all was laid.
    pub is_used: bool,
    /// The reason why nothing can be laid again.
    unusable: Option<String>,
}

/// The places that are laid again.
#[derive(Debug)]
struct Again {
    /// The permissions of the workspace, and what is in it beside the hidden files. One that is mounted is mounted anew.
    work: Option<(Meta, Laid)>,
    home: Laid,
}

impl Ground {
    /// Lays the hidden files over the work, which is in the workspace already, as a copy of `left` or as a mount. The home is
    /// ready.
    pub(super) fn lay(
        run: &mut TrialRun<'_>,
        hidden: Option<&Utf8Path>,
        left: Option<&Utf8Path>,
    ) -> Result<Self, StageError> {
        let options = run.context.own_tree(Limits::NONE);
        let workspace = Dir::open_no_link(run.dirs.here())?;
        let hidden = match hidden {
            None => None,
            Some(hidden) => {
                let source = Dir::open(run.context.sealed.open(hidden)?)?;
                let suite = run.context.suite_tree();
                copy(&source, &workspace, &suite, &mut |_| Ok(true))?;
                let hidden = Laid::over(&workspace, source, &options)?;
                run.remarks
                    .extend(remove_shadows(&workspace, &hidden, &options)?);
                let paths = hidden
                    .paths()
                    .filter_map(|path| path.to_owned().try_into().ok());
                run.hidden = paths.collect();
                Some(hidden)
            }
        };
        let mut ground = Ground {
            hidden,
            again: None,
            is_used: false,
            unusable: None,
        };
        let tests = &run.spec.case.eval.tests;
        if tests.iter().rev().skip(1).any(runs_work) {
            run.dirs.keep_for_tests()?;
            let options = run.context.own_tree(Limits::NONE);
            let work = left.map(|left| {
                let over = ground.hidden.as_ref();
                let laid = Laid::below(&workspace, Dir::open_no_link(left)?, over, &options)?;
                Ok::<_, TreeError>((*Dir::open_no_link(run.dirs.here())?.meta(), laid))
            });
            let work = work.transpose()?;
            run.dirs.set_home_aside()?;
            let (home, left) = (&run.dirs.home, &run.dirs.home_left);
            let (home, left) = (Dir::open_no_link(home)?, Dir::open_no_link(left)?);
            copy(&left, &home, &options, &mut |_| Ok(true))?;
            home.set_facts(left.meta())?;
            let home = Laid::below(&home, left, None, &options)?;
            ground.again = Some(Again { work, home });
        }
        Ok(ground)
    }

    /// Makes all ready for the next test. Returns the reason if the work has seen to it that this is impossible.
    pub(super) fn renew(&mut self, run: &mut TrialRun<'_>) -> Result<Option<&str>, StageError> {
        let Some(again) = self.again.as_mut().filter(|_| self.is_used) else {
            return Ok(None);
        };
        if self.unusable.is_none() {
            match again.lay(run, self.hidden.as_mut()) {
                Ok(()) => self.is_used = false,
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => return Err(StageError::Interrupted),
                    io::ErrorKind::StorageFull => return Err(error.into()),
                    _ => self.unusable = Some(format!("an earlier test cannot be undone: {error}")),
                },
            }
        }
        Ok(self.unusable.as_deref())
    }

    /// Notes that a test has run the work. Where that has changed a hidden file the verdict is 0, also of a test that could
    /// not tell: the work could make an error of its trial that way.
    pub(super) fn check(
        &mut self,
        run: &mut TrialRun<'_>,
        test: &TestSpec,
        graded: Result<Grade, StageError>,
    ) -> Result<Grade, StageError> {
        let is_run = runs_work(test);
        self.is_used |= is_run;
        let Some(hidden) = self.hidden.as_ref().filter(|_| is_run) else {
            return graded;
        };
        let grade = match &graded {
            Ok(grade) => grade.clone(),
            Err(StageError::Error(error)) if error.kind == ErrorKind::Setup => Grade::default(),
            Err(_) => return graded,
        };
        let options = run.context.own_tree(Limits::NONE);
        let touched = hidden.touched(&Dir::open_no_link(run.dirs.here())?, &options)?;
        let names = |word: &str| -> Vec<String> {
            let touched = touched.iter().filter(|(_, found)| *found == word);
            touched
                .map(|(path, _)| path.to_string_lossy().into_owned())
                .collect()
        };
        let mut parts = Vec::new();
        for word in ["changed", "removed"] {
            let names = names(word);
            if !names.is_empty() {
                parts.push(format!("{word} {}", prose::quoted_list(&names, "and")));
            }
        }
        if parts.is_empty() {
            return graded;
        }
        let parts = prose::list(&parts, "and");
        let reason = format!("the work, or the test itself, {parts} of the hidden files");
        run.log.line(&reason)?;
        run.remarks.push(format!("test `{}`: {reason}", test.name));
        let touched = touched.into_iter();
        Ok(Grade {
            score: 0.0,
            weight: Some(test.weight),
            message: reason,
            tests_touched: touched
                .map(|(path, _)| path.to_string_lossy().into_owned())
                .collect(),
            ..grade
        })
    }
}

impl Again {
    fn lay(&mut self, run: &mut TrialRun<'_>, hidden: Option<&mut Laid>) -> Result<(), TreeError> {
        // First what takes room: the work may have filled the disk.
        run.dirs.begin_test()?;
        let options = run.context.own_tree(Limits::NONE);
        if !run.dirs.forget_test()?
            && let Some((facts, work)) = &mut self.work
        {
            let workspace = Dir::open_no_link(run.dirs.here())?;
            let mut laid = vec![work];
            laid.extend(hidden);
            restore(&workspace, &mut laid, &options)?;
            workspace.set_facts(facts)?;
        }
        let home = Dir::open_no_link(&run.dirs.home)?;
        restore(&home, &mut [&mut self.home], &options)
    }
}

/// Returns whether a test runs the agent's work, or could.
fn runs_work(test: &TestSpec) -> bool {
    matches!(test.question(), Question::Command { .. })
}
