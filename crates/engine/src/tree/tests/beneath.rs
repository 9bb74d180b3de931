//! Single files beneath a directory, and no way out of it.

use std::io::Write;

use super::*;

#[test]
fn files_are_made_read_appended_renamed_and_removed() {
    in_every_way(|| {
        let scratch = Scratch::new();
        let dir = scratch.dir("from");
        dir.create_dir_all("a/b", 0o755).unwrap();
        let mut file = dir.create_file("a/b/c", 0o644).unwrap();
        file.write_all(b"one").unwrap();
        let mut file = dir.append_to_file("a/b/c", 0o644).unwrap();
        file.write_all(b"two").unwrap();
        assert_eq!(dir.read_file("a/b/c", 6).unwrap(), b"onetwo");
        assert!(matches!(
            dir.read_file("a/b/c", 5),
            Err(TreeError::LongFile { limit: 5, .. })
        ));
        let again = dir.create_file("a/b/c", 0o644).unwrap_err();
        assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
        assert!(dir.create_dir("a/b", 0o755).is_err());
        dir.append_to_file("new", 0o600).unwrap();
        dir.rename("a/b/c", "new").unwrap();
        assert_eq!(dir.read_file("new", 10).unwrap(), b"onetwo");
        assert_eq!(dir.names(10).unwrap(), ["a", "new"]);
        assert!(dir.names(1).is_err());
        assert_eq!(dir.meta_at("new").unwrap().unwrap().size, 6);
        assert!(dir.meta_at("none/at/all").unwrap().is_none());
        dir.remove_file("new").unwrap();
        dir.remove_file("new").unwrap();
        assert!(dir.open_file("new").unwrap_err().is_not_found());
        for path in ["a", "a/b"] {
            let left = dir.remove_tree(path, &Options::default()).unwrap();
            assert!(left.is_empty());
        }
        assert!(dir.names(10).unwrap().is_empty());
    });
}

/// Everything that takes a path refuses the one given.
fn assert_refused(dir: &Dir, path: &str, is_expected: fn(&TreeError) -> bool) {
    let options = Options::default();
    let errors = [
        dir.open_dir(path).err(),
        dir.create_dir_all(path, 0o755).err(),
        dir.create_dir(path, 0o755).err(),
        dir.open_file(path).err(),
        dir.create_file(path, 0o644).err(),
        dir.append_to_file(path, 0o644).err(),
        dir.rename(path, "new").err(),
        dir.rename("file", path).err(),
        dir.remove_file(path).err(),
        dir.remove_tree(path, &options).err(),
        dir.meta_at(path).err(),
        dir.read_link(path).err(),
    ];
    for (index, error) in errors.into_iter().enumerate() {
        let error = error.unwrap_or_else(|| panic!("{path}: {index} was not refused"));
        assert!(is_expected(&error), "{path}: {index}: {error}");
    }
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/file", "x");
        let dir = scratch.dir("from");
        let outside = scratch.path("outside");
        for path in [
            "",
            ".",
            "..",
            "/",
            "../outside/precious",
            "file/../../outside",
            "./file",
            outside.to_str().unwrap(),
        ] {
            assert_refused(&dir, path, |error| {
                matches!(error, TreeError::NotBeneath { .. })
            });
        }
        scratch.link(&outside, "from/out");
        scratch.link(".", "from/self");
        for path in ["out/precious", "out/dir/more", "self/file", "self/out/new"] {
            assert_refused(&dir, path, |error| matches!(error, TreeError::Link { .. }));
        }
        scratch.link("../outside/precious", "from/link");
        for refused in [
            dir.open_file("link").err(),
            dir.append_to_file("link", 0o644).err(),
            dir.open_dir("out").err(),
            dir.create_dir_all("out/new", 0o755).err(),
        ] {
            let is_link = matches!(refused, Some(TreeError::Link { .. }));
            assert!(is_link, "{refused:?}");
        }
        assert!(dir.create_file("link", 0o644).is_err());
        assert_eq!(
            dir.read_link("link").unwrap(),
            PathBuf::from("../outside/precious")
        );
        dir.remove_file("link").unwrap();
        assert!(dir.remove_tree("out", &Options::default()).is_ok());
        assert!(dir.meta_at("out").unwrap().is_none());
        scratch.assert_outside_untouched();
        assert_eq!(dir.read_file("file", 10).unwrap(), b"x");
    });
}

#[test]
fn a_pipe_is_no_file_and_keeps_nobody_waiting() {
    in_every_way(|| {
        let scratch = Scratch::new();
        let made = Command::new("mkfifo")
            .arg(scratch.path("from/pipe"))
            .status();
        assert!(made.unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(scratch.path("from/socket")).unwrap();
        std::fs::create_dir(scratch.path("from/dir")).unwrap();
        let dir = scratch.dir("from");
        for name in ["pipe", "dir"] {
            for refused in [
                dir.open_file(name).err(),
                dir.read_file(name, 10).err(),
                dir.append_to_file(name, 0o644).err(),
            ] {
                let error = refused.unwrap();
                let is_expected = matches!(error, TreeError::NotAFile { .. })
                    || error.kind() == std::io::ErrorKind::IsADirectory;
                assert!(is_expected, "{error}");
            }
        }
        assert!(dir.open_file("socket").is_err());
    });
}

#[test]
fn a_root_that_is_a_link_can_be_refused() {
    let scratch = Scratch::new();
    scratch.link("outside", "link");
    assert!(Dir::open(scratch.path("link")).is_ok());
    assert!(Dir::open_no_link(scratch.path("link")).is_err());
    assert!(Dir::open_no_link(scratch.path("outside")).is_ok());
}
