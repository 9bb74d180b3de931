//! The lines of opencode's log that say more than its stream.

use crate::agent::prelude::*;
use std::collections::BTreeMap;

/// The facts of the log so far.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Every session that has asked a model, and the number of its answers. Sub-agents have sessions of their own.
    pub requests: BTreeMap<String, u64>,
    /// The last request that failed. It is tried again without a word in the stream.
    pub refused: Option<String>,
    /// The cause of an error that the stream calls unexpected.
    pub cause: Option<String>,
}

impl Log {
    /// Reads a line, and returns whether it belongs to the log at all.
    ///
    /// `timestamp=… level=INFO run=… message=stream providerID=mock modelID=m session.id=ses_… small=false …`
    pub(super) fn line(&mut self, line: &str, session: &mut Session) -> bool {
        if !line.starts_with("timestamp=") {
            // Kilo's second log has no news: `INFO  2026-11-15T06:07:33 +9ms service=bus …`
            return line.contains(" service=");
        }
        let field = |name| field(line, name).unwrap_or_default();
        match field("message").as_str() {
            "stream" if field("small") != "true" => {
                *self.requests.entry(field("session.id")).or_default() += 1;
            }
            "stream error" => {
                // The request was not answered: it is sent again, and counted then.
                if let Some(requests) = self.requests.get_mut(&field("session.id")) {
                    *requests = requests.saturating_sub(1);
                }
                let refused = field("error.error");
                let kind = errors::classify(None, &refused).unwrap_or(ErrorKind::ModelApi);
                session.request_failed(kind, refused.as_str());
                self.refused = Some(refused);
            }
            "failed" => self.cause = Some(field("error")),
            _ => {}
        }
        true
    }
}

/// Returns the value of `name=value` or `name="a value"`.
fn field(line: &str, name: &str) -> Option<String> {
    let start = line.match_indices(name).find_map(|(at, _)| {
        let rest = line[at + name.len()..].strip_prefix('=')?;
        (at == 0 || line[..at].ends_with(' ')).then_some(rest)
    })?;
    match start.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => start.split(' ').next(),
    }
    .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_matter_are_read() {
        let mut log = Log::default();
        let mut session = Session::default();
        for line in [
            "timestamp=2026-11-15T04:16:22.331Z level=INFO run=4 message=stream providerID=mock modelID=m session.id=ses_1 small=false agent=build mode=primary",
            "timestamp=2026-11-15T04:16:22.517Z level=INFO run=4 message=stream providerID=mock modelID=m session.id=ses_1 small=false agent=build mode=primary",
            "timestamp=2026-11-15T04:16:22.518Z level=INFO run=4 message=stream providerID=mock modelID=s session.id=ses_1 small=true agent=title mode=primary",
            r#"timestamp=2026-11-15T04:35:45.460Z level=ERROR run=1 message="stream error" providerID=p modelID=m session.id=ses_1 error.error="AI_APICallError: Cannot connect""#,
            r#"timestamp=2026-11-15T04:35:26.479Z level=ERROR run=7 message=failed ref=err_6 error="ProviderModelNotFoundError: Model not found: mock/none." cause="x""#,
        ] {
            assert!(log.line(line, &mut session));
        }
        assert_eq!(
            log.refused.as_deref(),
            Some("AI_APICallError: Cannot connect")
        );
        assert_eq!(
            log.cause.as_deref(),
            Some("ProviderModelNotFoundError: Model not found: mock/none.")
        );
        assert!(!log.line("not a line of the log", &mut session));
        assert!(!log.line("ERROR not a line of the log", &mut session));
        assert!(log.line(
            "WARN  2026-11-15T06:08:04 +170ms service=model-cache model fetch error",
            &mut session
        ));
        assert_eq!(log.requests, BTreeMap::from([("ses_1".to_owned(), 1)]));
    }
}
