//! The seal of a journal: a chain of hashes, so that a line that was changed, removed, doubled, moved or added is noticed.
//!
//! Every line ends with its link of the chain:
//!
//! ```text
//! {"seq":0, …,"runFile":"RRRR…","chain":"AAAA…"}      A = hash(hash(nothing) + this line up to the chain)
//! {"seq":1, …,"chain":"BBBB…"}                        B = hash(A + this line up to the chain)
//! ```
//!
//! The first line also has the hash of `run.json`, and the end of a trial has the hashes of its files. So the chain covers
//! the plan and the evidence too, and a run can be moved or renamed. Nothing of a line is outside of the chain, not even
//! a space at its end.
//!
//! There is no key, since Terca and its agents run as the same user: anybody who can write the file can compute the
//! whole chain again. It shows accidents, and changes by those who do not take that trouble. Against the others, the
//! last link must be kept where they cannot write.

use serde::{Deserialize, Serialize};
use serde_json::Result;
use sha2::{Digest, Sha256};

use crate::run::event::Event;

/// The hex digits of a hash: 128 bits.
const DIGITS: usize = 32;
const CHAIN: &str = ",\"chain\":\"";
const RUN_FILE: &str = ",\"runFile\":\"";
const END: &str = "\"}";
const WRONG: &str = "its seal is wrong";

/// Returns the hash of some bytes, as the seal has it.
pub fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let first = hash.iter().take(DIGITS / 2);
    let number = first.fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
    format!("{number:0DIGITS$x}")
}

/// The end of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEnd {
    /// The number of its events.
    pub events: usize,
    /// The last link of its chain; `None` where it has no event.
    pub chain: Option<String>,
}

/// The seal of the lines so far. The same value checks lines and seals new ones.
#[derive(Debug, Clone, Default)]
pub struct Seal {
    /// The last link.
    chain: Option<String>,
    /// The hash of `run.json` that the first line has, or is to have.
    run_file: String,
}

impl Seal {
    /// Begins with no line. `run_file` is the hash of `run.json`.
    pub fn new(run_file: impl Into<String>) -> Self {
        Seal {
            chain: None,
            run_file: run_file.into(),
        }
    }

    /// Returns the last link of the chain. None means that there is no line.
    pub fn chain(&self) -> Option<String> {
        self.chain.clone()
    }

    /// Returns the hash of `run.json` that is in the chain. None means that there is no line.
    pub fn run_file(&self) -> Option<&str> {
        self.chain.as_ref().map(|_| self.run_file.as_str())
    }

    /// Returns an event as the next line, with its seal and the end of the line.
    pub fn line(&mut self, event: &Event) -> Result<Vec<u8>> {
        let mut line = serde_json::to_string(event)?;
        // The closing brace comes again after the seal.
        line.pop();
        if self.chain.is_none() {
            line += &format!("{RUN_FILE}{}\"", self.run_file);
        }
        let chain = self.next(line.as_bytes());
        line += &format!("{CHAIN}{chain}{END}\n");
        self.chain = Some(chain);
        Ok(line.into_bytes())
    }

    /// Checks that a line, without its end, follows from those before it. Returns its link, or what is wrong with its seal.
    pub fn follow(&mut self, line: &[u8]) -> std::result::Result<String, &'static str> {
        let (body, chain) = split(line, CHAIN, END).ok_or("it has no seal")?;
        let link = self.next(body);
        if link != chain {
            return Err(WRONG);
        }
        if self.chain.is_none() {
            let (_, run_file) = split(body, RUN_FILE, "\"").ok_or(WRONG)?;
            run_file.clone_into(&mut self.run_file);
        }
        self.chain = Some(link.clone());
        Ok(link)
    }

    /// Returns the link of a line, of which this is everything before the link.
    fn next(&self, body: &[u8]) -> String {
        let last = self.chain.clone().unwrap_or_else(|| digest(b""));
        digest(&[last.as_bytes(), body].concat())
    }
}

/// Splits a text that ends with a hash between two marks into what is before them and the hash.
fn split<'a>(text: &'a [u8], before: &str, after: &str) -> Option<(&'a [u8], &'a str)> {
    let rest = text.strip_suffix(after.as_bytes())?;
    let (rest, hash) = rest.split_at(rest.len().checked_sub(DIGITS)?);
    let body = rest.strip_suffix(before.as_bytes())?;
    Some((body, std::str::from_utf8(hash).ok()?))
}
