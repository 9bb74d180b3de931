//! Hides secrets in bodies that are to be played again: what is masked must still be read as what it was.
//!
//! A value of JSON is masked wherever a secret is in it. A name of JSON is masked only if it is a key: other secrets may
//! be words, such as `message`, and a body without its names is of no use.

use crate::text::json_strings;
use crate::text::mask::Mask;

/// Masks a body, which may be a stream of events.
pub fn masked_body(body: &[u8], mask: &Mask) -> Vec<u8> {
    if mask.is_empty() || !mask.hides(body) {
        return body.to_vec();
    }
    if begins_json(body) {
        return masked_json(body, mask);
    }
    let mut masked = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let (field, data) = line.split_at(data_start(line));
        masked.extend_from_slice(&mask.bytes(field));
        masked.extend(masked_json(data, mask));
    }
    masked
}

/// Returns where the data of a line of a stream of events begins.
pub(super) fn data_start(line: &[u8]) -> usize {
    match line.strip_prefix(b"data:") {
        Some(data) => line.len() - data.trim_ascii_start().len(),
        None => 0,
    }
}

pub(super) fn begins_json(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['))
}

fn masked_json(bytes: &[u8], mask: &Mask) -> Vec<u8> {
    if !begins_json(bytes) {
        return mask.bytes(bytes).into_owned();
    }
    let mut masked = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for string in json_strings::of(bytes) {
        masked.extend_from_slice(&bytes[at..string.range.start]);
        let text = &bytes[string.range.clone()];
        if !string.is_name || mask.has_key(text) {
            masked.extend_from_slice(&mask.bytes(text));
        } else {
            masked.extend_from_slice(text);
        }
        at = string.range.end;
    }
    let rest = &bytes[at..];
    // What is no JSON any more may have anything in it.
    if mask.has_key(rest) {
        masked.extend_from_slice(&mask.bytes(rest));
    } else {
        masked.extend_from_slice(rest);
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_request_stays_readable() {
        let mask = Mask::new([KEY, "message"]);
        let body = format!(r#"{{"message": "the message {KEY}", "{KEY}": 1}}"#);
        assert_eq!(
            text(masked_body(body.as_bytes(), &mask)),
            r#"{"message": "the *** ***", "***": 1}"#
        );
        let form = format!("a=1&key={KEY}");
        assert_eq!(text(masked_body(form.as_bytes(), &mask)), "a=1&key=***");
        let broken = format!(r#"{{"a": "b" {KEY}"#);
        assert!(!text(masked_body(broken.as_bytes(), &mask)).contains(KEY));
    }

    #[test]
    fn a_key_in_an_answer_is_masked() {
        let mask = Mask::new([KEY]);
        let whole = format!("data: {{\"text\": \"{KEY}\"}}\n\n: {KEY}\n");
        assert_eq!(
            text(masked_body(whole.as_bytes(), &mask)),
            "data: {\"text\": \"***\"}\n\n: ***\n"
        );
    }
}
