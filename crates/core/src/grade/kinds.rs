//! The table of the kinds of tests.

use super::declaration::TestKindDeclaration;

/// All kinds of tests. To add one, add a file and a line here.
pub(crate) const KINDS: &[TestKindDeclaration] = &[
    super::command_success::KIND,
    super::file_exists::KIND,
    super::file_contains::KIND,
    super::command_score::KIND,
    super::transcript::KIND,
    super::changed_files::KIND,
    super::budget::KIND,
    super::judge::KIND,
];
