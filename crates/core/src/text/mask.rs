//! Hides the values of secrets in everything that Terca writes.
//!
//! Texts are cut before they are shown, and a stream may be cut by its agent. So a key is known by its fragments too:
//! [`SHORTEST_FRAGMENT`] characters of it are enough, and what was cut and is masked later has no more than that.

mod forms;
mod pieces;
mod sieve;
mod visible;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::text::json_strings;
pub use forms::SHORTEST_FRAGMENT;
use forms::{Form, FormKind, forms_of};
pub use pieces::{Edits, Pieces};
use sieve::Sieve;
use visible::Visible;

/// Values shorter than this are left alone: masking every `8080` would garble more than it hides.
const SHORTEST: usize = 6;
/// The text in the place of a secret.
pub const MASK: &str = "***";
/// A key is found by windows of so many bytes, one at every [`STRIDE`] bytes of it: each of its fragments has one.
const WINDOW: usize = SHORTEST_FRAGMENT + 1 - STRIDE;
const STRIDE: usize = 5;
/// The most bytes of patterns for which a table of all states is made, which is quicker and larger.
const TABLE: usize = 20_000;

/// A text without secrets in it. Texts of an agent or a command are cut in this form only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Masked(String);

impl Masked {
    /// Takes a text that was masked when it was written, or that no agent and no command had a part in.
    pub fn already(text: impl Into<String>) -> Self {
        Masked(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Masked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The secrets of a run. It looks for all of them at once, because everything that agents print passes through here.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    search: Option<Arc<Search>>,
}

#[derive(Debug)]
struct Search {
    sieve: Sieve,
    forms: Vec<Form>,
    patterns: AhoCorasick,
    /// The places of each pattern in the forms.
    sources: Vec<Vec<Source>>,
    longest: usize,
}

#[derive(Debug, Clone, Copy)]
struct Source {
    form: usize,
    offset: usize,
}

/// A secret, or a fragment of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    start: usize,
    end: Reverse<usize>,
    kind: FormKind,
}

impl Found {
    /// Returns whether it is still secret when everything before `start` is masked already.
    fn is_secret_from(&self, start: usize, bytes: &[u8]) -> bool {
        start == self.start || (start < self.end.0 && self.kind.hides(&bytes[start..self.end.0]))
    }
}

impl Mask {
    /// Makes a mask for these values and each of their lines.
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        Mask::default().with(values)
    }

    /// Makes a mask that hides these values too.
    #[must_use]
    pub fn with<S: AsRef<str>>(&self, values: impl IntoIterator<Item = S>) -> Self {
        let values: Vec<S> = values.into_iter().collect();
        // A key of several lines is printed and logged line by line, so each line is a secret too.
        let lines = values.iter().flat_map(|value| value.as_ref().lines());
        let known = self.search.iter().flat_map(|search| search.forms.iter());
        let forms: BTreeSet<Form> = values
            .iter()
            .map(AsRef::as_ref)
            .chain(lines)
            .filter(|value| value.len() >= SHORTEST)
            .flat_map(forms_of)
            .chain(known.cloned())
            .collect();
        Mask {
            search: Search::new(forms.into_iter().collect()).map(Arc::new),
        }
    }

