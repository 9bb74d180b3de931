//! Copies keep what they should, replace what they should, and stop where they should.

use std::cell::Cell;
use std::io::{Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};

use super::*;

#[test]
fn everything_survives_the_copy() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/binary", "\0\x01\n\r");
        scratch.write("from/script.sh", "#!/bin/sh\n");
        scratch.chmod("from/script.sh", 0o755);
        scratch.write("from/deep/readonly", "x");
        scratch.chmod("from/deep/readonly", 0o444);
        std::fs::create_dir(scratch.path("from/deep/empty")).unwrap();
        scratch.link("../binary", "from/deep/link");
        scratch.link("nowhere", "from/dangling");
        let odd = std::ffi::OsStr::from_bytes(b"odd\xff\n\x1b");
        std::fs::write(scratch.path("from").join(odd), "odd").unwrap();
        scratch.chmod("from/deep", 0o555);
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        for path in ["from/binary", "from/deep"] {
            let file = std::fs::File::open(scratch.path(path)).unwrap();
            file.set_modified(old).unwrap();
        }

        let copied = scratch.copy().unwrap();
        assert!(copied.is_empty());
        assert_eq!(read(&scratch.path("from")), read(&scratch.path("to")));
        for path in ["binary", "deep", "deep/link"] {
            let from = std::fs::symlink_metadata(scratch.path("from").join(path)).unwrap();
            let to = std::fs::symlink_metadata(scratch.path("to").join(path)).unwrap();
            let times = (from.mtime(), from.mtime_nsec());
            assert_eq!(times, (to.mtime(), to.mtime_nsec()), "{path}");
        }
        // Again over itself: read-only files and directories are no obstacle.
        scratch.copy().unwrap();
        assert_eq!(read(&scratch.path("from")), read(&scratch.path("to")));
    });
}

#[test]
fn a_layer_replaces_files_links_and_directories() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.link(scratch.path("outside/precious"), "to/file");
        scratch.link(scratch.path("outside"), "to/dir");
        scratch.write("to/was-dir/deeper/file", "old");
        scratch.chmod("to/was-dir/deeper", 0o000);
        scratch.write("to/was-file", "old");
        scratch.write("to/kept/file", "kept");
        scratch.write("from/file", "new");
        scratch.write("from/was-dir", "now a file");
        scratch.write("from/was-file/file", "now in a directory");
        scratch.write("from/dir/precious", "new");
        scratch.write("from/kept/other", "new");
        scratch.link("target", "from/link");
        scratch.write("to/link/file", "old");

        scratch.copy().unwrap();
        scratch.assert_outside_untouched();
        let expected = Node::dir([
            ("file", Node::file("new")),
            ("was-dir", Node::file("now a file")),
            (
                "was-file",
                Node::dir([("file", Node::file("now in a directory"))]),
            ),
            ("dir", Node::dir([("precious", Node::file("new"))])),
            (
                "kept",
                Node::dir([("file", Node::file("kept")), ("other", Node::file("new"))]),
            ),
            ("link", Node::Link("target".into())),
        ]);
        assert_eq!(read(&scratch.path("to")).without_modes(), expected);
    });
}

#[test]
fn holes_stay_holes() {
    let scratch = Scratch::new();
    const TERABYTE: u64 = 1 << 40;
    let mut file = std::fs::File::create(scratch.path("from/sparse")).unwrap();
    file.set_len(TERABYTE).unwrap();
    file.seek(std::io::SeekFrom::Start(5 << 30)).unwrap();
    file.write_all(b"in the middle").unwrap();
    std::fs::File::create(scratch.path("from/hole"))
        .unwrap()
        .set_len(TERABYTE)
        .unwrap();
    let small = std::fs::File::create(scratch.path("from/small")).unwrap();
    small.set_len(100_000).unwrap();
    small.write_all_at(b"end", 99_997).unwrap();

    scratch.copy().unwrap();
    for name in ["sparse", "hole", "small"] {
        let from = std::fs::metadata(scratch.path("from").join(name)).unwrap();
        let to = std::fs::metadata(scratch.path("to").join(name)).unwrap();
        assert_eq!(from.len(), to.len(), "{name}");
        assert!(to.blocks() <= from.blocks().max(8), "{name}: {to:?}");
    }
    let copy = std::fs::File::open(scratch.path("to/sparse")).unwrap();
    let mut found = [0; 15];
    copy.read_exact_at(&mut found, (5 << 30) - 1).unwrap();
    assert_eq!(&found, b"\0in the middle\0");
    let options = Options::default();
    let bytes = measure(&scratch.dir("to"), &options).unwrap();
    assert!(bytes <= 64 << 10, "{bytes}");
}

