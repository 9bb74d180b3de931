//! The verdict of a judge: its reasons, who it was, and its cost.

use maud::{Markup, html};
use terca_core::analysis::summary::wording;
use terca_core::grade::JudgeRecord;
use terca_core::text::prose;

use super::fit::fit_text;
use super::foreign::clean;
use super::pieces::or_dash;

/// Returns the verdict in about so many bytes.
pub fn judgement(judge: &JudgeRecord, room: usize) -> Markup {
    let each = room / judge.reasons.len().max(1);
    let rows: Vec<Markup> = judge
        .reasons
        .iter()
        .map(|reason| {
            let criterion = reason.criterion.as_deref().unwrap_or("–");
            html! {
                tr {
                    th scope="row" { (clean(&fit_text(criterion, each / 4 + 100))) }
                    td.num { (or_dash(reason.score.map(wording::score))) }
                    td { (clean(&fit_text(&reason.reason, each))) }
                }
            }
        })
        .collect();
    html! {
        div.judge {
            @if !rows.is_empty() {
                table {
                    thead {
                        tr { th scope="col" { "Criterion" } th scope="col" { "Score" } th scope="col" { "Reason" } }
                    }
                    tbody { @for row in rows { (row) } }
                }
            }
            p.quiet { (by(judge)) }
        }
    }
}

/// `judged 0.67 by claude-code 2.1 with claude-sonnet-5, 1.2k tokens, $0.02, 3.4s`.
fn by(judge: &JudgeRecord) -> String {
    let by = &judge.by;
    let usage = &by.stats.usage;
    let agent = match &by.agent_version {
        Some(version) => format!("{} {version}", by.agent),
        None => by.agent.clone(),
    };
    let model = by.model.as_ref().map(|model| format!(" with {model}"));
    let mut words = format!(
        "judged {} by {agent}{}",
        wording::score(judge.score),
        model.unwrap_or_default()
    );
    let figures = [
        usage
            .tokens()
            .map(|tokens| format!("{} tokens", prose::compact(tokens))),
        usage.cost_usd.map(prose::dollars),
        by.stats.duration_seconds.map(prose::duration),
    ];
    for figure in figures.into_iter().flatten() {
        words += ", ";
        words += &figure;
    }
    clean(&words).into_owned()
}
