//! `terca doctor --on`: the machines of workers.

use jiff::SignedDuration;
use terca_core::run::settings::RunSettings;
use terca_core::text::prose;
use terca_engine::host::environment::Host;
use terca_engine::remote::WorkerError;
use terca_engine::visit::{Round, Visit};

use super::show;
use crate::VERSION;
use crate::args::Common;
use crate::cli_error::{CliError, INTERRUPTED, Outcome, TROUBLE};
use crate::screen;

/// Clocks that are further apart than this are worth a warning.
const FAR_APART: SignedDuration = SignedDuration::from_secs(2);

/// Returns the workers of these names, or refuses names that the suite does not have.
pub(super) fn round(
    on: &[String],
    common: &Common,
    host: &Host,
) -> Result<Option<Round>, CliError> {
    if on.is_empty() {
        return Ok(None);
    }
    let settings = RunSettings {
        on: on.to_vec(),
        ..RunSettings::default()
    };
    let plan = crate::suite::load::plan(&settings, common, host)?;
    Ok(Some(Round::new(&plan, &settings, VERSION, host)))
}

/// Visits the workers, and shows the findings of each place.
pub(super) fn visit(round: &Round, of_suite: &[&str], host: &Host, common: &Common) -> Outcome {
    let places = round.places();
    if places.is_empty() {
        return Ok(0);
    }
    screen::err(&format!(
        "starting workers on {}",
        prose::list(&places, "and")
    ));
    let mut status = 0;
    let visited = round.make(host, |place, visit| match visit {
        Ok(visit) => {
            screen::out(&format!("\n{place}:"));
            show_worker(&visit);
            show(&visit.findings, of_suite, common, |path| path);
        }
        Err(WorkerError::Interrupted) => status = INTERRUPTED,
        Err(error) => {
            status = status.max(TROUBLE);
            screen::out(&format!("\n{place}:\n✗ worker: {error}"));
            if let Some(help) = error.help() {
                screen::out(&format!("    help: {help}"));
            }
        }
    });
    visited.map_err(|error| CliError::no_work_dir(TROUBLE, &error))?;
    Ok(status)
}

fn show_worker(visit: &Visit) {
    screen::out(&format!(
        "✓ worker: Terca {} on {}, the same version as here",
        visit.hello.version, visit.hello.node
    ));
    screen::out(&format!(
        "✓ connection: started in {:.1} s, answers in {:.1} ms",
        visit.start.as_secs_f64(),
        visit.latency.as_secs_f64() * 1000.0
    ));
    screen::out(&clock(visit.ahead));
}

fn clock(ahead: SignedDuration) -> String {
    let apart = ahead.abs();
    if apart <= FAR_APART {
        return format!(
            "✓ clock: differs by {:.1} s from this machine's",
            apart.as_secs_f64()
        );
    }
    let direction = if ahead.is_positive() {
        "ahead of"
    } else {
        "behind"
    };
    format!(
        "! clock: {:.1} s {direction} this machine's; the times of its trials are off by as much",
        apart.as_secs_f64()
    )
}
