//! The seal of a journal: a chain of hashes, so that a line that was changed, removed, doubled, moved or added is noticed.
//!
//! Every line ends with its link of the chain:
//!
//! ```text
//! {"seq":0, …,"runFile":"RRRR…","chain":"AAAA…"}      A = hash(hash(nothing) + this line up to the chain)
//! {"seq":1, …,"chain":"BBBB…"}                        B = hash(A + this line up to the chain)
//! ```
//!
//! The first sealed line also has the hash of `run.json`. So the chain covers the plan too, and a run can be moved or
//! renamed. Lines before the first sealed one, of a run that an older Terca began, are hashed as they are: the chain
//! begins with that hash. Nothing of a line is outside of the chain, not even a space at its end.
//!
//! There is no key, since Terca and its agents run as the same user: anybody who can write the file can compute the
//! whole chain again. It shows accidents, and changes by those who do not take that trouble. Against the others, the
//! last link must be kept where they cannot write.

use serde::{Deserialize, Serialize};
use serde_json::Result;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::run::event::Event;

/// The hex digits of a hash: 128 bits.
const DIGITS: usize = 32;
const CHAIN: &str = ",\"chain\":\"";
const RUN_FILE: &str = ",\"runFile\":\"";
const END: &str = "\"}";

/// Returns the hash of some bytes, as the seal has it.
pub fn digest(bytes: &[u8]) -> String {
    hex(Sha256::new().chain_update(bytes))
}

fn hex(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes[..DIGITS / 2]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The end of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEnd {
    /// The number of its events.
    pub events: usize,
    /// The last link of its chain. None in a run of an older version.
    pub chain: Option<String>,
}

/// A line that does not follow from those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BrokenSeal {
    /// It has no seal, and lines before it have one.
    #[error("it has no seal")]
    Missing,
    /// Its seal is not the one that comes of it and of the lines before it.
    #[error("its seal is wrong")]
    Wrong,
}

/// The seal of the lines so far. The same value checks lines and seals new ones.
#[derive(Debug, Clone)]
pub struct Seal {
    /// The hash of the lines before the first sealed one.
    unsealed: Sha256,
    /// The last link.
    chain: Option<String>,
    /// The hash of `run.json` that the first sealed line has, or is to have.
    run_file: String,
}

impl Seal {
    /// Begins with no line. `run_file` is the hash of `run.json`.
    pub fn new(run_file: impl Into<String>) -> Self {
        Seal {
            unsealed: Sha256::new(),
            chain: None,
            run_file: run_file.into(),
        }
    }

    /// Returns the last link of the chain. None means that no line is sealed.
    pub fn chain(&self) -> Option<&str> {
        self.chain.as_deref()
    }

    /// Returns the hash of `run.json` that is in the chain. None means that no line is sealed.
    pub fn run_file(&self) -> Option<&str> {
        self.chain.as_ref().map(|_| self.run_file.as_str())
    }

    /// Returns an event as the next line, with its seal and the end of the line.
    pub fn line(&mut self, event: &Event) -> Result<Vec<u8>> {
        let mut line = serde_json::to_vec(event)?;
        // The closing brace comes again after the seal.
        line.pop();
        if self.chain.is_none() {
            line.extend_from_slice(RUN_FILE.as_bytes());
            line.extend_from_slice(self.run_file.as_bytes());
            line.push(b'"');
        }
        let chain = self.next(&line);
        line.extend_from_slice(CHAIN.as_bytes());
        line.extend_from_slice(chain.as_bytes());
        line.extend_from_slice(END.as_bytes());
        line.push(b'\n');
        self.chain = Some(chain);
        Ok(line)
    }

    /// Checks that a line, without its end, follows from those before it.
    pub fn follow(&mut self, line: &[u8]) -> std::result::Result<(), BrokenSeal> {
        let Some((body, chain)) = split(line, CHAIN, END) else {
            if self.chain.is_some() {
                return Err(BrokenSeal::Missing);
            }
            self.unsealed.update(line);
            self.unsealed.update(b"\n");
            return Ok(());
        };
        if self.next(body) != chain {
            return Err(BrokenSeal::Wrong);
        }
        if self.chain.is_none() {
            let (_, run_file) = split(body, RUN_FILE, "\"").ok_or(BrokenSeal::Wrong)?;
            run_file.clone_into(&mut self.run_file);
        }
        self.chain = Some(chain.to_owned());
        Ok(())
    }

    /// Returns the link of a line, of which this is everything before the link.
    fn next(&self, body: &[u8]) -> String {
        let last = match &self.chain {
            Some(chain) => chain.clone(),
            None => hex(self.unsealed.clone()),
        };
        hex(Sha256::new().chain_update(last).chain_update(body))
    }
}

/// Splits a text that ends with a hash between two marks into what is before them and the hash.
fn split<'a>(text: &'a [u8], before: &str, after: &str) -> Option<(&'a [u8], &'a str)> {
    let rest = text.strip_suffix(after.as_bytes())?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    let body = rest.strip_suffix(before.as_bytes())?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !hash.iter().all(is_digit) {
        return None;
    }
    Some((body, std::str::from_utf8(hash).ok()?))
}
