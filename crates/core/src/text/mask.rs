//! Hides the values of secrets in everything that Terca writes: as they are, and as JSON, addresses and base64 write them.
//!
//! Only whole values are known. So a text is masked before it is cut ([`Masked`]), and output is masked in whole lines.
//! Rejected: parts of keys, in the pieces of a stream too. They cost more than everything else that is done with output, and
//! through the gateway an agent never has a key.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, Input, MatchKind, Span, packed};

/// Values shorter than this are left alone: masking every `8080` would garble more than it hides.
const SHORTEST: usize = 6;
/// The fewest characters of a key.
const SHORTEST_KEY: usize = 12;
/// The text in the place of a secret.
pub const MASK: &str = "***";

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
    values: BTreeSet<String>,
    /// Every form of every value.
    all: Finder,
    /// The forms of values that are keys.
    keys: Finder,
    forms: BTreeSet<Vec<u8>>,
    longest: usize,
}

impl Mask {
    /// Makes a mask for these values and each of their lines.
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        Mask::default().with(values)
    }

    /// Makes a mask that hides these values too.
    #[must_use]
    pub fn with<S: AsRef<str>>(&self, values: impl IntoIterator<Item = S>) -> Self {
        let known = self.search.as_ref().map(|search| search.values.clone());
        let mut all = known.unwrap_or_default();
        for value in values {
            // A key of several lines is printed and logged line by line, so each line is a secret too.
            let lines = value.as_ref().lines().chain([value.as_ref()]);
            all.extend(
                lines
                    .filter(|line| line.len() >= SHORTEST)
                    .map(str::to_owned),
            );
        }
        Mask {
            search: Search::new(all).map(Arc::new),
        }
    }

    /// Returns whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.search.is_none()
    }

    /// Returns the number of bytes before a cut that may be part of a secret continued after it.
    pub fn overlap(&self) -> usize {
        let search = self.search.as_ref();
        search.map_or(0, |search| search.longest.saturating_sub(1))
    }

    /// Returns whether the bytes contain a secret.
    pub fn hides(&self, bytes: &[u8]) -> bool {
        let search = self.search.as_ref();
        search.is_some_and(|search| search.all.is_in(bytes))
    }

    /// Returns whether the bytes contain a key. A value that may be a word, a path or an address is none.
    pub fn has_key(&self, bytes: &[u8]) -> bool {
        let search = self.search.as_ref();
        search.is_some_and(|search| search.keys.is_in(bytes))
    }

    /// Masks a text.
    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    /// Masks a text, which may then be cut.
    pub fn masked(&self, text: &str) -> Masked {
        Masked(self.text(text))
    }

    /// Masks the keys in a line of an agent's output, before anything is read from it. Other values may be words of the
    /// agent's own language, such as `message`, and are masked in what was read.
    pub fn keys_in<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let Some(search) = &self.search else {
            return Cow::Borrowed(line);
        };
        match replaced(&search.keys, line.as_bytes(), line.len()).0 {
            Cow::Borrowed(_) => Cow::Borrowed(line),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Masks bytes.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.bytes_up_to(bytes, bytes.len()).0
    }

    /// Puts stars in the place of secrets, as many as they have bytes: the length stays.
    pub fn star(&self, bytes: &mut [u8]) {
        let Some(search) = &self.search else { return };
        while let Some(secret) = search.all.find(bytes, 0) {
            bytes[secret.range()].fill(b'*');
        }
    }

    /// Returns the number of bytes at the end that may be the beginning of a secret.
    pub fn unfinished(&self, bytes: &[u8]) -> usize {
        let forms = self.search.iter().flat_map(|search| &search.forms);
        let begun = |form: &Vec<u8>| {
            let lengths = 1..form.len();
            let mut lengths = lengths.rev();
            lengths.find(|length| bytes.ends_with(&form[..*length]))
        };
        forms.filter_map(begun).max().unwrap_or(0)
    }

    /// Masks the secrets that begin before `limit`. Returns the result and the number of input bytes it covers,
    /// which is more than `limit` when a secret crosses it. What has no secret in it is borrowed.
    pub fn bytes_up_to<'a>(&self, bytes: &'a [u8], limit: usize) -> (Cow<'a, [u8]>, usize) {
        match &self.search {
            Some(search) => replaced(&search.all, bytes, limit),
            None => (Cow::Borrowed(&bytes[..limit]), limit),
        }
    }
}

impl Search {
    fn new(values: BTreeSet<String>) -> Option<Self> {
        let forms = |wanted: fn(&str) -> bool| -> BTreeSet<Vec<u8>> {
            let wanted = values.iter().filter(|value| wanted(value));
            wanted.flat_map(|value| forms_of(value)).collect()
        };
        let all = forms(|_| true);
        let longest = all.iter().map(Vec::len).max()?;
        Some(Search {
            all: Finder::new(all.clone())?,
            forms: all,
            keys: Finder::new(forms(is_key))?,
            longest,
            values,
        })
    }
}

/// Finds the first of several texts, and the longest of those that begin at one place.
#[derive(Debug)]
enum Finder {
    /// Compares many bytes at once: for few texts, on most machines. The general one chooses bytes to look for first, which may
    /// be common in an output.
    Fast(packed::Searcher),
    Any(AhoCorasick),
}

