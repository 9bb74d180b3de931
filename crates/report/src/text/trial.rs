//! One trial for a terminal: its outcome, its tests, its changes, and its session in short.

use camino::Utf8Path;
use terca_core::analysis::summary::wording;
use terca_core::grade::Grade;
use terca_core::grade::test_report::CaseEnd;
use terca_core::run::remark::Remark;
use terca_core::run::state::Trial;
use terca_core::text::excerpt::Excerpt;
use terca_core::text::prose;
use terca_core::transcript::trial_files::TrialFiles;

use crate::context::Context;
use crate::outcome::{agent, mark, model, verdict};
use crate::term::answer::paragraph;
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::text::session::headlines;

/// The most lines of a diff, and of the cases of one report.
const MOST_DIFF: usize = 200;
const MOST_CASES: usize = 20;

/// A trial, with the texts that are shown of it.
#[derive(Debug)]
pub struct TrialView<'a> {
    /// The trial and its results.
    pub trial: &'a Trial,
    /// Its name in the run.
    pub name: &'a str,
    /// Its transcript, changes and log.
    pub files: &'a TrialFiles,
    /// The run's name.
    pub run: &'a str,
    /// A person's remark about it.
    pub remark: Option<Remark>,
}

/// The view.
pub fn trial(view: &TrialView<'_>, here: Context<'_>, palette: Palette) -> String {
    let columns = here.max_width.columns();
    let mut text = heading(view, columns, palette);
    text += &tests(view, columns, palette);
    text += &part("changes", &diff(&view.files.changes, palette), palette);
    let session = headlines(&view.files.transcript, columns.min(160), palette);
    text += &part("transcript", &session, palette);
    text += &places(view, here, palette);
    text
}

fn part(title: &str, body: &str, palette: Palette) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("\n{}\n{body}", palette.bold(title))
}

/// The outcome, and what is to be known of it beside the tests.
fn heading(view: &TrialView<'_>, columns: usize, palette: Palette) -> String {
    let (head, report) = (&view.trial.head, &view.trial.report);
    let status = report.status;
    let word = match &view.trial.live {
        Some(live) => format!("running: {}", live.phase.as_str()),
        None => verdict(report),
    };
    let lead = StyledLine::of(Role::of_status(status), &format!("{} {word}", mark(status)))
        .with(Role::Bold, &format!("  {}", view.name));
    let mut text = lead.render(palette) + "\n";
    let (agent, model) = (agent(head, report), model(head, report));
    let usage = &report.stats.usage;
    let facts = [
        Some(agent),
        model.cloned(),
        report.stats.duration_seconds.map(prose::duration),
        usage
            .tokens()
            .map(|tokens| format!("{} tokens", prose::compact(tokens))),
        usage
            .tool_calls
            .map(|calls| prose::count(calls as usize, "tool call")),
        usage.cost_usd.map(prose::dollars),
        report.exit_code.map(|code| format!("exit status {code}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    text += &paragraph((Role::Plain, ""), &facts.join(", "), 2, columns, palette);
    let said =
        |role: Role, label: &str, words: &str| paragraph((role, label), words, 2, columns, palette);
    if let Some(error) = &report.error {
        let label = format!("{}: ", error.kind.as_str());
        text += &said(Role::Trouble, &label, &error.message);
    }
    if report.timed_out {
        text += &said(
            Role::Fair,
            "",
            "the agent ran out of time; its work was still graded",
        );
    }
    for attempt in &view.trial.earlier {
        if let Some(error) = &attempt.error {
            text += &said(Role::Fair, "earlier attempt: ", &error.message);
        }
    }
    for note in &report.notes {
        text += &said(Role::Fair, "note: ", note);
    }
    if let Some(remark) = &view.remark {
        text += &said(Role::Bold, "remark: ", &words_of(remark));
    }
    text
}

/// Returns a remark as one line, its tags last.
fn words_of(remark: &Remark) -> String {
    let text = Some(remark.text.clone()).filter(|text| !text.is_empty());
    let tags = remark.tags.iter().map(|tag| format!("[{tag}]"));
    text.into_iter().chain(tags).collect::<Vec<_>>().join(" ")
}

fn tests(view: &TrialView<'_>, columns: usize, palette: Palette) -> String {
    let tests = view.trial.report.tests.iter();
    let body: String = tests
        .map(|(name, grade)| test(name, grade, columns, palette))
        .collect();
    part("tests", &body, palette)
}

/// A test, the cases of its report that failed, and the last lines of its output.
fn test(name: &str, grade: &Grade, columns: usize, palette: Palette) -> String {
    let role = Role::of_score(grade.score);
    let label = format!("{}  {name}: ", wording::score(grade.score));
    let mut text = paragraph((role, &label), &grade.message, 2, columns, palette);
    if let Some(report) = &grade.report {
        let failed = report
            .cases
            .iter()
            .filter(|case| case.end == CaseEnd::Failed);
        for case in failed.clone().take(MOST_CASES) {
            let words = format!("{}: {}", case.name, case.message);
            text += &paragraph((Role::Bad, "✗ "), &words, 8, columns, palette);
        }
        let more = report
            .failed
            .saturating_sub(failed.take(MOST_CASES).count() as u64);
        if more > 0 {
            text += &paragraph(
                (Role::Dim, ""),
                &format!("… and {more} more"),
                8,
                columns,
                palette,
            );
        }
    }
    for line in &grade.output_end {
        text += &StyledLine::plain("        ")
            .with(Role::Dim, &format!("│ {line}"))
            .render(palette);
        text.push('\n');
    }
    text
}

fn diff(changes: &Excerpt, palette: Palette) -> String {
    let lines: Vec<&str> = changes.head.lines().chain(changes.tail.lines()).collect();
    let mut text = String::new();
    for line in lines.iter().take(MOST_DIFF) {
        let role = match line.as_bytes().first() {
            Some(b'+') => Role::Good,
            Some(b'-') => Role::Bad,
            Some(b'@') => Role::Dim,
            Some(b' ') => Role::Plain,
            _ => Role::Bold,
        };
        text += &(StyledLine::plain("  ").with(role, line).render(palette) + "\n");
    }
    if lines.len() > MOST_DIFF || changes.left_out > 0 {
        text += "  … see changes.diff\n";
    }
    text
}

fn places(view: &TrialView<'_>, here: Context<'_>, palette: Palette) -> String {
    let dir = here.run_dir.join(&view.trial.head.dir);
    let lines = [
        format!("files: {}", Utf8Path::new(&dir)),
        format!(
            "more:  {} logs {} {}",
            here.terca, view.run, view.trial.head.dir
        ),
    ];
    let lines = lines.map(|line| StyledLine::of(Role::Dim, &line).render(palette) + "\n");
    format!("\n{}", lines.concat())
}
