//! Tests of trees. Most run twice: as usual, and without `openat2`.

mod beneath;
mod copying;
mod deep;
mod files;
mod needs_root;
mod properties;
mod removing;
mod walking;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// A directory for a test, with one inside it that the tests work in and one that nothing may touch.
struct Scratch {
    root: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("terca-tree-")
            .tempdir()
            .unwrap()
            .keep();
        let scratch = Scratch { root };
        for name in ["from", "to", "outside/dir"] {
            std::fs::create_dir_all(scratch.path(name)).unwrap();
        }
        std::fs::write(scratch.path("outside/precious"), "precious").unwrap();
        std::fs::write(scratch.path("outside/dir/more"), "more").unwrap();
        scratch
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    fn dir(&self, below: &str) -> Dir {
        Dir::open(self.path(below)).unwrap()
    }

    fn write(&self, below: &str, content: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn chmod(&self, below: &str, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.path(below), permissions).unwrap();
    }

    fn link(&self, target: impl AsRef<Path>, below: &str) {
        std::os::unix::fs::symlink(target, self.path(below)).unwrap();
    }

    fn copy(&self) -> Result<Notes, TreeError> {
        copy_all(&self.dir("from"), &self.dir("to"), &Options::default())
    }

    fn assert_outside_untouched(&self) {
        let expected = Node::dir([
            ("precious", Node::file("precious")),
            ("dir", Node::dir([("more", Node::file("more"))])),
        ]);
        assert_eq!(read(&self.path("outside")).without_modes(), expected);
    }
}

impl Drop for Scratch {
    /// The standard library's own removal ends the process when a tree is deep.
    fn drop(&mut self) {
        let done = remove(&self.root, &Options::default());
        if !std::thread::panicking() {
            assert!(done.unwrap().is_empty());
            assert!(!self.root.exists());
        }
    }
}

fn copy_all(from: &Dir, to: &Dir, options: &Options<'_>) -> Result<Notes, TreeError> {
    copy(from, to, options, &mut |_| Ok(true))
}

/// Does something as usual, and as older kernels make it necessary.
fn in_every_way(act: impl Fn()) {
    act();
    #[cfg(target_os = "linux")]
    {
        os::WITHOUT_OPENAT2.set(true);
        act();
        os::WITHOUT_OPENAT2.set(false);
    }
}

/// A tree as the standard library sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    File {
        content: Vec<u8>,
        mode: u32,
        modified: i64,
    },
    Link(PathBuf),
    Fifo,
    Dir {
        entries: BTreeMap<Vec<u8>, Node>,
        mode: u32,
    },
}

impl Node {
    fn file(content: &str) -> Node {
        Node::File {
            content: content.into(),
            mode: 0,
            modified: 0,
        }
    }

    fn dir<const N: usize>(entries: [(&str, Node); N]) -> Node {
        Node::Dir {
            entries: entries
                .into_iter()
                .map(|(name, node)| (name.as_bytes().to_vec(), node))
                .collect(),
            mode: 0,
        }
    }

    /// For comparing names and contents only.
    fn without_modes(self) -> Node {
        match self {
            Node::File { content, .. } => Node::File {
                content,
                mode: 0,
                modified: 0,
            },
            Node::Dir { entries, .. } => Node::Dir {
                entries: entries
                    .into_iter()
                    .map(|(name, node)| (name, node.without_modes()))
                    .collect(),
                mode: 0,
            },
            other => other,
        }
    }
}

/// Reads a small tree. Permissions that forbid it are lifted for a moment.
fn read(path: &Path) -> Node {
    let meta = std::fs::symlink_metadata(path).unwrap();
    let mode = meta.mode() & 0o7777;
    if meta.is_symlink() {
        return Node::Link(std::fs::read_link(path).unwrap());
    }
    if meta.file_type().is_fifo() {
        return Node::Fifo;
    }
    let open = std::fs::Permissions::from_mode(mode | 0o700);
    std::fs::set_permissions(path, open).unwrap();
    let node = if meta.is_dir() {
        let entries = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let name = entry.file_name().as_bytes().to_vec();
                (name, read(&entry.path()))
            })
            .collect();
        Node::Dir { entries, mode }
    } else {
        let content = std::fs::read(path).unwrap();
        Node::File {
            content,
            mode,
            modified: meta.mtime(),
        }
    };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    node
}

/// Runs a test again in a process of its own, under a shell script that ends in `exec "$@"`. Returns true in
/// that process.
fn is_child(test: &str, script: &str) -> bool {
    const MARK: &str = "TREE_TEST_CHILD";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([&format!("tree::tests::{test}"), "--exact", "--nocapture"])
        .arg("--include-ignored")
        .env(MARK, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    false
}
