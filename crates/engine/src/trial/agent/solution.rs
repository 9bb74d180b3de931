//! `oracle` at work: copies `_solution/` into the workspace, then runs `_solution.sh` in it.

use terca_core::process::Exit;
use terca_core::text::prose;

use crate::tree::{Dir, copy};
use crate::trial::command::Shell;
use crate::trial::containment::Side;
use crate::trial::output::Logged;
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;

/// Applies the eval's solution. Returns a remark if the script failed; the tests grade its work all the same.
pub(super) fn apply(run: &mut TrialRun<'_>) -> Result<Option<String>, StageError> {
    let eval = run.spec.case.eval.clone();
    if let Some(solution) = &eval.solution {
        let from = Dir::open(run.context.sealed.open(solution)?)?;
        let to = Dir::open_no_link(run.dirs.here())?;
        copy(&from, &to, &run.context.suite_tree(), &mut |_| Ok(true))?;
    }
    let Some(script) = &eval.solution_script else {
        return Ok(None);
    };
    let mut env = run.command_environment(run.dirs.for_agent(), &eval.dir);
    // In a variable, because a path may have quotes and spaces in it.
    env.insert(
        "TERCA_SOLUTION".into(),
        run.context.sealed.open(script)?.into_string(),
    );
    let timeout = run.spec.case.timeout;
    let shell = Shell {
        command: "exec sh \"$TERCA_SOLUTION\"",
        timeout,
        env,
        sweep: true,
        side: Side::Solution,
        inputs: &[],
    };
    let (ended, ..) = run.shell(shell, Logged::Whole, false)?;
    if ended.stopped {
        return Err(StageError::Interrupted);
    }
    if ended.timed_out {
        let limit = prose::duration(timeout.as_secs_f64());
        return Ok(Some(format!(
            "_solution.sh was still running after {limit}"
        )));
    }
    if ended.exit == Exit::Code(0) {
        return Ok(None);
    }
    let end = ended.exit.describe();
    Ok(Some(format!("_solution.sh failed: {end}")))
}
