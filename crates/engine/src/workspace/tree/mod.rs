//! Trees of files: copying, moving, removing and walking them.

mod copy;
mod move_dir;
mod permissions;
mod remove;
mod visible;
mod walk;

pub use copy::{Copied, copy_file, copy_tree, copy_visible_tree};
pub use move_dir::move_dir;
pub use permissions::make_readable;
pub use remove::remove;
pub use walk::{stays_inside, walk};
