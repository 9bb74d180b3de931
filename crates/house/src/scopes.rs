//! Names and the modules that define them.

use std::collections::{HashMap, HashSet};

use crate::items::named;
use crate::mentions::Mentions;
use crate::modules::{Crate, ModuleId};

/// The names that are being looked up: modules may import from each other in a circle.
type Open = HashSet<(ModuleId, String)>;

/// The target of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module itself.
    Module(ModuleId),
    /// An item, with the module that defines it.
    Item(ModuleId),
}

/// Everything that can be named in each module of a crate.
#[derive(Debug)]
pub(crate) struct Scopes {
    scopes: Vec<Scope>,
}

#[derive(Debug)]
struct Scope {
    parent: Option<ModuleId>,
    children: HashMap<String, ModuleId>,
    items: HashSet<String>,
    imports: HashMap<String, Vec<Vec<String>>>,
    globs: Vec<Vec<String>>,
}

impl Scopes {
    /// Collects the scopes of a crate; `mentions` has an entry for each of its modules.
    pub(crate) fn new(tree: &Crate, mentions: &[Mentions]) -> Self {
        let mut scopes: Vec<Scope> = Vec::new();
        for (id, (module, mentions)) in tree.modules.iter().zip(mentions).enumerate() {
            let names = module.items.iter().filter_map(named);
            let mut scope = Scope {
                parent: module.position.parent,
                children: HashMap::new(),
                items: names.map(|item| item.name.to_string()).collect(),
                imports: HashMap::new(),
                globs: mentions.globs.clone(),
            };
            for (name, path) in &mentions.imports {
                scope
                    .imports
                    .entry(name.clone())
                    .or_default()
                    .push(path.clone());
            }
            scopes.push(scope);
            // A parent always comes before its children.
            if let (Some(parent), Some(name)) =
                (module.position.parent, module.position.path.last())
            {
                scopes[parent].children.insert(name.clone(), id);
            }
        }
        Scopes { scopes }
    }

    /// Returns what a path means in a module, or nothing when it leads out of the crate.
    pub(crate) fn resolve(&self, from: ModuleId, path: &[String]) -> Option<Target> {
        self.follow(from, path, false, &mut HashSet::new())
    }

    /// Follows a path from a module. A name that is unknown there is made by a macro of that module
    /// if `is_inside` says that the path has already led to the module; otherwise it is another
    /// crate's, or a local variable's.
    fn follow(
        &self,
        module: ModuleId,
        path: &[String],
        is_inside: bool,
        open: &mut Open,
    ) -> Option<Target> {
        let Some((name, rest)) = path.split_first() else {
            return Some(Target::Module(module));
        };
        let scope = &self.scopes[module];
        match name.as_str() {
            "crate" => return self.follow(0, rest, true, open),
            "self" => return self.follow(module, rest, true, open),
            "super" => return self.follow(scope.parent?, rest, true, open),
            _ => {}
        }
        // A module and a function may have the same name; only the module leads on.
        let child = scope.children.get(name).copied();
        if let Some(child) = child
            && !rest.is_empty()
        {
            return self.follow(child, rest, true, open);
        }
        if scope.items.contains(name) {
            return Some(Target::Item(module));
        }
        self.follow_imports(module, name, rest, open)
            .or(child.map(Target::Module))
            .or(is_inside.then_some(Target::Item(module)))
    }

    /// Follows a path whose first name comes into a module by `use`.
    fn follow_imports(
        &self,
        module: ModuleId,
        name: &str,
        rest: &[String],
        open: &mut Open,
    ) -> Option<Target> {
        let lookup = (module, name.to_owned());
        if !open.insert(lookup.clone()) {
            return None;
        }
        let scope = &self.scopes[module];
        let mut imports = scope.imports.get(name).into_iter().flatten();
        let by_name =
            imports.find_map(|path| self.follow(module, &[path, rest].concat(), false, open));
        let target = by_name
            .or_else(|| self.follow_globs(module, &[&[name.to_owned()], rest].concat(), open));
        open.remove(&lookup);
        target
    }

    /// Follows a path whose first name comes into a module by `use …::*`.
    fn follow_globs(&self, module: ModuleId, path: &[String], open: &mut Open) -> Option<Target> {
        let mut globs = self.scopes[module].globs.iter();
        globs.find_map(|glob| match self.follow(module, glob, false, open)? {
            Target::Module(opened) => self.follow(opened, path, false, open),
            Target::Item(_) => None,
        })
    }
}
