//! Shows a run while it goes on and after its end.

use std::collections::BTreeSet;

use camino::Utf8Path;
use serde::Serialize;
use serde_json::{Value, json};
use terca_core::analysis::results::{Results, exit_status};
use terca_core::analysis::validation;
use terca_core::analysis::validation::{proofs, validated};
use terca_core::config::sandbox::{ContainedBy, Sandbox};
use terca_core::plan::aa_check;
use terca_core::run::settings::RunSettings;
use terca_core::text::Code;
use terca_core::text::prose;
use terca_engine::run::scheduler::FinishedRun;
use terca_engine::run::start::{PreparedRun, Reduced};
use terca_engine::run::trial_thread::GivenUp;
use terca_engine::workers;
use terca_report::{
    Answer, Context, ablation, brief_failures, brief_table, brief_verdicts, failures, flaws,
    footer, mcp_servers, results_table, sentences_in_lines, tests_table, validation_table,
    verdicts, wire,
};

use crate::args::{CiArgs, Common, DisplayArgs, Format, TableFormat};
use crate::cli_error::{CliError, INTERRUPTED, TROUBLE};
use crate::run::suggest::suggest;
use crate::suite::past;
use crate::{export, screen, shell};

/// Warns of directories that could not be removed.
pub fn warn_of_leftovers(lines: &[String]) {
    for line in lines {
        screen::err(&format!("warning: could not be removed: {line}"));
    }
}

/// Starts the workers of a run, and waits for the first one. A queue may keep it waiting.
pub fn connect(run: &mut PreparedRun<'_>, quiet: bool) -> Result<(), CliError> {
    let places = run.pools();
    if !places.is_empty() && !quiet {
        let names = prose::list(&places, "and");
        screen::err(&format!("starting workers on {names}"));
    }
    Ok(workers::connect(run)?)
}

/// Says how agents are contained. Warns of what they are not kept from, of fewer trials at once than were asked for,
/// and of what dead runs have left for good.
pub fn note_before_start(run: &PreparedRun<'_>, quiet: bool) {
    if !quiet {
        note_containment(run);
    }
    for sentence in run.context.limits.shortcomings() {
        screen::err(&format!("warning: {sentence}"));
    }
    if let Some(reason) = run.containment().not_contained {
        screen::err(&format!(
            "warning: agents run without a sandbox: {reason}. They run with your permissions, and can reach your \
             files and your network. `terca explain no-sandbox` explains how to get one; `--sandbox none` turns this \
             warning off"
        ));
    }
    warn_of_leftovers(run.context.work.left_by_others());
    if let Some(Reduced { wanted, possible }) = run.reduced {
        screen::err(&format!(
            "note: {possible} at a time instead of {wanted}, because of the limit of open files (raise it with \
             `ulimit -n`)"
        ));
    }
}

fn note_containment(run: &PreparedRun<'_>) {
    if let Some(line) = containment(&run.contained_by(), &run.containment().networks) {
        screen::err(&line);
        let words = run.context.project_dir().words();
        if let Some(words) = words.filter(|_| run.has_setup_commands()) {
            screen::err(&format!(
                "{words}; name other files in `inputs` of `prepare`"
            ));
        }
    }
    let kinds = run.contained_by();
    for shortcoming in kinds.iter().filter_map(|kind| kind.shortcoming()) {
        screen::err(&format!("note: {shortcoming}"));
    }
    if let Some(kept) = run.kept_sandbox() {
        screen::err(match kept {
            Sandbox::None => {
                "note: agents of this run have no sandbox, as when it was started; start a new run for another sandbox"
            }
            _ => {
                "note: the run continues in the sandbox that it was started with; TERCA_SANDBOX applies to new runs"
            }
        });
    }
}

/// Says how agents are contained. There is nothing to say where nobody is.
fn containment(
    contained_by: &BTreeSet<ContainedBy>,
    networks: &BTreeSet<String>,
) -> Option<String> {
    let program = contained_by.iter().find_map(|by| by.program())?;
    let some = if contained_by.contains(&ContainedBy::None) {
        "some variants' agents"
    } else {
        "agents"
    };
    let network = match networks.first() {
        Some(network) if networks.len() == 1 => network,
        _ => "it differs between variants",
    };
    Some(format!(
        "{some} run in a sandbox ({program}); network: {network}"
    ))
}