    /// Returns whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.search.is_none()
    }

    /// Returns the number of bytes before a cut that may be part of a secret continued after it.
    pub fn overlap(&self) -> usize {
        self.search
            .as_ref()
            .map_or(0, |search| search.longest.saturating_sub(1))
    }

    /// Returns whether the bytes contain a secret.
    pub fn hides(&self, bytes: &[u8]) -> bool {
        !self.found(bytes).is_empty()
    }

    /// Returns whether the bytes contain a key, or a fragment of one. A value that may be a word is none.
    pub fn has_key(&self, bytes: &[u8]) -> bool {
        let found = self.found(bytes);
        found.iter().any(|found| found.kind != FormKind::Whole)
    }

    /// Masks a text.
    pub fn text(&self, text: &str) -> String {
        match self.replaced(text.as_bytes(), text.len(), |_| true) {
            None => text.to_owned(),
            Some((bytes, _)) => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// Masks a text, which may then be cut.
    pub fn masked(&self, text: &str) -> Masked {
        Masked(self.text(text))
    }

    /// Masks the keys in a line of an agent's output, before anything is read from it. Other values may be words of the
    /// agent's own language, such as `message`, and are masked in what was read.
    pub fn keys_in<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let is_key = |found: &Found| found.kind != FormKind::Whole;
        if !self.found(line.as_bytes()).iter().any(is_key) {
            return Cow::Borrowed(line);
        }
        let keys_masked = |text: &[u8]| match self.replaced(text, text.len(), is_key) {
            Some((masked, _)) => masked,
            None => text.to_vec(),
        };
        let bytes = line.as_bytes();
        let is_json = matches!(line.trim_start().as_bytes().first(), Some(b'{' | b'['));
        // A number or a name of JSON is no place for a key; without it, the line could not be read.
        let strings = if is_json {
            json_strings::of(bytes)
        } else {
            Vec::new()
        };
        let mut masked = Vec::with_capacity(line.len());
        let mut at = 0;
        for string in &strings {
            masked.extend_from_slice(&bytes[at..string.range.start]);
            masked.extend(keys_masked(&bytes[string.range.clone()]));
            at = string.range.end;
        }
        if strings.is_empty() {
            masked = keys_masked(bytes);
        } else {
            masked.extend_from_slice(&bytes[at..]);
        }
        Cow::Owned(String::from_utf8_lossy(&masked).into_owned())
    }

    /// Masks bytes.
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.bytes_up_to(bytes, bytes.len()).0
    }

    /// Masks the secrets that begin before `limit`. Returns the result and the number of input bytes it covers,
    /// which is more than `limit` when a secret crosses it.
    pub fn bytes_up_to(&self, bytes: &[u8], limit: usize) -> (Vec<u8>, usize) {
        self.replaced(bytes, limit, |_| true)
            .unwrap_or_else(|| (bytes[..limit].to_vec(), limit))
    }

    fn replaced(
        &self,
        bytes: &[u8],
        limit: usize,
        is_wanted: impl Fn(&Found) -> bool,
    ) -> Option<(Vec<u8>, usize)> {
        let mut found = self.found(bytes);
        found.retain(is_wanted);
        if found.is_empty() {
            return None;
        }
        let mut masked = Vec::with_capacity(limit);
        let mut at = 0;
        for secret in covers(&found, bytes) {
            if secret.start >= limit {
                break;
            }
            masked.extend_from_slice(&bytes[at..secret.start]);
            masked.extend_from_slice(MASK.as_bytes());
            at = secret.end;
        }
        if at < limit {
            masked.extend_from_slice(&bytes[at..limit]);
            at = limit;
        }
        Some((masked, at))
    }

    /// Returns whether a secret may begin in one text and go on in the next.
    fn may_cross(&self, before: &[u8], after: &[u8]) -> bool {
        let search = self.search.as_ref();
        search.is_some_and(|search| search.sieve.lets_cross(before, after))
    }

    /// Returns the number of bytes at the end that may be a part of a secret which goes on in what follows.
    pub fn open_end(&self, bytes: &[u8]) -> usize {
        let Some(search) = &self.search else {
            return 0;
        };
        let end = &bytes[bytes.len().saturating_sub(search.longest)..];
        let mut open = search.open_end(end);
        if let Some(visible) = Visible::of(end) {
            let hidden = search.open_end(&visible.bytes);
            if let Some(start) = visible.places.get(visible.bytes.len() - hidden) {
                open = open.max(end.len() - start);
            }
        }
        open
    }

    /// Returns the ranges that are masked.
    pub fn secrets_in(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        covers(&self.found(bytes), bytes)
    }

    fn found(&self, bytes: &[u8]) -> Vec<Found> {
        let Some(search) = &self.search else {
            return Vec::new();
        };
        let mut found = search.found(bytes);
        if let Some(visible) = Visible::of(bytes) {
            found.extend(
                search
                    .found(&visible.bytes)
                    .into_iter()
                    .map(|secret| Found {
                        start: visible.places[secret.start],
                        end: Reverse(visible.places[secret.end.0 - 1] + 1),
                        kind: secret.kind,
                    }),
            );
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Search {
    fn found(&self, bytes: &[u8]) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        if !self.sieve.lets_through(bytes) {
            return found;
        }
        for hit in self.patterns.find_overlapping_iter(bytes) {
            for source in &self.sources[hit.pattern().as_usize()] {
                let form = &self.forms[source.form];
                let here = form.around(*source, hit.range(), bytes);
                let is_secret =
                    form.kind == FormKind::Whole || form.kind.hides(&bytes[here.clone()]);
                let here = Found {
                    start: here.start,
                    end: Reverse(here.end),
                    kind: form.kind,
                };
                if is_secret && found.last() != Some(&here) {
                    found.push(here);
                }
            }
        }
        found
    }
}

impl Search {
    /// Returns the length of the longest end of a text that is in a form, and goes on there.
    fn open_end(&self, text: &[u8]) -> usize {
        let mut longest = 0;
        for form in &self.forms {
            for end in 1..form.text.len() {
                let same = form.text[..end]
                    .iter()
                    .rev()
                    .zip(text.iter().rev())
                    .take_while(|(one, other)| one == other)
                    .count();
                if same > longest && (same == end || form.kind != FormKind::Whole) {
                    longest = same;
                }
            }
        }
        longest
    }
}

/// Returns ranges that cover everything found, from left to right and each as long as can be. They depend on nothing
/// before them, so a text may be masked in pieces.
fn covers(found: &[Found], bytes: &[u8]) -> Vec<Range<usize>> {
    let mut covers = Vec::new();
    let mut first = 0;
    let mut at = 0;
    while first < found.len() {
        let mut best: Option<Range<usize>> = None;
        for secret in &found[first..] {
            let start = secret.start.max(at);
            if best.as_ref().is_some_and(|best| start > best.start) {
                break;
            }
            let is_longer = best.as_ref().is_none_or(|best| secret.end.0 > best.end);
            if is_longer && secret.is_secret_from(start, bytes) {
                best = Some(start..secret.end.0);
            }
        }
        let Some(best) = best else { break };
        at = best.end;
        covers.push(best);
        while found.get(first).is_some_and(|secret| secret.end.0 <= at) {
            first += 1;
        }
    }
    covers
}

impl Form {
    /// Returns the longest piece of the form that is in `bytes` around a window of it.
    fn around(&self, source: Source, window: Range<usize>, bytes: &[u8]) -> Range<usize> {
        let before = self.text[..source.offset].iter().rev();
        let same_before = before
            .zip(bytes[..window.start].iter().rev())
            .take_while(|(one, other)| one == other);
        let start = window.start - same_before.count();
        let after = self.text[source.offset + window.len()..].iter();
        let same_after = after
            .zip(&bytes[window.end..])
            .take_while(|(one, other)| one == other);
        let end = window.end + same_after.count();
        start..end
    }

    /// Returns where in the form the patterns are that it is found by.
    fn windows(&self) -> Vec<Range<usize>> {
        if self.kind == FormKind::Whole {
            return std::iter::once(0..self.text.len()).collect();
        }
        let last = self.text.len().saturating_sub(WINDOW);
        let starts = (0..=last).step_by(STRIDE);
        starts.map(|start| start..start + WINDOW).collect()
    }
}

impl Search {
    fn new(forms: Vec<Form>) -> Option<Self> {
        let mut sources: BTreeMap<Vec<u8>, Vec<Source>> = BTreeMap::new();
        let mut forms = forms;
        for (index, form) in forms.iter_mut().enumerate() {
            let windows = form.windows();
            let distinct: BTreeSet<&[u8]> = windows
                .iter()
                .map(|range| &form.text[range.clone()])
                .collect();
            // What repeats itself is no key, and would be found at every place of itself.
            if form.text.len() < SHORTEST_FRAGMENT || distinct.len() < windows.len() {
                form.kind = FormKind::Whole;
            }
            for window in form.windows() {
                let source = Source {
                    form: index,
                    offset: window.start,
                };
                let pattern = form.text[window].to_vec();
                sources.entry(pattern).or_default().push(source);
            }
        }
        if sources.is_empty() {
            return None;
        }
        let (patterns, sources): (Vec<Vec<u8>>, Vec<Vec<Source>>) = sources.into_iter().unzip();
        let is_small = patterns.iter().map(Vec::len).sum::<usize>() <= TABLE;
        let longest = forms.iter().map(|form| form.text.len()).max()?;
        // Fails only for more secrets than fit into memory.
        let patterns = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(is_small.then_some(AhoCorasickKind::DFA))
            .build(patterns)
            .ok()?;
        Some(Search {
            sieve: Sieve::new(&forms)?,
            forms,
            patterns,
            sources,
            longest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";

    #[test]
    fn values_are_masked_wherever_they_are() {
        let mask = Mask::new(["sk-secret", "sk-secret-longer", "8080", "with\"quote"]);
        assert_eq!(
            mask.text("a sk-secret-longer b sk-secret, 8080"),
            "a *** b ***, 8080"
        );
        assert_eq!(mask.text(r#"{"k":"with\"quote"}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.bytes(b"sk-secre"), b"sk-secre");
        assert_eq!(Mask::default().text("x"), "x");
        let key = Mask::new(["BEGIN KEY\nline one\nline two"]);
        assert_eq!(key.text("+line one\n+line two"), "+***\n+***");
    }

    #[test]
    fn a_key_that_was_cut_is_masked_unless_hardly_anything_is_left() {
        let mask = Mask::new([KEY]);
        for start in 0..KEY.len() {
            for end in start..=KEY.len() {
                let text = format!("<{}>", &KEY[start..end]);
                let is_hidden = end - start >= SHORTEST_FRAGMENT;
                let expected = if is_hidden { "<***>" } else { &text };
                assert_eq!(mask.text(&text), expected);
                assert_eq!(mask.hides(text.as_bytes()), is_hidden);
            }
        }
    }

    #[test]
    fn a_key_is_masked_in_other_writing() {
        let mask = Mask::new(["Key/0123456789+abcdefghij=="]);
        for text in [
            "Key%2F0123456789%2Babcdefghij%3D%3D",
            // `Key/…` in base64, after nothing, after `x` and after `user:`.
            "S2V5LzAxMjM0NTY3ODkrYWJjZGVmZ2hpaj09",
            "eEtleS8wMTIzNDU2Nzg5K2FiY2RlZmdoaWo9PQ==",
            "dXNlcjpLZXkvMDEyMzQ1Njc4OSthYmNkZWZnaGlqPT0=",
        ] {
            let masked = mask.text(text);
            assert!(masked.contains(MASK), "{text}");
            assert!(masked.len() < 14, "{text} → {masked}");
        }
    }

    #[test]
    fn a_key_with_control_characters_in_it_is_masked() {
        let mask = Mask::new([KEY]);
        let (one, rest) = KEY.split_at(11);
        let (two, three) = rest.split_at(11);
        for control in [
            "\u{1b}[1;31m", "\u{1b}[0m\u{1b}[K", "\u{1b}(B", "\u{1b}7", "\u{1b}]0;a title\u{7}",
            "\u{1b}]8;;http://x\u{1b}\\", "\0", "\u{8}", r"\u001b[1m", r"\u001B]0;x\u0007",
            r"\u0000",
        ] {
            let text = format!("<{one}{control}{two}{control}{three}>{control}.");
            assert_eq!(mask.text(&text), format!("<***>{control}."), "{control:?}");
            let line = format!(r#"{{"t":"{text}"}}"#);
            assert_eq!(mask.keys_in(&line), format!(r#"{{"t":"<***>{control}."}}"#));
        }
        for text in [
            "\u{1b}[31mred\u{1b}[0m", "\u{1b}]never ended", "\u{1b}", r"\u00", r"\u00e9",
        ] {
            assert_eq!(mask.text(text), text);
        }
    }

    #[test]
    fn words_and_numbers_of_a_line_stay_readable_before_it_is_read() {
        let mask = Mask::new([KEY, "message", "123456", "987654321012"]);
        let line =
            format!(r#"{{"type":"message","tokens":123456,"n":987654321012,"t":"<{KEY}>"}}"#);
        assert_eq!(
            mask.keys_in(&line),
            r#"{"type":"message","tokens":123456,"n":987654321012,"t":"<***>"}"#
        );
        assert_eq!(mask.keys_in(&format!("plain {KEY}")), "plain ***");
        assert_eq!(mask.keys_in("message"), "message");
    }
}
