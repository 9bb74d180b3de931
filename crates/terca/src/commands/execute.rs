//! What `run` and `resume` have in common: from a plan and an open folder to results.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_core::analysis::results::{Results, exit_status};
use terca_core::plan::aa_check;
use terca_core::plan::fingerprint::{CasePrint, Press};
use terca_core::run::limits::Limits;
use terca_core::run::observer::Observer;
use terca_core::run::run_file::{Settings, manifest};
use terca_core::text::explain::Code;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_engine::host::credentials;
use terca_engine::host::environment::Host;
use terca_engine::process::interrupt::Interrupt;
use terca_engine::process::open_file_limit;
use terca_engine::process::supervise;
use terca_engine::process::supervise::Crew;
use terca_engine::run::scheduler;
use terca_engine::run::scheduler::{Finished, Message, Orders, Past};
use terca_engine::run::signals;
use terca_engine::run::store::Store;
use terca_engine::trial::{Context, Keep, LayerKeys, Versions};
use terca_engine::workspace::layers::Cache;
use terca_engine::workspace::tree_hash::Contents;
use terca_engine::workspace::trial_dirs::WorkDir;
use terca_report::github::Printed;
use terca_report::{JsonLines, Palette, Plain, Tty, failures, footer, results_table, verdicts};

use super::export;
use super::plan::Planned;
use super::refusal::Refusal;
use super::suggest::suggest;
use super::{INTERRUPTED, MISUSE, VERSION};
use crate::args::{Common, Format, KeepChoice, RunArgs};
use crate::{screen, shell};

/// Everything that is needed to run trials, before there is a folder for them.
pub(super) struct Execution<'a> {
    args: &'a RunArgs,
    common: &'a Common,
    planned: &'a Planned,
    host: Host,
    work: WorkDir,
    mask: Mask,
    limits: Limits,
    pub(super) fingerprints: Vec<CasePrint>,
    layer_keys: LayerKeys,
}

type Mail = (Sender<Message>, Receiver<Message>);

/// A run that has come to an end, and where it lies.
pub(super) struct Done {
    pub(super) finished: Finished,
    pub(super) run_dir: Utf8PathBuf,
}

impl<'a> Execution<'a> {
    pub(super) fn prepare(
        args: &'a RunArgs,
        common: &'a Common,
        planned: &'a Planned,
        host: Host,
    ) -> Result<Self, Refusal> {
        let work = WorkDir::create(host.get("TERCA_WORK_DIR"))
            .map_err(|error| Refusal::no_work_dir(MISUSE, &error))?;
        let mask = mask(planned, &host);
        let (fingerprints, layer_keys) = pressed(planned, &mask, |press| {
            (press.plan(&planned.plan), press.layers(&planned.plan))
        });
        let limits = within_reach(limits(args.concurrency, planned), planned);
        Ok(Execution {
            args,
            common,
            planned,
            host,
            work,
            mask,
            limits,
            fingerprints,
            layer_keys,
        })
    }

    /// What `run.json` says.
    pub(super) fn manifest(&self) -> Value {
        let planned = self.planned;
        let settings = Settings {
            terca_version: VERSION,
            seed: planned.seed,
            concurrency: self.limits.others,
            order: planned
                .order
                .iter()
                .map(|index| planned.trials[*index].id)
                .collect(),
            command: serde_json::to_value(self.args).unwrap_or_default(),
            shard: self.args.shard,
            fingerprints: &self.fingerprints,
        };
        manifest(&planned.suite, &planned.plan, &settings, &self.mask)
    }

    /// How many trials can be in flight.
    pub(super) fn at_once(&self) -> usize {
        let agents = self
            .planned
            .trials
            .iter()
            .map(|trial| trial.case.variant.agent.agent.profile().name);
        self.limits.total(agents).max(1)
    }

    /// What all trials share. From here on a signal finds somebody who knows what to do.
    pub(super) fn context(self, run_dir: &Utf8Path) -> Result<(Arc<Context>, Mail), Refusal> {
        let refused = |error: io::Error| Refusal::trouble(Code::Internal, error);
        let Execution {
            args,
            planned,
            host,
            work,
            mask,
            layer_keys,
            ..
        } = self;
        let interrupt = Arc::new(Interrupt::new().map_err(refused)?);
        let mail = scheduler::mailbox();
        signals::forward(&mail.0, &interrupt).map_err(refused)?;
        supervise::prepare_process();
        let context = Context {
            suite_dir: planned.suite.root.clone(),
            run_dir: run_dir.to_owned(),
            work,
            mask,
            host,
            interrupt,
            keep: keep(args.keep),
            versions: Versions::default(),
            supervisors: Crew::default(),
            cache: Cache::new(&planned.suite.root, args.no_cache),
            layer_keys,
        };
        Ok((Arc::new(context), mail))
    }

    pub(super) fn carry_out(self, store: Store, past: Option<Past>) -> Result<Done, Refusal> {
        let (args, common, planned, limits) =
            (self.args, self.common, self.planned, self.limits.clone());
        let run_dir = store.dir.clone();
        let (context, mail) = self.context(&run_dir)?;
        let orders = Orders {
            suite: planned.suite.name.clone(),
            baseline: planned.suite.baseline.clone(),
            terca_version: VERSION.to_owned(),
            seed: planned.seed,
            limits,
            fail_fast: args.fail_fast,
            retries: args.retries.unwrap_or(planned.suite.retries),
            adaptive: planned.plan.adaptive,
            budget_usd: args.budget_usd,
            trials: planned.trials.clone(),
            order: planned.order.clone(),
            past,
        };
        let mut observer = observer(args.format, common);
        let finished = scheduler::run(&orders, &context, store, mail, observer.as_mut())?;
        Ok(Done { finished, run_dir })
    }
}

