//! (d) A long session: a stream of events that an agent prints, against `cat > file`.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::measure::{Cost, measure as cost_of, ratio, side_by_side};
use crate::place::Place;
use crate::table::{Row, Table, Target, mib, time};

const MIB: usize = 1024 * 1024;
const END: &str = r#"{"type":"result","timestamp":"2026-11-14T10:00:00.000Z","status":"success","stats":{"total_tokens":30,"input_tokens":20,"output_tokens":10,"cached":0,"tool_calls":1}}"#;

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let size = if place.quick { 128 * MIB } else { 1024 * MIB };
    for (what, line) in [
        ("pieces of text, 200 B a line", Kind::Pieces),
        ("tool results, 200 B a line", Kind::Results(200)),
        ("tool results, 10 KB a line", Kind::Results(10 * 1024)),
        ("tool results, 7 MB a line", Kind::Results(7 * MIB)),
        ("tool results, 50 MB a line", Kind::Results(50 * MIB)),
    ] {
        let dir = place.dir("stream")?;
        let stream = dir.join("stream.jsonl");
        write_stream(&stream, size, line)?;
        let (terca, cat) = compare(place, &dir, &stream)?;
        rows(table, what, size, terca, cat)?;
        place.clear(&dir)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    /// A message as it arrives, piece by piece.
    Pieces,
    /// What a tool printed, in lines of this length.
    Results(usize),
}

fn write_stream(path: &Utf8Path, size: usize, kind: Kind) -> io::Result<()> {
    let (length, head) = match kind {
        Kind::Pieces => (
            200,
            r#"{"type":"message","role":"assistant","delta":true,"content":""#,
        ),
        Kind::Results(length) => (
            length,
            r#"{"type":"tool_result","tool_id":"shell-1763114400000-1","status":"success","output":""#,
        ),
    };
    let tail = "\",\"timestamp\":\"2026-11-14T10:00:00.000Z\"}\n";
    let mut out = BufWriter::with_capacity(MIB, fs_err::File::create(path)?);
    let mut written = 0;
    while written < size {
        out.write_all(head.as_bytes())?;
        write_text(&mut out, length.saturating_sub(head.len() + tail.len()))?;
        out.write_all(tail.as_bytes())?;
        written += length;
    }
    writeln!(out, "{END}")?;
    out.flush()
}

/// Text of this length with an escape now and then. Never held as a whole: a child of a large process counts as large.
fn write_text(out: &mut impl Write, length: usize) -> io::Result<()> {
    const WORDS: &str = r"the quick brown fox jumps over the lazy dog, and then once more\n";
    for _ in 0..length / WORDS.len() {
        out.write_all(WORDS.as_bytes())?;
    }
    out.write_all(&[b'x'; WORDS.len()][..length % WORDS.len()])
}

fn compare(place: &Place, dir: &Utf8Path, stream: &Utf8Path) -> io::Result<(Cost, Cost)> {
    let (bin, suite) = (dir.join("bin"), dir.join("suite"));
    let program = bin.join("gemini");
    fs_err::create_dir_all(&bin)?;
    fs_err::create_dir_all(&suite)?;
    // Stands in for Gemini CLI, so that a real decoder reads what it prints.
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 0.61.0; exit 0; }}\nexec cat '{stream}'\n"
    );
    fs_err::write(&program, script)?;
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    fs_err::write(
        suite.join("terca.yaml"),
        "environments: [{name: e, agent: gemini}]\nevals: [{name: long, prompt: x, tests: [{commandSuccess: 'true'}]}]\n",
    )?;
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    side_by_side(
        place.repeats(4),
        || {
            place.clear(&suite.join(".terca"))?;
            let mut terca = place.terca(&suite, &["--format", "plain"])?;
            // A key, as every real session has one: what is written is searched for it.
            cost_of(
                terca
                    .env("PATH", &path)
                    .env("GEMINI_API_KEY", "AIzaSyD-a-key-that-is-not-one"),
            )
        },
        || cat(dir, stream),
    )
}

fn cat(dir: &Utf8Path, stream: &Utf8Path) -> io::Result<Cost> {
    let copy: Utf8PathBuf = dir.join("copy");
    let out = fs_err::File::create(&copy)?;
    let cost = cost_of(
        Command::new("cat")
            .arg(stream)
            .stdin(Stdio::null())
            .stdout(out.into_parts().0),
    );
    fs_err::remove_file(copy)?;
    cost
}

fn rows(table: &mut Table, what: &str, size: usize, terca: Cost, cat: Cost) -> io::Result<()> {
    let size = mib(size as u64);
    table.add(&Row {
        what: format!("{size} MiB of {what}: speed / cat > file"),
        figure: ratio(cat.wall, terca.wall),
        unit: " ×",
        target: Target::AtLeast(0.5),
        detail: format!(
            "{:.0} MiB/s / {:.0} MiB/s ({} / {}; CPU {} / {})",
            size / terca.wall.as_secs_f64(),
            size / cat.wall.as_secs_f64(),
            time(terca.wall),
            time(cat.wall),
            time(terca.cpu),
            time(cat.cpu)
        ),
    })?;
    table.add(&Row {
        what: format!("{size} MiB of {what}: peak memory"),
        figure: mib(terca.peak_bytes),
        unit: " MiB",
        target: Target::AtMost(64.0),
        detail: String::new(),
    })
}
