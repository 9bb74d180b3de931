//! Extended attributes of files.

use std::os::fd::BorrowedFd;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, flistxattr_query, fsetxattr};

/// The beginning of the names that every user may give.
const OF_USERS: &[u8] = b"user.";
/// The names by which a mounted workspace tells its own state. They mean nothing in a copy, and would be taken for a
/// state there.
const OF_OVERLAYS: &[u8] = b"user.overlay.";
/// The most bytes of names, and of one value. The kernel has the same limits.
const LONGEST: usize = 64 * 1024;

/// Copies the attributes that users give to files, as far as the file system of the copy takes them.
pub fn copy_attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
    // Nearly all files have none: the question alone takes no memory.
    let Ok(length @ 1..) = flistxattr_query(from) else {
        return;
    };
    let mut names = vec![0; length.min(LONGEST)];
    // An attribute that was added meanwhile makes the list too long for its place. It is not worth another attempt.
    let Ok(length) = flistxattr(from, &mut names[..]) else {
        return;
    };
    let mut value = Vec::new();
    for name in names[..length].split(|byte| *byte == 0) {
        if !name.starts_with(OF_USERS) || name.starts_with(OF_OVERLAYS) {
            continue;
        }
        value.resize(LONGEST, 0);
        if let Ok(length) = fgetxattr(from, name, &mut value[..]) {
            // A full or simple file system has no place for it.
            let _ = fsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
}
