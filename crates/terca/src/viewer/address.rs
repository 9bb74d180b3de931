//! The address of a suite's pages: a port and a secret word. Both are the same every time, so that tabs and bookmarks
//! work again when `terca view` is started again.
//!
//! They are in `.terca/view.json`, which only its owner can read. A file that others could have read or written is not
//! used.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use camino::Utf8Path;
use rustix::fs::{Mode, OFlags, open};
use serde::{Deserialize, Serialize};
use terca_core::text::hexadecimal;
use terca_report::serve::Gate;

/// The file in a suite's `.terca`.
const FILE: &str = "view.json";
/// A file that is longer than this is not ours.
const LONGEST: u64 = 1024;
/// The length of a secret word, in hexadecimal digits.
const DIGITS: usize = 32;

/// A port and a secret word, as the file has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Address {
    port: u16,
    token: String,
}

/// Listens on the port that was asked for, else on that of the last time, else on a free one.
pub fn listen(suite_dir: &Utf8Path, port: Option<u16>) -> io::Result<(TcpListener, Gate)> {
    let dir = suite_dir.join(".terca");
    let known = read(&dir);
    let bind = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let last = known.as_ref().map(|address| address.port);
    let listener = match (port, last) {
        (Some(port), _) => bind(port)?,
        (None, Some(last)) => bind(last).or_else(|_| bind(0))?,
        (None, None) => bind(0)?,
    };
    let token = match &known {
        Some(address) => address.token.clone(),
        None => new_token()?,
    };
    let port = listener.local_addr()?.port();
    let address = Address { port, token };
    if known.as_ref() != Some(&address) {
        // A suite that cannot be written to has another address every time.
        let _ = write(&dir, &address);
    }
    let token = address.token;
    Ok((listener, Gate { port, token }))
}

fn read(dir: &Utf8Path) -> Option<Address> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = open(dir.join(FILE).as_std_path(), flags, Mode::empty()).ok()?;
    let file = File::from(file);
    let meta = file.metadata().ok()?;
    let is_private = meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0;
    let address: Address = serde_json::from_reader(file.take(LONGEST)).ok()?;
    (is_private && address.token.len() == DIGITS).then_some(address)
}

/// Writes a new file and puts it in the place of the old one, which may be a link to somewhere else.
fn write(dir: &Utf8Path, address: &Address) -> io::Result<()> {
    let draft = dir.join(format!("{FILE}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options
        .open(&draft)
        .and_then(|mut file| file.write_all(serde_json::to_string(address)?.as_bytes()))
        .and_then(|()| std::fs::rename(&draft, dir.join(FILE)));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// Returns 128 bits that nobody can guess.
fn new_token() -> io::Result<String> {
    let mut bytes = [0; DIGITS / 2];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hexadecimal(&bytes))
}
