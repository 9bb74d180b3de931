//! A tree that is hard to compare and to save, and all that must be kept of one.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use camino::Utf8Path;
use rustix::fs::Access;
use terca_testkit::Project;

/// An agent that leaves everything that is hard to save.
pub const HOSTILE: &str = r#"
echo more >> src/changed.txt
rm src/removed.txt; rm -r gone
mv src/moved.txt src/other-name.txt; mv old-dir new-dir
rm -r was-dir; echo file > was-dir
rm was-file; mkdir was-file; echo in > was-file/in
rm -r twice; echo x > twice; rm twice; mkdir twice; echo again > twice/a
chmod 600 src/mode.txt; chmod 711 closed-to-lists
mkdir -p new/deep/deeper new/empty; echo n > new/deep/deeper/n
ln -s /nowhere new/dangling; ln -s .. up; rm link; ln -s elsewhere link
ln src/kept.txt hard; ln new/deep/deeper/n new/hard
printf x > "$(printf 'new/\377\376')"; mkdir "$(printf 'new/d\377')"; printf y > "$(printf 'new/d\377/f')"
printf z > "$(printf 'new/line\nbreak')"; printf p > 'new/50%41'; printf u > new/ünï
rm '100%'
stamp=$(stat -c %y src/forged.txt); printf FORGED > src/forged.txt; touch -d "$stamp" src/forged.txt
truncate -s 3000000 new/sparse; printf end >> new/sparse
n=0; while [ $n -lt 300 ]; do echo $n > src/many-$n; n=$((n + 1)); done
echo secret > new/closed; chmod 000 new/closed
mkdir new/shut; echo in > new/shut/in; chmod 000 new/shut
chmod 000 src/closed.txt
chmod 750 .
"#;

/// An extended attribute that is compared.
const ATTRIBUTE: &str = "user.note";

/// Adds the files that [`HOSTILE`] changes.
pub fn with_hostile_base(mut suite: Project) -> Project {
    for file in [
        "src/changed.txt", "src/removed.txt", "src/moved.txt", "src/mode.txt", "src/kept.txt",
        "src/forged.txt", "src/closed.txt", "gone/a", "gone/b/c", "old-dir/x", "was-dir/y",
        "was-file", "twice/a", "closed-to-lists/a", "100%",
    ] {
        suite = suite.file(&format!("task/_base/{file}"), "before");
    }
    std::os::unix::fs::symlink("src/kept.txt", suite.path("task/_base/link")).unwrap();
    suite
}

/// Returns everything that is kept of a tree: the kind and permissions, the text of a link, the content, the attribute.
pub fn tree(root: &Utf8Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    let mut closed = Vec::new();
    while let Some(path) = open.pop() {
        let place = root.as_std_path().join(&path);
        let meta = std::fs::symlink_metadata(&place).unwrap();
        let mut fact = format!("{:o}", meta.mode());
        let needed = match meta.is_dir() {
            true => Access::READ_OK | Access::EXEC_OK,
            false => Access::READ_OK,
        };
        // An ordinary user opens it, and closes it again at the end.
        if !meta.is_symlink() && rustix::fs::access(&place, needed).is_err() {
            std::fs::set_permissions(&place, Permissions::from_mode(0o700)).unwrap();
            closed.push((place.clone(), meta.permissions()));
        }
        if meta.is_symlink() {
            fact = format!("-> {:?}", std::fs::read_link(&place).unwrap());
        } else if meta.is_dir() {
            let entries = std::fs::read_dir(&place).unwrap();
            open.extend(entries.map(|entry| path.join(entry.unwrap().file_name())));
        } else if meta.is_file() {
            let content = std::fs::read(&place).unwrap();
            let sum = content.iter().fold(0_u64, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
            });
            fact += &format!(" {} {sum:x}", content.len());
        }
        let mut value = [0; 64];
        if let Ok(length) = rustix::fs::lgetxattr(&place, ATTRIBUTE, &mut value[..]) {
            fact += &format!(" {}", String::from_utf8_lossy(&value[..length]));
        }
        found.insert(path, fact);
    }
    for (place, permissions) in closed.into_iter().rev() {
        std::fs::set_permissions(place, permissions).unwrap();
    }
    found
}
