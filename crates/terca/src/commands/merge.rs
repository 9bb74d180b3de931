//! `terca merge`: joins the runs of the parts of a plan into one.

use std::error::Error;

use camino::Utf8PathBuf;
use terca_core::results::exit_status;
use terca_engine::join::{self, JoinError};
use terca_engine::{discover, runs};

use super::{MISUSE, TROUBLE, execute};
use crate::args::{Common, MergeArgs};
use crate::screen;

pub(super) fn merge(args: &MergeArgs, common: &Common) -> u8 {
    let (suite_dir, dirs) = match find(args, common) {
        Ok(found) => found,
        Err(error) => {
            screen::complain(&error.to_string());
            return MISUSE;
        }
    };
    match join::join(&suite_dir, jiff::Zoned::now().date(), &dirs) {
        Ok(joined) => {
            let results = joined.results();
            execute::show(&results, &joined.dir, common);
            exit_status(&results, args.fail_under)
        }
        Err(error) => {
            screen::complain(&error.to_string());
            if matches!(error, JoinError::Store(_) | JoinError::Copy { .. }) { TROUBLE } else { MISUSE }
        }
    }
}

/// A path of a run's folder, from another machine say, or a run of this suite.
fn find(args: &MergeArgs, common: &Common) -> Result<(Utf8PathBuf, Vec<Utf8PathBuf>), Box<dyn Error>> {
    let suite_dir = discover::canonical(&common.dir)?;
    let dirs = args.runs.iter().map(|run| runs::find_anywhere(&suite_dir, run));
    let dirs = dirs.collect::<Result<Vec<_>, _>>()?;
    Ok((suite_dir, dirs))
}