#[test]
fn large_files_are_copied_in_pieces() {
    let scratch = Scratch::new();
    let content: Vec<u8> = (0..20_000_000u32).map(|n| (n % 251) as u8).collect();
    std::fs::write(scratch.path("from/large"), &content).unwrap();
    scratch.copy().unwrap();
    assert!(std::fs::read(scratch.path("to/large")).unwrap() == content);

    // Between the pieces of one file the interrupt is heard.
    std::fs::remove_file(scratch.path("to/large")).unwrap();
    let asked = Cell::new(0);
    let options = Options {
        should_stop: &|| {
            asked.set(asked.get() + 1);
            asked.get() > 2
        },
        ..Options::default()
    };
    let stopped = copy_all(&scratch.dir("from"), &scratch.dir("to"), &options);
    assert!(matches!(stopped, Err(TreeError::Stopped)), "{stopped:?}");
    let partial = std::fs::metadata(scratch.path("to/large")).unwrap().len();
    assert!(partial > 0 && partial < content.len() as u64, "{partial}");
}

#[test]
fn pipes_and_sockets_are_skipped_and_named() {
    let scratch = Scratch::new();
    scratch.write("from/a", "a");
    make_fifo(&scratch.path("from/pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(scratch.path("from/socket")).unwrap();
    let copied = scratch.copy().unwrap();
    let named: Vec<String> = copied
        .first
        .iter()
        .map(|note| format!("{}: {}", note.path.display(), note.why))
        .collect();
    let why = "a pipe, a socket or a device";
    assert_eq!(named, [format!("pipe: {why}"), format!("socket: {why}")]);
    let expected = Node::dir([("a", Node::file("a"))]);
    assert_eq!(read(&scratch.path("to")).without_modes(), expected);
}

fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn what_the_owner_may_not_read_is_copied_with_its_permissions() {
    let scratch = Scratch::new();
    scratch.write("from/closed/secret", "s");
    scratch.write("from/closed/dir/file", "f");
    for (path, mode) in [
        ("from/closed/secret", 0o000),
        ("from/closed/dir", 0o400),
        ("from/closed", 0o000),
    ] {
        scratch.chmod(path, mode);
    }
    scratch.copy().unwrap();
    let copy = read(&scratch.path("to"));
    assert_eq!(read(&scratch.path("from")), copy);
    let Node::Dir { entries, .. } = copy else {
        panic!("a directory");
    };
    assert!(matches!(
        entries[&b"closed"[..]],
        Node::Dir { mode: 0o000, .. }
    ));

    // The permissions are put back after an early end, too.
    let asked = Cell::new(0);
    let options = Options {
        should_stop: &|| {
            asked.set(asked.get() + 1);
            asked.get() > 4
        },
        ..Options::default()
    };
    let stopped = copy_all(&scratch.dir("from"), &scratch.dir("to"), &options);
    assert!(matches!(stopped, Err(TreeError::Stopped)), "{stopped:?}");
    let mode = std::fs::metadata(scratch.path("from/closed"))
        .unwrap()
        .mode();
    assert_eq!(mode & 0o7777, 0o000);
}

#[test]
fn a_directory_is_moved_with_its_permissions() {
    let scratch = Scratch::new();
    scratch.write("from/dir/file", "x");
    for mode in [0o555, 0o000, 0o755] {
        scratch.chmod("from/dir", mode);
        let before = read(&scratch.path("from/dir"));
        let (from, to) = (scratch.dir("from"), scratch.dir("to"));
        let options = Options::default();
        move_dir(&from, "dir".as_ref(), &to, "new".as_ref(), &options).unwrap();
        assert_eq!(read(&scratch.path("to/new")), before);
        assert!(!scratch.path("from/dir").exists());
        move_dir(&to, "new".as_ref(), &from, "dir".as_ref(), &options).unwrap();
    }
    scratch.write("to/taken/file", "x");
    let (from, to) = (scratch.dir("from"), scratch.dir("to"));
    let options = Options::default();
    assert!(move_dir(&from, "dir".as_ref(), &to, "taken".as_ref(), &options).is_err());
}

#[test]
fn a_tree_is_not_copied_into_itself() {
    let scratch = Scratch::new();
    scratch.write("from/inner/file", "x");
    for (from, to) in [
        ("from", "from"),
        ("from", "from/inner"),
        ("from/inner", "from"),
    ] {
        // The last one is harmless unless the names lead back to the source.
        let done = copy_all(&scratch.dir(from), &scratch.dir(to), &Options::default());
        match (from, to) {
            ("from/inner", "from") => assert!(done.is_ok()),
            _ => assert!(matches!(done, Err(TreeError::Overlap { .. })), "{done:?}"),
        }
        assert_eq!(
            std::fs::read(scratch.path("from/inner/file")).unwrap(),
            b"x"
        );
    }
    scratch.write("from/inner/inner/file", "y");
    let done = copy_all(
        &scratch.dir("from/inner"),
        &scratch.dir("from"),
        &Options::default(),
    );
    assert!(matches!(done, Err(TreeError::Overlap { .. })), "{done:?}");
}

#[test]
fn a_tree_beyond_a_limit_is_an_error_of_its_own() {
    let scratch = Scratch::new();
    scratch.write("from/a/b/c/file", &"x".repeat(10_000));
    scratch.write("from/large", &"x".repeat(10_000));
    let limits = Limits::default();
    for (limits, what, limit) in [
        (
            Limits {
                bytes: 15_000,
                ..limits
            },
            What::Bytes,
            15_000,
        ),
        (
            Limits {
                entries: 4,
                ..limits
            },
            What::Entries,
            4,
        ),
        (
            Limits {
                entries: 1,
                ..limits
            },
            What::Entries,
            1,
        ),
        (
            Limits {
                path_bytes: 14,
                ..limits
            },
            What::PathBytes,
            14,
        ),
    ] {
        let options = Options {
            limits,
            ..Options::default()
        };
        let from = scratch.dir("from");
        let errors = [
            copy_all(&from, &scratch.dir("to"), &options).unwrap_err(),
            measure(&from, &options).unwrap_err(),
            hash(&from, &options).unwrap_err(),
        ];
        for error in errors {
            let TreeError::TooLarge {
                what: found,
                limit: most,
            } = error
            else {
                panic!("{error}");
            };
            assert_eq!((found, most), (what, limit));
        }
    }
    let exact = Options {
        limits: Limits {
            bytes: 20_000,
            entries: 5,
            path_bytes: 30,
        },
        ..Options::default()
    };
    assert!(copy_all(&scratch.dir("from"), &scratch.dir("to"), &exact).is_ok());
    assert_eq!(list(&scratch.dir("from"), &exact).unwrap().len(), 2);
}

#[test]
fn the_caller_chooses_what_is_copied() {
    let scratch = Scratch::new();
    scratch.write("from/eval/eval.terca.yaml", "");
    scratch.write("from/eval/_tests/secret", "");
    scratch.write("from/other/_tests/open", "");
    let mut files = Vec::new();
    copy(
        &scratch.dir("from"),
        &scratch.dir("to"),
        &Options::default(),
        &mut |entry| {
            let is_beside_eval = entry.parent.meta_at("eval.terca.yaml")?.is_some();
            let is_chosen = entry.name != "_tests" || !is_beside_eval;
            if entry.kind == Kind::File {
                files.push(entry.path.to_owned());
            }
            Ok(is_chosen)
        },
    )
    .unwrap();
    let expected = ["eval/eval.terca.yaml", "other/_tests/open"];
    assert_eq!(files, expected.map(PathBuf::from));
    assert!(!scratch.path("to/eval/_tests").exists());
    assert!(scratch.path("to/other/_tests/open").exists());
}

#[test]
fn what_is_swapped_for_a_link_meanwhile_is_not_followed() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/dir/file", "x");
        scratch.write("from/file", "x");
        let copied = copy(
            &scratch.dir("from"),
            &scratch.dir("to"),
            &Options::default(),
            &mut |entry| {
                let path = scratch.path("from").join(entry.path);
                let (old, target) = match entry.kind {
                    Kind::Dir => ("old-dir", "outside"),
                    _ => ("old-file", "outside/precious"),
                };
                std::fs::rename(&path, scratch.path(old)).unwrap();
                std::os::unix::fs::symlink(scratch.path(target), &path).unwrap();
                Ok(true)
            },
        )
        .unwrap();
        assert_eq!(copied.total, 2);
        assert_eq!(read(&scratch.path("to")).without_modes(), Node::dir([]));
    });
}

