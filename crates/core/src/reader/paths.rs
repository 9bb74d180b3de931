//! Makes paths and names that users write safe.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::text::excerpt::char_boundary;

/// The longest folder name. With the parts around it, a path component stays under 255 bytes.
const LONGEST: usize = 100;

/// Makes a folder name from any name: characters that trouble file systems or shells become `-`.
pub fn folder_name(name: &str) -> String {
    let replaced: String = name
        .chars()
        .map(|c| {
            if c.is_control() || matches!(c, '/' | '\\') {
                '-'
            } else {
                c
            }
        })
        .collect();
    let mut folder = replaced.replace("..", "-");
    if folder.starts_with('.') {
        folder.replace_range(..1, "-");
    }
    if folder.len() <= LONGEST {
        return folder;
    }
    // Names that share a long beginning differ in the digest.
    format!(
        "{}-{}",
        &folder[..char_boundary(&folder, LONGEST - 9)],
        &crate::text::sha256(name.as_bytes())[..8]
    )
}

/// Returns a path inside the workspace without `.` and `..`, or the reason why it leaves the workspace.
pub(crate) fn inside(path: &str) -> Result<Utf8PathBuf, &'static str> {
    let mut clean = Utf8PathBuf::new();
    for component in Utf8Path::new(path).components() {
        match component {
            Utf8Component::Normal(part) => clean.push(part),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !clean.pop() {
                    return Err("this path leaves the workspace through `..`");
                }
            }
            Utf8Component::RootDir | Utf8Component::Prefix(_) => {
                return Err("this path is absolute");
            }
        }
    }
    Ok(clean)
}

/// Resolves a path relative to the directory of the file that names it.
pub(crate) fn beside(dir: &Utf8Path, path: &str) -> Utf8PathBuf {
    normal(&dir.join(path))
}

/// Removes `.` and `..` from a path as it is written.
pub fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut clean = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::ParentDir => {
                clean.pop();
            }
            Utf8Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_from_names() {
        for (name, folder) in [
            ("fib", "fib"),
            ("with space", "with space"),
            ("a/b\\c", "a-b-c"),
            ("../../etc", "----etc"),
            (".hidden", "-hidden"),
            (".", "-"),
            ("..", "-"),
            ("tab\there", "tab-here"),
            ("größe", "größe"),
        ] {
            assert_eq!(folder_name(name), folder, "{name:?}");
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let (one, two) = ("ä".repeat(200), format!("{}b", "ä".repeat(199)));
        assert!(folder_name(&one).len() <= LONGEST);
        assert_ne!(folder_name(&one), folder_name(&two));
    }

    #[test]
    fn paths_stay_inside() {
        assert_eq!(inside("a/./b/../c").unwrap(), "a/c");
        assert_eq!(inside(".").unwrap(), "");
        assert!(inside("../x").is_err());
        assert!(inside("a/../../x").is_err());
        assert!(inside("/etc/passwd").is_err());
    }
}
