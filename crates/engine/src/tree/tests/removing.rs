//! Removals leave nothing, and touch nothing outside.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn everything_is_removed_and_nothing_outside() {
    in_every_way(|| {
        let scratch = Scratch::new();
        scratch.write("from/closed/deeper/file", "x");
        scratch.write("from/readonly/file", "x");
        scratch.chmod("from/closed/deeper/file", 0o000);
        scratch.chmod("from/closed/deeper", 0o000);
        scratch.chmod("from/closed", 0o000);
        scratch.chmod("from/readonly", 0o555);
        scratch.link(scratch.path("outside"), "from/out");
        scratch.link("loop", "from/loop");
        scratch.link("..", "from/readonly-up");
        let removed = remove(scratch.path("from"), &Options::default()).unwrap();
        assert!(removed.is_empty());
        assert!(!scratch.path("from").exists());
        scratch.assert_outside_untouched();

        // A link to a directory is a link.
        scratch.link(scratch.path("outside"), "link");
        assert!(remove(scratch.path("link"), &Options::default()).is_ok());
        assert!(scratch.path("link").symlink_metadata().is_err());
        scratch.assert_outside_untouched();
        // Nothing there is nothing to do.
        for path in ["from", "from/below/nothing"] {
            let removed = remove(scratch.path(path), &Options::default()).unwrap();
            assert!(removed.is_empty());
        }
    });
}

#[test]
fn a_directory_above_that_cannot_be_listed_is_no_obstacle() {
    let scratch = Scratch::new();
    scratch.write("from/secret-name/dir/file", "x");
    scratch.chmod("from", 0o311);
    let removed = remove(scratch.path("from/secret-name"), &Options::default()).unwrap();
    assert!(removed.is_empty());
    assert!(!scratch.path("from/secret-name").exists());
}

#[test]
fn a_directory_can_be_emptied() {
    let scratch = Scratch::new();
    scratch.write("from/a/b", "x");
    scratch.write("from/c", "x");
    remove_contents(&scratch.dir("from"), &Options::default()).unwrap();
    assert_eq!(read(&scratch.path("from")).without_modes(), Node::dir([]));
}

#[test]
fn a_large_directory_is_removed_in_parts() {
    let scratch = Scratch::new();
    const FILES: u64 = 25_000;
    std::fs::create_dir(scratch.path("from/many")).unwrap();
    for index in 0..FILES {
        std::fs::File::create(scratch.path(&format!("from/many/{index}"))).unwrap();
    }
    let removed = remove(scratch.path("from"), &Options::default()).unwrap();
    assert!(removed.is_empty());
    assert!(!scratch.path("from").exists());
}

#[test]
fn a_removal_can_be_stopped() {
    let scratch = Scratch::new();
    for index in 0..100 {
        scratch.write(&format!("from/{index}"), "x");
    }
    let asked = Cell::new(0);
    let options = Options {
        should_stop: &|| {
            asked.set(asked.get() + 1);
            asked.get() > 50
        },
        ..Options::default()
    };
    let stopped = remove(scratch.path("from"), &options);
    assert!(matches!(stopped, Err(TreeError::Stopped)), "{stopped:?}");
    let left = scratch.dir("from").names(1000).unwrap();
    assert_eq!(left.len(), 50);
}

/// The stop is asked for before each entry, so it can play the part of somebody who changes the tree.
#[test]
fn a_directory_that_becomes_a_link_is_not_followed() {
    in_every_way(|| {
        for step in 1..6 {
            let scratch = Scratch::new();
            scratch.write("from/dir/dir/a", "x");
            scratch.write("from/dir/dir/b", "x");
            let asked = Cell::new(0);
            let options = Options {
                should_stop: &|| {
                    asked.set(asked.get() + 1);
                    if asked.get() == step {
                        for place in ["from/dir/dir", "from/dir"] {
                            let old = scratch.path(&format!("old-{step}-{}", place.len()));
                            if std::fs::rename(scratch.path(place), old).is_ok() {
                                scratch.link(scratch.path("outside"), place);
                            }
                        }
                    }
                    false
                },
                ..Options::default()
            };
            let removed = remove(scratch.path("from"), &options).unwrap();
            assert!(removed.is_empty(), "step {step}: {removed:?}");
            assert!(!scratch.path("from").exists(), "step {step}");
            scratch.assert_outside_untouched();
        }
    });
}

#[test]
fn a_directory_that_is_moved_away_does_not_lead_the_removal_away() {
    in_every_way(|| {
        let scratch = Scratch::new();
        let deep = "d/".repeat(30);
        scratch.write(&format!("from/{deep}file"), "x");
        scratch.write(&format!("from/{deep}last/file"), "x");
        std::fs::create_dir(scratch.path("outside/dir/d")).unwrap();
        scratch.write("outside/dir/d/d", "not to be removed");
        let asked = Cell::new(0);
        let options = Options {
            should_stop: &|| {
                asked.set(asked.get() + 1);
                if asked.get() == 32 {
                    let part = scratch.path("from").join("d/".repeat(15));
                    std::fs::rename(part, scratch.path("outside/dir/moved")).unwrap();
                }
                false
            },
            ..Options::default()
        };
        let removed = remove(scratch.path("from"), &options).unwrap();
        assert!(removed.is_empty(), "{removed:?}");
        assert!(!scratch.path("from").exists());
        assert!(scratch.path("outside/dir/more").exists());
        assert!(scratch.path("outside/dir/d/d").exists());
    });
}

#[test]
fn somebody_who_swaps_directories_all_the_time_does_not_lead_it_outside() {
    let scratch = Scratch::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let dir = scratch.path("from/a");
                let _ = std::fs::create_dir_all(dir.join("b"));
                let _ = std::fs::write(dir.join("b/more"), "x");
                let _ = std::fs::write(dir.join("precious"), "x");
                let _ = std::fs::rename(&dir, scratch.path("from/old"));
                let _ = std::os::unix::fs::symlink(scratch.path("outside"), &dir);
                let _ = std::fs::remove_file(&dir);
            }
        });
        for _ in 0..300 {
            let from = scratch.dir("from");
            // It may fail to finish, but not otherwise.
            match remove_contents(&from, &Options::default()) {
                Ok(()) | Err(TreeError::Moved { .. } | TreeError::Io { .. }) => {}
                Err(other) => panic!("{other}"),
            }
            match copy_all(&from, &scratch.dir("to"), &Options::default()) {
                Ok(_) | Err(TreeError::Moved { .. } | TreeError::Io { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    scratch.assert_outside_untouched();
    let copied = list(&scratch.dir("to"), &Options::default()).unwrap();
    for (path, meta) in copied.iter().filter(|(_, meta)| meta.is_file()) {
        let content = std::fs::read(scratch.path("to").join(path)).unwrap();
        assert!(content == b"x" || content.is_empty(), "{path:?} {meta:?}");
    }
}
