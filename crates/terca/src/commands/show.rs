//! `terca show`: the results of a run, as they stood at its end.

use terca_engine::{discover, runs};
use terca_report::{Palette, closing, failures, results_table, verdicts};

use super::{MISUSE, TROUBLE};
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
    let palette = Palette { colour: screen::colour(common.color, &std::io::stdout()) };
    let results = run.results();
    screen::say_all(&[
        results_table(&results, screen::columns(), palette),
        failures(&results, screen::short(&run.dir), palette),
        verdicts(&results, screen::columns(), palette),
        closing(&results, screen::short(&run.dir), palette),
    ]);
    0
}
