//! The names of users and groups in a sandbox.

use std::io;

use camino::Utf8Path;

use crate::host::environment::Host;

/// The id of files whose owner is not known inside.
const NOBODY: u32 = 65534;

/// Writes the names of the user and the group inside. Programs fail whose user has none.
pub(super) fn write(
    users: &Utf8Path,
    groups: &Utf8Path,
    (user, group): (u32, u32),
    host: &Host,
) -> io::Result<()> {
    let is_plain = |name: &&str| {
        !name.is_empty() && *name != "root" && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let name = match user {
        0 => "root",
        _ => host.get("USER").filter(is_plain).unwrap_or("agent"),
    };
    let mut user_lines = format!("{name}:x:{user}:{group}:{name}:/nonexistent:/bin/sh\n");
    let mut group_lines = format!("{name}:x:{group}:\n");
    if user != NOBODY {
        user_lines += &format!("nobody:x:{NOBODY}:{NOBODY}:nobody:/nonexistent:/bin/sh\n");
    }
    if group != NOBODY {
        group_lines += &format!("nogroup:x:{NOBODY}:\n");
    }
    fs_err::write(users, user_lines)?;
    fs_err::write(groups, group_lines)
}
