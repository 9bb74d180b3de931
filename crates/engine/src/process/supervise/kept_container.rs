//! A container without a supervisor in it, for a service: its keeper removes it at its end, or when Terca is gone.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::client::ends_in_time;
use super::keeper::{self, KEEPER, NOT_REMOVED};
use super::launcher::Launcher;

/// The time between two looks.
const GLANCE: Duration = Duration::from_millis(50);

/// A container to run.
#[derive(Debug)]
pub struct KeptContainer {
    /// The program of its engine.
    pub program: Utf8PathBuf,
    /// Its name, which no other has.
    pub name: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The environment of the program.
    pub env: BTreeMap<String, String>,
    /// The file that the container prints to.
    pub output: Utf8PathBuf,
}

impl KeptContainer {
    /// Runs the container until it ends or is to end. Returns whether it was to end.
    pub(in crate::process) fn run(
        &self,
        launcher: &Arc<Launcher>,
        should_end: &dyn Fn() -> bool,
    ) -> io::Result<bool> {
        let printed = || fs_err::OpenOptions::new().append(true).open(&self.output);
        let mut command = launcher.own_command();
        command
            .arg(KEEPER)
            .arg(&self.program)
            .arg(&self.name)
            .args(&self.args)
            .envs(&self.env)
            .stdout(printed()?.into_file())
            .stderr(printed()?.into_file())
            .process_group(0);
        let (mut keeper, leash) = launcher.spawn_with_socket(command)?;
        let is_asked = loop {
            if keeper.try_wait()?.is_some() {
                break false;
            }
            if should_end() {
                break true;
            }
            std::thread::sleep(GLANCE);
        };
        // It removes the container when this is closed.
        drop(leash);
        if !ends_in_time(&keeper, keeper::PATIENCE) {
            let _ = keeper.kill();
        }
        let status = keeper.wait()?;
        launcher.ended(&keeper, true);
        if status.code() == Some(NOT_REMOVED) {
            launcher.remains(format!("the container {}, which is still there", self.name));
        }
        Ok(is_asked)
    }
}
