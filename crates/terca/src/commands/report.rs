//! `terca report`: a run as a page for people, and in the formats that other programs read.

use std::io;

use camino::Utf8Path;
use terca_core::run::state::Trial;
use terca_core::text::explain::Code;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::trial_files;
use terca_report::github::Printed;
use terca_report::html::{Bound, Prompts, run_page};

use super::refusal::{Outcome, Refusal};
use super::{export, find_run};
use crate::args::{Common, ReportArgs};
use crate::screen;

pub(super) fn report(args: &ReportArgs, common: &Common) -> Outcome {
    if args.html.is_none() && args.export.is_empty() {
        return Err(Refusal::misuse(Code::Usage, "nothing to write").help(
            "ask for `--html FILE`, `--junit FILE`, `--markdown FILE`, `--csv FILE` or `--jsonl FILE`",
        ));
    }
    let (suite_dir, run_dir) = find_run(args.run.as_deref(), common)?;
    let run = past_runs::read(&run_dir)?;
    write(args, &suite_dir, &run).map_err(export::unwritten)?;
    Ok(0)
}

fn write(args: &ReportArgs, suite_dir: &Utf8Path, run: &PastRun) -> io::Result<()> {
    if let Some(file) = &args.html {
        let page = page(suite_dir, run);
        export::write(file, &page, Printed::Text)?;
        if file != "-" {
            screen::remark(&format!(
                "{file} written ({})",
                terca_core::text::prose::bytes(page.len() as u64)
            ));
        }
    }
    export::export(&run.results(), &args.export)
}

/// One file with everything in it.
fn page(suite_dir: &Utf8Path, run: &PastRun) -> String {
    let prompts = past_runs::plan(&run.dir)
        .map(|plan| Prompts::of_plan(&plan))
        .unwrap_or_default();
    let bodies = |trial: &Trial, limit: usize| trial_files::read(&run.dir, &trial.head.dir, limit);
    // Where the suite lies is nobody else's business.
    let run_dir = run.dir.strip_prefix(suite_dir).unwrap_or(&run.dir);
    run_page(
        &run.state,
        &Bound::Within {
            run_dir,
            prompts: &prompts,
            bodies: &bodies,
        },
    )
}
