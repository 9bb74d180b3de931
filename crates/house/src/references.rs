//! The modules that each module of a crate refers to.
//!
//! Only names count. A method or field of a value whose type is never named is not seen.

use crate::mentions::Mentions;
use crate::modules::{Crate, ModuleId};
use crate::scopes::{Scopes, Target};

/// A mention of one module's item in another module.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) from: ModuleId,
    /// The module that defines the item; re-exports in between are passed through.
    pub(crate) to: ModuleId,
    pub(crate) line: usize,
    pub(crate) is_reexport: bool,
}

/// Returns all references between different modules of a crate.
pub(crate) fn references(tree: &Crate) -> Vec<Reference> {
    let modules = tree.modules.iter();
    let mentions: Vec<Mentions> = modules
        .map(|module| Mentions::collect(&module.items))
        .collect();
    let scopes = Scopes::new(tree, &mentions);
    let mut references = Vec::new();
    for (from, mentions) in mentions.iter().enumerate() {
        for mention in &mentions.paths {
            let to = match scopes.resolve(from, &mention.path) {
                Some(Target::Item(module)) => module,
                // A private `use` of a module is a shorter name for it: the paths that begin with
                // it count.
                Some(Target::Module(module)) if mention.is_reexport => module,
                _ => continue,
            };
            if to != from {
                references.push(Reference {
                    from,
                    to,
                    line: mention.line,
                    is_reexport: mention.is_reexport,
                });
            }
        }
    }
    references
}
