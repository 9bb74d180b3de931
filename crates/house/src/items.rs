//! The facts that all kinds of items share.

use syn::{Attribute, Ident, Item, Visibility};

/// An item that has a name.
pub(crate) struct Named<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) visibility: &'a Visibility,
    pub(crate) attributes: &'a [Attribute],
}

/// Returns the name, visibility and attributes of an item that other modules can name; modules are
/// not among them.
pub(crate) fn named(item: &Item) -> Option<Named<'_>> {
    let (name, visibility, attributes) = match item {
        Item::Const(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Enum(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Fn(item) => (&item.sig.ident, &item.vis, &item.attrs),
        Item::Static(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Struct(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Trait(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Type(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Union(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Macro(item) => (item.ident.as_ref()?, &Visibility::Inherited, &item.attrs),
        _ => return None,
    };
    Some(Named {
        name,
        visibility,
        attributes,
    })
}

pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

pub(crate) fn is_documented(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("doc"))
}