#[test]
fn a_directory_that_cannot_be_moved_is_copied_with_everything_in_it() {
    let guard = tempfile::tempdir().unwrap();
    let (from, to) = (guard.path().join("from"), guard.path().join("to"));
    for file in ["new/a", "new/deep/er/b", "other/left", "other/taken"] {
        fs_err::create_dir_all(from.join(file).parent().unwrap()).unwrap();
        fs_err::write(from.join(file), file).unwrap();
    }
    // A directory with something in it is in the way, as another file system would be.
    fs_err::create_dir_all(to.join("new")).unwrap();
    fs_err::write(to.join("new/there"), "").unwrap();
    let choose = &mut |entry: &crate::tree::Entry<'_>| {
        Ok(match entry.path.to_str() {
            Some("new" | "other/taken") => Choice::Move,
            Some("other") => Choice::Copy,
            _ => Choice::Leave,
        })
    };
    let (source, target) = (Dir::open(&from).unwrap(), Dir::open(&to).unwrap());
    transfer(&source, &target, &Options::default(), choose).unwrap();
    for file in ["new/a", "new/deep/er/b", "other/taken"] {
        assert_eq!(fs_err::read_to_string(to.join(file)).unwrap(), file);
    }
    assert!(to.join("new/there").exists() && !to.join("other/left").exists());
    assert!(from.join("other/left").exists() && !from.join("other/taken").exists());
}
