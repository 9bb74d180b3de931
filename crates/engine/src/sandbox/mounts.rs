//! The places of a sandbox, the arguments of bubblewrap that make them, and the rules that keep to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::sandbox::ContainerEngine;

use super::{Mirror, View};
use crate::process::work_command::MIRRORED;
use crate::tree::{Dir, Meta, Options, TreeError};

/// The directory of temporary files, which is the trial's own inside.
const TMP: &str = "/tmp";

/// A place in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The same file or directory as outside, read-only.
    ReadOnly,
    /// The same directory as outside.
    Writable,
    /// Another file or directory, read-only.
    ReadOnlyFrom(Utf8PathBuf),
    /// Another directory.
    WritableFrom(Utf8PathBuf),
    /// A symbolic link.
    Link(String),
    /// An empty directory in memory.
    Empty,
    /// Nothing that can be read, in the place of a file.
    Closed,
    /// What the image of a container has there.
    OfImage,
}

impl Place {
    /// Returns the file or directory that is shown at a path, and whether it can be changed there.
    fn bound<'a>(&'a self, path: &'a Utf8Path) -> Option<(&'a Utf8Path, bool)> {
        match self {
            Place::ReadOnly => Some((path, false)),
            Place::Writable => Some((path, true)),
            Place::ReadOnlyFrom(source) => Some((source, false)),
            Place::WritableFrom(source) => Some((source, true)),
            Place::Closed => Some((Utf8Path::new("/dev/null"), false)),
            Place::Link(_) | Place::Empty | Place::OfImage => None,
        }
    }
}

/// The places of a sandbox, each above those beneath it.
#[derive(Debug, Clone, Default)]
pub(super) struct Mounts {
    places: BTreeMap<Utf8PathBuf, Place>,
}

impl Mounts {
    /// Sets what is at a path, whatever was there.
    pub(super) fn set(&mut self, path: impl Into<Utf8PathBuf>, place: Place) {
        self.places.insert(path.into(), place);
    }

    /// Shows a file or directory, unless it is there already or is not there outside either.
    pub(super) fn show(&mut self, path: &Utf8Path) {
        if !self.has(path) && path.exists() {
            self.set(path, Place::ReadOnly);
        }
    }

    /// Returns whether a path is the same as outside, or the image's own.
    pub(super) fn has(&self, path: &Utf8Path) -> bool {
        let nearest = path.ancestors().find_map(|above| self.places.get(above));
        matches!(
            nearest,
            Some(Place::ReadOnly | Place::Writable | Place::Link(_) | Place::OfImage)
        )
    }

    /// Returns the files and directories of a directory that are the same as outside.
    pub(super) fn same_in(&self, dir: &Utf8Path) -> Vec<Utf8PathBuf> {
        let places = self.places.iter();
        let same = places.filter(|(_, place)| **place == Place::ReadOnly);
        let same = same.map(|(path, _)| path);
        same.filter(|path| path.parent() == Some(dir))
            .cloned()
            .collect()
    }

    /// Shows the files that a command reads.
    pub(super) fn show_what_is_read(&mut self, view: &View<'_>) {
        for path in view.readable.iter().filter(|path| path.exists()) {
            self.set(path, Place::ReadOnly);
        }
    }

    /// Hides what a command must not see, by every name that is there.
    pub(super) fn hide(&mut self, view: &View<'_>) {
        for path in &view.hidden {
            let place = match path.symlink_metadata() {
                _ if path.is_dir() => Place::Empty,
                Ok(_) => Place::Closed,
                Err(_) => continue,
            };
            let others = self.places.iter().filter_map(|(name, place)| match place {
                Place::ReadOnlyFrom(real) => Some(name.join(path.strip_prefix(real).ok()?)),
                _ => None,
            });
            for name in others.chain([path.clone()]).collect::<Vec<_>>() {
                self.set(name, place.clone());
            }
        }
    }

