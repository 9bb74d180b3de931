//! Single files: compared without their holes, and copied alone. And trees that are made readable.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::*;

#[test]
fn files_are_compared_by_their_bytes_and_not_by_their_holes() {
    let scratch = Scratch::new();
    let make = |name: &str, size: u64, pieces: &[(u64, &str)]| {
        let path = scratch.path("from").join(name);
        let file = File::create(&path).unwrap();
        file.set_len(size).unwrap();
        for (offset, piece) in pieces {
            file.write_all_at(piece.as_bytes(), *offset).unwrap();
        }
        File::open(path).unwrap()
    };
    const TERABYTE: u64 = 1 << 40;
    let zeros = "\0".repeat(5000);
    let files = [
        make("hole", TERABYTE, &[]),
        make("zeros", TERABYTE, &[(70_000, &zeros)]),
        make("one", TERABYTE, &[(300_000, "x")]),
        make("another", TERABYTE, &[(300_000, "y")]),
        make("elsewhere", TERABYTE, &[(900_000_000, "x")]),
        make("last", TERABYTE, &[(TERABYTE - 1, "x")]),
        make("shorter", TERABYTE - 1, &[]),
        make("empty", 0, &[]),
    ];
    let options = Options::default();
    for (index, one) in files.iter().enumerate() {
        for (other_index, other) in files.iter().enumerate() {
            let is_same = have_same_content(one, other, &options).unwrap();
            // The first two read the same.
            let expected = index == other_index || index < 2 && other_index < 2;
            assert_eq!(is_same, expected, "{index} and {other_index}");
        }
    }
    let stop = Options {
        should_stop: &|| true,
        ..options
    };
    let stopped = have_same_content(&files[2], &files[3], &stop);
    assert!(matches!(stopped, Err(TreeError::Stopped)), "{stopped:?}");
}

#[test]
fn one_file_is_copied_in_place_of_what_is_there() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/file", "new");
        scratch.chmod("from/file", 0o750);
        scratch.write("to/dir/old", "old");
        scratch.link(scratch.path("outside/precious"), "to/link");
        let file = File::open(scratch.path("from/file")).unwrap();
        let options = Options::default();
        for name in ["dir", "link", "free"] {
            let bytes = copy_file(&file, &scratch.dir("to"), name.as_ref(), &options).unwrap();
            assert_eq!(bytes, 3);
            let copied = scratch.path("to").join(name);
            assert_eq!(std::fs::read_to_string(&copied).unwrap(), "new");
            let meta = std::fs::symlink_metadata(&copied).unwrap();
            assert!(meta.is_file());
            assert_eq!(meta.mode() & 0o7777, 0o750);
        }
        scratch.assert_outside_untouched();
    });
}

#[test]
fn a_tree_is_made_readable_for_its_owner() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/closed/deeper/file", "x");
        scratch.write("from/open", "x");
        scratch.link(scratch.path("outside/precious"), "from/link");
        scratch.chmod("outside/precious", 0o000);
        for path in ["closed/deeper/file", "closed/deeper", "closed", ""] {
            scratch.chmod(&format!("from/{path}"), 0o100);
        }
        scratch.chmod("from", 0o500);
        make_readable(&scratch.dir("from"), &Options::default()).unwrap();
        let deepest = scratch.path("from/closed/deeper/file");
        assert_eq!(std::fs::read_to_string(deepest).unwrap(), "x");
        let outside = std::fs::metadata(scratch.path("outside/precious")).unwrap();
        assert_eq!(outside.mode() & 0o777, 0, "no link is followed");
    });
}