/// Returns the answer of `terca ablate` for programs, which is the last of the events too. Only an ablation that has ended has
/// one.
pub fn ablated(results: &Results) -> Option<Value> {
    let mut answer = json!(results.summary.ablation.as_ref()?);
    answer["event"] = "ablated".into();
    answer["run"] = results.run.as_str().into();
    Some(answer)
}

/// Shows how a run went, gives it to CI, and returns the exit status.
pub fn conclude(
    settings: &RunSettings,
    display: &DisplayArgs,
    ci: &CiArgs,
    common: &Common,
    run: &FinishedRun,
) -> u8 {
    let DisplayArgs { format, quiet } = *display;
    let results = Results::of(&run.state);
    if !run.suite_changes.is_empty() {
        screen::err(&format!(
            "note: the suite changed during the run; the run used its files as they were at the start:{}",
            screen::listed(&run.suite_changes, 10)
        ));
    }
    warn_of_leftovers(&run.not_removed);
    let detail = if quiet { Detail::Quiet } else { Detail::Brief };
    if format != Format::Json {
        if !quiet {
            // Apart from the lines of progress above.
            screen::err("");
        }
        if settings.validate {
            show_proofs(&results, &run.dir, detail, common);
        } else {
            show(&results, &run.dir, detail, common);
            after_words(settings, &results);
        }
        if !quiet && !settings.validate && settings.ablation.is_none() {
            suggest(settings, format, common, run, &results);
        }
    }
    if format == Format::Json && settings.validate {
        screen::out_json(&validated(&results).to_string());
    }
    if let Some(answer) = ablated(&results).filter(|_| format == Format::Json) {
        screen::out_json(&answer.to_string());
    }
    let changed = past::complain_of_damage(run.damage.as_ref(), common);
    for (place, GivenUp { reason, help }) in &run.given_up {
        screen::err(&format!(
            "warning: workers on {place} were given up: {reason}"
        ));
        if let Some(help) = help {
            screen::err(&format!("  help: {help}"));
        }
    }
    if run.is_without_slots {
        screen::err(
            "error: no worker is left; finished trials are kept, and `terca resume --on NAME` runs the rest",
        );
    }
    let status = if run.interrupted {
        INTERRUPTED
    } else if run.is_without_slots {
        TROUBLE
    } else {
        changed.unwrap_or_else(|| status(settings, &results))
    };
    if settings.validate {
        return status;
    }
    export::for_ci(&results, ci, format, common).unwrap_or(status)
}

/// Returns the exit status of a run that has ended by itself.
pub fn status(settings: &RunSettings, results: &Results) -> u8 {
    if settings.validate {
        validation::exit_status(&proofs(results))
    } else {
        exit_status(results, settings.demand())
    }
}

/// Writes what is to be said about a run because of its settings.
fn after_words(settings: &RunSettings, results: &Results) {
    if settings.aa {
        let same = results
            .summary
            .comparisons
            .iter()
            .all(|comparison| !comparison.verdict.is_difference());
        let [one, other] = aa_check::NAMES;
        let found = if same {
            "no difference was found, as expected"
        } else {
            "a difference was found nevertheless. Chance does this in 1 check of 20; if it happens again, something \
             differs between the two variants"
        };
        screen::err(&format!(
            "A/A: `{one}` and `{other}` are the same experiment; {found}"
        ));
    }
    let unknown = results.trials.iter().filter(|trial| {
        trial.report.status.is_judged() && trial.report.stats.usage.cost_usd.is_none()
    });
    let unknown = unknown.count();
    if settings.budget_usd.is_some() && unknown > 0 {
        screen::err(&format!(
            "note: the cost of {} is not known, so `--budget-usd` did not count them",
            prose::count(unknown, "trial")
        ));
    }
}