    /// Shows the directories that a command writes to.
    pub(super) fn show_what_is_written(&mut self, view: &View<'_>) {
        for path in view.own_dirs() {
            match view.fixed_root {
                Some(root) => self.set(root.path(path), Place::WritableFrom(path.to_owned())),
                None => self.set(path, Place::Writable),
            }
        }
        if let Some(mirror) = &view.mirror {
            self.show_mirror(mirror, view);
        }
        // Not in memory, and seen by the agent where set-up has left something there.
        self.set(TMP, Place::WritableFrom(view.dirs.tmp.to_owned()));
        make_mount_points(view.dirs.tmp, &self.directly_beneath(Utf8Path::new(TMP)));
    }

    fn show_mirror(&mut self, mirror: &Mirror<'_>, view: &View<'_>) {
        let workspace = view.dirs.workspace;
        let shown = view.fixed_root.map(|root| root.path(&mirror.dir));
        let mirrored = shown.unwrap_or(mirror.dir.clone()).join(MIRRORED);
        self.set(mirrored.clone(), Place::WritableFrom(workspace.to_owned()));
        for hidden in mirror.hidden {
            // Nobody can move a directory where something is mounted, and what is hidden with it.
            for dir in hidden.ancestors().skip(1).filter(|dir| *dir != "") {
                let place = Place::WritableFrom(workspace.join(dir));
                self.set(mirrored.join(dir), place);
            }
            self.set(mirrored.join(hidden), Place::Closed);
        }
    }

    /// Returns the places beneath a path that are in no other one there, relative to it, and whether each is a directory.
    fn directly_beneath(&self, above: &Utf8Path) -> Vec<(Utf8PathBuf, bool)> {
        let mut found: Vec<(Utf8PathBuf, bool)> = Vec::new();
        for (path, place) in &self.places {
            let relative = match path.strip_prefix(above) {
                Ok(relative) if !relative.as_str().is_empty() => relative,
                _ => continue,
            };
            let is_dir = match (place.bound(path), place) {
                (Some((source, _)), _) => source.is_dir(),
                (None, Place::Empty) => true,
                _ => continue,
            };
            // A path comes after those above it.
            if !found.iter().any(|(other, _)| relative.starts_with(other)) {
                found.push((relative.to_owned(), is_dir));
            }
        }
        found
    }

    /// Returns whether a place is there with the one above it.
    fn is_inside_another(&self, path: &Utf8Path, place: &Place) -> bool {
        let mut above = path.ancestors().skip(1);
        let nearest = above.find_map(|above| self.places.get(above));
        nearest == Some(&Place::ReadOnly)
            && match place {
                // A link may lead to something that is not there.
                Place::ReadOnly => !path.is_symlink(),
                // Another name, by a link that is there too.
                Place::ReadOnlyFrom(real) => self.has(real),
                _ => false,
            }
    }

    /// Returns bubblewrap's arguments. A path comes after those above it, as they would cover it.
    pub(super) fn args(&self) -> Vec<String> {
        let mut args = Vec::new();
        for (path, place) in &self.places {
            let words = match (place.bound(path), place) {
                // It is there already, and each mount takes bubblewrap a while.
                _ if self.is_inside_another(path, place) => continue,
                (Some((source, true)), _) => vec!["--bind", source.as_str()],
                (Some((source, false)), _) => vec!["--ro-bind", source.as_str()],
                (None, Place::Link(target)) => vec!["--symlink", target],
                (None, Place::Empty) => vec!["--tmpfs"],
                _ => continue,
            };
            let words = words.into_iter().chain([path.as_str()]);
            args.extend(words.map(str::to_owned));
        }
        args
    }

    /// Returns what can be read and what can be written, for rules that hold for everything beneath a path and cannot be
    /// taken back there. A directory with something hidden beneath it is replaced by what is around that.
    pub(super) fn rules(&self) -> (Vec<Utf8PathBuf>, Vec<Utf8PathBuf>) {
        let mut readable = Vec::new();
        let mut writable = Vec::new();
        for (path, place) in &self.places {
            match place {
                Place::ReadOnly => self.around_hidden(path, &mut readable),
                Place::Writable => self.around_hidden(path, &mut writable),
                // Another name of what is there has no rule of its own.
                Place::ReadOnlyFrom(source) if self.has(source) => {}
                Place::ReadOnlyFrom(source) => readable.push(source.clone()),
                Place::WritableFrom(source) => writable.push(source.clone()),
                _ => {}
            }
        }
        (readable, writable)
    }

