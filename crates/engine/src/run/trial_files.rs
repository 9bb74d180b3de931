//! Reads the files that a trial left, in bounded memory.
//!
//! The folder may be of a run that somebody else sent: nothing outside of it is opened, even if its journal says so,
//! and nothing that is not a plain file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use camino::Utf8Path;
use terca_core::text::excerpt::Excerpt;
use terca_core::transcript::trial_files::{Session, TrialFiles, with_short_texts};
use terca_core::transcript::{Record, Step};

use crate::run::files::open_run;

/// The agent's session in Terca's own form.
pub const TRANSCRIPT: &str = "transcript.jsonl";
/// The changes of the agent.
pub const CHANGES: &str = "changes.diff";
/// The log of actions, agent and tests.
pub const LOG: &str = "run.log";
/// The output of an agent that does not report its steps.
pub const STDOUT: &str = "artifacts/stdout.log";
/// The session in ATIF.
pub const TRAJECTORY: &str = "artifacts/trajectory.json";

/// Longer lines of a transcript are skipped.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;
/// A longer transcript is not read to its end.
const LONGEST_TRANSCRIPT: u64 = 256 * 1024 * 1024;

/// Reads the texts of a trial, each of about so many bytes at most. One that cannot be read is empty.
pub fn read(run_dir: &Utf8Path, trial_dir: &Utf8Path, limit: usize) -> TrialFiles {
    let of = |name: &str| open(run_dir, trial_dir, name).ok();
    TrialFiles {
        transcript: of(TRANSCRIPT)
            .map(|file| session(file, limit))
            .unwrap_or_default(),
        changes: of(CHANGES)
            .and_then(|file| excerpt(file, limit).ok())
            .unwrap_or_default(),
        log: of(LOG)
            .and_then(|file| excerpt(file, limit).ok())
            .unwrap_or_default(),
    }
}

/// Opens a file of a trial. Neither its folder nor the file may lead out of the run's folder.
pub fn open(run_dir: &Utf8Path, trial_dir: &Utf8Path, name: &str) -> io::Result<File> {
    Ok(open_run(run_dir)?.open_file(trial_dir.join(name))?)
}

/// Reads the beginning and the end of a file, in the proportion of three to one.
fn excerpt(mut file: File, limit: usize) -> io::Result<Excerpt> {
    let size = file.metadata()?.len();
    let (head, tail) = (limit as u64 / 4 * 3, limit as u64 / 4);
    if size <= head + tail {
        return Ok(Excerpt {
            head: text(&mut file, limit as u64)?,
            ..Excerpt::default()
        });
    }
    let head_text = text(&mut file, head)?;
    file.seek(SeekFrom::Start(size - tail))?;
    Ok(Excerpt {
        head: head_text,
        left_out: size - head - tail,
        tail: text(&mut file, tail)?,
    })
}

fn text(file: &mut File, limit: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn session(file: File, limit: usize) -> Session {
    let mut session = Session::default();
    let (mut head_size, mut tail_size, mut tail) = (0, 0, VecDeque::new());
    let mut lines = BufReader::new(file.take(LONGEST_TRANSCRIPT));
    while let Some(record) = next_record(&mut lines, limit / 4) {
        let size = size_of(&record);
        if session.left_out == 0 && tail.is_empty() && head_size + size <= limit / 4 * 3 {
            head_size += size;
            session.head.push(record);
            continue;
        }
        tail_size += size;
        tail.push_back((size, record));
        while tail_size > limit / 4 && tail.len() > 1 {
            tail_size -= tail.pop_front().map_or(0, |(size, _)| size);
            session.left_out += 1;
        }
    }
    session.tail = tail.into_iter().map(|(_, record)| record).collect();
    session
}

/// Reads the next line as a record with short texts. A bad line becomes a notice.
fn next_record(lines: &mut impl BufRead, longest_text: usize) -> Option<Record> {
    let mut line = Vec::new();
    lines
        .by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)
        .ok()?;
    if line.is_empty() {
        return None;
    }
    let notice = |text: &str| Record {
        time: None,
        line: 0,
        step: Step::Notice {
            text: format!("Terca: {text}"),
        },
    };
    if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
        lines.skip_until(b'\n').ok()?;
        return Some(notice("a line of the transcript is too long to be shown"));
    }
    let record = serde_json::from_str::<Record>(&String::from_utf8_lossy(&line));
    Some(record.map_or_else(
        |_| notice("a line of the transcript could not be read"),
        |record| with_short_texts(record, longest_text.max(256)),
    ))
}

