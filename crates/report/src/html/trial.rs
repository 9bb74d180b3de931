//! The page of one trial: its ending and the reasons, its changes, the agent's session, and the agent's equipment.

use camino::Utf8Path;
use maud::{Markup, html};
use terca_core::analysis::summary::wording;
use terca_core::grade::Grade;
use terca_core::grade::test_report::{Case, CaseEnd, Cases};
use terca_core::plan::descriptions::Descriptions;
use terca_core::run::event::TrialHead;
use terca_core::run::outcome::{Attempt, TrialReport};
use terca_core::run::state::Trial;
use terca_core::text::excerpt::Excerpt;
use terca_core::text::prose;
use terca_core::transcript::CostSource;
use terca_core::transcript::trial_files::TrialFiles;
use terca_core::wire::Wire;

use super::delivery::delivery;
use super::descriptions::LONGEST_DESCRIPTION;
use super::diff::diff;
use super::fit::{fit, fit_text, note, size};
use super::foreign::{clean, preformatted, sentence};
use super::log::{log, of_test};
use super::pieces::pill;
use super::timeline::timeline;
use super::transcript::{folded, transcript};
use super::trials::status;
use crate::outcome::{agent, model};

/// More notes and attempts than this are not shown.
const MOST_REMARKS: usize = 20;

/// A trial with the texts that its page shows.
#[derive(Debug)]
pub struct TrialPage<'a> {
    /// The trial and its results.
    pub trial: &'a Trial,
    /// The name of its variant.
    pub variant: &'a str,
    /// The prompt, if the run's plan is there.
    pub prompt: Option<&'a str>,
    /// The descriptions of the run's evals and tests.
    pub descriptions: &'a Descriptions,
    /// Its transcript, changes and log.
    pub bodies: &'a TrialFiles,
    /// The place of its files.
    pub files: Files<'a>,
}

/// The place of a trial's files.
#[derive(Debug, Clone, Copy)]
pub enum Files<'a> {
    /// A run's directory, perhaps beside the report: the page names it.
    In(&'a Utf8Path),
    /// The server: the page links to them.
    Served,
}

/// Returns the page in about so many bytes. The transcript gets the room that the other parts leave.
pub fn trial_page(page: &TrialPage<'_>, room: usize) -> Markup {
    let report = &page.trial.report;
    let bodies = page.bodies;
    let share = room / 8;
    let sent = report
        .wire
        .as_ref()
        .map_or(&[][..], |wire| wire.sent.as_slice());
    let before = html! {
        (tests(page, share * 2))
        (changes(&bodies.changes, share * 3))
    };
    let prompt = html! {
        @if let Some(prompt) = page.prompt {
            (section("prompt", "Prompt", &folded(&fit_text(prompt, share))))
        }
    };
    let log = run_log(&bodies.log, share);
    let spent = size(&before) + size(&prompt) + size(&log);
    html! {
        article.trial {
            (heading(page))
            (trouble(report))
            (timeline(&report.phases, report.wire.as_ref().map(|wire| wire.model_seconds)))
            (facts(&page.trial.head, report))
            (earlier(&page.trial.earlier))
            (before)
            (session(bodies, room.saturating_sub(spent)))
            (prompt)
            @if let Some(list) = delivery(&report.delivery, sent) {
                (section("delivery", "Delivered to the agent", &list))
            }
            (log)
            (files(page))
        }
    }
}

fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! {
        section class={ "part part-" (id) } {
            h3 { (title) }
            (body)
        }
    }
}

fn heading(page: &TrialPage<'_>) -> Markup {
    let head = &page.trial.head;
    html! {
        header {
            h2 tabindex="-1" { (head.eval) small { " #" (head.id) } }
            @if let Some(about) = page.descriptions.evals.get(&head.eval) {
                p.about { (clean(&fit_text(about, LONGEST_DESCRIPTION))) }
            }
            p.facts {
                (status(page.trial))
                @if let Some(score) = page.trial.report.score {
                    b.score { "score " (wording::score(score)) }
                }
                span { (page.variant) }
                span { "repetition " (head.repetition) }
            }
        }
    }
}

/// Returns what went wrong, or was noticed.
fn trouble(report: &TrialReport) -> Markup {
    html! {
        div {
            @if let Some(error) = &report.error {
                p.callout.bad {
                    b { (error.kind.as_str()) ": " }
                    (sentence(&fit_text(&error.message, 4_000)))
                }
            }
            @if report.timed_out {
                p.callout { "The agent ran out of time; its work was still graded." }
            }
            @for note in report.notes.iter().take(MOST_REMARKS) {
                p.callout { (sentence(&fit_text(note, 1_000))) }
            }
        }
    }
}

fn facts(head: &TrialHead, report: &TrialReport) -> Markup {
    let usage = &report.stats.usage;
    let (agent, model) = (agent(head, report), model(head, report));
    let contained_by = report
        .contained_by
        .map(|by| by.program().unwrap_or("nothing"));
    let time = report.stats.duration_seconds.map(prose::duration);
    let input = usage.input_tokens.map(|tokens| {
        let cached = usage
            .cached_input_tokens
            .map(|cached| format!(" ({} cached)", prose::compact(cached)));
        format!("{}{}", prose::compact(tokens), cached.unwrap_or_default())
    });
    let cost = usage.cost_usd.map(|cost| {
        let is_computed = report.stats.cost_source == Some(CostSource::Computed);
        let source = if is_computed { " (computed)" } else { "" };
        prose::dollars(cost) + source
    });
    html! {
        dl.figures {
            (fact("Agent", Some(agent)))
            (fact("Model", model))
            (fact("Contained by", contained_by))
            (fact("Ran on", report.ran_on.as_ref()))
            (fact("Network", report.network.as_ref().map(|network| network.mode.word())))
            (fact("Agent's time", time))
            (fact("Input tokens", input))
            (fact("Output tokens", usage.output_tokens.map(prose::compact)))
            (fact("Cost", cost))
            (fact("Requests", usage.requests))
            (fact("Through the gateway", report.wire.as_ref().map(Wire::words)))
            (fact("Tool calls", usage.tool_calls))
            (fact("Exit status", report.exit_code))
            (fact("Attempts", Some(report.attempts).filter(|attempts| *attempts > 1)))
        }
    }
}

