//! Sizes, documentation and habits of a crate's product code.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, ImplItemFn, Item, ItemFn};
use syn::{Local, Pat, Signature, TraitItemFn, Visibility};

use crate::circles::{Circle, entangled_with_parent};
use crate::items::{is_documented, is_public, named};
use crate::modules::Crate;
use crate::source::SourceFile;

/// First words of a doc comment that is a noun clause.
const CLAUSE_OPENINGS: [&str; 6] = ["What", "How", "Whether", "Where", "Which", "Who"];

/// Everything that is measured; figures of several crates add up.
#[derive(Debug, Default)]
pub struct Figures {
    pub(crate) modules_in_root_circles: usize,
    pub(crate) modules_in_nested_circles: usize,
    pub(crate) modules_entangled_with_parent: usize,
    pub(crate) root_modules: usize,
    pub(crate) product_lines: usize,
    pub(crate) product_tokens: usize,
    pub(crate) code_lines: usize,
    pub(crate) comment_lines: usize,
    pub(crate) file_lines: Vec<usize>,
    pub(crate) function_lines: Vec<usize>,
    pub(crate) function_tokens: Vec<usize>,
    /// The longest function so far, with its name.
    pub(crate) longest_function: (usize, String),
    /// The name of a type → how many types have it.
    pub(crate) type_names: BTreeMap<String, usize>,
    pub(crate) public_items: usize,
    pub(crate) documented_items: usize,
    pub(crate) doc_comments: usize,
    pub(crate) clause_openings: usize,
    pub(crate) named_closures: usize,
    pub(crate) tuple_lets: usize,
}

impl Figures {
    /// Adds a crate with its circles.
    pub fn add(&mut self, tree: &Crate, circles: &[Circle]) {
        for circle in circles {
            if circle.level.is_empty() {
                self.modules_in_root_circles += circle.members.len();
            } else {
                self.modules_in_nested_circles += circle.members.len();
            }
        }
        self.modules_entangled_with_parent += entangled_with_parent(tree);
        for file in &tree.files {
            self.count_lines(file);
        }
        for (id, module) in tree.modules.iter().enumerate() {
            self.root_modules += usize::from(tree.path(id).len() == 1);
            let mut counter = Counter {
                file: &tree.files[module.file],
                figures: self,
            };
            for item in &module.items {
                counter.visit_item(item);
            }
        }
    }

    fn count_lines(&mut self, file: &SourceFile) {
        let mut lines = 0;
        let mut is_in_doc = false;
        for line in file.product_lines().map(str::trim) {
            lines += 1;
            if line.starts_with("//") {
                self.comment_lines += 1;
            } else if !line.is_empty() {
                self.code_lines += 1;
            }
            let doc = line.strip_prefix("///").or(line.strip_prefix("//!"));
            if let Some(doc) = doc
                && !is_in_doc
            {
                self.doc_comments += 1;
                let opening = doc.split_whitespace().next().unwrap_or_default();
                self.clause_openings += usize::from(CLAUSE_OPENINGS.contains(&opening));
            }
            is_in_doc = doc.is_some();
        }
        self.product_lines += lines;
        self.product_tokens += file.product_tokens();
        self.file_lines.push(lines);
    }
}

/// Adds the items of one module to the figures.
struct Counter<'a> {
    file: &'a SourceFile,
    figures: &'a mut Figures,
}

impl Counter<'_> {
    fn count_public(&mut self, visibility: &Visibility, attributes: &[Attribute]) {
        if is_public(visibility) {
            self.figures.public_items += 1;
            self.figures.documented_items += usize::from(is_documented(attributes));
        }
    }

    fn count_function(&mut self, signature: &Signature, body: &Block) {
        let first = signature.fn_token.span;
        let last = body.brace_token.span.close();
        let lines = last.end().line - first.start().line + 1;
        self.figures.function_lines.push(lines);
        if lines > self.figures.longest_function.0 {
            let name = format!("{} in {}", signature.ident, self.file.path);
            self.figures.longest_function = (lines, name);
        }
        self.figures
            .function_tokens
            .push(self.file.tokens_between(first, last));
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Some(named) = named(item) {
            self.count_public(named.visibility, named.attributes);
            if matches!(
                item,
                Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_)
            ) {
                let names = &mut self.figures.type_names;
                *names.entry(named.name.to_string()).or_default() += 1;
            }
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.count_function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.count_public(&item.vis, &item.attrs);
        self.count_function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(body) = &item.default {
            self.count_function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let value = local.init.as_ref().map(|init| &*init.expr);
        match (&local.pat, value) {
            (Pat::Tuple(_), Some(Expr::Tuple(_))) => self.figures.tuple_lets += 1,
            (_, Some(Expr::Closure(_))) => self.figures.named_closures += 1,
            _ => {}
        }
        visit::visit_local(self, local);
    }
}
