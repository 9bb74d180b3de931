//! The steps of a session for `run.log`, or the first and the last ones of a long session.

use std::collections::VecDeque;
use std::io;

use terca_core::text::prose;

use crate::trial::log::RunLog;

/// The number of steps that are shown of the beginning, and of the end.
const SHOWN: usize = 5_000;

/// The steps of a session, without the middle of a long one.
#[derive(Debug, Default)]
pub(super) struct Headlines {
    /// The number of steps of the beginning.
    first: usize,
    /// Steps of the beginning that the log does not have yet.
    new: Vec<String>,
    last: VecDeque<String>,
    left_out: u64,
}

impl Headlines {
    pub(super) fn push(&mut self, headline: String) {
        if self.first < SHOWN {
            self.first += 1;
            self.new.push(headline);
            return;
        }
        if self.last.len() == SHOWN {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(headline);
    }

    /// Writes the new steps of the beginning.
    pub(super) fn write_new(&mut self, log: &mut RunLog) -> io::Result<()> {
        if self.new.is_empty() {
            return Ok(());
        }
        log.lines(self.new.drain(..))
    }

    /// Writes the rest of the steps.
    pub(super) fn write_rest(mut self, log: &mut RunLog) -> io::Result<()> {
        self.write_new(log)?;
        if self.left_out > 0 {
            let count = prose::compact(self.left_out);
            log.line(&format!("… {count} steps left out: see transcript.jsonl …"))?;
        }
        log.lines(self.last.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use terca_core::text::mask::Mask;

    use super::*;

    #[test]
    fn a_long_session_has_its_beginning_and_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = Utf8Path::from_path(file.path()).unwrap();
        let mut headlines = Headlines::default();
        for step in 0..2 * SHOWN + 7 {
            headlines.push(format!("step {step}"));
        }
        headlines
            .write_rest(&mut RunLog::new(
                std::fs::File::create(path).unwrap(),
                &Mask::default(),
            ))
            .unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 * SHOWN + 1);
        let cut = &lines[SHOWN - 1..SHOWN + 2];
        assert_eq!(
            cut,
            [
                "step 4999",
                "… 7 steps left out: see transcript.jsonl …",
                "step 5007"
            ]
        );
        assert_eq!(lines.last(), Some(&"step 10006"));
    }
}
