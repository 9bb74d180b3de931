//! `terca view`: the runs of a suite in a browser, live while one goes on.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use camino::Utf8Path;
use clap::Args;
use terca_core::text::explain::Code;
use terca_report::serve::server::Handler;
use terca_report::serve::{Gate, serve};

use crate::args::Common;
use crate::cli_error::{CliError, Outcome};
use crate::viewer::{self, Library};
use crate::{past, screen};

#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    /// A run's name or number (default: the latest)
    run: Option<String>,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
    /// The port to listen on (default: any free one)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
}

pub(super) fn view(args: &ViewArgs, common: &Common) -> Outcome {
    let (dir, run) = past::find(args.run.as_deref(), common)?;
    show(&dir, run.file_name().unwrap_or_default(), args)?;
    Ok(0)
}

fn unopened(error: &io::Error, args: &ViewArgs) -> CliError {
    match args.port {
        Some(port) => CliError::trouble(
            Code::CannotServe,
            format!("port {port} cannot be opened: {error}"),
        )
        .help("omit `--port` to use a free port"),
        None => CliError::trouble(
            Code::CannotServe,
            format!("the view could not be opened: {error}"),
        ),
    }
}

/// Serves the pages until Ctrl+C, which ends the program: there is nothing to clean up.
fn show(suite_dir: &Utf8Path, run: &str, args: &ViewArgs) -> Result<(), CliError> {
    let unopened = |error: io::Error| unopened(&error, args);
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, args.port.unwrap_or(0))).map_err(unopened)?;
    let gate = Gate {
        port: listener.local_addr().map_err(unopened)?.port(),
        token: token().map_err(unopened)?,
    };
    let url = gate.url(&format!("runs/{run}/"));
    screen::out(&url);
    screen::err(
        "Press Ctrl+C to stop. The link works only on this machine. Keep it secret: it gives access to the runs.",
    );
    if !args.no_open {
        viewer::open(&url);
    }
    let library = Library::new(suite_dir);
    let answer: Arc<Handler> = Arc::new(move |parts: &[&str]| library.answer(parts));
    serve(listener, &gate, &answer).map_err(unopened)
}

/// Returns 128 bits that nobody can guess.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
