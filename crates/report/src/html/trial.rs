//! The page of one trial: its ending and the reasons, its changes, the agent's session, and the agent's equipment.

use camino::Utf8Path;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use terca_core::analysis::summary::wording;
use terca_core::run::event::TrialHead;
use terca_core::run::outcome::{Attempt, TrialReport};
use terca_core::run::state::{RunState, Trial};
use terca_core::text::prose;
use terca_core::transcript::CostSource;
use terca_core::transcript::trial_files::TrialFiles;
use terca_core::wire::Wire;

use super::diff::diff;
use super::log::log;
use super::matrix::Matrix;
use super::pair::siblings;
use super::shell::{PageSource, document};
use super::step::Look;
use super::test_list::{Tested, tests};
use super::text::{fit_text, navigation, note, preview, sentence, size};
use super::timeline::{timeline, waterfall};
use super::transcript::transcript;
use super::trials::{Prompts, status};
use super::turns::{Clock, activity, requests_of_steps};
use super::variants::{LONGEST_DESCRIPTION, delivery};
use crate::outcome::{agent, model};

/// More notes and attempts than this are not shown.
const MOST_REMARKS: usize = 20;

/// A trial with the texts that its page shows.
#[derive(Debug)]
pub struct TrialPage<'a> {
    /// The trial and its results.
    pub trial: &'a Trial,
    /// The run that it is of.
    pub state: &'a RunState,
    /// The evals and variants of the run.
    pub matrix: &'a Matrix<'a>,
    /// What agents were given, if the run's plan is there, and what people said.
    pub prompts: &'a Prompts,
    /// Its transcript, changes and log.
    pub bodies: &'a TrialFiles,
    /// The run's directory, perhaps beside the report: the page names it. With a server, there is none: the page links
    /// to files.
    pub run_dir: Option<&'a Utf8Path>,
}

/// Returns the page in about so many bytes. Its heading is the first of the page, since the overview is not shown with
/// it. The transcript gets the room that the other parts leave.
pub fn trial_page(page: &TrialPage<'_>, room: usize) -> Markup {
    let report = &page.trial.report;
    let bodies = page.bodies;
    let share = room / 8;
    let tested = Tested {
        eval: &page.trial.head.eval,
        report,
        descriptions: &page.state.start().descriptions,
        log: &bodies.log,
    };
    let before = html! {
        (section("tests", "Tests", tests(&tested, share * 2)))
        (section("prompt", "Prompt", page.prompts.get(&page.trial.head).map(|prompt| {
            html! { div data-given="prompt" { (preview(&fit_text(prompt, share))) } }
        })))
        (section("changes", "Changes", Some(match bodies.changes.is_empty() {
            true => html! { p.quiet { "No changes were recorded." } },
            false => diff(&bodies.changes, page.trial.head.id, share * 3),
        })))
        (section("acts", "What it did", acts(page)))
    };
    let log = html! {
        details {
            summary { "run.log" }
            (log(&bodies.log, share))
        }
    };
    let sent = report.wire.as_ref();
    let sent = sent.map_or(&[][..], |wire| wire.sent.as_slice());
    let given = given(
        page.prompts.given(&page.trial.head),
        bodies.rules.as_deref(),
        share,
    );
    let after = html! {
        (section("given", "Given to the agent", given))
        (section("delivery", "Delivered to the agent", delivery(&report.delivery, sent)))
        (section("log", "Log", Some(log).filter(|_| !bodies.log.is_empty())))
    };
    let spent = size(&before) + size(&after);
    html! {
        article.trial data-trial=(page.trial.head.id) {
            (heading(page))
            (trouble(report))
            (timeline(&report.phases, report.wire.as_ref()))
            (facts(&page.trial.head, report))
            (section("earlier", "Earlier attempts", earlier(&page.trial.earlier)))
            (remark(page))
            (before)
            (section("transcript", "Transcript", Some(session(page, room.saturating_sub(spent)))))
            (after)
            (files(page))
        }
    }
}

/// Returns the page as a document of its own, for a tab that has no other part of the run.
pub fn trial_document(page: &TrialPage<'_>, room: usize) -> String {
    let head = &page.trial.head;
    let body = html! {
        (navigation(&html! {
            a href="../../../" { "All runs" }
            a href="../" { "Run" }
            a href="../#trials" { "Trials" }
            a href={ "../#trial-" (head.id) } { "Among the others" }
        }))
        main #content { (trial_page(page, room)) }
    };
    let title = format!("{} #{} · {}", head.eval, head.id, page.state.run());
    document(PageSource::Served, &title, &body)
}

/// Returns a part of the page, if there is something in it.
fn section(id: &str, title: &str, body: Option<Markup>) -> Markup {
    html! {
        @if let Some(body) = body {
            section class={ "part part-" (id) } data-part-name=(title) {
                h3 tabindex="-1" aria-level="2" { (title) }
                (body)
            }
        }
    }
}

