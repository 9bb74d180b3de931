//! The parts of a page that its script opens when they are needed: gzip as base64, in an inert element.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::base64::{base64, bytes_of};

/// Bytes that are compressed as they come.
#[derive(Debug)]
pub struct Packed {
    gzip: GzEncoder<Vec<u8>>,
    /// The bytes that have come.
    pub bytes: usize,
}

impl Packed {
    /// Starts without any.
    pub fn new() -> Self {
        Packed {
            gzip: GzEncoder::new(Vec::new(), Compression::default()),
            bytes: 0,
        }
    }

    /// Writes the element. Returns how many bytes the compressed form has. The attribute must need no escapes.
    pub fn write(self, attribute: (&str, &str), to: &mut dyn Write) -> io::Result<usize> {
        let packed = self.gzip.finish()?;
        let (name, value) = attribute;
        write!(to, "<template {name}=\"{value}\">")?;
        to.write_all(base64(&packed).as_bytes())?;
        to.write_all(b"</template>")?;
        Ok(packed.len())
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.gzip.write(bytes)?;
        self.bytes += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.gzip.flush()
    }
}

/// Returns a page with its compressed parts opened, for those who look for something in it without a browser.
pub fn unpacked(page: &str) -> String {
    let mut opened = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, element)) = rest.split_once("<template ") {
        opened.push_str(before);
        let (_, element) = element.split_once('>').unwrap_or_default();
        let (packed, after) = element.split_once("</template>").unwrap_or((element, ""));
        let mut plain = Vec::new();
        // A part that is damaged has no text.
        let _ = GzDecoder::new(bytes_of(packed).as_slice()).read_to_end(&mut plain);
        opened.push_str(&String::from_utf8_lossy(&plain));
        rest = after;
    }
    opened + rest
}
