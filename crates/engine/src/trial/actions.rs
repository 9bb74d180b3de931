//! Actions: what is done to a workspace before the agent starts, in a trial and in a layer alike.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::suite::{Action, ShellCommand};
use terca_core::text::prose;
use terca_core::transcript::Usage;
use terca_core::trial_error::ErrorKind;

use super::Stop;
use super::bench::{Bench, Shell};
use crate::host::environment::Variables;
use crate::workspace::tree;

/// The variables of a command whose YAML file lies in this directory.
pub(super) type Environment<'e> = dyn Fn(&Bench<'_>, &Utf8Path) -> Variables + 'e;

pub(super) fn failed(what: &str, error: &dyn std::fmt::Display) -> Stop {
    Stop::error(ErrorKind::Setup, format!("{what}: {error}"))
}

pub(super) fn carry_out(
    bench: &mut Bench<'_>,
    what: &str,
    action: &Action,
    env: &Environment<'_>,
) -> Result<(), Stop> {
    match action {
        Action::Copy {
            source,
            destination,
        } => {
            bench
                .log
                .section(&format!("copy: {source} → {destination}"))?;
            copy(bench, source, destination)
                .map_err(|error| failed(&format!("copy {source}"), &error))
        }
        Action::Write {
            destination,
            content,
        } => {
            bench.log.section(&format!("file: {destination}"))?;
            write(bench, destination, content)
                .map_err(|error| failed(&format!("file {destination}"), &error))
        }
        Action::Run(command) => run(bench, what, command, env),
    }
}

fn copy(bench: &Bench<'_>, source: &Utf8Path, destination: &Utf8Path) -> std::io::Result<()> {
    let target = open_target(bench, destination)?;
    let meta = fs_err::metadata(source)?;
    if meta.is_dir() {
        fs_err::create_dir_all(&target)?;
        tree::copy_visible_tree(source, &target).map(|_| ())
    } else {
        tree::copy_file(source, &target, &meta)
    }
}

fn write(bench: &Bench<'_>, destination: &Utf8Path, content: &str) -> std::io::Result<()> {
    let target = open_target(bench, destination)?;
    // A new file, also where a read-only one stands or a link inside the workspace points elsewhere.
    match target.symlink_metadata() {
        Ok(meta) if meta.is_dir() => {
            return Err(std::io::Error::other(
                "a directory of this name is in the workspace",
            ));
        }
        Ok(_) => fs_err::remove_file(&target)?,
        Err(_) => {}
    }
    fs_err::write(&target, content)
}

/// The place in the workspace, with the directories above it made. A command may have made links meanwhile.
fn open_target(bench: &Bench<'_>, destination: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    let root = &bench.room.workspace;
    if !tree::stays_inside(root, destination) {
        return Err(std::io::Error::other(format!(
            "`{destination}` leaves the workspace through a symbolic link"
        )));
    }
    let target = root.join(destination);
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent)?;
    }
    Ok(target)
}

pub(super) fn run(
    bench: &mut Bench<'_>,
    what: &str,
    command: &ShellCommand,
    env: &Environment<'_>,
) -> Result<(), Stop> {
    bench
        .log
        .section(&format!("{what}: {}", command.command.trim_end()))?;
    bench.doing(
        &format!("$ {}", command.command.trim_start()),
        Usage::default(),
    );
    let env = env(bench, &command.dir);
    let workspace = bench.room.workspace.clone();
    // What it leaves running, a database say, is there for the agent and ends with it.
    let shell = Shell {
        command: &command.command,
        timeout: command.timeout,
        env,
        dir: &workspace,
        sweep: false,
    };
    let (ended, output) = bench.shell(shell)?;
    bench.log.output(output.rewound()?)?;
    if ended.stopped {
        return Err(Stop::Interrupted);
    }
    if ended.timed_out {
        let limit = prose::duration(command.timeout.as_secs_f64());
        bench
            .log
            .line(&format!("still running after {limit}: ended"))?;
        return Err(failed(
            &brief(&command.command),
            &format!("still running after {limit}"),
        ));
    }
    bench.log.line(&format!(
        "{} after {}",
        ended.exit.describe(),
        prose::duration(ended.seconds)
    ))?;
    if ended.exit.code() != Some(0) {
        return Err(failed(&brief(&command.command), &ended.exit.describe()));
    }
    if !bench.room.workspace.is_dir() {
        return Err(failed(
            &brief(&command.command),
            &"it has removed the workspace",
        ));
    }
    Ok(())
}

fn brief(command: &str) -> String {
    const LONGEST: usize = 60;
    let line = command.trim().lines().next().unwrap_or_default();
    let short: String = line.chars().take(LONGEST).collect();
    if short.len() < command.trim().len() {
        format!("`{short}…`")
    } else {
        format!("`{short}`")
    }
}