fn heading(page: &TrialPage<'_>) -> Markup {
    let head = &page.trial.head;
    let variant = page
        .matrix
        .variant_name(&head.environment, &head.experiment);
    html! {
        header.trial-head {
            h2 tabindex="-1" aria-level="1" { (head.eval) small { " #" (head.id) } }
            p.facts {
                (status(page.trial))
                @if let Some(score) = page.trial.report.score {
                    b.score { "score " (wording::score(score)) }
                }
                span { (variant) }
                span { "repetition " (head.repetition) }
            }
            (siblings(page.state, page.matrix, page.trial))
        }
        @if let Some(about) = page.state.start().descriptions.evals.get(&head.eval) {
            p.about { (fit_text(about, LONGEST_DESCRIPTION)) }
        }
    }
}

/// Returns what the agent did: lists of its calls, and when they were.
fn acts(page: &TrialPage<'_>) -> Option<Markup> {
    let id = page.trial.head.id;
    let bodies = page.bodies;
    let lists = activity(&bodies.transcript, id);
    let times = waterfall(&bodies.transcript, &bodies.requests, clock(page), id);
    let is_known = lists.is_some() || times.is_some();
    is_known.then(|| html! { (lists.unwrap_or_default()) (times.unwrap_or_default()) })
}

/// Returns the times of the session.
fn clock(page: &TrialPage<'_>) -> Clock {
    Clock::of(&page.bodies.transcript, agent_start(&page.trial.report))
}

/// Returns the time at which the agent was started.
fn agent_start(report: &TrialReport) -> Option<Timestamp> {
    let setup = SignedDuration::try_from_secs_f64(report.phases.setup?).ok()?;
    report.started_at?.checked_add(setup).ok()
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
            (fact("Sandbox", contained_by))
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
                dd { (value.to_string()) }
            }
        }
    }
}

fn earlier(attempts: &[Attempt]) -> Option<Markup> {
    let shown = attempts.iter().take(MOST_REMARKS);
    let list = html! { ol { @for attempt in shown { (earlier_attempt(attempt)) } } };
    (!attempts.is_empty()).then_some(list)
}

fn earlier_attempt(attempt: &Attempt) -> Markup {
    html! {
        li {
            @match &attempt.error {
                Some(error) => {
                    (error.kind.as_str()) ": " (fit_text(&error.message, 500))
                }
                None => "no error",
            }
            " (after " (prose::duration(attempt.duration_seconds)) ")"
        }
    }
}

fn session(page: &TrialPage<'_>, room: usize) -> Markup {
    let session = &page.bodies.transcript;
    let clock = clock(page);
    let asked = requests_of_steps(session, &page.bodies.requests, clock);
    let look = Look {
        trial: page.trial.head.id,
        room: 0,
        raw: true,
        prompt: page.prompts.get(&page.trial.head),
        clock,
        asked: &asked,
    };
    match session.is_empty() {
        true => html! { p.quiet { "There is no transcript." } },
        false => transcript(session, look, room),
    }
}

fn files(page: &TrialPage<'_>) -> Markup {
    const NAMES: [&str; 4] = [
        "run.log", "changes.diff", "transcript.jsonl", "trajectory.json",
    ];
    let head = &page.trial.head;
    match page.run_dir {
        Some(run) => note(&format!(
            "All files are in {}: run.log, changes.diff, transcript.jsonl, artifacts (the session in ATIF: \
             artifacts/trajectory.json). `terca workspace` makes the workspace again.",
            run.join(&head.dir)
        )),
        None => {
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
            section("files", "Files", Some(list))
        }
    }
}

/// Returns the list of settings, and the text of the rules. Nothing if neither is known.
fn given(rows: &[(&'static str, String)], rules: Option<&str>, room: usize) -> Option<Markup> {
    let each = room / (rows.len() + 1);
    let list = html! {
        dl.given {
            @for (name, value) in rows {
                div data-given=(name) {
                    dt { (name) }
                    dd { pre { (fit_text(value, each)) } }
                }
            }
            @if let Some(rules) = rules {
                div data-given="text of the rules" {
                    dt { "text of the rules" }
                    dd { (preview(&fit_text(rules, room / 2))) }
                }
            }
        }
    };
    (!rows.is_empty() || rules.is_some()).then_some(list)
}

/// Returns the remark. It can be changed where there is a server.
fn remark(page: &TrialPage<'_>) -> Markup {
    let remark = page.prompts.remarks.get(&page.trial.head.id);
    let (text, tags) = remark.map_or(("", &[][..]), |remark| (&remark.text, &remark.tags));
    match remark {
        _ if page.run_dir.is_none() => form(text, tags),
        Some(_) => shown(text, tags),
        None => html! {},
    }
}

fn shown(text: &str, tags: &[String]) -> Markup {
    html! {
        div.callout.remark {
            b { "Remark" }
            @for tag in tags { " " span.pill { (tag) } }
            @if !text.is_empty() { p { (text) } }
        }
    }
}

/// The script sends it.
fn form(text: &str, tags: &[String]) -> Markup {
    html! {
        details.remark open[!text.is_empty() || !tags.is_empty()] {
            summary { "Remark" @for tag in tags { " " span.pill { (tag) } } }
            form.remark aria-label="Remark about this trial" {
                label {
                    "What do you see? "
                    textarea name="text" rows="3" maxlength="10000" { (text) }
                }
                label {
                    "Tags, with commas between them "
                    input name="tags" autocomplete="off" value=(tags.join(", "));
                }
                button type="submit" { "Keep" }
                span.quiet role="status" data-scripted {}
            }
        }
    }
}
