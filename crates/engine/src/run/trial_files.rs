//! Reads the files that a trial left, in bounded memory.
//!
//! The folder may be of a run that somebody else sent: nothing outside of it is opened, even if its journal says so,
//! and nothing that is not a plain file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use camino::Utf8Path;
use terca_core::text::excerpt::{Excerpt, without_middle};
use terca_core::transcript::trial_files::{
    ModelRequest, Numbered, Numbering, Session, TrialFiles, even_cut, with_short_texts,
};
use terca_core::transcript::{Record, Step};
use terca_core::wire::Exchange;

use crate::run::files::{end_of, next_of, open_run};

/// The agent's session in Terca's own form.
pub const TRANSCRIPT: &str = "transcript.jsonl";
/// The changes of the agent.
pub const CHANGES: &str = "changes.diff";
/// The log of actions, agent and tests.
pub const LOG: &str = "run.log";
/// The output of an agent that does not report its steps.
pub const STDOUT: &str = "artifacts/stdout.log";
/// The requests to models that passed through the gateway.
pub(crate) const WIRE: &str = "artifacts/wire.jsonl";
/// The rules as the agent found them.
pub(crate) const RULES: &str = "artifacts/rules.md";
/// The session in ATIF.
pub const TRAJECTORY: &str = "artifacts/trajectory.json";

/// Longer lines of a transcript are skipped.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;
/// A longer transcript is not read to its end.
const LONGEST_TRANSCRIPT: u64 = 256 * 1024 * 1024;
/// The bytes of a record that are kept at least: its headline, and a little more.
const SMALLEST_RECORD: usize = 160;
/// More requests to models are not shown.
const MOST_REQUESTS: usize = 2_000;

/// Reads the texts of a trial, each of about so many bytes at most. One that cannot be read is empty.
pub fn read(run_dir: &Utf8Path, trial_dir: &Utf8Path, limit: usize) -> TrialFiles {
    let of = |name: &str| open(run_dir, trial_dir, name).ok();
    let excerpt_of = |name| {
        let read = of(name).map(|file| excerpt(file, limit));
        read.and_then(Result::ok).unwrap_or_default()
    };
    TrialFiles {
        transcript: of(TRANSCRIPT)
            .map(|file| session(file, limit))
            .unwrap_or_default(),
        changes: excerpt_of(CHANGES),
        log: excerpt_of(LOG),
        requests: of(WIRE).map(requests).unwrap_or_default(),
        rules: of(RULES)
            .and_then(|mut file| next_of(&mut file, limit as u64).ok())
            .map(|text| without_middle(&text, limit / 4)),
    }
}

fn requests(file: File) -> Vec<ModelRequest> {
    let mut lines = BufReader::new(file.take(LONGEST_TRANSCRIPT));
    let mut requests = Vec::new();
    while requests.len() < MOST_REQUESTS {
        let Some(Some(line)) = next_line(&mut lines) else {
            break;
        };
        let exchange = serde_json::from_slice::<Exchange>(&line).ok();
        requests.extend(exchange.map(request));
    }
    requests
}

fn request(exchange: Exchange) -> ModelRequest {
    let failure = (!exchange.is_answered()).then(|| {
        let status = exchange.status.map(|status| status.to_string());
        status.unwrap_or_else(|| "no answer".to_owned())
    });
    ModelRequest {
        model: exchange.model_answered.or(exchange.model_asked),
        started: exchange.started_ms as f64 / 1000.0,
        seconds: exchange.total_ms as f64 / 1000.0,
        input_tokens: exchange.tokens.input,
        output_tokens: exchange.tokens.output,
        failure,
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
            head: next_of(&mut file, limit as u64)?,
            ..Excerpt::default()
        });
    }
    Ok(Excerpt {
        head: next_of(&mut file, head)?,
        left_out: size - head - tail,
        tail: end_of(file, tail)?,
    })
}

