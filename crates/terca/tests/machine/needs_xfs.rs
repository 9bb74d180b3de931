//! Workspaces on a file system whose copies share their blocks.

use std::process::Command;

use camino::Utf8PathBuf;
use terca_testkit::Project;

use crate::common::project;
use crate::needs_overlay::{COPY, OVERLAY, Seen, User};

/// An XFS in a file, mounted for as long as this lives.
struct Xfs {
    _guard: tempfile::TempDir,
    place: Utf8PathBuf,
}

impl Xfs {
    fn mount() -> Self {
        let guard = tempfile::tempdir_in("/var/tmp").unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        let (image, place) = (dir.join("image"), dir.join("place"));
        std::fs::create_dir(&place).unwrap();
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(320 << 20).unwrap();
        succeed(Command::new("mkfs.xfs").arg("-q").arg(&image));
        let mut mount = Command::new("mount");
        succeed(mount.args(["-o", "loop"]).arg(&image).arg(&place));
        Xfs {
            _guard: guard,
            place,
        }
    }

    fn work_dir(&self) -> (&'static str, &str) {
        ("TERCA_WORK_DIR", self.place.as_str())
    }
}

impl Drop for Xfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.place).status();
    }
}

#[track_caller]
fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Returns the way that `terca doctor` names.
fn way(project: &Project, env: &[(&str, &str)]) -> String {
    let found = project.terca_with(env, &["doctor", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    found["workspaces"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs xfs"]
fn a_workspace_is_the_same_by_reflink_by_overlay_and_by_copy() {
    let xfs = Xfs::mount();
    let project = project();
    assert_eq!(way(&project, &[COPY, xfs.work_dir()]), "reflink");
    assert_eq!(way(&project, &[xfs.work_dir()]), "mounted");
    assert_eq!(way(&project, &[COPY]), "copied");
    let copied = Seen::of(User::Own, COPY, &[]);
    copied.assert_same_as(&Seen::of(User::Own, COPY, &[xfs.work_dir()]));
    copied.assert_same_as(&Seen::of(User::Own, OVERLAY, &[xfs.work_dir()]));
}
