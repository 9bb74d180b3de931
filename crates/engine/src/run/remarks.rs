//! `remarks.jsonl` of a run: what people said about its trials. A line is one remark, and the last one about a trial
//! counts, so that several programs can add to it. It is not part of the seal of a run.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use terca_core::run::remark::Remark;

use crate::run::files::{FILE_MODE, open_run};

/// The name of the file.
pub const REMARKS: &str = "remarks.jsonl";
/// A longer file is not read.
const LARGEST: u64 = 64 << 20;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct RemarkLine {
    trial: u32,
    #[serde(flatten)]
    remark: Remark,
}

/// Returns the remarks by the ids of their trials. A line that is none is passed over: somebody may have edited it.
pub fn read(run_dir: &Utf8Path) -> BTreeMap<u32, Remark> {
    let mut found = BTreeMap::new();
    let opened = open_run(run_dir).and_then(|dir| dir.open_file_up_to(REMARKS, LARGEST));
    let Ok(file) = opened else {
        return found;
    };
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let Ok(RemarkLine { trial, remark }) = serde_json::from_slice(&line) else {
            continue;
        };
        let remark = remark.tidy();
        match remark.is_empty() {
            true => found.remove(&trial),
            false => found.insert(trial, remark),
        };
    }
    found
}

/// Adds a remark. One that says nothing takes the earlier one back.
pub fn add(run_dir: &Utf8Path, trial: u32, remark: &Remark) -> io::Result<()> {
    let remark = remark.tidy();
    let mut line = serde_json::to_vec(&RemarkLine { trial, remark })?;
    line.push(b'\n');
    // One call, so that the lines of two programs do not mix.
    open_run(run_dir)?
        .append_to_file(REMARKS, FILE_MODE)?
        .write_all(&line)
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use jiff::Timestamp;

    use super::*;

    fn remark(text: &str, tags: &[&str]) -> Remark {
        Remark {
            text: text.to_owned(),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_last_remark_counts() {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        assert!(read(&dir).is_empty());
        add(&dir, 1, &remark("first", &[])).unwrap();
        add(
            &dir,
            2,
            &remark(" grader wrong \n", &["grader", " grader", ""]),
        )
        .unwrap();
        add(&dir, 1, &remark("second", &["odd"])).unwrap();
        let mut file = open_run(&dir)
            .unwrap()
            .append_to_file(REMARKS, FILE_MODE)
            .unwrap();
        file.write_all(b"no remark\n\xff\n{\"trial\":3}\n").unwrap();
        let found = read(&dir);
        assert_eq!(found.len(), 2);
        assert_eq!(found[&1], remark("second", &["odd"]));
        assert_eq!(found[&2], remark("grader wrong", &["grader"]));
        add(&dir, 2, &remark(" ", &[])).unwrap();
        assert_eq!(read(&dir).into_keys().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_link_is_not_followed() {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        let run = dir.join("run");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(
            dir.join("secret"),
            "{\"trial\":1,\"text\":\"secret\",\"at\":\"1970-01-01T00:00:00Z\"}\n",
        )
        .unwrap();
        std::os::unix::fs::symlink("../secret", run.join(REMARKS)).unwrap();
        assert!(read(&run).is_empty());
        assert!(add(&run, 1, &remark("x", &[])).is_err());
    }
}
