//! Trees of files: walking, copying, removing, hashing, measuring, and opening files beneath a directory.
//!
//! A tree may have been made by an agent that wants to do harm. So nothing here recurses, holds more than a few
//! files open, follows a symbolic link, crosses a mount, or builds a path that the kernel must resolve: each
//! entry is reached by its name from an open handle of the directory it is in. Going up is `..`, and the
//! directory found there must be the one that was left. A tree can be deeper than the longest path of the kernel.
//!
//! Every operation looks at [`Options::should_stop`] between pieces, and keeps to [`Limits`], so that a monstrous
//! tree is an error of its own kind and not an endless copy.
//!
//! | file | |
//! |---|---|
//! | `dir` | an open directory |
//! | `trail` | the way down to the present directory, with few handles open |
//! | `cursor` | goes over the entries of a tree, one at a time |
//! | `walk`, `copy`, `moving`, `remove`, `hash`, `facts`, `identity`, `compare`, `measure`, `readable` | the operations |
//! | `content`, `without_holes` | the bytes of a file, without its holes |
//! | `limits`, `notes`, `error` | the most that is allowed, what was passed over, what went wrong |
//! | `beneath` | opens, makes and removes single files below a directory |
//! | `os` | the calls that differ between systems |

mod beneath;
mod compare;
mod content;
mod copy;
mod cursor;
mod dir;
mod error;
mod facts;
mod hash;
mod identity;
mod limits;
mod measure;
mod meta;
mod moving;
mod names;
mod notes;
mod os;
pub mod parcel;
mod readable;
mod remove;
mod stretches;
mod trail;
mod walk;
mod without_holes;

#[cfg(test)]
mod tests;

pub use compare::have_same_content;
pub use content::can_share;
pub use copy::{Choice, Copied, copy, copy_file, transfer};
pub use cursor::Entry;
pub use dir::Dir;
pub use error::{TreeError, What};
pub use facts::hash_of_facts;
pub use hash::{hash, hash_file};
pub use identity::{Identity, identity, identity_of};
pub use limits::{Limits, Options, ShouldStop};
pub use measure::{Size, measure};
pub use meta::{Kind, Meta};
pub use moving::move_dir;
pub use notes::{Note, Notes, Why};
pub use readable::make_readable;
pub use remove::{Removed, remove, remove_at, remove_contents};
pub use walk::{Visit, list, walk};
pub use without_holes::WithoutHoles;
