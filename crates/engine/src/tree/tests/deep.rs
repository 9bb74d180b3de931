//! A tree of 17,000 levels, with 64 open files at most and a small stack.

use super::*;

const LEVELS: usize = 17_000;

/// The shell lowers the limit; the stack is that of a thread.
fn with_little(test: &str, act: impl FnOnce() + Send + 'static) {
    if is_child(test, "ulimit -n 64 && exec \"$@\"") {
        std::thread::Builder::new()
            .stack_size(128 << 10)
            .spawn(act)
            .unwrap()
            .join()
            .unwrap();
    }
}

fn make(scratch: &Scratch, levels: usize) -> PathBuf {
    let mut path = String::new();
    for _ in 0..levels {
        path.push_str("d/");
    }
    let lowest = scratch.dir("from").create_dir_all(&path, 0o700).unwrap();
    let file = lowest.create_file("file", 0o600).unwrap();
    std::io::Write::write_all(&mut &file, b"deep").unwrap();
    PathBuf::from(path).join("file")
}

#[test]
fn a_deep_tree_is_copied_hashed_measured_and_removed() {
    let test = "deep::a_deep_tree_is_copied_hashed_measured_and_removed";
    with_little(test, || {
        let scratch = Scratch::new();
        let file = make(&scratch, LEVELS);
        let options = Options::default();
        let from = scratch.dir("from");
        let to = scratch.dir("to");
        let copied = copy_all(&from, &to, &options).unwrap();
        assert_eq!(copied.entries, LEVELS as u64 + 1);
        assert_eq!(to.read_file(&file, 10).unwrap(), b"deep");
        assert_eq!(list(&to, &options).unwrap()[0].0, file);
        assert_eq!(hash(&from, &options).unwrap(), hash(&to, &options).unwrap());
        assert_eq!(measure(&to, &options).unwrap().depth, LEVELS as u64);
        for name in ["from", "to"] {
            let removed = remove(scratch.path(name), &options).unwrap();
            assert_eq!(removed.entries, LEVELS as u64 + 2);
            assert!(removed.left.is_empty());
            assert!(!scratch.path(name).exists());
        }
    });
}

#[test]
fn a_deep_tree_is_handled_by_old_kernels() {
    let test = "deep::a_deep_tree_is_handled_by_old_kernels";
    with_little(test, || {
        #[cfg(target_os = "linux")]
        os::WITHOUT_OPENAT2.set(true);
        let scratch = Scratch::new();
        make(&scratch, 3000);
        scratch.copy().unwrap();
        let removed = remove(scratch.path("to"), &Options::default()).unwrap();
        assert_eq!(removed.entries, 3002);
    });
}

#[test]
fn a_tree_deeper_than_the_limit_is_an_error() {
    let scratch = Scratch::new();
    make(&scratch, 600);
    let options = Options {
        limits: Limits {
            depth: 500,
            ..Limits::default()
        },
        ..Options::default()
    };
    let error = list(&scratch.dir("from"), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tree is too large: more than 500 levels of directories"
    );
}

#[test]
fn an_error_in_the_deep_is_short() {
    let scratch = Scratch::new();
    let file = make(&scratch, 3000);
    let error = scratch.dir("from").open_dir(file).unwrap_err();
    assert!(error.to_string().chars().count() < 400, "{error}");
}