    /// Adds a path, or what is in it, so that nothing hidden is beneath what is added.
    fn around_hidden(&self, path: &Utf8Path, found: &mut Vec<Utf8PathBuf>) {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            if !self.has(&path) {
                continue;
            }
            let has_hidden = self.places.iter().any(|(other, place)| {
                other.starts_with(&path) && matches!(place, Place::Empty | Place::Closed)
            });
            if !has_hidden {
                found.push(path);
                continue;
            }
            for entry in path.read_dir_utf8().into_iter().flatten().flatten() {
                // A link leads to something that has a rule of its own, or none.
                if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                    open.push(entry.into_path());
                }
            }
        }
    }

    /// Returns the arguments of Docker and Podman, which put the places into order themselves.
    pub(super) fn container_args(&self, engine: ContainerEngine) -> Vec<String> {
        let empty = match engine {
            ContainerEngine::Docker => "",
            // It would copy into the empty directory what is beneath it.
            ContainerEngine::Podman => ",notmpcopyup",
        };
        let mut args = Vec::new();
        for (path, place) in &self.places {
            let target = field("target", path.as_str());
            let value = match (place.bound(path), place) {
                (Some((source, is_writable)), _) => {
                    let source = field("source", source.as_str());
                    let end = if is_writable { "" } else { ",readonly" };
                    format!("type=bind,{source},{target}{end}")
                }
                (None, Place::Empty) => format!("type=tmpfs,{target},tmpfs-mode=1777{empty}"),
                _ => continue,
            };
            args.extend(["--mount".to_owned(), value]);
        }
        args
    }
}

/// Returns a field of a comma-separated list. A path may have commas and quotes.
fn field(name: &str, path: &str) -> String {
    if path.contains([',', '"', '\n']) {
        format!("\"{name}={}\"", path.replace('"', "\"\""))
    } else {
        format!("{name}={path}")
    }
}

/// Makes an empty directory or file for each point in a trial's temporary directory that parts of the machine are mounted
/// on, for a suite below `/tmp`. An earlier command may have moved one away and put a link there, which
/// would keep the next one from being started.
fn make_mount_points(tmp: &Utf8Path, points: &[(Utf8PathBuf, bool)]) {
    for (point, is_dir) in points {
        // The program that makes the sandbox says what it misses.
        let _ = make_one(tmp, point, *is_dir);
    }
}

fn make_one(tmp: &Utf8Path, point: &Utf8Path, is_dir: bool) -> Result<(), TreeError> {
    let tmp = Dir::open_no_link(tmp)?;
    let mut path = PathBuf::new();
    for name in point.parent().into_iter().flat_map(Utf8Path::components) {
        path.push(name.as_str());
        make_entry(&tmp, &path, true)?;
    }
    make_entry(&tmp, point.as_std_path(), is_dir)
}

