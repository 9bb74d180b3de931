//! `terca show`: the results of a run, as they stood at its end.

use terca_engine::runs;

use super::{execute, find_run, trouble};
use crate::args::{Common, ShowArgs};

pub(super) fn show(args: &ShowArgs, common: &Common) -> u8 {
    let dir = match find_run(args.run.as_deref(), common) {
        Ok((_, dir)) => dir,
        Err(status) => return status,
    };
    match runs::read(&dir) {
        Ok(run) => execute::show(&run.results(), &run.dir, common),
        Err(error) => return trouble(&error),
    }
    0
}
