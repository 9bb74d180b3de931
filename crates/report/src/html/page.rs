//! The page of a run: verdicts first, then the figures, then the trials.

use camino::Utf8Path;
use terca_core::analysis::results::Results;
use terca_core::run::state::{RunState, Trial};
use terca_core::transcript::trial_files::Bodies;

use super::assets::Kind;
use super::distributions::distributions;
use super::effects::effects;
use super::heat_map::heat_map;
use super::markup::{Html, el};
use super::masthead::masthead;
use super::matrix::Matrix;
use super::prompts::Prompts;
use super::shell::document;
use super::trial::{Files, TrialPage, trial_page};
use super::trials::trials;
use super::verdicts::verdicts;

/// How large a file may become, its trials taken together.
const LARGEST: usize = 13_000_000;
/// And each by itself.
const LARGEST_TRIAL: usize = 400_000;
const SMALLEST_TRIAL: usize = 4_000;

/// Where the bodies of the trials come from.
pub enum Bound<'a> {
    /// All in the page. The bodies of a trial are read when they are needed and not held; the number is how many
    /// bytes of each can be shown at most.
    Within {
        run_dir: &'a Utf8Path,
        prompts: &'a Prompts,
        bodies: &'a dyn Fn(&Trial, usize) -> Bodies,
    },
    /// The page asks for them.
    OnDemand,
}

impl std::fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Bound::Within { .. } => "Within",
            Bound::OnDemand => "OnDemand",
        })
    }
}

pub fn run_page(state: &RunState, bound: &Bound<'_>) -> String {
    let results = Results::of(state);
    let summary = &results.summary;
    let matrix = Matrix::of(summary);
    let part =
        |id: &'static str, body: Html| el("div").attr("id", id).flag("data-part", true).child(body);
    let overview = el("div")
        .attr("id", "overview")
        .child(part("part-masthead", masthead(&results)))
        .child(part("part-verdicts", verdicts(&results)))
        .child(part("part-heat", heat_map(summary, &matrix)))
        .child(part("part-effects", effects(summary)))
        .child(part("part-spent", distributions(&results, &matrix)))
        .child(trials(state, &matrix));
    let mut body = Html::new();
    body.push(top(bound));
    body.push(
        el("main")
            .attr("id", "content")
            .child(overview)
            .child(el("div").attr("id", "stage").flag("hidden", true)),
    );
    body.push(footer(&results));
    body.push(bodies(state, &matrix, bound));
    document(
        kind(bound),
        &format!("{} · {}", results.suite, results.run),
        body,
    )
}

fn kind(bound: &Bound<'_>) -> Kind {
    match bound {
        Bound::Within { .. } => Kind::File,
        Bound::OnDemand => Kind::Served,
    }
}

/// What is there on every page: the way back, and the way to the other runs.
fn top(bound: &Bound<'_>) -> Html {
    let runs =
        matches!(bound, Bound::OnDemand).then(|| el("a").attr("href", "../../").text("All runs"));
    let link = |name: &'static str, text: &str| {
        el("a")
            .attr("id", name)
            .flag("hidden", true)
            .attr("href", "#trials")
            .text(text)
    };
    el("nav")
        .class("top")
        .attr("aria-label", "Pages")
        .child(el("b").class("brand").text("terca"))
        .child(runs)
        .child(el("a").attr("id", "to-run").attr("href", "#").text("Run"))
        .child(
            el("a")
                .attr("id", "to-trials")
                .attr("href", "#trials")
                .text("Trials"),
        )
        .child(el("span").class("space"))
        .child(
            el("span")
                .attr("id", "live")
                .class("quiet")
                .attr("role", "status")
                .flag("hidden", true),
        )
        .child(link("previous", "← Previous"))
        .child(link("next", "Next →"))
        .into()
}

fn footer(results: &Results) -> Html {
    let text = format!(
        "Made by Terca {} · seed {} · keys: / search, j and k next and previous trial, Esc back",
        results.terca_version, results.seed
    );
    el("footer").child(el("p").class("quiet").text(text)).into()
}

/// The trials' own pages, inert until one is opened.
fn bodies(state: &RunState, matrix: &Matrix<'_>, bound: &Bound<'_>) -> Html {
    let Bound::Within {
        run_dir,
        prompts,
        bodies,
    } = bound
    else {
        return Html::new();
    };
    let room = (LARGEST / state.trials().len().max(1)).clamp(SMALLEST_TRIAL, LARGEST_TRIAL);
    let template = |trial: &Trial| -> Html {
        let head = &trial.head;
        let page = TrialPage {
            trial,
            variant: &matrix.variant_name(&head.environment, &head.experiment),
            prompt: prompts.get(head),
            bodies: &bodies(trial, room),
            files: Files::In(run_dir),
        };
        el("template")
            .attr("id", format!("body-{}", head.id))
            .child(trial_page(&page, room))
            .into()
    };
    state.trials().iter().map(template).collect()
}
