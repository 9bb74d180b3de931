//! A crate's tree of modules, read by following `mod` from its root file.

use camino::{Utf8Path, Utf8PathBuf};
use syn::{Attribute, Expr, Item, Lit, Meta};

use crate::Error;
use crate::source::SourceFile;

/// A module's place in [`Crate::modules`].
pub(crate) type ModuleId = usize;

/// A crate's files and modules; the first module is its root.
#[derive(Debug)]
pub struct Crate {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) modules: Vec<Module>,
}

/// A module with its own items, without the modules that it declares.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) position: Position,
    /// The index of its file in [`Crate::files`].
    pub(crate) file: usize,
    pub(crate) items: Vec<Item>,
}

/// A module's position in its crate.
#[derive(Debug, Clone)]
pub(crate) struct Position {
    /// The names from the crate's root down to the module; empty for the root.
    pub(crate) path: Vec<String>,
    pub(crate) parent: Option<ModuleId>,
    /// The directory with the files of the modules that it declares.
    directory: Utf8PathBuf,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: Utf8PathBuf,
    /// The line's number, counted from 1.
    pub line: usize,
}

impl Crate {
    /// Reads the crate in a directory, from `src/lib.rs` or else `src/main.rs`.
    pub fn read(directory: &Utf8Path) -> Result<Self, Error> {
        let source = directory.join("src");
        let mut root = source.join("lib.rs");
        if !root.exists() {
            root = source.join("main.rs");
        }
        let mut tree = Crate {
            files: Vec::new(),
            modules: Vec::new(),
        };
        let position = Position {
            path: Vec::new(),
            parent: None,
            directory: source,
        };
        tree.read_module(&root, &position)?;
        Ok(tree)
    }

    pub(crate) fn path(&self, module: ModuleId) -> &[String] {
        &self.modules[module].position.path
    }

    pub(crate) fn place(&self, module: ModuleId, line: usize) -> Place {
        let file = self.files[self.modules[module].file].path.clone();
        Place { file, line }
    }

    fn read_module(&mut self, file: &Utf8Path, position: &Position) -> Result<(), Error> {
        let (source, parsed) = SourceFile::read(file)?;
        self.files.push(source);
        self.add_module(parsed.items, self.files.len() - 1, position)
    }

    /// Adds a module, then those that it declares.
    fn add_module(
        &mut self,
        items: Vec<Item>,
        file: usize,
        position: &Position,
    ) -> Result<(), Error> {
        let id = self.modules.len();
        let mut module = Module {
            position: position.clone(),
            file,
            items: Vec::new(),
        };
        let mut declared = Vec::new();
        for item in items {
            match item {
                Item::Mod(item) => declared.push(item),
                other => module.items.push(other),
            }
        }
        self.modules.push(module);
        for item in declared {
            let name = item.ident.to_string();
            let mut below = Position {
                path: [position.path.as_slice(), std::slice::from_ref(&name)].concat(),
                parent: Some(id),
                directory: position.directory.join(&name),
            };
            if let Some((_, items)) = item.content {
                self.add_module(items, file, &below)?;
                continue;
            }
            let mut path = position.directory.join(format!("{name}.rs"));
            if let Some(elsewhere) = item.attrs.iter().find_map(path_attribute) {
                path = self.files[file].path.with_file_name(elsewhere);
                below.directory = path.parent().unwrap_or(&path).to_owned();
            } else if !path.exists() {
                path = below.directory.join("mod.rs");
            }
            self.read_module(&path, &below)?;
        }
        Ok(())
    }
}

/// Returns the file that `#[path = "…"]` names.
fn path_attribute(attribute: &Attribute) -> Option<String> {
    if let Meta::NameValue(meta) = &attribute.meta
        && meta.path.is_ident("path")
        && let Expr::Lit(value) = &meta.value
        && let Lit::Str(text) = &value.lit
    {
        return Some(text.value());
    }
    None
}
