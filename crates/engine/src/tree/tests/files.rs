//! Single files: compared, copied alone, and read without their holes. And trees that are made readable.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::FileExt;

use super::*;

#[test]
fn files_are_compared_by_their_bytes() {
    let scratch = Scratch::new();
    let long = "x".repeat(100_000);
    let contents = ["", "x", "y", &long, &format!("{}y", &long[1..])];
    let files: Vec<File> = contents
        .iter()
        .enumerate()
        .map(|(index, content)| {
            scratch.write(&format!("from/{index}"), content);
            File::open(scratch.path(&format!("from/{index}"))).unwrap()
        })
        .collect();
    let options = Options::default();
    for (index, one) in files.iter().enumerate() {
        for (other_index, other) in files.iter().enumerate() {
            let is_same = have_same_content(one, other, &options).unwrap();
            assert_eq!(is_same, index == other_index, "{index} and {other_index}");
        }
    }
    let stop = Options {
        should_stop: &|| true,
        ..options
    };
    let stopped = have_same_content(&files[2], &files[3], &stop);
    assert!(matches!(stopped, Ok(false)), "{stopped:?}");
    let stopped = have_same_content(&files[3], &files[3], &stop);
    assert!(matches!(stopped, Err(TreeError::Stopped)), "{stopped:?}");
}

#[test]
fn holes_of_an_output_are_passed_over() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[b'a'; 4096]).unwrap();
    file.write_all_at(&[b'b'; 4096], 1 << 40).unwrap();
    file.set_len(1 << 41).unwrap();
    let expected = [[b'a'; 4096], [b'b'; 4096]].concat();
    for length in [1000, 4096, 1 << 20] {
        file.rewind().unwrap();
        let mut reader = std::io::BufReader::with_capacity(length, WithoutHoles(&file));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == expected, "{length}: {} bytes", read.len());
    }
    // More that is written at the end is read.
    file.set_len((1 << 41) + 1).unwrap();
    file.write_all_at(b"c", 1 << 41).unwrap();
    let mut read = String::new();
    WithoutHoles(&file).read_to_string(&mut read).unwrap();
    assert_eq!(read.trim_start_matches('\0'), "c");
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
            copy_file(&file, &scratch.dir("to"), name.as_ref(), &options).unwrap();
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
