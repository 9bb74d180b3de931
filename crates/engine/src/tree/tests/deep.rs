//! Trees that are deeper than a path can be long, with 64 open files at most and a small stack.

use super::*;

const LEVELS: usize = 17_000;

/// The shell lowers the limit; the stack is that of a thread.
fn with_little(test: &str, act: impl FnOnce() + Send + 'static) {
    if is_child(test, "ulimit -n 128 && exec \"$@\"") {
        std::thread::Builder::new()
            .stack_size(512 << 10)
            .spawn(act)
            .unwrap()
            .join()
            .unwrap();
    }
}

/// Makes so many levels of directories, with a file at the bottom.
fn make(scratch: &Scratch, levels: usize) {
    let mut lowest = scratch.dir("from");
    for _ in 0..levels {
        lowest = lowest.create_dir("d", 0o700).unwrap();
    }
    let file = lowest.create_file("file", 0o600).unwrap();
    std::io::Write::write_all(&mut &file, b"deep").unwrap();
}

#[test]
fn a_tree_with_the_longest_paths_is_copied_hashed_and_removed() {
    let test = "deep::a_tree_with_the_longest_paths_is_copied_hashed_and_removed";
    with_little(test, || {
        in_every_way(|| {
            let scratch = Scratch::new();
            make(&scratch, 1000);
            let options = Options::default();
            let (from, to) = (scratch.dir("from"), scratch.dir("to"));
            copy_all(&from, &to, &options).unwrap();
            assert_eq!(hash(&from, &options).unwrap(), hash(&to, &options).unwrap());
            let file = PathBuf::from("d/".repeat(1000)).join("file");
            assert_eq!(list(&to, &options).unwrap()[0].0, file);
            assert_eq!(to.read_file(&file, 10).unwrap(), b"deep");
            assert!(remove(scratch.path("to"), &options).unwrap().is_empty());
            assert!(!scratch.path("to").exists());
        });
    });
}

#[test]
fn a_deeper_tree_is_an_error_that_says_so_and_is_removed() {
    let test = "deep::a_deeper_tree_is_an_error_that_says_so_and_is_removed";
    with_little(test, || {
        let scratch = Scratch::new();
        make(&scratch, LEVELS);
        let options = Options::default();
        let from = scratch.dir("from");
        for error in [
            copy_all(&from, &scratch.dir("to"), &options).unwrap_err(),
            hash(&from, &options).unwrap_err(),
            measure(&from, &options).unwrap_err(),
            from.open_dir("d/".repeat(3000)).unwrap_err(),
        ] {
            assert_eq!(
                error.to_string(),
                "the tree is too large: more than 4095 bytes in one path"
            );
        }
        let removed = remove(scratch.path("from"), &options).unwrap();
        assert!(removed.is_empty(), "{removed:?}");
        assert!(!scratch.path("from").exists());
    });
}
