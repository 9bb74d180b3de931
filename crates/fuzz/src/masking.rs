//! Masking. For any secrets and any text, no secret stays, all else stays as it was, and it makes no difference in what
//! pieces a text arrives.

use terca_core::text::mask::Mask;

/// The first line has the secrets, with tabs between them; the rest is the text.
pub fn target(data: &[u8]) {
    let end = data
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(data.len());
    let (first, text) = (
        String::from_utf8_lossy(&data[..end]),
        data.get(end + 1..).unwrap_or_default(),
    );
    // A secret with a star in it could be made of what hides another.
    let secrets: Vec<&str> = first
        .split('\t')
        .filter(|secret| !secret.contains('*'))
        .collect();
    let mask = Mask::new(&secrets);
    let masked = mask.bytes(text);
    assert!(
        !mask.hides(&masked),
        "a secret is left in {:?}",
        String::from_utf8_lossy(&masked)
    );
    assert_eq!(mask.hides(text), *masked != *text);
    for secret in secrets.iter().filter(|secret| secret.len() >= 6) {
        let left = masked
            .windows(secret.len())
            .any(|window| window == secret.as_bytes());
        assert!(!left, "{secret:?} is left");
    }
    for cut in (0..=text.len()).step_by(1 + text.len() / 40) {
        let settled = cut.saturating_sub(mask.overlap());
        let (first, consumed) = mask.bytes_up_to(&text[..cut], settled);
        assert!((settled..=cut).contains(&consumed), "{consumed} of {cut}");
        let rest = mask.bytes(&text[consumed..]);
        assert_eq!([first, rest].concat(), *masked, "cut at {cut}");
    }
    let words = String::from_utf8_lossy(text);
    assert!(!mask.hides(mask.text(&words).as_bytes()));
}
