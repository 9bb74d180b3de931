//! `terca view`: the runs of a suite in a browser, live while one goes on.

mod library;
mod opener;

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use camino::Utf8Path;
use terca_report::serve::{Gate, serve};

use self::library::Library;
use super::{TROUBLE, find_run};
use crate::args::{Common, ViewArgs};
use crate::screen;

pub(super) fn view(args: &ViewArgs, common: &Common) -> u8 {
    let (dir, run) = match find_run(args.run.as_deref(), common) {
        Ok(found) => found,
        Err(status) => return status,
    };
    match show(&dir, run.file_name().unwrap_or_default(), args) {
        Ok(()) => 0,
        Err(error) => {
            screen::complain(&format!("the view could not be opened: {error}"));
            TROUBLE
        }
    }
}

/// Until Ctrl+C, which ends the program: there is nothing to be tidied up.
fn show(suite_dir: &Utf8Path, run: &str, args: &ViewArgs) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port.unwrap_or(0)))?;
    let gate = Gate { port: listener.local_addr()?.port(), token: token()? };
    let url = gate.url(&format!("runs/{run}/"));
    screen::say(&url);
    screen::remark(
        "Ctrl+C ends it. Whoever has this address can read the runs; it leads to this machine alone.",
    );
    if !args.no_open {
        opener::open(&url);
    }
    let library = Library::new(suite_dir);
    serve(&listener, &gate, &(Arc::new(move |parts: &[&str]| library.answer(parts)) as Arc<_>));
    Ok(())
}

/// 128 bits that nobody can guess.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
