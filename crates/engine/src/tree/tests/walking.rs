//! Walks see every entry once, in order, and nothing outside.

use std::os::unix::ffi::OsStrExt;

use super::*;

#[test]
fn entries_come_by_name_and_directories_before_their_content() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/b/z", "");
        scratch.write("from/b/a/file", "");
        scratch.write("from/a", "12345");
        scratch.link("b", "from/c");
        scratch.link(".", "from/b/loop");
        let mut seen = Vec::new();
        let notes = walk(
            &scratch.dir("from"),
            &Options::default(),
            &mut |entry, meta| {
                let path = entry.path.to_str().unwrap();
                assert!(path.ends_with(entry.name.to_str().unwrap()));
                seen.push(format!("{path} {:?}", meta.kind));
                if path == "a" {
                    assert_eq!((meta.size, meta.is_file()), (5, true));
                    assert_eq!(std::io::read_to_string(entry.open()?).unwrap(), "12345");
                }
                if path == "c" {
                    assert_eq!(entry.read_link()?, PathBuf::from("b"));
                    assert!(matches!(entry.open(), Err(TreeError::Link { .. })));
                }
                Ok(Visit::Continue)
            },
        )
        .unwrap();
        assert!(notes.is_empty());
        assert_eq!(
            seen,
            [
                "a File", "b Dir", "b/a Dir", "b/a/file File", "b/loop Link", "b/z File", "c Link"
            ]
        );
    });
}

#[test]
fn a_visitor_may_skip_a_directory_or_end_the_walk() {
    let scratch = Scratch::new();
    for path in ["from/a/x", "from/b/x", "from/c/x"] {
        scratch.write(path, "");
    }
    let mut seen = Vec::new();
    walk(
        &scratch.dir("from"),
        &Options::default(),
        &mut |entry, _| {
            seen.push(entry.path.to_str().unwrap().to_owned());
            Ok(match seen.last().map(String::as_str) {
                Some("a") => Visit::Skip,
                Some("c") => Visit::End,
                _ => Visit::Continue,
            })
        },
    )
    .unwrap();
    assert_eq!(seen, ["a", "b", "b/x", "c"]);
}

#[test]
fn a_list_has_everything_but_directories() {
    let scratch = Scratch::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    std::fs::write(scratch.path("from").join(odd), "").unwrap();
    scratch.write("from/d/f", "");
    scratch.link("nowhere", "from/d/l");
    let paths: Vec<PathBuf> = list(&scratch.dir("from"), &Options::default())
        .unwrap()
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(paths, ["d/f".into(), "d/l".into(), PathBuf::from(odd)]);
}

#[test]
fn a_directory_swapped_for_a_link_is_not_entered() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/dir/file", "");
        let mut seen = Vec::new();
        walk(
            &scratch.dir("from"),
            &Options::default(),
            &mut |entry, _| {
                seen.push(entry.path.to_owned());
                std::fs::rename(scratch.path("from/dir"), scratch.path("old")).unwrap();
                scratch.link(scratch.path("outside"), "from/dir");
                Ok(Visit::Continue)
            },
        )
        .unwrap();
        assert_eq!(seen, [PathBuf::from("dir")]);
    });
}

#[test]
fn a_walk_that_was_led_away_ends() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write(&format!("from/{}file", "d/".repeat(60)), "");
        let moved = walk(
            &scratch.dir("from"),
            &Options::default(),
            &mut |entry, _| {
                if entry.name == "file" {
                    let part = scratch.path("from").join("d/".repeat(45));
                    std::fs::rename(part, scratch.path("outside/moved")).unwrap();
                }
                Ok(Visit::Continue)
            },
        );
        assert!(matches!(moved, Err(TreeError::Moved { .. })), "{moved:?}");
    });
}

#[test]
fn everything_that_matters_changes_the_hash() {
    let scratch = Scratch::new();
    let mut seen = Vec::new();
    let mut note = |what: &str| {
        let hash = hash(&scratch.dir("from"), &Options::default()).unwrap();
        assert!(!seen.contains(&hash), "{what}");
        assert_eq!(hash.len(), 64);
        seen.push(hash);
    };
    note("empty");
    scratch.write("from/a", "1");
    note("a file");
    scratch.write("from/a", "2");
    note("its content");
    scratch.chmod("from/a", 0o755);
    note("its right to be executed");
    std::fs::rename(scratch.path("from/a"), scratch.path("from/b")).unwrap();
    note("its name");
    scratch.link("b", "from/c");
    note("a link");
    std::fs::remove_file(scratch.path("from/c")).unwrap();
    scratch.link("bb", "from/c");
    note("its text");
    std::fs::remove_file(scratch.path("from/c")).unwrap();
    scratch.write("from/c", "b");
    note("a file with the text of a link");
    let large = std::fs::File::create(scratch.path("from/large")).unwrap();
    large.set_len(1_000_000).unwrap();
    note("a hole");
    large.set_len(1_000_001).unwrap();
    note("its length");
    std::os::unix::fs::FileExt::write_all_at(&large, b"x", 500_000).unwrap();
    note("a byte in it");
}

#[test]
fn a_hole_and_zeros_have_one_hash() {
    let scratch = Scratch::new();
    let hole = std::fs::File::create(scratch.path("from/file")).unwrap();
    hole.set_len(300_000).unwrap();
    std::fs::write(scratch.path("to/file"), vec![0; 300_000]).unwrap();
    for offset in [0, 65_536, 299_999] {
        let zeros = std::fs::OpenOptions::new()
            .write(true)
            .open(scratch.path("to/file"))
            .unwrap();
        for file in [&hole, &zeros] {
            std::os::unix::fs::FileExt::write_all_at(file, b"x", offset).unwrap();
        }
        let options = Options::default();
        let from = hash(&scratch.dir("from"), &options).unwrap();
        assert_eq!(from, hash(&scratch.dir("to"), &options).unwrap());
        let file = scratch.dir("to").open_file("file").unwrap();
        assert_eq!(
            hash_file(&hole_for_reading(&scratch), &options).unwrap(),
            hash_file(&file, &options).unwrap()
        );
    }
}

fn hole_for_reading(scratch: &Scratch) -> std::fs::File {
    scratch.dir("from").open_file("file").unwrap()
}

#[test]
fn a_tree_is_measured() {
    let scratch = Scratch::new();
    scratch.write("from/a/b/file", &"x".repeat(5000));
    scratch.link("file", "from/a/link");
    let bytes = measure(&scratch.dir("from"), &Options::default()).unwrap();
    assert!((5000..100_000).contains(&bytes), "{bytes}");
}
