//! The list of trials: its rows as data for the script, the prompts, and the fields that narrow it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Write;

use maud::{Markup, html};
use serde::{Serialize, Serializer};
use terca_core::analysis::summary::wording;
use terca_core::run::event::{Phase, TrialHead};
use terca_core::run::outcome::Status;
use terca_core::run::remark::Remark;
use terca_core::run::run_file::RunFile;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::excerpt::without_middle;
use terca_core::text::prose;

use super::causes;
use super::causes::causes_table;
use super::matrix::Matrix;
use super::text::{clean, or_dash, pill, without_control_characters};
use crate::outcome::reasons;
use crate::text::agent_inputs::{Rows, rows_of_case};

const STATUSES: [Status; 7] = [
    Status::Passed,
    Status::Partial,
    Status::Failed,
    Status::Unverified,
    Status::Error,
    Status::Interrupted,
    Status::Pending,
];
/// The columns: the name by which an address sorts, the title, and whether the first click puts the largest first.
const COLUMNS: [(&str, &str, bool); 10] = [
    ("id", "Trial", false),
    ("eval", "Eval", false),
    ("variant", "Variant", false),
    ("repetition", "Rep.", false),
    ("rank", "Status", false),
    ("score", "Score", true),
    ("time", "Time", true),
    ("tokens", "Tokens", true),
    ("cost", "Cost", true),
    ("outcome", "Outcome", false),
];
/// The fields whose values the script finds in the rows.
const FOUND: [(&str, &str, &str); 4] = [
    ("test", "Failing test", "every test"),
    ("error", "Error", "every error"),
    ("tag", "Tag", "every tag"),
    ("tool", "Tool", "every tool"),
];
/// The rows that are in the page itself. The script puts others in their place, without it these are all.
const MOST_ROWS: usize = 200;

/// Returns the list. The script shows the rows that are in sight.
pub fn trials(state: &RunState, matrix: &Matrix<'_>, prompts: Option<&Prompts>) -> Markup {
    let remarked = |id| prompts?.tags_of_remark(id);
    let all = state.trials().len();
    html! {
        section #trials aria-labelledby="trials-title" {
            h2 #trials-title { "Trials" }
            div #part-causes data-part { (causes_table(state, matrix)) }
            (search())
            (filters(matrix))
            p #shown .quiet role="status" aria-live="polite" {}
            p #picked .callout hidden {}
            noscript {
                p.callout {
                    "Without JavaScript, trials cannot be opened, sorted or filtered."
                    @if all > MOST_ROWS {
                        " These are the first " (MOST_ROWS) " of " (prose::count(all, "trial")) "."
                    }
                }
            }
            table.trials.list aria-rowcount=(all + 1) {
                caption.unseen { "Trials" }
                (head())
                tbody #above hidden { tr { td {} } }
                tbody #rows {
                    @for trial in worst_first(state).into_iter().take(MOST_ROWS) {
                        (row(trial, matrix, remarked(trial.head.id)))
                    }
                }
                tbody #below hidden { tr { td {} } }
            }
        }
    }
}

fn head() -> Markup {
    html! {
        thead {
            tr aria-rowindex="1" {
                td.pick {}
                @for (name, title, is_largest_first) in COLUMNS {
                    th scope="col" class={ "col-" (name) } {
                        button type="button" data-sort=(name) data-largest[is_largest_first] { (title) }
                    }
                }
            }
        }
    }
}

/// Returns the field for words anywhere in what agents and tests wrote.
fn search() -> Markup {
    html! {
        form #search .search role="search" aria-label="Search all trials" {
            label {
                "Search transcripts, diffs and logs "
                input #search-words type="search" placeholder="words" autocomplete="off" maxlength="200";
            }
            button type="submit" { "Search" }
            button #search-stop type="button" hidden { "Stop" }
            p #search-progress .quiet role="status" aria-live="polite" {}
            ol #search-results .found {}
        }
    }
}

