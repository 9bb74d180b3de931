//! Properties that hold of every tree: a copy is equal, a removal leaves nothing, and the outside stays as it is.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;

fn name() -> impl Strategy<Value = Vec<u8>> {
    let any_bytes = vec(1..=255u8, 1..12).prop_map(|mut name| {
        for byte in &mut name {
            if *byte == b'/' {
                *byte = b'\\';
            }
        }
        name
    });
    // Few names, so that two trees share some.
    prop_oneof![
        3 => prop_oneof![Just(b"a".to_vec()), Just(b"b".to_vec()), Just(b"c".to_vec())],
        1 => any_bytes,
    ]
    .prop_filter("not itself or above", |name| name != b"." && name != b"..")
}

fn mode() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0o644),
        Just(0o755),
        Just(0o000),
        Just(0o500),
        Just(0o1777),
        0..=0o777u32
    ]
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let sparse = (0..300_000usize, vec((0..300_000usize, any::<u8>()), 0..4));
    prop_oneof![
        4 => vec(any::<u8>(), 0..200),
        1 => sparse.prop_map(|(length, bytes)| {
            let mut content = vec![0; length];
            for (place, byte) in bytes {
                if let Some(found) = content.get_mut(place) {
                    *found = byte;
                }
            }
            content
        }),
    ]
}

fn tree() -> impl Strategy<Value = Node> {
    let links = [
        "../outside", "/", ".", "..", "a", "../../outside/precious", "loop", "nowhere",
    ];
    let leaf = prop_oneof![
        4 => (content(), mode(), 1..2_000_000_000i64).prop_map(|(content, mode, modified)| {
            Node::File { content, mode, modified }
        }),
        2 => proptest::sample::select(links.to_vec()).prop_map(|text| Node::Link(text.into())),
    ];
    let dir = leaf.prop_recursive(5, 60, 8, |inner| {
        (btree_map(name(), inner, 0..8), mode())
            .prop_map(|(entries, mode)| Node::Dir { entries, mode })
    });
    btree_map(name(), dir, 0..8).prop_map(|entries| Node::Dir {
        entries,
        mode: 0o755,
    })
}

fn make(path: &Path, node: &Node) {
    match node {
        Node::File {
            content,
            mode,
            modified,
        } => {
            let file = std::fs::File::create_new(path).unwrap();
            file.set_len(content.len() as u64).unwrap();
            for (index, piece) in content.chunks(4096).enumerate() {
                if piece.iter().any(|byte| *byte != 0) {
                    let offset = index as u64 * 4096;
                    std::os::unix::fs::FileExt::write_all_at(&file, piece, offset).unwrap();
                }
            }
            let time = std::time::Duration::from_secs(*modified as u64);
            file.set_modified(std::time::SystemTime::UNIX_EPOCH + time)
                .unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        Node::Link(text) => std::os::unix::fs::symlink(text, path).unwrap(),
        Node::Fifo => {
            let status = Command::new("mkfifo").arg(path).status().unwrap();
            assert!(status.success());
        }
        Node::Dir { entries, mode } => {
            if !path.exists() {
                std::fs::create_dir(path).unwrap();
            }
            for (name, node) in entries {
                make(&path.join(std::ffi::OsStr::from_bytes(name)), node);
            }
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
    }
}

/// The tree that a copy of `upper` onto `lower` should give.
fn joined(lower: Option<&Node>, upper: &Node) -> Node {
    match upper {
        Node::Dir { entries, mode } => {
            let mut result = match lower {
                Some(Node::Dir { entries, .. }) => entries.clone(),
                _ => BTreeMap::new(),
            };
            for (name, node) in entries {
                let node = joined(result.get(name), node);
                result.insert(name.clone(), node);
            }
            Node::Dir {
                entries: result,
                mode: *mode,
            }
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies_are_equal_and_removals_complete(first in tree(), second in tree(), is_old in any::<bool>()) {
        #[cfg(target_os = "linux")]
        os::WITHOUT_OPENAT2.set(is_old);
        let scratch = Scratch::new();
        make(&scratch.path("from"), &first);
        std::fs::create_dir(scratch.path("second")).unwrap();
        make(&scratch.path("second"), &second);

        let empty = Node::Dir { entries: BTreeMap::new(), mode: 0o755 };
        let options = Options::default();
        let to = scratch.dir("to");
        scratch.chmod("to", 0o755);
        copy_all(&scratch.dir("from"), &to, &options).unwrap();
        let expected = joined(Some(&empty), &first);
        prop_assert_eq!(&read(&scratch.path("to")), &expected);
        // The source is as it was, permissions and all.
        prop_assert_eq!(&read(&scratch.path("from")), &first);

        let twice = Scratch::new();
        copy_all(&to, &twice.dir("to"), &options).unwrap();
        prop_assert_eq!(hash(&to, &options).unwrap(), hash(&twice.dir("to"), &options).unwrap());

        copy_all(&scratch.dir("second"), &to, &options).unwrap();
        let expected = joined(Some(&expected), &second);
        prop_assert_eq!(read(&scratch.path("to")), expected);
        scratch.assert_outside_untouched();

        for name in ["from", "second", "to"] {
            let removed = remove(scratch.path(name), &options).unwrap();
            prop_assert!(removed.is_empty());
            prop_assert!(std::fs::symlink_metadata(scratch.path(name)).is_err());
        }
        scratch.assert_outside_untouched();
        #[cfg(target_os = "linux")]
        os::WITHOUT_OPENAT2.set(false);
    }
}