fn size_of(record: &Record) -> usize {
    serde_json::to_vec(record).map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn run(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Utf8PathBuf) {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        std::fs::create_dir_all(dir.join("run/eval/a.b.01")).unwrap();
        for (name, content) in files {
            std::fs::write(dir.join("run/eval/a.b.01").join(name), content).unwrap();
        }
        (guard, dir.join("run"))
    }

    fn message(text: &str) -> String {
        format!(r#"{{"line":1,"type":"message","role":"assistant","text":{text:?}}}"#) + "\n"
    }

    #[test]
    fn five_megabytes_and_bytes_that_are_no_text() {
        let (first, huge) = (message("first"), message(&"x".repeat(5_000_000)));
        let many: String = (0..1000)
            .map(|number| message(&format!("step {number}")))
            .collect();
        let transcript = [
            first.as_bytes(),
            b"\xff\xfe not json\n",
            huge.as_bytes(),
            many.as_bytes(),
        ];
        let log = [b"\xff\x00begin".as_slice(), &vec![b'y'; 5_000_000], b"end"].concat();
        let (_guard, run) = run(&[(TRANSCRIPT, &transcript.concat()), (LOG, &log)]);
        let bodies = read(&run, Utf8Path::new("eval/a.b.01"), 10_000);
        assert!(
            bodies.log.head.starts_with("\u{fffd}\0begin") && bodies.log.tail.ends_with("yend")
        );
        assert_eq!(bodies.log.left_out as usize, log.len() - 10_000);
        assert!(bodies.changes.is_empty());
        let session = &bodies.transcript;
        let kept: usize = session.head.iter().chain(&session.tail).map(size_of).sum();
        assert!(kept < 13_000, "{kept}");
        assert_eq!(
            session.head.len() + session.left_out + session.tail.len(),
            1003
        );
        let text = |record: &Record| record.step.headline();
        assert_eq!(text(&session.head[0]), "first");
        assert!(text(&session.head[1]).contains("could not be read"));
        assert_eq!(text(session.tail.last().unwrap()), "step 999");
    }

    #[test]
    fn nothing_outside_of_the_run_is_opened() {
        let (_guard, run) = run(&[(LOG, b"log")]);
        std::fs::create_dir_all(run.join("../outside")).unwrap();
        std::fs::write(run.join("../outside/run.log"), "secret").unwrap();
        std::os::unix::fs::symlink("../outside", run.join("link")).unwrap();
        std::os::unix::fs::symlink(
            "../../../outside/run.log",
            run.join("eval/a.b.01/changes.diff"),
        )
        .unwrap();
        for dir in [
            "../outside",
            "eval/../../outside",
            "link",
            "eval/a.b.01/../../../outside",
        ] {
            assert!(open(&run, Utf8Path::new(dir), LOG).is_err(), "{dir}");
        }
        let absolute = run.join("../outside");
        assert!(open(&run, &absolute, LOG).is_err());
        assert!(
            open(&run, Utf8Path::new("eval/a.b.01"), CHANGES).is_err(),
            "a link"
        );
        assert!(
            open(&run, Utf8Path::new("eval"), "a.b.01").is_err(),
            "a directory"
        );
        assert!(open(&run, Utf8Path::new("eval/a.b.01"), LOG).is_ok());
    }
}
