//! `terca view`: the runs of a suite in a browser, live while one goes on.

mod library;
mod opener;

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use camino::Utf8Path;
use terca_core::text::explain::Code;
use terca_report::serve::{Gate, serve};

use self::library::Library;
use super::find_run;
use super::refusal::{Outcome, Refusal};
use crate::args::{Common, ViewArgs};
use crate::screen;

pub(super) fn view(args: &ViewArgs, common: &Common) -> Outcome {
    let (dir, run) = find_run(args.run.as_deref(), common)?;
    show(&dir, run.file_name().unwrap_or_default(), args)?;
    Ok(0)
}

fn unopened(error: &io::Error, args: &ViewArgs) -> Refusal {
    match args.port {
        Some(port) => Refusal::trouble(
            Code::CannotServe,
            format!("port {port} cannot be opened: {error}"),
        )
        .help("without `--port` a free one is chosen"),
        None => Refusal::trouble(
            Code::CannotServe,
            format!("the view could not be opened: {error}"),
        ),
    }
}

/// Until Ctrl+C, which ends the program: there is nothing to be tidied up.
fn show(suite_dir: &Utf8Path, run: &str, args: &ViewArgs) -> Result<(), Refusal> {
    let unopened = |error: io::Error| unopened(&error, args);
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, args.port.unwrap_or(0))).map_err(unopened)?;
    let gate = Gate {
        port: listener.local_addr().map_err(unopened)?.port(),
        token: token().map_err(unopened)?,
    };
    let url = gate.url(&format!("runs/{run}/"));
    screen::say(&url);
    screen::remark(
        "Ctrl+C ends it. Whoever has this address can read the runs; it leads to this machine alone.",
    );
    if !args.no_open {
        opener::open(&url);
    }
    let library = Library::new(suite_dir);
    serve(
        &listener,
        &gate,
        &(Arc::new(move |parts: &[&str]| library.answer(parts)) as Arc<_>),
    );
    Ok(())
}

/// 128 bits that nobody can guess.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
