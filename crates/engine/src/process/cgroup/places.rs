//! The control groups that a process is in, and their directories.

use camino::{Utf8Path, Utf8PathBuf};

/// The version of the kernel's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// A tree for each controller.
    One,
    /// One tree for all of them.
    Two,
}

/// The group of this process in one of the trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnGroup {
    pub(super) version: Version,
    /// The controllers of a tree of version 1.
    pub(super) controllers: Vec<String>,
    /// The root of the tree, as it is mounted.
    pub(super) mount: Utf8PathBuf,
    /// The directory of the group.
    pub(super) dir: Utf8PathBuf,
}

/// A tree that is mounted.
struct Tree<'a> {
    version: Version,
    /// The group that is at the root of the mount.
    root: &'a str,
    mount: &'a str,
    options: Vec<&'a str>,
}

/// Returns the groups of a process, from its `/proc/self/cgroup` and `/proc/self/mountinfo`.
pub(super) fn own_groups(groups: &str, mounts: &str) -> Vec<OwnGroup> {
    let trees: Vec<Tree<'_>> = mounts.lines().filter_map(tree).collect();
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let controllers: Vec<&str> = controllers
            .split(',')
            .filter(|name| !name.is_empty())
            .collect();
        let own = trees.iter().find_map(|tree| {
            let is_meant = match tree.version {
                Version::Two => controllers.is_empty(),
                Version::One => {
                    !controllers.is_empty()
                        && controllers.iter().all(|name| tree.options.contains(name))
                }
            };
            // A group above the root of the mount cannot be reached.
            let inside = Utf8Path::new(path).strip_prefix(tree.root).ok()?;
            is_meant.then(|| OwnGroup {
                version: tree.version,
                controllers: controllers.iter().map(|name| (*name).to_owned()).collect(),
                mount: tree.mount.into(),
                dir: Utf8Path::new(tree.mount).join(inside),
            })
        });
        found.extend(own);
    }
    found
}

fn tree(line: &str) -> Option<Tree<'_>> {
    let (place, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let version = match kind.next()? {
        "cgroup" => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    let mut place = place.split(' ').skip(3);
    Some(Tree {
        version,
        root: place.next()?,
        mount: place.next()?,
        options: kind.nth(1)?.split(',').collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(groups: &str, mounts: &str) -> Vec<(Version, String, String)> {
        own_groups(groups, mounts)
            .into_iter()
            .map(|own| {
                (
                    own.version,
                    own.controllers.join(","),
                    own.dir.into_string(),
                )
            })
            .collect()
    }

    #[test]
    fn trees_of_both_versions_are_found() {
        let mounts = "\
30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";
        let groups = "3:memory:/some/group\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/other\n";
        assert_eq!(
            found(groups, mounts),
            [
                (
                    Version::One,
                    "memory".to_owned(),
                    "/sys/fs/cgroup/memory/some/group".to_owned()
                ),
                (
                    Version::One,
                    "cpu,cpuacct".to_owned(),
                    "/sys/fs/cgroup/cpu,cpuacct/".to_owned()
                ),
                (
                    Version::Two,
                    String::new(),
                    "/sys/fs/cgroup/unified/other".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn a_part_of_a_tree_may_be_mounted() {
        let mounts = "32 30 0:28 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let inside = "3:memory:/docker/abc/child\n";
        assert_eq!(
            found(inside, mounts),
            [(
                Version::One,
                "memory".to_owned(),
                "/sys/fs/cgroup/memory/child".to_owned()
            )]
        );
        assert_eq!(found("3:memory:/elsewhere\n", mounts), []);
        assert_eq!(found("nonsense\n", "nonsense\n"), []);
    }
}
