//! The workspace after a command that may have removed it.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;

/// Makes sure that there is a workspace, and that it can be read. Returns a remark if `who` had removed it.
pub(super) fn restore_workspace(workspace: &Utf8Path, who: &str) -> io::Result<Option<String>> {
    let note = match workspace.symlink_metadata() {
        Ok(meta) if meta.is_dir() => None,
        Ok(_) => {
            fs_err::remove_file(workspace)?;
            Some(format!("{who} replaced its workspace with something else"))
        }
        Err(_) => Some(format!("{who} removed its workspace")),
    };
    if note.is_some() {
        fs_err::create_dir(workspace)?;
    }
    // It is copied and moved as a whole; what is in it keeps its permissions.
    let mode = fs_err::symlink_metadata(workspace)?.permissions().mode();
    if mode & 0o700 != 0o700 {
        fs_err::set_permissions(workspace, Permissions::from_mode(mode | 0o700))?;
    }
    Ok(note)
}
