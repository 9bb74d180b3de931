//! Loads the plan of a run, and shows what is wrong with its suite.

use terca_core::config::adaptive::Adaptive;
use terca_core::run::settings::RunSettings;
use terca_core::text::diagnostic::Style;
use terca_core::text::source::Sources;
use terca_core::text::{Diagnostics, prose};
use terca_engine::host::environment::Host;
use terca_engine::run::load::{self, RunPlan};

use crate::args::Common;
use crate::cli_error::{CliError, MISUSE};
use crate::screen;

/// Returns the plan. Every reason why there is none has been shown, or is returned.
pub fn plan(settings: &RunSettings, common: &Common, host: &Host) -> Result<RunPlan, CliError> {
    let loaded = load::load(&common.dir, settings, host)?;
    show(&loaded.problems, &loaded.sources, common);
    loaded.plan.ok_or(CliError::shown(MISUSE))
}

/// Shows all problems of all files in one go, and one line that says where there is more to read.
pub fn show(problems: &Diagnostics, sources: &Sources, common: &Common) {
    let codes = problems.codes();
    if codes.is_empty() {
        return;
    }
    let style = Style {
        colour: screen::colour(common.color, &std::io::stderr()),
        ..Style::PLAIN
    };
    screen::err_painted(&problems.render(sources, style));
    screen::err("");
    if problems.has_errors() {
        screen::err(&format!(
            "{}: nothing was run",
            prose::count(problems.error_count(), "error")
        ));
    }
    screen::err_where_explained(&codes, common.color);
}

/// Notes that a plan has the most trials there can be, where it is adaptive.
pub fn note_adaptive(plan: &RunPlan) {
    if let Some(Adaptive { min, max }) = plan.plan.adaptive {
        screen::err(&format!(
            "note: repetitions are adaptive: {min} at first, then one at a time until every comparison is \
             decided, at most {max}"
        ));
    }
}
