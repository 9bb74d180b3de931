//! `terca report`: a run as a page for people, and in the formats that other programs read.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use terca_core::run::state::Trial;
use terca_core::text::Code;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::trial_files;
use terca_report::github::Printed;
use terca_report::html::{Bodies, Bound, run_page, write_run_page};

use crate::args::Common;
use crate::args::values::points;
use crate::cli_error::{CliError, Outcome};
use crate::export::ExportArgs;
use crate::suite::past;
use crate::{export, screen};

#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// A run's name or number (default: the latest)
    run: Option<String>,
    /// A single HTML file, for a browser (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<Utf8PathBuf>,
    /// With `--html`: leave nothing out, however large the file becomes
    #[arg(long, requires = "html")]
    full: bool,
    /// Treat differences smaller than this (in percentage points) as equivalent (default: the run's)
    #[arg(long, value_name = "POINTS", value_parser = points)]
    margin: Option<f64>,
    #[command(flatten)]
    export: ExportArgs,
}

pub(super) fn report(args: &ReportArgs, common: &Common) -> Outcome {
    if args.html.is_none() && args.export.is_empty() {
        return Err(CliError::misuse(Code::Usage, "nothing to write").help(
            "ask for `--html FILE`, `--junit FILE`, `--markdown FILE`, `--csv FILE` or `--jsonl FILE`",
        ));
    }
    let (suite_dir, run_dir) = past::find(args.run.as_deref(), common)?;
    let mut run = past_runs::read(&run_dir)?;
    run.state = run.state.with_margin(args.margin);
    write(args, &suite_dir, &run).map_err(export::unwritten)?;
    Ok(0)
}

fn write(args: &ReportArgs, suite_dir: &Utf8Path, run: &PastRun) -> io::Result<()> {
    if let Some(file) = &args.html {
        write_page(args, file, suite_dir, run)?;
    }
    args.export.write(&run.results())
}

/// Writes one page with everything in it.
fn write_page(
    args: &ReportArgs,
    file: &Utf8Path,
    suite_dir: &Utf8Path,
    run: &PastRun,
) -> io::Result<()> {
    let prompts = past::prompts(run);
    let read = |trial: &Trial, limit: usize| trial_files::read(&run.dir, &trial.head.dir, limit);
    // A page that is sent to others does not show the suite's path.
    let run_dir = run.dir.strip_prefix(suite_dir).unwrap_or(&run.dir);
    let within = Bound::Within(Bodies {
        run_dir,
        prompts: &prompts,
        read: &read,
        is_full: args.full,
    });
    if file == "-" {
        screen::out_document(&run_page(&run.state, &within), Printed::Text);
        return Ok(());
    }
    let length = export::write_file(file, |to| write_run_page(&run.state, &within, to))?;
    let length = terca_core::text::prose::bytes(length);
    screen::err(&format!("{file} written ({length})"));
    Ok(())
}