impl Finder {
    fn new(texts: BTreeSet<Vec<u8>>) -> Option<Self> {
        let mut fast = packed::Config::new();
        fast.match_kind(packed::MatchKind::LeftmostLongest);
        if let Some(fast) = fast.builder().extend(&texts).build() {
            return Some(Finder::Fast(fast));
        }
        let mut any = AhoCorasick::builder();
        // Fails only for more secrets than fit into memory.
        let any = any.match_kind(MatchKind::LeftmostLongest).build(texts);
        any.ok().map(Finder::Any)
    }

    /// Returns the first text at or after a place.
    fn find(&self, bytes: &[u8], from: usize) -> Option<Span> {
        let span = Span::from(from..bytes.len());
        match self {
            Finder::Fast(fast) => fast.find_in(bytes, span).map(|found| found.span()),
            Finder::Any(any) => any
                .find(Input::new(bytes).span(span))
                .map(|found| found.span()),
        }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.find(bytes, 0).is_some()
    }
}

fn replaced<'a>(finder: &Finder, bytes: &'a [u8], limit: usize) -> (Cow<'a, [u8]>, usize) {
    let mut masked = Vec::new();
    let mut at = 0;
    while let Some(secret) = finder.find(bytes, at) {
        if secret.start >= limit {
            break;
        }
        masked.extend_from_slice(&bytes[at..secret.start]);
        masked.extend_from_slice(MASK.as_bytes());
        at = secret.end;
    }
    if at == 0 {
        return (Cow::Borrowed(&bytes[..limit]), limit);
    }
    let end = at.max(limit);
    masked.extend_from_slice(&bytes[at..end]);
    (Cow::Owned(masked), end)
}

/// Returns whether a value has the characters of a key, and not only those of words, paths or addresses.
fn is_key(value: &str) -> bool {
    let has = |is_of: fn(&u8) -> bool| value.as_bytes().iter().any(is_of);
    let small = has(u8::is_ascii_lowercase);
    let large = has(u8::is_ascii_uppercase);
    let digit = has(u8::is_ascii_digit);
    value.len() >= SHORTEST_KEY
        && value.bytes().all(|byte| byte.is_ascii_graphic())
        && ((digit && (small || large)) || (small && large))
        && !value.contains("://")
        && !value.starts_with(['/', '.', '~'])
}

/// Returns the ways to write a value. None has the end of a line in it.
fn forms_of(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![in_json(value).into_bytes(), in_url(value).into_bytes()];
    if !value.contains('\n') {
        forms.push(value.as_bytes().to_vec());
    }
    for before in 0..3 {
        let encoded = in_base64(value.as_bytes(), before);
        forms.push(encoded.iter().map(|byte| for_url(*byte)).collect());
        forms.push(encoded);
    }
    forms
}

fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Encodes a text for an address.
pub(crate) fn in_url(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Returns the characters of base64 that depend on the value alone, where `before` bytes come before it.
fn in_base64(value: &[u8], before: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(value);
    let first = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    let sextet = |index: usize| {
        let bit = index * 6;
        let pair =
            u16::from(bytes[bit / 8]) << 8 | u16::from(*bytes.get(bit / 8 + 1).unwrap_or(&0));
        usize::from(pair >> (10 - bit % 8) & 0x3f)
    };
    (first..end).map(|index| ALPHABET[sextet(index)]).collect()
}

fn for_url(byte: u8) -> u8 {
    match byte {
        b'+' => b'-',
        b'/' => b'_',
        other => other,
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
        assert_eq!(*mask.bytes(b"sk-secre"), *b"sk-secre");
        assert_eq!(Mask::default().text("x"), "x");
        let key = Mask::new(["BEGIN KEY\nline one\nline two"]);
        assert_eq!(key.text("+line one\n+line two"), "+***\n+***");
        assert_eq!(key.text(r"BEGIN KEY\nline one\nline two"), "***");
        let both = key.with([KEY]);
        assert_eq!(both.text(&format!("{KEY} line two")), "*** ***");
    }

    #[test]
    fn stars_keep_the_length() {
        let mask = Mask::new([KEY]);
        let mut text = format!("a {KEY}{KEY} b").into_bytes();
        mask.star(&mut text);
        let stars = "*".repeat(2 * KEY.len());
        assert_eq!(String::from_utf8(text).unwrap(), format!("a {stars} b"));
        assert_eq!(mask.unfinished(b"a sk-a"), 4);
        assert_eq!(mask.unfinished(b"a sk-x"), 0);
        assert_eq!(mask.unfinished(KEY.as_bytes()), 0, "it is whole");
        assert_eq!(Mask::default().unfinished(b"sk"), 0);
    }

    #[test]
    fn a_value_is_masked_in_other_writing() {
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
    fn base64_is_that_of_the_value_at_any_place() {
        assert_eq!(in_base64(b"Man", 0), b"TWFu");
        assert_eq!(in_base64(b"Many", 0), b"TWFueQ"[..5].to_vec());
        assert_eq!(in_base64(b"an", 1), b"Fu");
        assert_eq!(in_base64(b"n", 2), b"u");
        assert_eq!(in_url("a+/=~"), "a%2B%2F%3D~");
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

    #[test]
    fn words_paths_and_addresses_are_no_keys() {
        for (value, expected) in [
            (KEY, true),
            ("0123456789abcdef0123456789abcdef", true),
            ("claude-sonnet-4-5", true),
            ("very-secret-token", false),
            ("http://127.0.0.1:8080/v1", false),
            ("/srv/build42/Projects", false),
            ("two words, 12 and more", false),
            ("short1A", false),
        ] {
            assert_eq!(
                Mask::new([value]).has_key(value.as_bytes()),
                expected,
                "{value}"
            );
        }
    }
}
