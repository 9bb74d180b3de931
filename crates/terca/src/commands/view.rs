//! `terca view`: the runs of a suite in a browser, live while one goes on.

use std::io;
use std::sync::Arc;

use camino::Utf8Path;
use clap::Args;
use terca_core::text::Code;
use terca_report::serve::server::Handler;
use terca_report::serve::{Asked, serve};

use crate::args::Common;
use crate::cli_error::{CliError, Outcome};
use crate::screen;
use crate::suite::past;
use crate::viewer::{self, Library};

#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    /// A run's name or number (default: the latest)
    run: Option<String>,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
    /// The port to listen on (default: the port of the last time, or a free one)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
}

pub(super) fn view(args: &ViewArgs, common: &Common) -> Outcome {
    let (dir, run) = past::find(args.run.as_deref(), common)?;
    show(&dir, run.file_name().unwrap_or_default(), args)?;
    Ok(0)
}

fn unopened(error: &io::Error, args: &ViewArgs) -> CliError {
    let trouble = |text: String| CliError::trouble(Code::CannotServe, text);
    match args.port {
        Some(port) => trouble(format!("port {port} cannot be opened: {error}"))
            .help("omit `--port` to use a free port"),
        None => trouble(format!("the view could not be opened: {error}")),
    }
}

/// Serves the pages until Ctrl+C, which ends the program: there is nothing to clean up.
fn show(suite_dir: &Utf8Path, run: &str, args: &ViewArgs) -> Result<(), CliError> {
    let unopened = |error: io::Error| unopened(&error, args);
    let (listener, gate) = viewer::listen(suite_dir, args.port).map_err(unopened)?;
    let url = gate.url(&format!("runs/{run}/"));
    screen::out(&url);
    screen::err(
        "Press Ctrl+C to stop. The link works only on this machine. Keep it secret: it gives access to the runs.",
    );
    if !args.no_open {
        viewer::open(&url);
    }
    let suite_dir = suite_dir.to_owned();
    let library = Library { suite_dir };
    let answer: Arc<Handler> = Arc::new(move |asked: &Asked<'_>| library.answer(asked));
    serve(listener, &gate, &answer).map_err(unopened)
}
