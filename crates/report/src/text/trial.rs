//! One trial for a terminal: its outcome, its tests, its changes, and its session in short.

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
use crate::term::{Answer, Role, bold, dim, plain, styled};
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
pub fn trial(view: &TrialView<'_>, here: Context<'_>) -> Answer {
    let mut answer = Answer::new(here.max_width);
    heading(view, &mut answer);
    let mut tests = Answer::new(here.max_width);
    for (name, grade) in &view.trial.report.tests {
        test(name, grade, &mut tests);
    }
    let session = headlines(&view.files.transcript, here.max_width.min(160));
    let parts = [
        ("tests", tests),
        ("changes", diff(&view.files.changes)),
        ("transcript", session),
    ];
    for (title, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
        answer.end_part();
        answer.line(bold(title));
        answer.append(part);
    }
    answer.end_part();
    let dir = &view.trial.head.dir;
    answer.line(dim(&format!("files: {}", here.run_dir.join(dir))));
    let more = format!("more:  {} logs {} {dir}", here.terca, view.run);
    answer.line(dim(&more));
    answer
}

/// The outcome, and what is to be known of it beside the tests.
fn heading(view: &TrialView<'_>, answer: &mut Answer) {
    let (head, report) = (&view.trial.head, &view.trial.report);
    let status = report.status;
    let word = match &view.trial.live {
        Some(live) => format!("running: {}", live.phase.as_str()),
        None => verdict(report),
    };
    let lead = styled(Role::of_status(status), &format!("{} {word}", mark(status)));
    answer.line(lead.with(Role::Bold, &format!("  {}", view.name)));
    let usage = &report.stats.usage;
    let calls = usage.tool_calls;
    let facts = [
        Some(agent(head, report)),
        model(head, report).cloned(),
        report.stats.duration_seconds.map(prose::duration),
        usage
            .tokens()
            .map(|tokens| format!("{} tokens", prose::compact(tokens))),
        calls.map(|calls| prose::count(calls as usize, "tool call")),
        usage.cost_usd.map(prose::dollars),
        report.exit_code.map(|code| format!("exit status {code}")),
    ];
    let mut say = |role, label: &str, words: &str| answer.paragraph((role, label), words, 2);
    say(
        Role::Plain,
        "",
        &prose::joined(facts.into_iter().flatten(), ", "),
    );
    if let Some(error) = &report.error {
        let label = format!("{}: ", error.kind.as_str());
        say(Role::Trouble, &label, &error.message);
    }
    if report.timed_out {
        let words = "the agent ran out of time; its work was still graded";
        say(Role::Fair, "", words);
    }
    for error in view.trial.earlier.iter().flat_map(|one| &one.error) {
        say(Role::Fair, "earlier attempt: ", &error.message);
    }
    for note in &report.notes {
        say(Role::Fair, "note: ", note);
    }
    if let Some(remark) = &view.remark {
        let text = Some(remark.text.clone()).filter(|text| !text.is_empty());
        let tags = remark.tags.iter().map(|tag| format!("[{tag}]"));
        say(
            Role::Bold,
            "remark: ",
            &prose::joined(text.into_iter().chain(tags), " "),
        );
    }
}

/// A test, the cases of its report that failed, and the failed assertion or else the last lines of its output.
fn test(name: &str, grade: &Grade, answer: &mut Answer) {
    let role = Role::of_score(grade.score);
    let label = format!("{}  {name}: ", wording::score(grade.score));
    answer.paragraph((role, &label), &grade.message, 2);
    if let Some(report) = &grade.report {
        let cases = report.cases.iter();
        let failed = cases.filter(|case| case.end == CaseEnd::Failed);
        let mut more = report.failed;
        for case in failed.take(MOST_CASES) {
            let words = format!("{}: {}", case.name, case.message);
            answer.paragraph((Role::Bad, "✗ "), &words, 8);
            more = more.saturating_sub(1);
        }
        if more > 0 {
            answer.line(dim(&format!("        … and {more} more")));
        }
    }
    let lines = match grade.assertion.as_slice() {
        [] => grade.output_end.as_slice(),
        assertion => assertion,
    };
    for line in lines {
        answer.line(dim(&format!("        │ {line}")));
    }
}

fn diff(changes: &Excerpt) -> Answer {
    let mut answer = Answer::new(usize::MAX);
    let mut lines = changes.head.lines().chain(changes.tail.lines());
    for line in lines.by_ref().take(MOST_DIFF) {
        let role = match line.as_bytes().first() {
            Some(b'+') => Role::Good,
            Some(b'-') => Role::Bad,
            Some(b'@') => Role::Dim,
            Some(b' ') => Role::Plain,
            _ => Role::Bold,
        };
        answer.line(plain("  ").with(role, line));
    }
    if lines.next().is_some() || changes.left_out > 0 {
        answer.line(plain("  … see changes.diff"));
    }
    answer
}
