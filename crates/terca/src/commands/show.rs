//! `terca show`: the results of a run, as they stood at its end.

use terca_engine::{discover, runs};

use super::{MISUSE, TROUBLE, execute};
use crate::args::{Common, ShowArgs};
use crate::screen;

pub(super) fn show(args: &ShowArgs, common: &Common) -> u8 {
    let dir = match discover::canonical(&common.dir) {
        Ok(dir) => dir,
        Err(error) => {
            screen::complain(&error.to_string());
            return MISUSE;
        }
    };
    let run = match runs::open(&dir, args.run.as_deref()) {
        Ok(run) => run,
        Err(error @ (runs::RunsError::None(_) | runs::RunsError::Unknown { .. })) => {
            screen::complain(&error.to_string());
            return MISUSE;
        }
        Err(error) => {
            screen::complain(&error.to_string());
            return TROUBLE;
        }
    };
    execute::show(&run.results(), &run.dir, common);
    0
}
