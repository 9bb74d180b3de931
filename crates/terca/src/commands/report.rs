//! `terca report`: a run as a file for people.

use camino::Utf8Path;
use terca_core::state::Trial;
use terca_engine::runs::{self, PastRun};
use terca_engine::{bodies, discover};
use terca_report::html::{Bound, Prompts, run_page};

use super::{MISUSE, TROUBLE};
use crate::args::{Common, ReportArgs};
use crate::screen;

pub(super) fn report(args: &ReportArgs, common: &Common) -> u8 {
    let Some(file) = &args.html else {
        screen::complain("nothing to write; `--html FILE` says where a page is to go");
        return MISUSE;
    };
    let dir = match discover::canonical(&common.dir) {
        Ok(dir) => dir,
        Err(error) => {
            screen::complain(&error.to_string());
            return MISUSE;
        }
    };
    match runs::open(&dir, args.run.as_deref()) {
        Ok(run) => write(file, &page(&dir, &run)),
        Err(error @ (runs::RunsError::None(_) | runs::RunsError::Unknown { .. })) => {
            screen::complain(&error.to_string());
            MISUSE
        }
        Err(error) => {
            screen::complain(&error.to_string());
            TROUBLE
        }
    }
}

/// One file with everything in it, but for where on this machine its suite lies.
fn page(suite_dir: &Utf8Path, run: &PastRun) -> String {
    let prompts = runs::plan(&run.dir).map(|plan| Prompts::of_plan(&plan)).unwrap_or_default();
    let bodies = |trial: &Trial, limit: usize| bodies::read(&run.dir, &trial.head.dir, limit);
    let run_dir = run.dir.strip_prefix(suite_dir).unwrap_or(&run.dir);
    run_page(&run.state, &Bound::Within { run_dir, prompts: &prompts, bodies: &bodies })
}

/// `-` is standard output.
fn write(file: &Utf8Path, page: &str) -> u8 {
    if file == "-" {
        screen::say(page);
        return 0;
    }
    match std::fs::write(file, page) {
        Ok(()) => {
            let size = terca_core::prose::compact(page.len() as u64);
            screen::remark(&format!("{file} written ({size} bytes)"));
            0
        }
        Err(error) => {
            screen::complain(&format!("{file}: {error}"));
            TROUBLE
        }
    }
}
