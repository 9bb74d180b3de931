//! The page of a run: verdicts first, then the figures, then the trials.

use std::io::{self, Write};

use camino::Utf8Path;
use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::run::state::{RunState, Trial};
use terca_core::transcript::trial_files::TrialFiles;

use super::assets::Kind;
use super::foreign::without_control_characters;
use super::matrix::Matrix;
use super::overview::overview;
use super::pieces::navigation;
use super::prompts::Prompts;
use super::shell::frame;
use super::trial::{Files, TrialPage, trial_page};
use super::trials::trials;

/// The bytes that all trials of a file may take together.
const LARGEST: usize = 13_000_000;
/// The bytes that one of them may take.
const LARGEST_TRIAL: usize = 400_000;
const SMALLEST_TRIAL: usize = 4_000;

/// The place where the trials' own pages come from.
pub enum Bound<'a> {
    /// All are in the page.
    Within {
        /// The run's directory, to be named in the page.
        run_dir: &'a Utf8Path,
        /// The prompts of the run.
        prompts: &'a Prompts,
        /// Reads the files of a trial when they are needed, so that they are not all in memory. The number is how many
        /// bytes of each can be shown at most.
        bodies: &'a dyn Fn(&Trial, usize) -> TrialFiles,
    },
    /// The page asks its server for them.
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

/// Returns the page of a run.
pub fn run_page(state: &RunState, bound: &Bound<'_>) -> String {
    let mut page = Vec::new();
    // Memory is never full: that would end the program.
    let _ = write_run_page(state, bound, &mut page);
    String::from_utf8(page).unwrap_or_default()
}

/// Writes the page of a run, trial by trial. The script replaces the elements with `data-part` when the run has changed.
pub fn write_run_page(state: &RunState, bound: &Bound<'_>, to: &mut dyn Write) -> io::Result<()> {
    let results = Results::of(state);
    let matrix = Matrix::of(&results.summary);
    let kind = match bound {
        Bound::Within { .. } => Kind::File,
        Bound::OnDemand => Kind::Served,
    };
    let body = html! {
        (top(kind))
        main #content {
            div #overview {
                (overview(&results, &matrix))
                (trials(state, &matrix))
            }
            div #stage hidden {}
        }
        (footer(&results))
    };
    let title = format!("{} · {}", results.suite, results.run);
    let (before, after) = frame(kind, &title);
    to.write_all(before.as_bytes())?;
    to.write_all(without_control_characters(body.into_string()).as_bytes())?;
    write_templates(state, &matrix, bound, to)?;
    to.write_all(after.as_bytes())
}

fn top(kind: Kind) -> Markup {
    navigation(&html! {
        @if kind == Kind::Served { a href="../../" { "All runs" } }
        a #to-run href="#" { "Run" }
        a #to-trials href="#trials" { "Trials" }
        span.space {}
        span #live .quiet role="status" hidden {}
        a #previous hidden href="#trials" { "← Previous" }
        a #next hidden href="#trials" { "Next →" }
    })
}

fn footer(results: &Results) -> Markup {
    html! {
        footer {
            p.quiet {
                "Made by Terca " (results.terca_version) " · seed " (results.seed)
                @if let Some(run) = &results.replay_of {
                    " · a replay of " (run) ": tokens are as recorded"
                }
                " · keys: / search, j and k next and previous trial, Esc back"
            }
        }
    }
}

/// Writes the trials' own pages, inert until one is opened.
fn write_templates(
    state: &RunState,
    matrix: &Matrix<'_>,
    bound: &Bound<'_>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let Bound::Within {
        run_dir,
        prompts,
        bodies,
    } = bound
    else {
        return Ok(());
    };
    let room = (LARGEST / state.trials().len().max(1)).clamp(SMALLEST_TRIAL, LARGEST_TRIAL);
    for trial in state.trials() {
        let head = &trial.head;
        let page = TrialPage {
            trial,
            variant: &matrix.variant_name(&head.environment, &head.experiment),
            prompt: prompts.get(head),
            descriptions: state.descriptions(),
            bodies: &bodies(trial, room),
            files: Files::In(run_dir),
        };
        let template = html! {
            template id={ "body-" (head.id) } { (trial_page(&page, room)) }
        };
        to.write_all(without_control_characters(template.into_string()).as_bytes())?;
    }
    Ok(())
}
