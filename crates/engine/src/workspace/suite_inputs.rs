//! The files of a suite that a run uses.

use std::cell::RefCell;
use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::normal;
use terca_core::plan::fingerprint::{Fingerprinter, words};
use terca_core::plan::{Layer, Plan};
use terca_core::text::mask::Mask;

/// The files of a suite that a run uses.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Files and trees that Terca reads.
    pub(super) named: BTreeSet<Utf8PathBuf>,
    /// Files that commands name.
    pub(super) scripts: BTreeSet<Utf8PathBuf>,
    /// Those of them that agents are started with.
    pub(super) programs: BTreeSet<Utf8PathBuf>,
    /// The directories of evals.
    pub(super) eval_dirs: BTreeSet<Utf8PathBuf>,
    /// Those of the trees that workspaces start from.
    pub(super) layers: BTreeSet<Utf8PathBuf>,
}

impl Inputs {
    /// Returns the files that have a part in a fingerprint of the plan, and the solutions.
    pub fn of(plan: &Plan, suite_dir: &Utf8Path) -> Self {
        let named = RefCell::new(BTreeSet::new());
        let scripts = RefCell::new(BTreeSet::new());
        let fingerprinter = Fingerprinter {
            suite_dir,
            root: None,
            mask: &Mask::default(),
            content: &|path| {
                named.borrow_mut().insert(path.to_owned());
                String::new()
            },
            script: &|path| {
                path.is_file().then(|| {
                    scripts.borrow_mut().insert(normal(path));
                    String::new()
                })
            },
        };
        fingerprinter.plan(plan);
        let mut inputs = Inputs {
            named: named.into_inner(),
            scripts: scripts.into_inner(),
            ..Inputs::default()
        };
        for trial in &plan.trials {
            let eval = &trial.case.eval;
            let solution = eval.solution.iter().chain(&eval.solution_script);
            inputs.named.extend(solution.cloned());
            inputs.eval_dirs.insert(eval.dir.clone());
            let layers = Layer::directories(&trial.case.layers).into_iter();
            inputs.layers.extend(layers.map(Utf8Path::to_owned));
        }
        for case in plan.cases() {
            let judges = case.judges().map(|(_, asked)| case.judge(asked));
            for agent in judges.chain([&case.variant.agent]) {
                let words = words(agent.command.as_deref().unwrap_or_default());
                let paths = words.map(|word| normal(Utf8Path::new(word)));
                inputs
                    .programs
                    .extend(paths.filter(|path| inputs.scripts.contains(path)));
            }
        }
        inputs
    }
}
