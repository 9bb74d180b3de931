//! Outputs and reports of test runners. Any text has a telling line that is short and one line, or nothing to say; any
//! report is refused, or its counts agree with its cases.

use terca_core::grade::failure_line;
use terca_core::grade::test_report::{CaseEnd, Cases, read};
use terca_core::text::mask::Masked;

/// The longest message, with the mark where more follows.
const LONGEST: usize = 301;

pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match failure_line(&Masked::already(text.as_ref())) {
        Some(line) => {
            assert!(line.chars().count() <= LONGEST, "{line:?} is too long");
            assert!(!line.contains(['\n', '\u{1b}']), "{line:?} is not one line");
        }
        None => assert!(
            text.chars()
                .all(|c| c.is_whitespace() || c.is_control() || text.contains('\u{1b}')),
            "{text:?} says something"
        ),
    }
    match read(&text).map(Cases::shortened) {
        Err(reason) => assert!(!reason.is_empty()),
        Ok(cases) => {
            let kept = |end| cases.cases.iter().filter(|case| case.end == end).count() as u64;
            assert_eq!(kept(CaseEnd::Failed), cases.failed.min(100));
            let others = kept(CaseEnd::Passed) + kept(CaseEnd::Skipped);
            assert_eq!(others, (cases.passed + cases.skipped).min(100));
            assert!(
                cases
                    .share()
                    .is_none_or(|share| (0.0..=1.0).contains(&share))
            );
            for case in &cases.cases {
                assert!(!case.message.contains('\n') && case.message.chars().count() <= LONGEST);
                assert!(case.name.chars().count() <= LONGEST);
            }
        }
    }
}
