//! Mounts, marks and other users: only the superuser can make them.

use super::*;

const PRIVATE_MOUNTS: &str = "exec unshare --mount --propagation private \"$@\"";

fn run(program: &str, arguments: &[&std::ffi::OsStr]) {
    let done = Command::new(program).args(arguments).status().unwrap();
    assert!(done.success(), "{program} {arguments:?}");
}

fn mount_outside_on(scratch: &Scratch, from: &str, place: &str) {
    let bind = std::ffi::OsStr::new("--bind");
    run(
        "mount",
        &[
            bind,
            scratch.path(from).as_ref(),
            scratch.path(place).as_ref(),
        ],
    );
}

fn unmount(scratch: &Scratch, place: &str) {
    run("umount", &[scratch.path(place).as_ref()]);
}

#[test]
#[ignore = "needs root"]
fn nothing_crosses_a_mount() {
    if !is_child("needs_root::nothing_crosses_a_mount", PRIVATE_MOUNTS) {
        return;
    }
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/a/mounted/hidden", "x");
        scratch.write("from/a/file", "hidden");
        scratch.write("from/b", "x");
        mount_outside_on(&scratch, "outside", "from/a/mounted");
        mount_outside_on(&scratch, "outside/precious", "from/a/file");
        let options = Options::default();

        let copied = scratch.copy().unwrap();
        let mut skipped: Vec<_> = copied.first.iter().map(|note| &note.path).collect();
        skipped.sort();
        assert_eq!(skipped, [Path::new("a/file"), Path::new("a/mounted")]);
        let expected = Node::dir([
            ("a", Node::dir([("mounted", Node::dir([]))])),
            ("b", Node::file("x")),
        ]);
        assert_eq!(read(&scratch.path("to")).without_modes(), expected);

        let paths: Vec<PathBuf> = list(&scratch.dir("from"), &options)
            .unwrap()
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert!(!paths.contains(&"a/mounted/precious".into()), "{paths:?}");
        let before = hash(&scratch.dir("from"), &options).unwrap();
        for content in ["something else", "precious"] {
            scratch.write("outside/precious", content);
            assert_eq!(before, hash(&scratch.dir("from"), &options).unwrap());
        }
        let from = scratch.dir("from");
        assert!(matches!(
            from.read_file("a/mounted/precious", 10),
            Err(TreeError::MountPoint { .. })
        ));

        let removed = remove(scratch.path("from"), &options).unwrap();
        assert_eq!(removed.total, 2, "{removed:?}");
        let refused = removed.into_result(&scratch.path("from"));
        let kind = refused.map_err(|error| error.kind());
        assert_eq!(kind, Err(std::io::ErrorKind::CrossesDevices));
        scratch.assert_outside_untouched();

        // Onto a mount nothing is copied either.
        std::fs::create_dir(scratch.path("third")).unwrap();
        scratch.write("third/a/mounted/precious", "overwritten");
        let refused = copy_all(&scratch.dir("third"), &from, &options);
        assert!(
            matches!(refused, Err(TreeError::MountPoint { .. })),
            "{refused:?}"
        );
        scratch.assert_outside_untouched();

        // A root that is a mount is not removed either.
        let removed = remove(scratch.path("from/a/mounted"), &options).unwrap();
        assert_eq!(removed.total, 1);
        scratch.assert_outside_untouched();
        unmount(&scratch, "from/a/mounted");
        unmount(&scratch, "from/a/file");
    });
}

#[test]
#[ignore = "needs root"]
fn a_directory_is_moved_to_another_mount() {
    let test = "needs_root::a_directory_is_moved_to_another_mount";
    if !is_child(test, PRIVATE_MOUNTS) {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("from/dir/file", "x");
    scratch.write("from/dir/deeper/file", "x");
    scratch.chmod("from/dir", 0o550);
    let before = read(&scratch.path("from/dir"));
    std::fs::create_dir(scratch.path("other")).unwrap();
    mount_outside_on(&scratch, "other", "to");
    let (from, to) = (scratch.dir("from"), scratch.dir("to"));
    let options = Options::default();
    move_dir(&from, "dir".as_ref(), &to, "new".as_ref(), &options).unwrap();
    assert_eq!(read(&scratch.path("to/new")), before);
    assert!(!scratch.path("from/dir").exists());
    drop(to);
    unmount(&scratch, "to");
}

#[test]
#[ignore = "needs root"]
fn marked_files_are_removed_and_replaced() {
    let scratch = Scratch::new();
    scratch.write("from/dir/immutable", "x");
    scratch.write("from/dir/append", "x");
    scratch.write("from/append/file", "x");
    scratch.write("to/dir", "x");
    let chattr = |mark: &str, path: &str| {
        run("chattr", &[mark.as_ref(), scratch.path(path).as_ref()]);
    };
    chattr("+i", "from/dir/immutable");
    chattr("+a", "from/dir/append");
    chattr("+i", "from/dir");
    chattr("+a", "from/append");
    chattr("+i", "to/dir");
    scratch.copy().unwrap();
    let removed = remove(scratch.path("from"), &Options::default()).unwrap();
    assert!(removed.is_empty(), "{removed:?}");
    assert!(!scratch.path("from").exists());
    assert!(scratch.path("to/dir/immutable").exists());
}

/// The superuser may read everything, so that the tests of permissions mean little for it.
#[test]
#[ignore = "needs root"]
fn an_ordinary_user_passes_the_other_tests() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [dir.path(), &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args([
            "tree::tests::copying", "removing", "walking", "beneath", "properties",
            "tree::tests::files",
        ])
        .args(["--test-threads", "2"])
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let closed = "what_the_owner_may_not_read_is_copied_with_its_permissions ... ok";
    assert!(text.contains(closed), "{text}");
}

#[test]
#[ignore = "needs root"]
fn a_copy_of_a_stranger_s_file_does_not_act_as_the_stranger() {
    let scratch = Scratch::new();
    for name in ["from/theirs", "from/ours"] {
        scratch.write(name, "x");
    }
    std::os::unix::fs::chown(scratch.path("from/theirs"), Some(65534), None).unwrap();
    for name in ["from/theirs", "from/ours"] {
        scratch.chmod(name, 0o6755);
    }
    scratch.copy().unwrap();
    for (name, mode) in [("theirs", 0o755), ("ours", 0o6755)] {
        let found = std::fs::metadata(scratch.path("to").join(name)).unwrap();
        assert_eq!(found.mode() & 0o7777, mode, "{name}");
    }
}