/// Reads a session twice: once to know its steps and sizes, and once to take what fits. That is every step with shorter
/// texts, or the first and the last ones.
fn session(mut file: File, limit: usize) -> Session {
    let mut numbering = Numbering::default();
    let sizes: Vec<usize> = records(&file)
        .map(|record| {
            numbering.number(&record.step);
            size_of(&record)
        })
        .collect();
    let (steps, number_of_records) = (numbering.steps(), sizes.len());
    if file.rewind().is_err() {
        return Session::default();
    }
    let smallest: usize = sizes.iter().map(|size| *size.min(&SMALLEST_RECORD)).sum();
    let (mut head, mut tail) = (steps, 0);
    if smallest > limit {
        // As many steps as there is room for their records, three quarters of them from the beginning.
        let fitting = limit / SMALLEST_RECORD;
        let kept = (fitting as u64 * u64::from(steps) / number_of_records as u64) as u32;
        tail = kept / 4;
        head = kept - tail;
    }
    let longest_text = even_cut(sizes, limit).map_or(usize::MAX, |cut| cut.max(SMALLEST_RECORD));
    let mut session = Session {
        left_out: (steps - tail - head) as usize,
        ..Session::default()
    };
    let mut numbering = Numbering::default();
    for record in records(&file).take(number_of_records) {
        let number = numbering.number(&record.step);
        let part = match number {
            number if number <= head => &mut session.head,
            number if number > steps - tail => &mut session.tail,
            _ => continue,
        };
        let record = with_short_texts(record, longest_text);
        part.push(Numbered { number, record });
    }
    session
}

/// Returns the records of a transcript. A bad line becomes a notice, and so does the end of one that is too long.
fn records(file: &File) -> impl Iterator<Item = Record> {
    let mut lines = BufReader::new(file.take(LONGEST_TRANSCRIPT));
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let Some(line) = next_line(&mut lines) else {
            is_over = true;
            let is_cut = lines.get_ref().limit() == 0;
            return is_cut.then(|| notice("the transcript is longer than the part that is read"));
        };
        let Some(line) = line else {
            return Some(notice("a line of the transcript is too long to be shown"));
        };
        let record = serde_json::from_str::<Record>(&String::from_utf8_lossy(&line));
        Some(record.unwrap_or_else(|_| notice("a line of the transcript could not be read")))
    })
}

fn notice(text: &str) -> Record {
    Record::without_line(Step::Notice {
        text: format!("Terca: {text}"),
    })
}

/// Reads the next line; `Some(None)` for one that is too long.
fn next_line(lines: &mut impl BufRead) -> Option<Option<Vec<u8>>> {
    let mut line = Vec::new();
    lines
        .by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)
        .ok()?;
    if line.is_empty() {
        return None;
    }
    if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
        lines.skip_until(b'\n').ok()?;
        return Some(None);
    }
    Some(Some(line))
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
        let kept: usize = session.records().map(|one| size_of(&one.record)).sum();
        assert!(kept < 13_000, "{kept}");
        assert_eq!(
            session.records().count() + session.left_out,
            1003,
            "each record is a step"
        );
        let text = |numbered: &Numbered| numbered.record.step.headline();
        assert_eq!(text(&session.head[0]), "first");
        assert!(text(&session.head[1]).contains("could not be read"));
        let last = session.tail.last().unwrap();
        assert_eq!((text(last).as_str(), last.number), ("step 999", 1003));
    }

    /// Writes a call and its result for each of so many steps.
    fn calls(number: usize, output: usize) -> String {
        let step = |id: usize| {
            let call = format!(
                r#"{{"line":1,"type":"toolCall","id":"{id}","tool":"Bash","input":{{"command":"run {id}"}}}}"#
            );
            let result = format!(
                r#"{{"line":2,"type":"toolResult","id":"{id}","ok":true,"output":"{}"}}"#,
                "z".repeat(output)
            );
            format!("{call}\n{result}\n")
        };
        (0..number).map(step).collect()
    }

    #[test]
    fn outputs_are_cut_and_steps_stay() {
        let (_guard, run) = run(&[(TRANSCRIPT, calls(38, 15_000).as_bytes())]);
        let session = read(&run, Utf8Path::new("eval/a.b.01"), 72_000).transcript;
        assert_eq!((session.left_out, session.tail.len()), (0, 0));
        assert_eq!(session.head.len(), 38 * 2);
        let kept: usize = session.head.iter().map(|one| size_of(&one.record)).sum();
        assert!((50_000..80_000).contains(&kept), "{kept}");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

        /// Shown and left out are all steps, in any size and any room.
        #[test]
        fn the_number_of_steps_left_out_is_exact(
            number in 1_usize..400,
            output in 0_usize..2_000,
            limit in 1_000_usize..200_000,
        ) {
            let (_guard, run) = run(&[(TRANSCRIPT, calls(number, output).as_bytes())]);
            let session = read(&run, Utf8Path::new("eval/a.b.01"), limit).transcript;
            let mut shown: Vec<u32> = session.records().map(|one| one.number).collect();
            shown.sort_unstable();
            shown.dedup();
            proptest::prop_assert_eq!(shown.len() + session.left_out, number);
            if number * 3 * SMALLEST_RECORD <= limit {
                proptest::prop_assert_eq!(session.left_out, 0);
            }
        }
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
            "../outside", "eval/../../outside", "link", "eval/a.b.01/../../../outside",
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
