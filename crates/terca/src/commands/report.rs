//! `terca report`: a run as a page for people, and in the formats that other programs read.

use std::io;

use camino::Utf8Path;
use terca_core::state::Trial;
use terca_engine::runs::{self, PastRun};
use terca_engine::{bodies, discover};
use terca_report::html::{Bound, Prompts, run_page};

use super::{MISUSE, TROUBLE, export};
use crate::args::{Common, ReportArgs};
use crate::screen;

pub(super) fn report(args: &ReportArgs, common: &Common) -> u8 {
    if args.html.is_none() && args.export.is_empty() {
        screen::complain(
            "nothing to write\nhelp: ask for `--html FILE`, `--junit FILE`, `--markdown FILE`, `--csv FILE` or `--jsonl FILE`",
        );
        return MISUSE;
    }
    let run = discover::canonical(&common.dir).map_err(|error| (MISUSE, error.to_string())).and_then(|dir| {
        runs::open(&dir, args.run.as_deref()).map(|run| (dir, run)).map_err(|error| {
            let is_misuse = matches!(error, runs::RunsError::None(_) | runs::RunsError::Unknown { .. });
            (if is_misuse { MISUSE } else { TROUBLE }, error.to_string())
        })
    });
    let written = match run {
        Ok((dir, run)) => write(args, &dir, &run),
        Err((status, error)) => {
            screen::complain(&error);
            return status;
        }
    };
    match written {
        Ok(()) => 0,
        Err(error) => {
            screen::complain(&error.to_string());
            TROUBLE
        }
    }
}

fn write(args: &ReportArgs, suite_dir: &Utf8Path, run: &PastRun) -> io::Result<()> {
    if let Some(file) = &args.html {
        let page = page(suite_dir, run);
        export::write(file, &page)?;
        if file != "-" {
            screen::remark(&format!("{file} written ({})", terca_core::prose::bytes(page.len() as u64)));
        }
    }
    export::export(&run.results(), &args.export)
}

/// One file with everything in it.
fn page(suite_dir: &Utf8Path, run: &PastRun) -> String {
    let prompts = runs::plan(&run.dir).map(|plan| Prompts::of_plan(&plan)).unwrap_or_default();
    let bodies = |trial: &Trial, limit: usize| bodies::read(&run.dir, &trial.head.dir, limit);
    // Where the suite lies is nobody else's business.
    let run_dir = run.dir.strip_prefix(suite_dir).unwrap_or(&run.dir);
    run_page(&run.state, &Bound::Within { run_dir, prompts: &prompts, bodies: &bodies })
}