fn filters(matrix: &Matrix<'_>) -> Markup {
    let statuses = STATUSES
        .iter()
        .map(|status| (status.as_str(), status.as_str()));
    let more = [("running", "running"), ("timed-out", "timed out")];
    let statuses = statuses.chain(more);
    let statuses = statuses.map(|(value, name)| (value.to_owned(), name.to_owned()));
    let evals = matrix.evals.iter().map(|eval| (*eval).to_owned());
    let variants = matrix.variants.iter();
    let variants =
        variants.map(|(environment, experiment)| matrix.variant_name(environment, experiment));
    html! {
        form #filters .filters role="search" aria-label="Filter trials" {
            (filter("status", "Status", "every status", statuses.collect()))
            (filter("eval", "Eval", "every eval", numbered(evals)))
            (filter("variant", "Variant", "every variant", numbered(variants)))
            @for (name, title, every) in FOUND { (filter(name, title, every, Vec::new())) }
            label {
                "Text "
                input #filter-text type="search" placeholder="words ( / )" autocomplete="off";
            }
            button type="reset" { "Clear" }
        }
    }
}

/// Returns a choice of values. One without any is hidden until the script finds some.
fn filter(name: &str, title: &str, every: &str, options: Vec<(String, String)>) -> Markup {
    html! {
        label hidden[options.is_empty()] {
            (title) " "
            select id={ "filter-" (name) } {
                option value="" { (every) }
                @for (value, label) in options { option value=(value) { (label) } }
            }
        }
    }
}

fn numbered(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let names = names.enumerate();
    names
        .map(|(number, name)| (number.to_string(), name))
        .collect()
}

/// Longer messages are for the trial's own page.
const LONGEST_MESSAGE: usize = 240;

/// The names of the tools that each trial used.
pub type Tools = HashMap<u32, Vec<String>>;

/// Returns the trials in the order in which they are of interest: what did not pass first.
pub fn worst_first(state: &RunState) -> Vec<&Trial> {
    let mut trials: Vec<&Trial> = state.trials().iter().collect();
    trials.sort_by_key(|trial| rank(trial));
    trials
}

fn rank(trial: &Trial) -> u8 {
    if trial.live.is_some() {
        return 3;
    }
    match trial.report.status {
        Status::Failed => 0,
        Status::Partial => 1,
        Status::Error => 2,
        Status::Interrupted => 4,
        Status::Unverified => 5,
        Status::Passed => 6,
        Status::Pending => 7,
    }
}

/// Returns whether a trial has ended and did not pass.
pub fn is_troubled(trial: &Trial) -> bool {
    rank(trial) <= 2
}

/// A row as the script knows it.
#[derive(Serialize)]
struct Row<'a> {
    id: u32,
    /// The words by which the filter of outcomes finds it.
    status: Vec<&'static str>,
    eval: usize,
    variant: usize,
    test: Vec<String>,
    tag: Vec<String>,
    tool: &'a [String],
    error: Option<&'static str>,
    cause: Vec<String>,
    rank: u8,
    repetition: u32,
    score: Option<f64>,
    time: Option<f64>,
    tokens: Option<u64>,
    cost: Option<f64>,
    outcome: String,
    html: String,
}

/// Writes all rows as JSON, in the order of the list.
pub fn write_rows(
    state: &RunState,
    matrix: &Matrix<'_>,
    prompts: &Prompts,
    tools: &Tools,
    to: &mut dyn Write,
) -> io::Result<()> {
    let rows = worst_first(state).into_iter().map(|trial| {
        let tools = tools.get(&trial.head.id).map_or(&[][..], Vec::as_slice);
        row_data(trial, matrix, prompts, tools)
    });
    serde_json::Serializer::new(to).collect_seq(rows)?;
    Ok(())
}

/// Returns a row as JSON. The tools that its trial used are not in it: to know them takes a moment.
pub fn row_json(trial: &Trial, matrix: &Matrix<'_>, prompts: &Prompts) -> String {
    serde_json::to_string(&row_data(trial, matrix, prompts, &[])).unwrap_or_default()
}

fn row_data<'a>(
    trial: &Trial,
    matrix: &Matrix<'_>,
    prompts: &Prompts,
    tool: &'a [String],
) -> Row<'a> {
    let (head, report) = (&trial.head, &trial.report);
    let usage = &report.stats.usage;
    let mut status = vec![report.status.as_str()];
    if trial.live.is_some() {
        status.push("running");
    }
    if report.timed_out {
        status.push("timed-out");
    }
    Row {
        id: head.id,
        status,
        eval: matrix.eval_number(&head.eval),
        variant: matrix.variant_number(&head.environment, &head.experiment),
        test: report
            .losses()
            .map(|(test, _)| clean(test).into_owned())
            .collect(),
        tag: prompts
            .tags_of(head)
            .map(|tag| clean(tag).into_owned())
            .collect(),
        tool,
        error: report.error.as_ref().map(|error| error.kind.as_str()),
        cause: causes::keys(trial),
        rank: rank(trial),
        repetition: head.repetition,
        score: report.score,
        time: report.stats.duration_seconds,
        tokens: usage.tokens(),
        cost: usage.cost_usd,
        outcome: message(trial),
        html: without_control_characters(
            row(trial, matrix, prompts.tags_of_remark(head.id)).into_string(),
        ),
    }
}

