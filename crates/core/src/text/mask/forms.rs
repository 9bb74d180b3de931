//! The forms in which a secret may be written down: as it is, with escapes, in base64.

/// The fewest characters of a key that are masked where the rest of it was cut off.
pub const SHORTEST_FRAGMENT: usize = 12;
/// Fragments of longer values are not looked for.
const LONGEST_KEY: usize = 512;

/// One way to write a secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    pub(super) text: Vec<u8>,
    pub(super) kind: FormKind,
}

/// The parts of a form that are secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FormKind {
    /// Only the whole value. A part of a path, of an address or of a sentence may be anything.
    Whole,
    /// Every fragment that looks random.
    Key,
    /// Every fragment.
    RandomKey,
}

impl FormKind {
    /// Returns whether a fragment of a form of this kind is secret.
    pub(super) fn hides(self, fragment: &[u8]) -> bool {
        match self {
            FormKind::Whole => false,
            FormKind::Key => fragment.len() >= SHORTEST_FRAGMENT && looks_random(fragment),
            FormKind::RandomKey => fragment.len() >= SHORTEST_FRAGMENT,
        }
    }
}

/// Returns all forms of a value.
pub(super) fn forms_of(value: &str) -> Vec<Form> {
    let kind = kind_of(value);
    let mut texts = vec![
        value.as_bytes().to_vec(),
        in_json(value).into_bytes(),
        in_url(value).into_bytes(),
    ];
    if value.len() >= SHORTEST_FRAGMENT {
        for before in 0..3 {
            let encoded = in_base64(value.as_bytes(), before);
            texts.push(encoded.iter().map(|byte| for_url(*byte)).collect());
            texts.push(encoded);
        }
    }
    texts.sort_unstable();
    texts.dedup();
    let forms = texts.into_iter().map(|text| Form { text, kind });
    forms.collect()
}

fn kind_of(value: &str) -> FormKind {
    let is_key = (SHORTEST_FRAGMENT..=LONGEST_KEY).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_graphic())
        && looks_random(value.as_bytes())
        && !value.contains("://")
        && !value.starts_with(['/', '.', '~']);
    match (is_key, is_random(value.as_bytes())) {
        (false, _) => FormKind::Whole,
        (true, false) => FormKind::Key,
        (true, true) => FormKind::RandomKey,
    }
}

/// Returns whether a text has the characters of a key, and not only those of words.
fn looks_random(text: &[u8]) -> bool {
    let has = |is_of: fn(&u8) -> bool| text.iter().any(is_of);
    let small = has(u8::is_ascii_lowercase);
    let large = has(u8::is_ascii_uppercase);
    let digit = has(u8::is_ascii_digit);
    (digit && (small || large)) || (small && large)
}

fn is_random(text: &[u8]) -> bool {
    let has = |is_of: fn(&u8) -> bool| text.iter().any(is_of);
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
}

fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn in_url(value: &str) -> String {
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

    #[test]
    fn base64_is_that_of_the_value_at_any_place() {
        // `printf xyKEYKEYKEY012z | base64` and the like.
        assert_eq!(in_base64(b"Man", 0), b"TWFu");
        assert_eq!(in_base64(b"Many", 0), b"TWFueQ"[..5].to_vec());
        assert_eq!(in_base64(b"an", 1), b"Fu");
        assert_eq!(in_base64(b"n", 2), b"u");
        assert_eq!(in_url("a+/=~"), "a%2B%2F%3D~");
    }

    #[test]
    fn only_keys_are_known_by_their_fragments() {
        for (value, kind) in [
            ("sk-ant-api03-AbCdEfGh_0123456789", FormKind::RandomKey),
            ("0123456789abcdef0123456789abcdef", FormKind::Key),
            ("claude-sonnet-4-5", FormKind::Key),
            ("very-secret-token", FormKind::Whole),
            ("http://127.0.0.1:8080/v1", FormKind::Whole),
            ("/srv/build42/Projects", FormKind::Whole),
            ("two words, 12 and more", FormKind::Whole),
            ("short1A", FormKind::Whole),
        ] {
            assert_eq!(kind_of(value), kind, "{value}");
        }
    }
}
