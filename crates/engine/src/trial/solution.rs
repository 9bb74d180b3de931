//! `oracle` at work: `_solution/` is laid over the workspace, and then `_solution.sh` is run in it.

use terca_core::process::Exit;
use terca_core::text::prose;

use super::Stop;
use super::bench::{Bench, Shell};
use crate::workspace::tree;

/// A remark when the script did not end well. The tests say what its work is worth all the same.
pub(super) fn lay(bench: &mut Bench<'_>) -> Result<Option<String>, Stop> {
    let eval = bench.trial.case.eval.clone();
    if let Some(solution) = &eval.solution {
        tree::copy_tree(solution, &bench.room.workspace)?;
    }
    let Some(script) = &eval.solution_script else {
        return Ok(None);
    };
    let mut env = bench.command_environment(bench.room.for_agent(), &eval.dir);
    // By way of a variable: a path may have quotes and spaces in it.
    env.insert("TERCA_SOLUTION".into(), script.to_string());
    let (timeout, dir) = (bench.trial.case.timeout, bench.room.workspace.clone());
    let shell = Shell {
        command: "exec sh \"$TERCA_SOLUTION\"",
        timeout,
        env,
        dir: &dir,
        sweep: true,
    };
    let (ended, output) = bench.shell(shell)?;
    bench.log.whole_output(output.rewound()?)?;
    if ended.stopped {
        return Err(Stop::Interrupted);
    }
    if ended.timed_out {
        let limit = prose::duration(timeout.as_secs_f64());
        return Ok(Some(format!(
            "_solution.sh was still running after {limit}"
        )));
    }
    let failed = ended.exit != Exit::Code(0);
    Ok(failed.then(|| format!("_solution.sh failed: {}", ended.exit.describe())))
}
