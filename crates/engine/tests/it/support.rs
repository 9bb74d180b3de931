//! Parts of the tests: one launcher for the whole process, and trials of small suites.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::plan::TrialSpec;
use terca_core::plan::expand::{Overrides, expand};
use terca_core::plan::selection::Selection;
use terca_core::run::event::{EventKind, Phase};
use terca_core::run::outcome::TrialReport;
use terca_core::run::settings::Keep;
use terca_core::text::mask::Mask;
use terca_engine::host::agent_store::AgentStore;
use terca_engine::host::environment::Host;
use terca_engine::process::interrupt::Interrupt;
use terca_engine::process::supervise::{Launcher, SupervisorPool};
use terca_engine::suite::discover;
use terca_engine::trial::{self, Context, Preflights, RunGateway, Versions};
use terca_engine::workspace::base_layers::BaseLayers;
use terca_engine::workspace::layers::LayerCache;
use terca_engine::workspace::overlays::{Overlays, Wish};
use terca_engine::workspace::sealed_suite::SealedSuite;
use terca_engine::workspace::suite_inputs::Inputs;
use terca_engine::workspace::trial_dirs::WorkDir;
use terca_testkit::Project;

/// The supervisors' program, in the place of `terca`.
pub const SUPERVISOR: &str = env!("CARGO_BIN_EXE_supervisor-for-tests");

static LAUNCHER: LazyLock<Arc<Launcher>> = LazyLock::new(|| Launcher::new(SUPERVISOR));

/// The launcher of this process: tests may share a process, and a process has one launcher.
pub fn launcher() -> Arc<Launcher> {
    LAUNCHER.clone()
}

/// An empty suite in a temporary directory.
pub fn project() -> Project {
    Project::new(SUPERVISOR)
}

/// Waits until a condition holds. A test that waits in vain fails.
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "waited in vain until {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A suite that is loaded, and everything that its trials share.
pub struct Suite {
    pub project: Project,
    pub specs: Vec<TrialSpec>,
    pub context: Arc<Context>,
}

impl Suite {
    pub fn load(project: Project) -> Self {
        let loaded = discover::load(&project.dir(), &|_| None).unwrap();
        let mut problems = loaded.problems;
        let suite = loaded.suite.expect("a suite without mistakes");
        let plan = expand(
            &suite,
            &Selection::default(),
            &Overrides::default(),
            &|_| None,
            &mut problems,
        );
        assert!(!problems.has_errors(), "{problems:?}");
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", project.home().into_string()),
        ];
        let work = WorkDir::create(Some(project.work_dir().as_str())).unwrap();
        let inputs = Inputs::of(&plan, &project.dir());
        std::fs::create_dir_all(project.dir().join(".terca/runs/1")).unwrap();
        let base_layers = Arc::new(BaseLayers::of_suite(&project.dir()));
        let context = Context {
            agents: AgentStore::of_suite(&project.dir(), Default::default()),
            suite_dir: project.dir(),
            run_dir: project.dir().join(".terca/runs/1"),
            overlays: Overlays::new(Wish::Auto, launcher()),
            sealed: SealedSuite::create(
                work.new_dir().unwrap(),
                &project.dir(),
                &inputs,
                &base_layers,
            )
            .unwrap(),
            programs: None,
            work,
            mask: Mask::new(plan.secrets.iter().cloned()),
            host: Host::new(variables.map(|(name, value)| (name.into(), value)).into()),
            interrupt: Arc::new(Interrupt::new().unwrap()),
            keep: Keep::All,
            offline_tests: false,
            versions: Versions::new(launcher()),
            layers: LayerCache::new(&project.dir(), base_layers.clone(), false),
            base_layers,
            merged_layers: Default::default(),
            checked_layers: Default::default(),
            keeps_whole: false,
            preflights: Preflights::default(),
            services: Default::default(),
            gateway: RunGateway::default(),
            replay: None,
            package_hosts: Vec::new(),
            tap_program: Default::default(),
            supervisors: SupervisorPool::new(launcher()),
            sandboxes: Default::default(),
            limits: Default::default(),
        };
        Suite {
            project,
            specs: plan.trials,
            context: Arc::new(context),
        }
    }

    /// Runs the first trial.
    pub fn run(&self) -> Trial {
        self.run_attempt(1)
    }

    pub fn run_attempt(&self, attempt: u32) -> Trial {
        let phases = Mutex::new(Vec::new());
        let report = trial::run(&self.specs[0], attempt, &self.context, &|event| {
            if let EventKind::PhaseStarted { phase, .. } = event {
                phases.lock().unwrap().push(phase);
            }
        });
        Trial {
            report,
            phases: phases.into_inner().unwrap(),
            folder: self.folder(),
        }
    }

    /// Runs the first trial, and interrupts the run as soon as the file is in its workspace.
    pub fn run_until(&self, file: &str, interrupt: fn(&Interrupt)) -> Trial {
        std::thread::scope(|scope| {
            let running = scope.spawn(|| self.run());
            let file = self.folder().join("workspace").join(file);
            wait_until(&format!("{file} is there"), || {
                file.exists() || running.is_finished()
            });
            interrupt(&self.context.interrupt);
            running.join().unwrap()
        })
    }

    /// The folder of the first trial.
    pub fn folder(&self) -> Utf8PathBuf {
        self.context.run_dir.join(&self.specs[0].dir)
    }

    /// Fails unless no process of a trial is left, and no directory of one.
    pub fn assert_nothing_left(self) {
        let Suite {
            project, context, ..
        } = self;
        let left = project.processes();
        assert!(left.is_empty(), "processes were left behind: {left:?}");
        drop(context);
        project.assert_nothing_left();
    }
}

/// A trial that has ended.
pub struct Trial {
    pub report: TrialReport,
    /// The stages that were begun.
    pub phases: Vec<Phase>,
    pub folder: Utf8PathBuf,
}

impl Trial {
    pub fn read(&self, file: &str) -> String {
        read(&self.folder.join(file))
    }

    /// The kind and the message of its error.
    pub fn error(&self) -> (terca_core::trial_error::ErrorKind, &str) {
        let error = self.report.error.as_ref().expect("an error");
        (error.kind, &error.message)
    }
}

pub fn read(path: &Utf8Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
