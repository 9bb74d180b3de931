//! Trees of files: walking, copying, removing, hashing, measuring, and opening files beneath a directory.
//!
//! A tree may have been made by an agent that wants to do harm. So no symbolic link is followed, no mount is crossed, no
//! pipe or device is opened for reading, and each entry is reached by its name from an open handle. Every operation looks
//! at [`Options::should_stop`] between pieces, and keeps to [`Limits`], so that a monstrous tree is an error of its own
//! kind and not an endless copy. So is a tree that is deeper than the longest path of the kernel; only its removal works.
//!
//! | file | |
//! |---|---|
//! | `dir` | an open directory, and single files beneath it |
//! | `walk` | goes over the entries of a tree, one at a time; lists and measures them |
//! | `copy`, `remove`, `hash` | the operations |
//! | `meta`, `limits`, `error` | the facts about an entry, the most that is allowed, what went wrong |
//! | `follow` | a path from the root, link by link |
//! | `archive` | trees on their way to another machine |
//! | `os` | the calls that differ between systems |

pub mod archive;
mod copy;
mod dir;
mod error;
mod follow;
mod hash;
mod limits;
mod meta;
mod os;
mod remove;
mod walk;

#[cfg(test)]
mod tests;

pub use copy::{Choice, WithoutHoles, can_share, copy, copy_file, move_dir, transfer};
pub use dir::Dir;
pub use error::{Note, Notes, TreeError, What};
pub use follow::follow;
pub use hash::{hash, hash_file, hash_of_facts, have_same_content, identity};
pub use limits::{Limits, Options, ShouldStop};
pub use meta::{Kind, Meta};
pub(crate) use os::NOT_LISTED;
pub use remove::{remove, remove_at, remove_contents};
pub use walk::{Entry, Visit, list, make_readable, measure, walk};
