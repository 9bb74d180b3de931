//! `terca: copy`: sends the running program to a machine that has none.
//!
//! The machine keeps it in a private directory under its hash, so that it is sent once. A script for `sh` looks for it
//! there, asks for it if it is missing, checks it and becomes it.

use std::fs::File;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};
use terca_core::worker_pool::{TercaAt, WorkerPool};

use super::frame::{PROGRAM_HERE, PROGRAM_WANTED};
use crate::process::confine::OWN_PROGRAM;

/// The most bytes that are read at once.
const PIECE: usize = 1 << 20;

/// The script. Its lines are joined with spaces, and it has no `'` and no `!`: it goes through shells of all kinds.
///
/// One of a machine's workers receives the program, and the others wait for it, where there is `flock`. Of older programs,
/// the last three stay.
const SCRIPT: &str = r#"
umask 077;
fail() { echo "$1" >&2; exit 1; };
base=${TERCA_WORK_DIR:-${TMPDIR:-/var/tmp}};
dir=$base/terca-programs-$(id -u);
mkdir -p "$base";
mkdir "$dir" 2>/dev/null;
set -f; set -- $(ls -ldn "$dir"); set +f;
case "$1 $3" in
d????-??-*" $(id -u)") ;;
*) fail "$dir cannot keep a program: it must be a directory of this user that nobody else may write to" ;;
esac;
program=$dir/terca-@HASH;
is_whole() {
[ -f "$1" ] && [ "$(wc -c < "$1")" -eq @SIZE ] || return 1;
if command -v sha256sum >/dev/null; then [ "$(sha256sum < "$1")" = "@HASH  -" ]; fi;
};
exec 9> "$dir/lock" || fail "$dir cannot be written to";
if command -v flock >/dev/null; then flock 9; rm -f "$dir"/new-*; fi;
if is_whole "$program"; then touch "$program"; else
new=$dir/new-@UNIQUE;
echo; echo @WANTED;
head -c @SIZE > "$new";
is_whole "$new" || { rm -f "$new"; fail "the program came damaged"; };
chmod 700 "$new" && mv -f "$new" "$program" || fail "the program cannot be kept in $dir";
ls -t "$dir" | grep ^terca- | tail -n +5 | while read -r old; do rm -f "$dir/$old"; done;
fi;
exec 9>&-;
echo; echo @HERE;
exec "$program" worker
"#;

/// The running program, as it is sent.
#[derive(Debug)]
pub struct OwnProgram {
    size: u64,
    hash: String,
}

impl OwnProgram {
    /// Measures the running program, if a pool wants it.
    pub fn for_pools(pools: &[WorkerPool]) -> io::Result<Option<Self>> {
        if pools.iter().all(|pool| pool.terca != TercaAt::Copy) {
            return Ok(None);
        }
        let file = File::open(OWN_PROGRAM)?;
        let mut sum = Sum::default();
        io::copy(&mut io::BufReader::with_capacity(PIECE, file), &mut sum)?;
        Ok(Some(OwnProgram {
            size: sum.size,
            hash: sum.hash(),
        }))
    }

    /// Returns the script that starts it as a worker. `unique` differs for each start.
    pub fn script(&self, unique: &str) -> String {
        let lines: Vec<&str> = SCRIPT.trim().lines().collect();
        lines
            .join(" ")
            .replace("@HASH", &self.hash)
            .replace("@SIZE", &self.size.to_string())
            .replace("@UNIQUE", unique)
            .replace("@WANTED", PROGRAM_WANTED)
            .replace("@HERE", PROGRAM_HERE)
    }

    /// Sends it. The last piece goes only if everything is as it was: a file that was changed meanwhile arrives cut.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut file = File::open(OWN_PROGRAM)?;
        let mut sum = Sum::default();
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            piece.clear();
            (&mut file).take(PIECE as u64).read_to_end(&mut piece)?;
            sum.write_all(&piece)?;
            if sum.size >= self.size || piece.is_empty() {
                break;
            }
            to.write_all(&piece)?;
        }
        if sum.size != self.size || sum.hash() != self.hash {
            return Err(io::Error::other(
                "the program was changed while it was sent",
            ));
        }
        to.write_all(&piece)?;
        to.flush()
    }
}

/// The size and the hash of bytes that are written to it.
#[derive(Default)]
struct Sum {
    size: u64,
    hasher: Sha256,
}

impl Sum {
    fn hash(self) -> String {
        let hash = self.hasher.finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.size += bytes.len() as u64;
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
