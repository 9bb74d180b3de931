//! Writes the directory of a trial in the place of another's, in answers that are played again: models name files by
//! paths that were those of the recorded trial.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use memchr::memmem;

use super::masking::{begins_json, data_start};
use crate::text::json_strings;

/// Returns a path as agents write it in names of files: `/a/b.c` is `-a-b-c`.
pub(super) fn slug(path: &str) -> String {
    let characters = path.chars().map(|character| {
        if character.is_ascii_alphanumeric() {
            character
        } else {
            '-'
        }
    });
    characters.collect()
}

/// Writes one directory in the place of another in the body of an answer. In a stream of events a path may be in pieces
/// of several.
pub fn moved(body: &[u8], from: &str, to: &str) -> Vec<u8> {
    if from == to || from.len() < 2 {
        return body.to_vec();
    }
    let once = replaced(body, from, to);
    replaced(&once, &slug(from), &slug(to))
}

fn replaced(body: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut edits = edits(body, from.as_bytes());
    for start in memmem::find_iter(body, from) {
        let range = start..start + from.len();
        // Outside of JSON it is found here alone.
        edits.entry(range.start).or_insert((range.end, true));
    }
    if edits.is_empty() {
        return body.to_vec();
    }
    let mut changed = Vec::with_capacity(body.len());
    let mut at = 0;
    for (start, (end, is_first)) in edits {
        if start < at {
            continue;
        }
        changed.extend_from_slice(&body[at..start]);
        if is_first {
            changed.extend_from_slice(to.as_bytes());
        }
        at = end;
    }
    changed.extend_from_slice(&body[at..]);
    changed
}

/// Returns the pieces of a text in the strings of JSON: the end of each, and whether it is the first, by its beginning.
fn edits(body: &[u8], from: &[u8]) -> BTreeMap<usize, (usize, bool)> {
    let mut joined: HashMap<u64, Vec<Range<usize>>> = HashMap::new();
    let mut place = 0;
    let lines: Vec<&[u8]> = if begins_json(body) {
        vec![body]
    } else {
        body.split_inclusive(|byte| *byte == b'\n').collect()
    };
    for line in lines {
        let start = data_start(line);
        if begins_json(&line[start..]) {
            for string in json_strings::of(&line[start..]) {
                if !string.is_name && !string.range.is_empty() {
                    let here = place + start;
                    let range = here + string.range.start..here + string.range.end;
                    joined.entry(string.path).or_default().push(range);
                }
            }
        }
        place += line.len();
    }
    let mut edits = BTreeMap::new();
    for ranges in joined.into_values() {
        let text: Vec<u8> = ranges
            .iter()
            .flat_map(|range| body[range.clone()].iter().copied())
            .collect();
        for found in memmem::find_iter(&text, from) {
            add_pieces(&ranges, found..found + from.len(), &mut edits);
        }
    }
    edits
}

fn add_pieces(
    ranges: &[Range<usize>],
    found: Range<usize>,
    edits: &mut BTreeMap<usize, (usize, bool)>,
) {
    let mut at = 0;
    for range in ranges {
        let end = at + range.len();
        let from = found.start.max(at);
        let to = found.end.min(end);
        if from < to {
            let start = range.start + from - at;
            edits.insert(start, (start + to - from, from == found.start));
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: &str = "/var/tmp/run-1/t/abc";
    const TO: &str = "/tmp/another/run-2/t/xyzxyz";

    fn check(body: &str, expected: &str) {
        let changed = String::from_utf8(moved(body.as_bytes(), FROM, TO)).unwrap();
        assert_eq!(changed, expected);
    }

    #[test]
    fn paths_are_those_of_the_other_trial() {
        let body = format!(r#"{{"path": "{FROM}/workspace/a.txt", "{FROM}": 1}}"#);
        check(&body, &body.replace(FROM, TO));
        check(&format!("plain {FROM}."), &format!("plain {TO}."));
        check(
            "home/-var-tmp-run-1-t-abc-w", "home/-tmp-another-run-2-t-xyzxyz-w",
        );
        check("nothing", "nothing");
    }

    #[test]
    fn a_path_in_pieces_of_a_stream_is_found() {
        for lengths in [&[1][..], &[3, 5], &[7], &[19, 2], &[100]] {
            let arguments = format!(r#"{{\"path\":\"{FROM}/w/a.txt\",\"more\":\"{FROM}\"}}"#);
            let mut stream = String::new();
            let mut rest = arguments.as_str();
            let mut lengths = lengths.iter().cycle();
            while !rest.is_empty() {
                let mut length = (*lengths.next().unwrap()).clamp(1, rest.len());
                // A service does not cut an escape in two.
                length += usize::from(rest[..length].ends_with('\\'));
                let (piece, after) = rest.split_at(length);
                stream += &format!("event: delta\ndata: {{\"d\":{{\"json\":\"{piece}\"}}}}\n\n");
                rest = after;
            }
            let changed = String::from_utf8(moved(stream.as_bytes(), FROM, TO)).unwrap();
            let joined: String = changed
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .map(|data| {
                    let value: serde_json::Value = serde_json::from_str(data).unwrap();
                    value["d"]["json"].as_str().unwrap().to_owned()
                })
                .collect();
            let expected = format!(r#"{{"path":"{TO}/w/a.txt","more":"{TO}"}}"#);
            assert_eq!(joined, expected, "{stream}");
        }
    }
}