fn make_entry(tmp: &Dir, path: &Path, is_dir: bool) -> Result<(), TreeError> {
    let meta = tmp.meta_at(path)?;
    let is_right = |meta: &Meta| {
        if is_dir {
            meta.is_dir()
        } else {
            meta.is_file()
        }
    };
    if meta.as_ref().is_some_and(is_right) {
        return Ok(());
    }
    if meta.is_some() {
        let _removed = tmp.remove_tree(path, &Options::default())?;
    }
    if is_dir {
        tmp.create_dir(path, 0o700)?;
    } else {
        tmp.create_file(path, 0o600)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_point_is_replaced() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let (tmp, elsewhere) = (root.join("tmp"), root.join("elsewhere"));
        for dir in [&tmp, &elsewhere] {
            fs_err::create_dir(dir).unwrap();
        }
        fs_err::os::unix::fs::symlink(&elsewhere, tmp.join("a")).unwrap();
        fs_err::create_dir(tmp.join("file")).unwrap();
        let points = [("a/suite".into(), true), ("file".into(), false)];
        make_mount_points(&tmp, &points);
        assert!(tmp.join("a/suite").is_dir());
        assert!(tmp.join("file").is_file());
        assert!(!tmp.join("a").is_symlink());
        assert_eq!(elsewhere.read_dir_utf8().unwrap().count(), 0);
        fs_err::write(tmp.join("a/kept"), "").unwrap();
        make_mount_points(&tmp, &points);
        assert!(tmp.join("a/kept").is_file());
    }

    #[test]
    fn a_path_with_commas_is_one_field() {
        let mut mounts = Mounts::default();
        mounts.set("/a,readonly", Place::Writable);
        mounts.set("/b", Place::ReadOnlyFrom("/x\"y".into()));
        mounts.set("/usr", Place::OfImage);
        assert_eq!(
            mounts.container_args(ContainerEngine::Docker),
            [
                "--mount",
                r#"type=bind,"source=/a,readonly","target=/a,readonly""#,
                "--mount",
                r#"type=bind,"source=/x""y",target=/b,readonly"#,
            ]
        );
    }

    #[test]
    fn a_place_comes_after_those_above_it() {
        let mut mounts = Mounts::default();
        mounts.set("/a/b/c", Place::Writable);
        mounts.set("/a-b", Place::ReadOnly);
        mounts.set("/a/b", Place::Empty);
        mounts.set("/a", Place::ReadOnly);
        let args = mounts.args().join(" ");
        assert_eq!(
            args,
            "--ro-bind /a /a --tmpfs /a/b --bind /a/b/c /a/b/c --ro-bind /a-b /a-b"
        );
    }

    #[test]
    fn a_place_inside_another_is_mounted_once() {
        let mut mounts = Mounts::default();
        mounts.set("/a", Place::ReadOnly);
        mounts.set("/a/b", Place::ReadOnly);
        mounts.set("/a/c", Place::Empty);
        mounts.set("/a/c/d", Place::ReadOnly);
        mounts.set("/a/w", Place::Writable);
        let args = mounts.args().join(" ");
        let expected = "--ro-bind /a /a --tmpfs /a/c --ro-bind /a/c/d /a/c/d --bind /a/w /a/w";
        assert_eq!(args, expected);
    }

    #[test]
    fn no_rule_is_above_something_hidden() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        for dir in [
            "suite/eval/_solution", "suite/tools", "suite/.terca/run/trial",
        ] {
            fs_err::create_dir_all(root.join(dir)).unwrap();
        }
        fs_err::write(root.join("suite/eval/prompt"), "").unwrap();
        fs_err::os::unix::fs::symlink("eval/_solution", root.join("suite/link")).unwrap();
        let mut mounts = Mounts::default();
        mounts.set(root.join("suite"), Place::ReadOnly);
        mounts.set(root.join("suite/eval/_solution"), Place::Empty);
        mounts.set(root.join("suite/.terca"), Place::Empty);
        mounts.set(root.join("suite/.terca/run/trial"), Place::ReadOnly);
        mounts.set(root.join("workspace"), Place::Writable);
        let (mut readable, writable) = mounts.rules();
        readable.sort();
        let expected = ["suite/.terca/run/trial", "suite/eval/prompt", "suite/tools"];
        assert_eq!(readable, expected.map(|path| root.join(path)));
        assert_eq!(writable, [root.join("workspace")]);
    }

    #[test]
    fn what_is_hidden_is_not_the_same_as_outside() {
        let mut mounts = Mounts::default();
        mounts.set("/usr", Place::ReadOnly);
        mounts.set("/usr/hidden", Place::Empty);
        assert!(mounts.has("/usr/bin/node".into()));
        assert!(!mounts.has("/usr/hidden/file".into()));
        assert!(!mounts.has("/home/user".into()));
        let beneath = mounts.directly_beneath("/usr".into());
        assert_eq!(beneath, [("hidden".into(), true)]);
        assert!(mounts.directly_beneath("/us".into()).is_empty());
    }
}
