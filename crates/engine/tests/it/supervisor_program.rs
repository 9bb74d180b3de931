//! A program that is nothing but Terca's own processes: the engine's tests start it in the place of `terca`.

use std::process::ExitCode;

use terca_engine::process::{mount_holder, supervise};

fn main() -> ExitCode {
    if let Some(status) = mount_holder::run_if_asked() {
        return status;
    }
    match supervise::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
