//! `terca run`: the main job.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use terca_core::agent::AgentRef;
use terca_core::manifest::{Settings, manifest};
use terca_core::mask::Mask;
use terca_core::observer::Observer;
use terca_core::results::{Results, exit_status};
use terca_engine::credentials;
use terca_engine::environment::Host;
use terca_engine::interrupt::Interrupt;
use terca_engine::scheduler::{self, Finished, Orders};
use terca_engine::store::Store;
use terca_engine::supervise::Crew;
use terca_engine::trial::{Context, Keep, Versions};
use terca_engine::work::WorkDir;
use terca_engine::{signals, supervise};
use terca_report::{JsonLines, Palette, Plain, Tty, closing, failures, plan_trials, results_table};

use super::plan::{self, Planned};
use super::{INTERRUPTED, MISUSE, TROUBLE, VERSION};
use crate::args::{Common, Format, KeepChoice, RunArgs};
use crate::screen;

pub(super) fn run(args: &RunArgs, common: &Common) -> u8 {
    let host = Host::of_this_process();
    let Some(planned) = plan::make(&args.selection, common, &host) else { return MISUSE };
    if args.dry_run {
        let palette = Palette { colour: screen::colour(common.color, &io::stdout()) };
        screen::say(&plan_trials(&planned.heads(), &planned.order, palette));
        return 0;
    }
    let work = match WorkDir::create(host.get("TERCA_WORK_DIR")) {
        Ok(work) => work,
        Err(error) => {
            screen::complain(&error.to_string());
            return MISUSE;
        }
    };
    match carry_out(args, common, &planned, host, work) {
        Ok(status) => status,
        Err(error) => {
            screen::complain(&error.to_string());
            TROUBLE
        }
    }
}

fn carry_out(
    args: &RunArgs,
    common: &Common,
    planned: &Planned,
    host: Host,
    work: WorkDir,
) -> Result<u8, Box<dyn std::error::Error>> {
    let concurrency = concurrency(args, planned);
    let mask = mask(planned, &host);
    // From here on a signal finds somebody who knows what to do.
    let interrupt = Arc::new(Interrupt::new()?);
    let mail = scheduler::mailbox();
    signals::forward(&mail.0, &interrupt)?;
    supervise::prepare_process();
    let store = Store::create(&planned.suite.root, jiff::Zoned::now().date())?;
    let order = planned.order.iter().map(|index| planned.plan.trials[*index].id).collect();
    let settings = Settings { terca_version: VERSION, seed: planned.seed, concurrency, order };
    store.write_plan(&manifest(&planned.suite, &planned.plan, &settings, &mask))?;
    let run_dir = store.dir.clone();
    let context = Arc::new(Context {
        suite_dir: planned.suite.root.clone(),
        run_dir: run_dir.clone(),
        work,
        mask,
        host,
        interrupt,
        keep: keep(args.keep),
        versions: Versions::default(),
        supervisors: Crew::default(),
    });
    let orders = Orders {
        suite: planned.suite.name.clone(),
        baseline: planned.suite.baseline.clone(),
        terca_version: VERSION.to_owned(),
        seed: planned.seed,
        concurrency,
        fail_fast: args.fail_fast,
        trials: planned.plan.trials.clone(),
        order: planned.order.clone(),
    };
    let finished = {
        let mut observer = observer(args, common);
        scheduler::run(&orders, &context, store, mail, observer.as_mut())?
    };
    Ok(conclude(args, common, &finished, &run_dir))
}

fn concurrency(args: &RunArgs, planned: &Planned) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    args.concurrency.or(planned.suite.concurrency).map_or_else(cpus, |count| count as usize)
}

/// Everything that must not be written down: what `${NAME}` stood for, and what the agents sign in with.
fn mask(planned: &Planned, host: &Host) -> Mask {
    let mut agents: Vec<AgentRef> = Vec::new();
    for trial in &planned.plan.trials {
        let agent = trial.case.variant.agent.agent;
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    let credentials = agents.iter().flat_map(|agent| credentials::secrets(host, agent.profile()));
    Mask::new(planned.plan.secrets.iter().cloned().chain(credentials))
}

fn keep(choice: KeepChoice) -> Keep {
    match choice {
        KeepChoice::All => Keep::All,
        KeepChoice::Failed => Keep::Failed,
        KeepChoice::None => Keep::None,
    }
}

fn observer(args: &RunArgs, common: &Common) -> Box<dyn Observer> {
    let palette = Palette { colour: screen::colour(common.color, &io::stderr()) };
    match args.format {
        Format::Json => Box::new(JsonLines::new(io::stdout())),
        Format::Tty => Box::new(Tty::new(io::stderr(), palette)),
        Format::Auto if io::stderr().is_terminal() => Box::new(Tty::new(io::stderr(), palette)),
        Format::Auto | Format::Plain => Box::new(Plain::new(io::stderr(), palette)),
    }
}

/// The table, what failed, and where everything is.
fn conclude(args: &RunArgs, common: &Common, finished: &Finished, run_dir: &camino::Utf8Path) -> u8 {
    let results = Results::of(&finished.state);
    if args.format != Format::Json {
        let palette = Palette { colour: screen::colour(common.color, &io::stdout()) };
        // Apart from the lines of progress above.
        screen::remark("");
        let run_dir = screen::short(run_dir);
        screen::say_all(&[
            results_table(&results, screen::columns(), palette),
            failures(&results, run_dir, palette),
            closing(&results, run_dir, palette),
        ]);
    }
    if finished.interrupted { INTERRUPTED } else { exit_status(&results, args.fail_under) }
}
