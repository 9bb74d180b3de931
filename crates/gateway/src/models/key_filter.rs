//! Keeps keys out of answers: a service may send back what it was sent, and then the agent would have the key.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::GzDecoder;
use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use terca_core::text::mask::Mask;

use crate::http::{is_encoded, text};

/// Shorter keys are words, which local services take for one.
const SHORTEST: usize = 12;

/// Makes the mask of these keys.
pub(crate) fn mask_of<'a>(keys: impl Iterator<Item = &'a str>) -> Mask {
    Mask::new(keys.filter(|key| key.len() >= SHORTEST))
}

/// Puts stars in the place of keys in one answer. A key in two pieces is found, too.
pub(crate) struct KeyFilter {
    mask: Mask,
    /// The end of what came so far, which may be the beginning of a key.
    held: Vec<u8>,
    /// Set for an answer that is compressed although the gateway asks for none that is.
    decoder: Option<GzDecoder<Vec<u8>>>,
}

impl KeyFilter {
    /// Masks the headers of an answer, and begins with its body. `None` if that is compressed in a way that cannot be read.
    pub(crate) fn new(mask: &Mask, headers: &mut HeaderMap) -> Option<Self> {
        for value in headers.values_mut() {
            if mask.hides(value.as_bytes()) {
                let mut masked = value.as_bytes().to_vec();
                mask.star(&mut masked);
                if let Ok(masked) = HeaderValue::from_bytes(&masked) {
                    *value = masked;
                }
            }
        }
        let mut decoder = None;
        if is_encoded(headers) {
            let is_gzip = text(headers, &CONTENT_ENCODING) == Some("gzip");
            if is_gzip {
                headers.remove(CONTENT_ENCODING);
                headers.remove(CONTENT_LENGTH);
                decoder = Some(GzDecoder::new(Vec::new()));
            } else if !mask.is_empty() {
                return None;
            }
        }
        Some(KeyFilter {
            mask: mask.clone(),
            held: Vec::new(),
            decoder,
        })
    }

    /// Takes the next bytes of the body. Returns those for the agent.
    pub(crate) fn pass(&mut self, bytes: Bytes) -> io::Result<Bytes> {
        let bytes = match &mut self.decoder {
            Some(decoder) => {
                decoder.write_all(&bytes)?;
                decoder.flush()?;
                Bytes::from(std::mem::take(decoder.get_mut()))
            }
            None => bytes,
        };
        let is_plain = self.held.is_empty() && !self.mask.hides(&bytes);
        if is_plain && self.mask.unfinished(&bytes) == 0 {
            return Ok(bytes);
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(&bytes);
        self.mask.star(&mut all);
        self.held = all.split_off(all.len() - self.mask.unfinished(&all));
        Ok(Bytes::from(all))
    }

    /// Returns the rest when the body has ended.
    pub(crate) fn end(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.held))
    }

    /// Returns whether as many bytes come out as go in.
    pub(crate) fn keeps_length(&self) -> bool {
        self.decoder.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-the-real-key-0123";

    fn passed(headers: &mut HeaderMap, body: &[u8], piece: usize) -> String {
        let mut filter = KeyFilter::new(&mask_of([KEY, "local"].into_iter()), headers).unwrap();
        let mut passed = Vec::new();
        for bytes in body.chunks(piece) {
            let bytes = filter.pass(Bytes::copy_from_slice(bytes)).unwrap();
            passed.extend_from_slice(&bytes);
        }
        passed.extend_from_slice(&filter.end());
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn a_key_is_found_however_the_answer_is_cut() {
        let body = format!("local {KEY}, {KEY} sk-the-real-key");
        let stars = "*".repeat(KEY.len());
        let expected = format!("local {stars}, {stars} sk-the-real-key");
        for piece in 1..body.len() {
            let mut headers = HeaderMap::new();
            assert_eq!(passed(&mut headers, body.as_bytes(), piece), expected);
        }
    }

    #[test]
    fn a_compressed_answer_is_read_or_refused() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(format!("your key is {KEY}").as_bytes())
            .unwrap();
        let body = gzip.finish().unwrap();
        let headers = |encoding| {
            let encoding = HeaderValue::from_static(encoding);
            HeaderMap::from_iter([(CONTENT_ENCODING, encoding)])
        };
        for piece in [1, 7, 1000] {
            let mut headers = headers("gzip");
            let text = passed(&mut headers, &body, piece);
            assert_eq!(text, format!("your key is {}", "*".repeat(KEY.len())));
            assert!(headers.is_empty());
        }
        let mask = mask_of([KEY].into_iter());
        assert!(KeyFilter::new(&mask, &mut headers("br")).is_none());
        assert!(KeyFilter::new(&Mask::default(), &mut headers("br")).is_some());
    }
}
