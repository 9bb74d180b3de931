//! The paths that a module writes down, before they are resolved.

use proc_macro2::{Literal, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, Macro, Meta, Path, UseTree, VisRestricted, Visibility};

/// A path in the source, such as `super::judge::Verdict`.
#[derive(Debug)]
pub(crate) struct Mention {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// True of `pub use`, which offers its target to others even when it is a whole module.
    pub(crate) is_reexport: bool,
}

/// The names that `use` brings into a module, and all paths that the module mentions.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    pub(crate) paths: Vec<Mention>,
    /// Local names with the paths that they mean.
    pub(crate) imports: Vec<(String, Vec<String>)>,
    pub(crate) globs: Vec<Vec<String>>,
}

impl Mentions {
    pub(crate) fn collect(items: &[Item]) -> Self {
        let mut mentions = Mentions::default();
        for item in items {
            mentions.visit_item(item);
        }
        mentions
    }

    fn add(&mut self, path: Vec<String>, line: usize, is_reexport: bool) {
        self.paths.push(Mention {
            path,
            line,
            is_reexport,
        });
    }

    fn add_use(&mut self, tree: &UseTree, mut path: Vec<String>, is_reexport: bool) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.add_use(&tree.tree, path, is_reexport);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, path.clone(), is_reexport);
                }
            }
            UseTree::Glob(glob) => {
                self.globs.push(path.clone());
                self.add(path, glob.star_token.span.start().line, is_reexport);
            }
            UseTree::Name(name) => self.add_import(&name.ident, &name.ident, path, is_reexport),
            UseTree::Rename(name) => self.add_import(&name.ident, &name.rename, path, is_reexport),
        }
    }

    fn add_import(
        &mut self,
        name: &syn::Ident,
        local: &syn::Ident,
        mut path: Vec<String>,
        is_reexport: bool,
    ) {
        // `use a::b::{self}` imports `a::b`.
        if name != "self" {
            path.push(name.to_string());
        }
        let local = if local == "self" {
            path.last().cloned()
        } else {
            Some(local.to_string())
        };
        self.imports
            .extend(local.map(|local| (local, path.clone())));
        self.add(path, name.span().start().line, is_reexport);
    }

    /// Adds every `name::name` in tokens that have no syntax tree. A name after a dot is a field or
    /// a method.
    fn add_tokens(&mut self, stream: TokenStream) {
        let mut path = Vec::new();
        let mut line = 0;
        let mut separator = String::new();
        for token in stream {
            match token {
                TokenTree::Punct(punct) => {
                    separator.push(punct.as_char());
                    continue;
                }
                TokenTree::Ident(_) if separator == "." => {}
                TokenTree::Ident(name) => {
                    if separator != "::" {
                        self.finish_path(&mut path, line);
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                }
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Literal(literal) => self.add_quoted(&literal),
            }
            separator.clear();
        }
        self.finish_path(&mut path, line);
    }

    /// Adds a path in quotes, as serde has them: `with = "crate::json::text"`.
    fn add_quoted(&mut self, literal: &Literal) {
        let text = literal.to_string();
        let path = text.trim_matches('"');
        if path.starts_with("crate::") || path.starts_with("super::") {
            let names = path.split("::").map(str::to_owned).collect();
            self.add(names, literal.span().start().line, false);
        }
    }

    fn finish_path(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            self.add(std::mem::take(path), line, false);
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        self.add_use(&item.tree, Vec::new(), is_reexport);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = path.segments.first() {
            let names = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string());
            self.add(names.collect(), first.ident.span().start().line, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.add_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone());
        }
    }

    /// `pub(in path)` says who may use an item, not what the item uses.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}
}
