//! The names in a directory, in one piece of memory.

use std::ops::Range;

use crate::tree::meta::Kind;

/// The names in a directory, with their kinds where the file system tells them.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: Vec<u8>,
    entries: Vec<Listed>,
    /// False when the directory has more.
    pub is_complete: bool,
}

#[derive(Debug)]
struct Listed {
    name: Range<usize>,
    inode: u64,
    kind: Option<Kind>,
}

impl Names {
    pub fn push(&mut self, name: &[u8], inode: u64, kind: Option<Kind>) {
        let start = self.text.len();
        self.text.extend_from_slice(name);
        self.entries.push(Listed {
            name: start..self.text.len(),
            inode,
            kind,
        });
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, index: usize) -> Option<(&[u8], Option<Kind>)> {
        let listed = self.entries.get(index)?;
        Some((self.text.get(listed.name.clone())?, listed.kind))
    }

    pub fn sort_by_name(&mut self) {
        let text = &self.text;
        self.entries
            .sort_unstable_by(|a, b| text[a.name.clone()].cmp(&text[b.name.clone()]));
    }

    /// The order in which most file systems have them on the disk.
    pub fn sort_by_inode(&mut self) {
        self.entries.sort_unstable_by_key(|listed| listed.inode);
    }
}
