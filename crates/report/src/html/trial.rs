//! All about one trial: how it ended and why, what it changed, what the agent did, and what it was given.

use camino::Utf8Path;
use terca_core::agent::delivery::{Delivery, Installed, McpStatus};
use terca_core::analysis::summary::wording;
use terca_core::grade::Grade;
use terca_core::run::outcome::{Attempt, TrialReport};
use terca_core::run::state::Trial;
use terca_core::text::prose;
use terca_core::transcript::trial_files::Bodies;

use super::diff::diff;
use super::fit::{fit, fit_text, note};
use super::log::{log, of_test};
use super::markup::{Element, Html, el, prose as sentence};
use super::timeline::timeline;
use super::transcript::{folded, transcript};
use super::trials::status;

/// What is known of a trial.
#[derive(Debug)]
pub struct TrialPage<'a> {
    pub trial: &'a Trial,
    pub variant: &'a str,
    pub prompt: Option<&'a str>,
    pub bodies: &'a Bodies,
    pub files: Files<'a>,
}

/// Where its files are.
#[derive(Debug, Clone, Copy)]
pub enum Files<'a> {
    /// Beside the report, perhaps: their folder is named.
    In(&'a Utf8Path),
    /// The server has them.
    Served,
}

/// The page, in about so many bytes.
pub fn trial_page(page: &TrialPage<'_>, room: usize) -> Html {
    let report = &page.trial.report;
    let bodies = page.bodies;
    let share = room / 8;
    let tests = tests(report, bodies, share * 2);
    let changes = part(
        "changes",
        "Changes",
        diff(&bodies.changes, share * 3),
        bodies.changes.is_empty(),
        "No changes are recorded.",
    );
    let log_room = share;
    let log = log(&bodies.log, log_room);
    let prompt = page.prompt.map(|prompt| fit_text(prompt, share));
    let prompt = prompt.map(|prompt| section("prompt", "Prompt", folded(&prompt)));
    let spent: usize = [&tests, &changes, &log]
        .iter()
        .map(|part| part.len())
        .sum::<usize>()
        + prompt.as_ref().map_or(0, Html::len);
    let session = transcript(&bodies.transcript, room.saturating_sub(spent));
    let session = part(
        "transcript",
        "Transcript",
        session,
        bodies.transcript.is_empty(),
        "There is no transcript.",
    );
    let log = (!bodies.log.is_empty()).then(|| {
        section(
            "log",
            "Log",
            el("details")
                .child(el("summary").text("run.log"))
                .child(log)
                .into(),
        )
    });
    el("article")
        .class("trial")
        .child(heading(page))
        .child(trouble(report))
        .child(timeline(&report.phases))
        .child(facts(page))
        .child(earlier(&page.trial.earlier))
        .child(tests)
        .child(changes)
        .child(session)
        .child(prompt)
        .child(delivery(&report.delivery))
        .child(log)
        .child(files(page))
        .into()
}

fn section(id: &'static str, title: &str, body: Html) -> Html {
    el("section")
        .class(format!("part part-{id}"))
        .child(el("h3").text(title))
        .child(body)
        .into()
}

fn part(id: &'static str, title: &str, body: Html, is_empty: bool, nothing: &str) -> Html {
    section(
        id,
        title,
        if is_empty {
            el("p").class("quiet").text(nothing).into()
        } else {
            body
        },
    )
}

fn heading(page: &TrialPage<'_>) -> Html {
    let (head, report) = (&page.trial.head, &page.trial.report);
    let score = report.score.map(|score| {
        el("b")
            .class("score")
            .text(format!("score {}", wording::score(score)))
    });
    let line = el("p")
        .class("facts")
        .child(status(page.trial))
        .child(score)
        .child(el("span").text(page.variant))
        .child(el("span").text(format!("repetition {}", head.repetition)));
    el("header")
        .child(
            el("h2")
                .attr("tabindex", -1)
                .text(&head.eval)
                .child(el("small").text(format!(" #{}", head.id))),
        )
        .child(line)
        .into()
}

fn trouble(report: &TrialReport) -> Html {
    const MOST: usize = 20;
    let error = report.error.as_ref().map(|error| {
        el("p")
            .class("callout bad")
            .child(el("b").text(format!("{}: ", error.kind.word())))
            .child(sentence(&fit_text(&error.message, 4_000)))
    });
    let timed_out = report.timed_out.then(|| {
        el("p")
            .class("callout")
            .text("The agent ran out of time; what it left was graded all the same.")
    });
    let notes = report.notes.iter().take(MOST).map(|note| {
        el("p")
            .class("callout")
            .child(sentence(&fit_text(note, 1_000)))
    });
    el("div")
        .child(error)
        .child(timed_out)
        .children(notes)
        .into()
}