/// How much of a large run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The verdict, failures and errors.
    Quiet,
    /// What fits a screen or two, for the end of a run.
    Brief,
    /// Everything.
    Whole,
}

/// Shows the results of a run: the table, what failed, and where everything is.
pub fn show(results: &Results, run_dir: &Utf8Path, detail: Detail, common: &Common) {
    let here = Context {
        run_dir: screen::short(run_dir),
        terca: &shell::terca(common),
        max_width: screen::max_width(),
    };
    let columns = screen::columns();
    let is_ablation = results.summary.ablation.is_some();
    let mut views: Vec<Answer> = Vec::new();
    match detail {
        // Trials that fail are expected in an ablation.
        Detail::Quiet | Detail::Brief if is_ablation => {
            views.push(ablation(results, columns));
            if results.summary.errors > 0 {
                views.push(brief_failures(results, here));
            }
            if detail == Detail::Quiet {
                views.reverse();
            }
        }
        Detail::Quiet => views.extend([
            brief_failures(results, here),
            brief_verdicts(results, here, columns),
        ]),
        // A table of dashes and the lack of a verdict would bury the reason.
        _ if is_without_judgement(results) => views.push(brief_failures(results, here)),
        Detail::Brief => views.extend([
            brief_table(results, here, columns),
            brief_failures(results, here),
            brief_verdicts(results, here, columns),
        ]),
        Detail::Whole => views.extend([
            results_table(results, columns),
            tests_table(results, columns),
            failures(results, here),
            match is_ablation {
                true => ablation(results, columns),
                false => verdicts(results, columns),
            },
        ]),
    }
    if detail == Detail::Quiet {
        views.push(sentences_in_lines(&[tally(results)], columns));
    } else {
        let mcp_servers = mcp_servers(&results.summary);
        views.push(sentences_in_lines(&mcp_servers, columns));
        // At the end of a run there is enough to read.
        if detail == Detail::Whole {
            views.push(sentences_in_lines(&wire(results), columns));
        }
        views.push(footer(results, here));
    }
    screen::out_views(&views, common);
}

/// Tells whether every trial that was started ended in an error.
fn is_without_judgement(results: &Results) -> bool {
    let mut trials = results.trials.iter();
    results.summary.errors > 0 && !trials.any(|trial| trial.report.status.is_judged())
}

/// Returns how many trials passed, and how many were not judged, in one line.
fn tally(results: &Results) -> String {
    let summary = &results.summary;
    let judged = summary.passed + summary.partial + summary.failed;
    let passed = summary.passed;
    let mut line = format!(
        "{passed} of {} passed",
        prose::count(judged, "judged trial")
    );
    for (number, ending) in [
        (summary.errors, "ended in an error"),
        (
            summary.interrupted + summary.pending,
            "did not run to the end",
        ),
    ] {
        if number > 0 {
            line += &format!(", {number} {ending}");
        }
    }
    line
}

/// Shows what a run of `terca validate` says about its evals.
fn show_proofs(results: &Results, run_dir: &Utf8Path, detail: Detail, common: &Common) {
    let proofs = proofs(results);
    let run_dir = screen::short(run_dir);
    let here = Context {
        run_dir,
        terca: &shell::terca(common),
        max_width: screen::max_width(),
    };
    let mut views = vec![flaws(&proofs, run_dir)];
    if detail != Detail::Quiet {
        views.insert(0, validation_table(&proofs));
        views.push(footer(results, here));
    }
    screen::out_views(&views, common);
}

/// Writes an answer as a table for people, or as JSON for programs.
pub fn table_or_json(
    format: TableFormat,
    common: &Common,
    answer: &impl Serialize,
    table: impl FnOnce(usize) -> Answer,
) -> Result<(), CliError> {
    match format {
        TableFormat::Table => screen::out_view(&table(screen::columns()), common),
        TableFormat::Json => json(answer)?,
    }
    Ok(())
}

/// Writes an answer as JSON, for programs.
pub fn json(answer: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(answer);
    let text = text.map_err(|error| CliError::trouble(Code::Internal, error))?;
    screen::out_json(&text);
    Ok(())
}
