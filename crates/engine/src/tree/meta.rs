//! The facts about an entry.

use rustix::fs::FileType;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// A named pipe, a socket or a device. It has no copy.
    Other,
}

impl Kind {
    /// Returns none for a file system that does not tell kinds in its listings.
    pub(super) fn of(kind: FileType) -> Option<Kind> {
        match kind {
            FileType::RegularFile => Some(Kind::File),
            FileType::Directory => Some(Kind::Dir),
            FileType::Symlink => Some(Kind::Link),
            FileType::Unknown => None,
            _ => Some(Kind::Other),
        }
    }
}

/// The facts about an entry, without following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The kind of the entry.
    pub kind: Kind,
    /// The kind and permissions as the system writes them (`st_mode`).
    pub mode: u32,
    /// The number of the user who owns it.
    pub owner: u32,
    /// The length in bytes, holes included.
    pub size: u64,
    /// The bytes it really takes.
    pub allocated: u64,
    /// The time of the last change of its content: seconds and nanoseconds.
    pub modified: (i64, u32),
    /// The time of the last change of any kind: seconds and nanoseconds.
    pub changed: (i64, u32),
    /// The device of its file system.
    pub device: u64,
    /// Its number in that file system.
    pub inode: u64,
    /// The mount it was reached through, where the system tells.
    pub mount: Option<u64>,
}

impl Meta {
    /// Returns true for a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Returns true for a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == Kind::Dir
    }

    /// Returns true for a symbolic link.
    pub fn is_link(&self) -> bool {
        self.kind == Kind::Link
    }

    /// Returns the permissions, with the set-user, set-group and sticky bits.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// Returns true when another mount begins here, seen from the directory that holds the entry.
    pub fn is_mount_in(&self, parent: &Meta) -> bool {
        match (self.mount, parent.mount) {
            (Some(here), Some(above)) => here != above,
            // Some file systems give files another device number than their directories.
            _ => self.is_dir() && self.device != parent.device,
        }
    }

    /// Returns the bytes that count for a limit: holes are free, and so is the rest of a block.
    pub(super) fn counted(&self) -> u64 {
        self.allocated.min(self.size)
    }

    /// Returns the pair that no other entry has at the same time.
    pub(super) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    #[cfg(target_os = "linux")]
    pub(super) fn of_statx(found: &rustix::fs::Statx) -> Meta {
        let kind = FileType::from_raw_mode(u32::from(found.stx_mode));
        let tells_mount = found.stx_mask & rustix::fs::StatxFlags::MNT_ID.bits() != 0;
        let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
        Meta {
            kind: Kind::of(kind).unwrap_or(Kind::Other),
            mode: u32::from(found.stx_mode),
            owner: found.stx_uid,
            size: found.stx_size,
            allocated: found.stx_blocks * 512,
            modified: (found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
            changed: (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
            device,
            inode: found.stx_ino,
            mount: tells_mount.then_some(found.stx_mnt_id),
        }
    }

    // The fields have other types on each system.
    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Meta {
        Meta {
            kind: Kind::of(FileType::from_raw_mode(stat.st_mode)).unwrap_or(Kind::Other),
            mode: stat.st_mode as u32,
            owner: stat.st_uid,
            size: stat.st_size as u64,
            allocated: stat.st_blocks as u64 * 512,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            mount: None,
        }
    }
}
