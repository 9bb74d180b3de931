//! Makes evals of instances of SWE-bench, with trees from a local clone. Nothing is run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::new_suite::imported::Imported;
use terca_core::new_suite::mine::commit::{Change, Entry, Kind};
use terca_core::new_suite::mine::contents;
use terca_core::new_suite::mine::draft::Placed;
use terca_core::new_suite::mine::recipe::Project;
use terca_core::new_suite::mine::{Reason, Refusal};
use terca_core::new_suite::swe_bench::{Changed, Instance, Wishes, import, text_part};

use super::git::Git;
use super::{MineError, open, repository, staged};
use crate::host::environment::Host;
use crate::suite::create::{new_file, whole_dir};
use crate::workspace::trial_dirs::WorkDir;

/// A local clone of a repository.
#[derive(Debug)]
pub struct LocalClone {
    git: RefCell<Git>,
    /// It holds the directory of git while it is there.
    _work: WorkDir,
}

impl LocalClone {
    /// Opens the clone that a directory is in.
    pub fn open(dir: &Utf8Path, host: &Host) -> Result<Self, MineError> {
        let (repository, head) = repository(dir)?;
        let (work, git) = open(&repository, &head, host)?;
        Ok(LocalClone {
            git: RefCell::new(git),
            _work: work,
        })
    }

    /// Tells whether it has a commit.
    pub fn has(&self, commit: &str) -> bool {
        matches!(self.git.borrow_mut().commit(commit), Ok(Some(_)))
    }

    /// Makes an eval of an instance, or says why it cannot be one.
    pub fn import(&self, instance: &Instance, wishes: &Wishes) -> Result<Imported, String> {
        let tree = self.git.borrow().tree(&instance.base_commit);
        let tree = tree.map_err(|refusal| refusal.to_string())?;
        let is_submodule = |entry: &&Entry| entry.object.kind == Kind::Submodule;
        if let Some(entry) = tree.iter().find(is_submodule) {
            let refusal = Refusal::with(Reason::Submodules, entry.path.as_str());
            return Err(refusal.to_string());
        }
        let objects: BTreeMap<&Utf8Path, &str> = tree
            .iter()
            .filter(|entry| matches!(entry.object.kind, Kind::File(_)))
            .map(|entry| (entry.path.as_path(), entry.object.id.as_str()))
            .collect();
        let files: BTreeSet<Utf8PathBuf> = objects.keys().map(|path| (*path).to_owned()).collect();
        let text = |path: &Utf8Path| {
            let id = objects.get(path)?;
            let content = self.git.borrow_mut().content(id, staged::LARGEST_FILE);
            contents::text(content.ok()??)
        };
        let project = Project {
            files: &files,
            text: &text,
        };
        let [solution, tests] = [&instance.patch, &instance.test_patch]
            .map(|diff| self.changed(&instance.base_commit, diff));
        import(instance, &project, &solution?, &tests?, wishes)
    }

    /// Applies a diff to a commit.
    fn changed(&self, commit: &str, diff: &str) -> Result<Changed, String> {
        let (diff, binary) = text_part(diff);
        let mut git = self.git.borrow_mut();
        let mut changed = Changed {
            binary,
            ..Changed::default()
        };
        if diff.is_empty() {
            return Ok(changed);
        }
        let changes = git.applied(commit, &diff);
        let changes = changes.map_err(|_| "one of its diffs does not fit the base commit")?;
        for Change { path, new, .. } in changes {
            let Some(object) = new else {
                changed.removed.insert(path);
                continue;
            };
            let content = git.content(&object.id, staged::LARGEST_FILE);
            let content = content.map_err(|refusal| refusal.to_string())?;
            match content.and_then(contents::text) {
                Some(text) => drop(changed.texts.insert(path, text)),
                None => changed.binary.push(path.into_string()),
            }
        }
        Ok(changed)
    }

    /// Writes an eval with the tree of a commit. The directory is there only when it is whole.
    pub fn write(&self, eval: &Imported, commit: &str, to: &Utf8Path) -> io::Result<()> {
        let mut git = self.git.borrow_mut();
        let refused = |refusal: Refusal| io::Error::other(refusal.to_string());
        let placed: Vec<Placed> = (git.tree(commit).map_err(refused)?.into_iter())
            .map(|entry| Placed {
                below: "_base",
                path: entry.path,
                object: entry.object,
            })
            .collect();
        whole_dir(to, &eval.folder, |dir| {
            for (path, text) in &eval.written {
                new_file(&dir.join(path), text.as_bytes(), 0o666)?;
            }
            staged::place(&placed, dir, &mut git)?.map_err(refused)
        })
    }
}