fn facts(page: &TrialPage<'_>) -> Html {
    let (head, report) = (&page.trial.head, &page.trial.report);
    let usage = &report.stats.usage;
    let agent = [Some(head.agent.as_str()), report.agent_version.as_deref()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    let input = usage.input_tokens.map(|tokens| {
        let cached = usage
            .cached_input_tokens
            .map(|cached| format!(" ({} cached)", prose::compact(cached)));
        format!("{}{}", prose::compact(tokens), cached.unwrap_or_default())
    });
    let entries = [
        ("Agent", Some(agent.join(" "))),
        (
            "Model",
            report
                .delivery
                .model_observed
                .clone()
                .or_else(|| head.model.clone()),
        ),
        (
            "Agent's time",
            report.stats.duration_seconds.map(prose::duration),
        ),
        ("Input tokens", input),
        ("Output tokens", usage.output_tokens.map(prose::compact)),
        ("Cost", usage.cost_usd.map(prose::dollars)),
        ("Requests", usage.requests.map(|number| number.to_string())),
        (
            "Tool calls",
            usage.tool_calls.map(|number| number.to_string()),
        ),
        ("Exit status", report.exit_code.map(|code| code.to_string())),
        (
            "Attempts",
            (report.attempts > 1).then(|| report.attempts.to_string()),
        ),
    ];
    let known = entries
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    el("dl")
        .class("figures")
        .children(known.map(|(name, value)| {
            el("div")
                .child(el("dt").text(name))
                .child(el("dd").text(value))
        }))
        .into()
}

fn earlier(attempts: &[Attempt]) -> Html {
    if attempts.is_empty() {
        return Html::new();
    }
    let item = |attempt: &Attempt| {
        let error = attempt
            .error
            .as_ref()
            .map_or("no error".to_owned(), |error| {
                format!("{}: {}", error.kind.word(), fit_text(&error.message, 500))
            });
        el("li").text(format!(
            "{error} (after {})",
            prose::duration(attempt.duration_seconds)
        ))
    };
    section(
        "earlier",
        "Earlier attempts",
        el("ol").children(attempts.iter().take(20).map(item)).into(),
    )
}

fn tests(report: &TrialReport, bodies: &Bodies, room: usize) -> Html {
    if report.tests.is_empty() {
        return Html::new();
    }
    let number = report.tests.iter().count();
    let each = room / number.max(1) / 2;
    let items = report
        .tests
        .iter()
        .map(|(name, grade)| test(name, grade, of_test(&bodies.log, name), each));
    let remark = |number| {
        format!(
            "… {} left out here: all are in results.json …",
            prose::count(number, "test")
        )
    };
    section(
        "tests",
        "Tests",
        el("ul")
            .class("tests")
            .child(fit(items.collect(), room, remark))
            .into(),
    )
}

fn test(name: &str, grade: &Grade, output: Option<&str>, room: usize) -> Html {
    let class = match grade.score {
        score if score >= 1.0 => "passed",
        score if score > 0.0 => "partial",
        _ => "failed",
    };
    let output = output.map(|output| {
        el("details")
            .child(el("summary").text("Output"))
            .child(el("pre").text(fit_text(output, room)))
    });
    el("li")
        .class(class)
        .child(
            el("span")
                .class(format!("pill {class}"))
                .text(wording::score(grade.score)),
        )
        .child(el("b").text(name))
        .child(
            el("span")
                .class("message")
                .text(fit_text(&grade.message, 2_000)),
        )
        .child(
            el("small")
                .class("quiet")
                .text(prose::duration(grade.duration_seconds)),
        )
        .child(output)
        .into()
}

fn delivery(delivery: &Delivery) -> Html {
    let installed = |noun: &'static str, files: &[Installed]| -> Vec<Html> {
        let item = |file: &Installed| {
            let hash: String = file.sha256.chars().take(12).collect();
            el("li")
                .text(format!("{noun} "))
                .child(el("code").text(&file.path))
                .child(el("span").class("quiet").text(format!(" sha256 {hash}…")))
                .into()
        };
        files.iter().map(item).collect()
    };
    let server = |(name, server): (&String, &terca_core::agent::delivery::McpDelivery)| -> Html {
        let status = match server.status {
            Some(McpStatus::Connected) => "connected",
            Some(McpStatus::Failed) => "did not connect",
            None => "not known whether it connected",
        };
        let calls = server
            .calls
            .map(|calls| format!(", {}", prose::count(calls as usize, "call")));
        el("li")
            .text("MCP server ")
            .child(el("code").text(name))
            .text(format!(": {status}{}", calls.unwrap_or_default()))
            .into()
    };
    let model = |noun: &'static str, model: Option<&String>| -> Option<Html> {
        model.map(|model| {
            el("li")
                .text(format!("model {noun}: "))
                .child(el("code").text(model))
                .into()
        })
    };
    let items: Vec<Html> = installed("rules", &delivery.rules)
        .into_iter()
        .chain(installed("skill", &delivery.skills))
        .chain(delivery.mcp_servers.iter().map(server))
        .chain(model("asked for", delivery.model_requested.as_ref()))
        .chain(model("seen", delivery.model_observed.as_ref()))
        .collect();
    if items.is_empty() {
        return Html::new();
    }
    section(
        "delivery",
        "What the agent was given",
        el("ul").children(items).into(),
    )
}

fn files(page: &TrialPage<'_>) -> Html {
    let head = &page.trial.head;
    match page.files {
        Files::In(run) => note(&format!(
            "All of it lies in {}: run.log, changes.diff, transcript.jsonl, workspace, artifacts (the session in ATIF: artifacts/trajectory.json).",
            run.join(&head.dir)
        )),
        Files::Served => {
            let link = |name: &'static str| -> Element {
                let href = format!("trials/{}/{name}", head.id);
                el("li").child(
                    el("a")
                        .attr("href", href)
                        .attr("target", "_blank")
                        .attr("rel", "noopener")
                        .text(name),
                )
            };
            let names = [
                "run.log",
                "changes.diff",
                "transcript.jsonl",
                "trajectory.json",
            ];
            section(
                "files",
                "Files",
                el("ul").class("legend").children(names.map(link)).into(),
            )
        }
    }
}