/// Returns a name with its value, if that is known.
fn fact(name: &str, value: Option<impl ToString>) -> Markup {
    html! {
        @if let Some(value) = value {
            div {
                dt { (name) }
                dd { (clean(&value.to_string())) }
            }
        }
    }
}

fn earlier(attempts: &[Attempt]) -> Markup {
    let list = html! {
        ol { @for attempt in attempts.iter().take(MOST_REMARKS) { (earlier_attempt(attempt)) } }
    };
    html! {
        @if !attempts.is_empty() { (section("earlier", "Earlier attempts", &list)) }
    }
}

fn earlier_attempt(attempt: &Attempt) -> Markup {
    html! {
        li {
            @match &attempt.error {
                Some(error) => {
                    (error.kind.as_str()) ": " (clean(&fit_text(&error.message, 500)))
                }
                None => "no error",
            }
            " (after " (prose::duration(attempt.duration_seconds)) ")"
        }
    }
}

fn tests(page: &TrialPage<'_>, room: usize) -> Markup {
    let report = &page.trial.report;
    let each = room / report.tests.iter().count().max(1) / 2;
    let items: Vec<Markup> = report
        .tests
        .iter()
        .map(|(name, grade)| test(page, name, grade, each))
        .collect();
    let remark = |number| {
        format!(
            "… {} left out; see results.json …",
            prose::count(number, "test")
        )
    };
    let list = html! { ul.tests { (fit(&items, room, remark)) } };
    html! {
        @if !items.is_empty() { (section("tests", "Tests", &list)) }
    }
}

fn test(page: &TrialPage<'_>, name: &str, grade: &Grade, room: usize) -> Markup {
    let output = of_test(&page.bodies.log, name);
    let about = page.descriptions.test(&page.trial.head.eval, name);
    let class = match grade.score {
        score if score >= 1.0 => "passed",
        score if score > 0.0 => "partial",
        _ => "failed",
    };
    html! {
        li class=(class) {
            (pill(class, &wording::score(grade.score)))
            b { (name) }
            span.message { (clean(&fit_text(&grade.message, 2_000))) }
            small.quiet { (prose::duration(grade.duration_seconds)) }
            @if let Some(about) = about {
                p.about { (clean(&fit_text(about, LONGEST_DESCRIPTION))) }
            }
            @if let Some(report) = &grade.report { (cases(report)) }
            @if let Some(output) = output {
                details {
                    summary { "Output" }
                    (preformatted(&fit_text(output, room)))
                }
            } @else if !grade.output_end.is_empty() {
                details {
                    summary { "The last lines of its output" }
                    (preformatted(&fit_text(&grade.output_end.join("\n"), room)))
                }
            }
        }
    }
}

/// Returns the cases of a report, those that failed first to see.
fn cases(report: &Cases) -> Markup {
    let failed = report
        .cases
        .iter()
        .filter(|case| case.end == CaseEnd::Failed);
    let others = report
        .cases
        .iter()
        .filter(|case| case.end != CaseEnd::Failed);
    let line = |case: &Case| {
        html! {
            li {
                (pill(case.end.as_str(), case.end.as_str()))
                b { (clean(&case.name)) }
                span.message { (clean(&case.message)) }
            }
        }
    };
    html! {
        ul.tests { @for case in failed { (line(case)) } }
        @if others.clone().count() > 0 {
            details {
                summary { (report.passed) " passed, " (report.skipped) " skipped" }
                ul.tests { @for case in others { (line(case)) } }
            }
        }
    }
}

fn changes(changes: &Excerpt, room: usize) -> Markup {
    let body = html! {
        @if changes.is_empty() {
            p.quiet { "No changes were recorded." }
        } @else {
            (diff(changes, room))
        }
    };
    section("changes", "Changes", &body)
}

fn session(bodies: &TrialFiles, room: usize) -> Markup {
    let body = html! {
        @if bodies.transcript.is_empty() {
            p.quiet { "There is no transcript." }
        } @else {
            (transcript(&bodies.transcript, room))
        }
    };
    section("transcript", "Transcript", &body)
}

fn run_log(text: &Excerpt, room: usize) -> Markup {
    let body = html! {
        details {
            summary { "run.log" }
            (log(text, room))
        }
    };
    html! {
        @if !text.is_empty() { (section("log", "Log", &body)) }
    }
}

fn files(page: &TrialPage<'_>) -> Markup {
    const NAMES: [&str; 4] = [
        "run.log",
        "changes.diff",
        "transcript.jsonl",
        "trajectory.json",
    ];
    let head = &page.trial.head;
    match page.files {
        Files::In(run) => note(&format!(
            "All files are in {}: run.log, changes.diff, transcript.jsonl, artifacts (the session in ATIF: \
             artifacts/trajectory.json). `terca workspace` makes the workspace again.",
            run.join(&head.dir)
        )),
        Files::Served => {
            let list = html! {
                ul.legend {
                    @for name in NAMES {
                        li {
                            a href={ "trials/" (head.id) "/" (name) } target="_blank" rel="noopener" {
                                (name)
                            }
                        }
                    }
                }
            };
            section("files", "Files", &list)
        }
    }
}
