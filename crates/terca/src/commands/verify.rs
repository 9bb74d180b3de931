//! `terca verify`: is a run as Terca wrote it?

use clap::Args;
use terca_core::text::prose;
use terca_engine::run::past_runs;
use terca_engine::run::verify::{Problem, Verified, verify as examine};
use terca_engine::suite::discover;

use crate::args::{Common, TableFormat};
use crate::cli_error::Outcome;
use crate::run::output;
use crate::screen;

#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit status: 0 every run is as Terca wrote it, 1 one is not, 2 usage error, 3 a run cannot be read"
)]
pub struct VerifyArgs {
    /// Runs: names, numbers or directories (default: the latest)
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
    /// The same as `--format json`
    #[arg(long, hide = true)]
    json: bool,
}

pub(super) fn verify(args: &VerifyArgs, common: &Common) -> Outcome {
    let suite_dir = discover::canonical(&common.dir)?;
    let dirs = match args.runs.as_slice() {
        [] => vec![past_runs::find(&suite_dir, None)?],
        runs => past_runs::find_all(&suite_dir, runs)?,
    };
    let found = dirs
        .iter()
        .map(|dir| examine(dir))
        .collect::<Result<Vec<Verified>, _>>()?;
    if args.json || args.format == TableFormat::Json {
        output::json(&found)?;
    } else {
        for one in &found {
            screen::out(&text(one));
        }
    }
    Ok(u8::from(found.iter().any(|one| !one.sound)))
}

fn text(found: &Verified) -> String {
    let Verified { run, events, .. } = found;
    let events = prose::count(*events, "event");
    let mut lines = vec![if found.sound {
        format!("{run}: sound ({events})")
    } else {
        format!("{run}: damaged ({events} before the damage)")
    }];
    for Problem { file, line, text } in &found.problems {
        lines.push(match line {
            Some(line) => format!("  {file}, line {line}: {text}"),
            None => format!("  {file}: {text}"),
        });
    }
    for note in &found.notes {
        lines.push(format!("  note: {note}"));
    }
    lines.join("\n")
}
