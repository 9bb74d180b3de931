//! A field of an environment or experiment, which may be kept, removed or set.

/// A field that can be left out, removed with `null`, or set.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Patch<T> {
    /// The field is not mentioned.
    #[default]
    Keep,
    /// The field is `null`.
    Remove,
    /// The field has a value.
    Set(T),
}

impl<T> Patch<T> {
    /// Returns the value. `Keep` and `Remove` have none.
    pub fn set(&self) -> Option<&T> {
        match self {
            Patch::Set(value) => Some(value),
            Patch::Keep | Patch::Remove => None,
        }
    }

    /// Returns the value that is left when this is applied to a field below: it replaces, keeps or removes.
    pub fn applied_to<'a>(&'a self, below: &'a Patch<T>) -> Option<&'a T> {
        match self {
            Patch::Keep => below.set(),
            Patch::Remove => None,
            Patch::Set(value) => Some(value),
        }
    }
}
