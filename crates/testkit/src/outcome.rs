//! How a run of the program ended.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;

#[derive(Debug)]
pub struct Outcome {
    /// As a shell tells it: 128 and the signal's number when it was killed.
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let killed = || 128 + output.status.signal().unwrap_or(0);
        Outcome {
            status: output.status.code().unwrap_or_else(killed),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
