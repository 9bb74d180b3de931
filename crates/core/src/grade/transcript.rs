//! `transcript`: how the agent worked.
//!
//! What an agent does not tell is not known, and what is not known is neither passed nor failed. The one
//! exception is the oracle: it stands for work that is right, and has no session that could be looked at.

use super::{Glob, NoVerdict, Verdict, shortened};
use crate::text::prose;
use crate::transcript::Usage;

/// What is asked of a session; at least one thing is.
#[derive(Debug, Clone, Default)]
pub struct TranscriptTest {
    /// Each must match a tool that was used.
    pub used_tool: Vec<Glob>,
    /// None may match a tool that was used.
    pub not_used_tool: Vec<Glob>,
    /// In what the agent said.
    pub output_contains: Option<String>,
    pub max_tool_calls: Option<u64>,
}

/// What is known of a session.
#[derive(Debug, Clone, Default)]
pub struct Session {
    pub agent: String,
    /// It was the reference solution, laid down by nobody.
    pub is_reference: bool,
    /// Every tool call in order; `None` where the agent does not tell.
    pub tools: Option<Vec<ToolUse>>,
    /// What the agent said, without what its tools gave.
    pub said: String,
    /// There was more of that than is kept.
    pub said_more: bool,
    pub usage: Usage,
    /// How long the agent ran, by Terca's own clock.
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// As the agent calls it.
    pub tool: String,
    /// The MCP server whose tool it is.
    pub server: Option<String>,
}

impl ToolUse {
    /// By the agent's own name, or as `server/tool` whatever the agent makes of an MCP server's tools.
    fn is_named_by(&self, glob: &Glob) -> bool {
        glob.matcher.is_match(&self.tool)
            || self.server.as_ref().is_some_and(|server| {
                glob.matcher
                    .is_match(format!("{server}/{}", without_server(&self.tool, server)))
            })
    }
}

/// `read` of `mcp__files__read`, `mcp_files_read`, `files__read` and `files_read`.
fn without_server<'a>(tool: &'a str, server: &str) -> &'a str {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let server: String = server
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    let prefixes = [
        format!("mcp__{server}__"),
        format!("mcp_{server}_"),
        format!("{server}__"),
        format!("{server}_"),
    ];
    prefixes
        .iter()
        .find_map(|prefix| tool.strip_prefix(prefix.as_str()))
        .unwrap_or(tool)
}

impl TranscriptTest {
    pub(super) fn judge(&self, session: &Session) -> Result<Verdict, NoVerdict> {
        if session.is_reference {
            return Ok(Verdict::pass(format!(
                "not looked at: {} has no session",
                session.agent
            )));
        }
        if let Some(failure) = self.failure(session) {
            return Ok(Verdict::fail(failure));
        }
        if session.said_more && !self.is_said(session) {
            return Err(NoVerdict(format!(
                "the agent `{}` said more than is kept of it: see the raw output",
                session.agent
            )));
        }
        let about_tools = !self.used_tool.is_empty() || !self.not_used_tool.is_empty();
        let counted = session.tools.is_some() || session.usage.tool_calls.is_some();
        if about_tools && session.tools.is_none() {
            return Err(NoVerdict(format!(
                "the agent `{}` does not tell which tools it uses",
                session.agent
            )));
        }
        if self.max_tool_calls.is_some() && !counted {
            return Err(NoVerdict(format!(
                "the agent `{}` does not tell its tool calls",
                session.agent
            )));
        }
        Ok(Verdict::pass(self.praise(session)))
    }

    /// The first thing that is known not to be as asked.
    fn failure(&self, session: &Session) -> Option<String> {
        let used = session.tools.as_deref();
        if let Some(used) = used {
            let missing = self
                .used_tool
                .iter()
                .find(|glob| !used.iter().any(|tool| tool.is_named_by(glob)));
            if let Some(glob) = missing {
                return Some(format!(
                    "no tool that matches `{}` was used, but {}",
                    glob.written,
                    names(used)
                ));
            }
            for glob in &self.not_used_tool {
                if let Some(tool) = used.iter().find(|tool| tool.is_named_by(glob)) {
                    return Some(format!(
                        "`{}` was used, and no `{}` may be",
                        tool.tool, glob.written
                    ));
                }
            }
        }
        if let (Some(limit), Some(calls)) = (self.max_tool_calls, calls(session))
            && calls > limit
        {
            let calls = prose::count(usize::try_from(calls).unwrap_or(usize::MAX), "tool call");
            return Some(format!("{calls}, more than {limit}"));
        }
        match &self.output_contains {
            Some(text) if !session.said_more && !self.is_said(session) => {
                Some(format!("the agent did not say {:?}", shortened(text)))
            }
            _ => None,
        }
    }

    fn is_said(&self, session: &Session) -> bool {
        self.output_contains
            .as_ref()
            .is_none_or(|text| session.said.contains(text))
    }

    fn praise(&self, session: &Session) -> String {
        let used: Vec<&str> = self
            .used_tool
            .iter()
            .map(|glob| glob.written.as_str())
            .collect();
        match (used.as_slice(), calls(session)) {
            ([], Some(calls)) => {
                format!(
                    "as asked, in {}",
                    prose::count(calls.try_into().unwrap_or(usize::MAX), "tool call")
                )
            }
            ([], None) => "as asked".into(),
            ([used], _) => format!("`{used}` was used"),
            (used, _) => format!("{} were used", prose::quoted_list(used, "and")),
        }
    }
}

