//! Finds evals that nothing verifies.

use crate::config::suite::Eval;
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;

/// Refuses an eval without tests: every trial of it passes.
pub(super) fn check(eval: &Eval) -> Option<Diagnostic> {
    if !eval.tests.is_empty() {
        return None;
    }
    let message = format!(
        "the eval `{}` has no tests: every trial would pass",
        eval.name
    );
    Some(
        Diagnostic::error(Code::NoTests, message)
            .at(eval.place, "nothing verifies the work")
            .help("add `tests`, for example `tests: [{commandSuccess: npm test}]`")
            .help("if only the costs matter, add `allowWarnings: [no-tests]` to the eval"),
    )
}