/// Takes fingerprints of the suite as it is now.
fn pressed<T>(planned: &Planned, mask: &Mask, take: impl FnOnce(&Press<'_>) -> T) -> T {
    let contents = Contents::default();
    take(&Press {
        suite_dir: &planned.suite.root,
        mask,
        content: &|path| contents.of(path),
        is_file: &|path| path.is_file(),
    })
}

/// What the cases of a plan are made from.
pub(super) fn fingerprints(planned: &Planned, host: &Host) -> Vec<CasePrint> {
    pressed(planned, &mask(planned, host), |press| {
        press.plan(&planned.plan)
    })
}

/// How many trials of a plan would be in flight at once.
pub(super) fn at_once(concurrency: Option<u32>, planned: &Planned) -> usize {
    let agents = planned
        .trials
        .iter()
        .map(|trial| trial.case.variant.agent.agent.profile().name);
    limits(concurrency, planned).total(agents)
}

fn limits(concurrency: Option<u32>, planned: &Planned) -> Limits {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    if let Some(number) = concurrency {
        return Limits::overall(number as usize);
    }
    let concurrency = &planned.suite.concurrency;
    Limits {
        ceiling: usize::MAX,
        others: concurrency
            .others
            .map_or_else(cpus, |number| number as usize),
        agents: concurrency
            .agents
            .iter()
            .map(|(agent, number)| (agent.clone(), *number as usize))
            .collect(),
    }
}

/// No more trials at once than there can be files open.
fn within_reach(limits: Limits, planned: &Planned) -> Limits {
    let agents = planned
        .trials
        .iter()
        .map(|trial| trial.case.variant.agent.agent.profile().name);
    let wanted = limits.total(agents).min(planned.trials.len());
    let room = open_file_limit::make_room_for(wanted);
    if room >= wanted {
        return limits;
    }
    screen::remark(&format!(
        "note: {room} at a time instead of {wanted}: no more files may be open (raise it with `ulimit -n`)"
    ));
    Limits {
        ceiling: room,
        ..limits
    }
}

/// Everything that must not be written down: what `${NAME}` stood for, and what the agents sign in with.
fn mask(planned: &Planned, host: &Host) -> Mask {
    let credentials = planned
        .plan
        .agents()
        .into_iter()
        .flat_map(|agent| credentials::secrets(host, agent.profile()));
    Mask::new(planned.plan.secrets.iter().cloned().chain(credentials))
}

fn keep(choice: KeepChoice) -> Keep {
    match choice {
        KeepChoice::All => Keep::All,
        KeepChoice::Failed => Keep::Failed,
        KeepChoice::None => Keep::None,
    }
}

fn observer(format: Format, common: &Common) -> Box<dyn Observer> {
    let palette = Palette {
        colour: screen::colour(common.color, &io::stderr()),
    };
    match format {
        Format::Json => Box::new(JsonLines::new(screen::stream(io::stdout(), Printed::Json))),
        Format::Tty => Box::new(Tty::new(
            screen::stream(io::stderr(), Printed::Text),
            palette,
        )),
        Format::Auto if screen::is_lively() => Box::new(Tty::new(io::stderr(), palette)),
        Format::Auto | Format::Plain => Box::new(Plain::new(
            screen::stream(io::stderr(), Printed::Text),
            palette,
        )),
    }
}

/// The table, what failed, and where everything is; then the exit status.
pub(super) fn conclude(args: &RunArgs, common: &Common, done: &Done) -> u8 {
    let results = Results::of(&done.finished.state);
    if args.format != Format::Json {
        // Apart from the lines of progress above.
        screen::remark("");
        show(&results, &done.run_dir, common);
        after_words(args, &results);
        suggest(args, common, done, &results);
    }
    let status = if done.finished.interrupted {
        INTERRUPTED
    } else {
        exit_status(&results, args.fail_under)
    };
    export::for_ci(&results, args, common).unwrap_or(status)
}

/// What is to be said about a run because of how it was asked for.
fn after_words(args: &RunArgs, results: &Results) {
    if args.aa {
        let same = results
            .summary
            .comparisons
            .iter()
            .all(|comparison| !comparison.verdict.is_difference());
        let [one, other] = aa_check::NAMES;
        screen::remark(&format!(
            "A/A: `{one}` and `{other}` are the same experiment; {}",
            a_a(same)
        ));
    }
    let unknown = results.trials.iter().filter(|trial| {
        trial.report.status.is_judged() && trial.report.stats.usage.cost_usd.is_none()
    });
    let unknown = unknown.count();
    if args.budget_usd.is_some() && unknown > 0 {
        screen::remark(&format!(
            "note: {} reported no cost, so `--budget-usd` did not see what they spent",
            prose::count(unknown, "trial")
        ));
    }
}

fn a_a(same: bool) -> &'static str {
    if same {
        "no difference was found, as it should be"
    } else {
        "a difference was found all the same. Chance does this in 1 check of 20; if it happens again, something \
         differs between the arms"
    }
}

pub(super) fn show(results: &Results, run_dir: &Utf8Path, common: &Common) {
    let palette = Palette {
        colour: screen::colour(common.color, &io::stdout()),
    };
    let here = terca_report::Context {
        run_dir: screen::short(run_dir),
        terca: &shell::terca(common),
        max_width: screen::max_width(),
    };
    screen::say_all(&[
        results_table(results, screen::columns(), palette),
        failures(results, here, palette),
        verdicts(results, screen::columns(), palette),
        footer(results, here, palette),
    ]);
}
