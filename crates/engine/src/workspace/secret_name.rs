//! Names that nobody can foresee.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// The characters of a name: no two of them look alike, and none is special to a shell.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Thirteen characters of five bits: more than anybody can try, and short enough for the path of a socket.
const LENGTH: usize = 13;

/// Returns a name that cannot be derived from earlier ones, as those of a generator with a seed can.
pub(crate) fn secret_name() -> io::Result<String> {
    let mut bytes = [0; LENGTH];
    // So few bytes come at once, or not at all.
    if getrandom(&mut bytes, GetRandomFlags::empty())? < LENGTH {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let characters = bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
    Ok(characters.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_are_alike() {
        let names: std::collections::BTreeSet<String> =
            (0..1000).map(|_| secret_name().unwrap()).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == LENGTH));
    }
}