/// The agent's own figure, since that is what the results show; else what was seen.
fn calls(session: &Session) -> Option<u64> {
    session
        .usage
        .tool_calls
        .or(session.tools.as_ref().map(|tools| tools.len() as u64))
}

fn names(used: &[ToolUse]) -> String {
    let mut names: Vec<&str> = used.iter().map(|tool| tool.tool.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        "none at all".into()
    } else {
        shortened(&prose::quoted_list(&names, "and"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Vec<Glob> {
        let glob = |pattern: &&str| Glob {
            written: (*pattern).to_owned(),
            matcher: globset::Glob::new(pattern).unwrap().compile_matcher(),
        };
        patterns.iter().map(glob).collect()
    }

    fn session(tools: Option<&[(&str, Option<&str>)]>) -> Session {
        let tool = |(tool, server): &(&str, Option<&str>)| ToolUse {
            tool: (*tool).to_owned(),
            server: server.map(str::to_owned),
        };
        Session {
            agent: "gemini-cli".into(),
            tools: tools.map(|tools| tools.iter().map(tool).collect()),
            said: "all done".into(),
            ..Session::default()
        }
    }

    fn used(pattern: &str) -> TranscriptTest {
        TranscriptTest {
            used_tool: globs(&[pattern]),
            ..TranscriptTest::default()
        }
    }

    fn not_used(pattern: &str) -> TranscriptTest {
        TranscriptTest {
            not_used_tool: globs(&[pattern]),
            ..TranscriptTest::default()
        }
    }

    #[test]
    fn tools() {
        let shell = session(Some(&[
            ("shell", None),
            ("mcp__files__read", Some("files")),
        ]));
        let opencode = session(Some(&[("files_read", Some("files"))]));
        let none = session(Some(&[]));
        for (test, session, score, message) in [
            (used("shell"), &shell, 1.0, "`shell` was used"),
            (
                used("mcp__files__*"),
                &shell,
                1.0,
                "`mcp__files__*` was used",
            ),
            (used("files/read"), &shell, 1.0, "`files/read` was used"),
            (used("files/*"), &opencode, 1.0, "`files/*` was used"),
            (
                used("write*"),
                &shell,
                0.0,
                "no tool that matches `write*` was used, but `mcp__files__read` and `shell`",
            ),
            (
                used("x"),
                &none,
                0.0,
                "no tool that matches `x` was used, but none at all",
            ),
            (not_used("web*"), &shell, 1.0, "as asked, in 2 tool calls"),
            (
                not_used("sh*"),
                &shell,
                0.0,
                "`shell` was used, and no `sh*` may be",
            ),
        ] {
            assert_eq!(
                test.judge(session),
                Ok(Verdict {
                    score,
                    message: message.into()
                })
            );
        }
    }

    #[test]
    fn calls_and_words() {
        let at_most = |limit| TranscriptTest {
            max_tool_calls: Some(limit),
            ..TranscriptTest::default()
        };
        let says = |text: &str| TranscriptTest {
            output_contains: Some(text.into()),
            ..TranscriptTest::default()
        };
        let two = session(Some(&[("a", None), ("a", None)]));
        assert_eq!(
            at_most(2).judge(&two),
            Ok(Verdict::pass("as asked, in 2 tool calls"))
        );
        assert_eq!(
            at_most(1).judge(&two),
            Ok(Verdict::fail("2 tool calls, more than 1"))
        );
        assert_eq!(
            says("done").judge(&session(None)),
            Ok(Verdict::pass("as asked"))
        );
        assert_eq!(
            says("DONE").judge(&two),
            Ok(Verdict::fail("the agent did not say \"DONE\""))
        );
        let flood = Session {
            said_more: true,
            ..session(Some(&[]))
        };
        assert_eq!(
            says("done").judge(&flood),
            Ok(Verdict::pass("as asked, in 0 tool calls"))
        );
        assert!(
            says("DONE").judge(&flood).is_err(),
            "it may stand in what is not kept"
        );
        assert_eq!(
            used("shell").judge(&flood).unwrap().score,
            0.0,
            "of tools all is known"
        );
        let reported = Session {
            usage: Usage {
                tool_calls: Some(5),
                ..Usage::default()
            },
            ..session(None)
        };
        assert_eq!(
            at_most(4).judge(&reported),
            Ok(Verdict::fail("5 tool calls, more than 4"))
        );
    }

    #[test]
    fn what_is_not_known_is_neither_passed_nor_failed() {
        let at_most = TranscriptTest {
            max_tool_calls: Some(3),
            ..TranscriptTest::default()
        };
        for test in [used("x"), not_used("x"), at_most] {
            let NoVerdict(reason) = test.judge(&session(None)).unwrap_err();
            assert!(reason.contains("`gemini-cli` does not tell"), "{reason}");
            let oracle = Session {
                is_reference: true,
                agent: "oracle".into(),
                ..Session::default()
            };
            assert_eq!(
                test.judge(&oracle),
                Ok(Verdict::pass("not looked at: oracle has no session"))
            );
        }
        // A thing that is known to be wrong decides, whatever else is not known.
        let mut both = used("x");
        both.output_contains = Some("nonsense".into());
        assert_eq!(both.judge(&session(None)).unwrap().score, 0.0);
    }
}