/// Returns the row of a trial, with the tags of a person's remark.
pub fn row(trial: &Trial, matrix: &Matrix<'_>, remarked: Option<&[String]>) -> Markup {
    let head = &trial.head;
    let report = &trial.report;
    let usage = &report.stats.usage;
    let pick = format!("Choose trial {} to be seen beside another", head.id);
    html! {
        tr id={ "row-" (head.id) } data-status=(report.status.as_str()) {
            td.pick { input type="checkbox" name="pick" value=(head.id) aria-label=(pick); }
            td.id { a href={ "#trial-" (head.id) } { "#" (head.id) } }
            th scope="row" { a href={ "#trial-" (head.id) } tabindex="-1" title=(head.eval) { (head.eval) } }
            td.variant { (matrix.variant_name(&head.environment, &head.experiment)) }
            td.num.col-repetition { (head.repetition) }
            td.status { (status(trial)) }
            td.num.col-score { (or_dash(report.score.map(wording::score))) }
            td.num.col-time { (or_dash(report.stats.duration_seconds.map(prose::duration))) }
            td.num.col-tokens { (or_dash(usage.tokens().map(prose::compact))) }
            td.num.col-cost { (or_dash(usage.cost_usd.map(prose::dollars))) }
            td.message {
                @if let Some(tags) = remarked {
                    span.remarked title="A person's remark" { "✎ " (tags.join(", ")) }
                    " "
                }
                (message(trial))
            }
        }
    }
}

/// Returns the status of a trial, or its phase while it runs.
pub fn status(trial: &Trial) -> Markup {
    let word = trial.report.status.as_str();
    match &trial.live {
        None => pill(word, word),
        Some(live) => pill("running", phase(live.phase)),
    }
}

/// Returns what is done in a phase.
pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Agent => "agent at work",
        other => other.as_str(),
    }
}

/// Returns the line that explains how it ended: every test that lost points.
fn message(trial: &Trial) -> String {
    let reasons = reasons(&trial.report).join("; ");
    clean(&without_middle(&reasons, LONGEST_MESSAGE)).replace('\n', " ")
}

/// The prompts by eval, environment and experiment, and the tags by eval.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    pub(super) of: HashMap<[String; 3], (String, Rows)>,
    tags: HashMap<String, Vec<String>>,
    /// What people said about trials, by their ids.
    pub remarks: BTreeMap<u32, Remark>,
}

impl From<&RunFile> for Prompts {
    fn from(file: &RunFile) -> Self {
        let mut prompts = Prompts::default();
        for case in &file.cases {
            let variant = &case.variant;
            let key = [&case.eval, &variant.environment, &variant.experiment].map(String::clone);
            let rows = rows_of_case(case, &file.suite_dir);
            prompts.of.insert(key, (case.prompt.clone(), rows));
            if !case.tags.is_empty() {
                prompts.tags.insert(case.eval.clone(), case.tags.clone());
            }
        }
        prompts
    }
}

impl Prompts {
    /// Returns the prompt of a trial.
    pub fn get(&self, head: &TrialHead) -> Option<&str> {
        self.of.get(&key(head)).map(|(prompt, _)| prompt.as_str())
    }

    /// Returns names and values of what the agent of a trial was given beside its prompt.
    pub fn given(&self, head: &TrialHead) -> &[(&'static str, String)] {
        self.of.get(&key(head)).map_or(&[], |(_, rows)| rows)
    }

    /// Returns the tags of a trial: those of its eval, and those of a person's remark.
    pub fn tags_of(&self, head: &TrialHead) -> impl Iterator<Item = &String> {
        let of_eval = self.tags.get(&head.eval).into_iter().flatten();
        of_eval.chain(self.tags_of_remark(head.id).unwrap_or_default())
    }

    /// Returns the tags of a person's remark about a trial. They may be none.
    pub fn tags_of_remark(&self, trial: u32) -> Option<&[String]> {
        self.remarks.get(&trial).map(|remark| &*remark.tags)
    }
}

fn key(head: &TrialHead) -> [String; 3] {
    [&head.eval, &head.environment, &head.experiment].map(String::clone)
}
