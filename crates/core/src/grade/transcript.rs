//! `transcript`: the way the agent worked.
//!
//! Facts that an agent does not report are unknown, and the unknown is neither passed nor failed. The one exception
//! is the oracle: its work is right, and there is no session to look at.

use std::time::Duration;

use regex::Regex;

use super::declaration::{TestKindDeclaration, asking, settings};
use super::evidence::{Session, ToolUse};
use super::grades::Grade;
use super::test::{Question, TestKind};
use super::verdict::{NoVerdict, is_match, on_one_line, shortened};
use crate::reader::patterns::{Glob, regex, tool_glob};
use crate::reader::{Fields, object, one_or_more, plain_text, whole};
use crate::text::mask::Masked;
use crate::text::prose;

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "transcript",
    about: "Requirements for the tool calls and messages of the agent.",
    settings: || {
        let asked = object("transcript", "`transcript`", fields);
        let asked = asked.linked("[map](eval-yaml.md#transcript)").kind();
        settings(asking("transcript", "usedTool: 'mcp_*'", asked))
    },
};

/// The demands on a session; there is at least one.
#[derive(Debug, Default)]
struct Transcript {
    used_tool: Vec<Glob>,
    not_used_tool: Vec<Glob>,
    output_contains: Option<String>,
    output_matches: Option<Regex>,
    output_not_matches: Option<Regex>,
    max_tool_calls: Option<u64>,
}

fn fields(fields: &mut Fields<'_, '_>) -> Option<Transcript> {
    Some(Transcript {
        used_tool: fields.defaulted(
            "usedTool",
            one_or_more(tool_glob()),
            "For each glob, the agent must have used a tool whose name matches.",
        ),
        not_used_tool: fields.defaulted(
            "notUsedTool",
            one_or_more(tool_glob()),
            "The agent must have used no tool whose name matches.",
        ),
        output_contains: fields.optional(
            "outputContains",
            plain_text().value(),
            "The agent must have said this text.",
        ),
        output_matches: fields.optional(
            "outputMatches",
            regex(),
            "What the agent said must match.",
        ),
        output_not_matches: fields.optional(
            "outputNotMatches",
            regex(),
            "What the agent said must not match.",
        ),
        max_tool_calls: fields.optional(
            "maxToolCalls",
            whole().value(),
            "The most tool calls that the agent may make.",
        ),
    })
}

impl TestKind for Transcript {
    fn question(&self, _: Duration) -> Question<'_> {
        Question::Session {
            judge: Box::new(|session| self.judge(session)),
        }
    }
}

impl ToolUse {
    /// Matches the agent's own name of the tool, and `server/tool` for a tool of an MCP server.
    fn is_named_by(&self, glob: &Glob) -> bool {
        // Not every agent tells the name of the tool at its server.
        let server_tool = self.server_tool.as_ref().unwrap_or(&self.tool);
        glob.matcher.is_match(&self.tool)
            || self
                .server
                .as_ref()
                .is_some_and(|server| glob.matcher.is_match(format!("{server}/{server_tool}")))
    }
}

impl Session {
    /// Returns the tool calls that are known.
    fn known_tools(&self) -> &[ToolUse] {
        self.tools.as_deref().unwrap_or(&self.tapped_tools)
    }

    /// Returns whether every call that a pattern could name is known: the agent tells them, or the pattern is for
    /// a server
    /// that Terca was before.
    fn knows_all(&self, glob: &Glob) -> bool {
        let is_of = |server: &String| {
            let rest = glob.written.strip_prefix(server.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        self.tools.is_some() || self.tapped_servers.iter().any(is_of)
    }

    /// Returns what to say where calls are not known, with the advice to name a server, if there is one.
    fn silent_on_tools(&self) -> String {
        let example = self.tapped_servers.first();
        let advice = example.map_or_else(String::new, |server| {
            format!("; calls of MCP servers are known, as in `{server}/*`")
        });
        format!("does not report which tools it uses{advice}")
    }
}

impl Transcript {
    fn judge(&self, session: &Session) -> Result<Grade, NoVerdict> {
        let agent = &session.agent;
        if session.is_reference {
            let reason = format!("not checked: {agent} has no session");
            return Ok(Grade::pass(reason));
        }
        let used = session.known_tools();
        let call_of = |glob: &Glob| used.iter().find(|tool| tool.is_named_by(glob));
        // What is known to fail decides, whatever else is not known.
        let mut unknown = Vec::new();
        for glob in &self.used_tool {
            let written = &glob.written;
            match call_of(glob) {
                None if session.knows_all(glob) => {
                    let used = names(used);
                    return Ok(Grade::fail(format!(
                        "no tool that matches `{written}` was used; used: {used}"
                    )));
                }
                None => unknown.push(session.silent_on_tools()),
                Some(_) => {}
            }
        }
        for glob in &self.not_used_tool {
            match call_of(glob) {
                Some(ToolUse { tool, .. }) => {
                    let allowed = &glob.written;
                    return Ok(Grade::fail(format!(
                        "`{tool}` was used, but `{allowed}` is not allowed"
                    )));
                }
                None if session.knows_all(glob) => {}
                None => unknown.push(session.silent_on_tools()),
            }
        }
        match (self.max_tool_calls, calls(session)) {
            (Some(limit), Some(calls)) if calls > limit => {
                let calls = prose::count(calls, "tool call");
                return Ok(Grade::fail(format!("{calls}, more than {limit}")));
            }
            (Some(_), None) => unknown.push("does not report its tool calls".to_owned()),
            _ => {}
        }
        match self.wrong_words(session) {
            Some((reason, true)) => return Ok(Grade::fail(reason)),
            Some((_, false)) => {
                unknown.push("printed more than Terca keeps: see the raw output".to_owned());
            }
            None => {}
        }
        match unknown.first() {
            Some(what) => Err(NoVerdict(format!("the agent `{agent}` {what}"))),
            None => Ok(Grade::pass(self.praise(session))),
        }
    }

    /// Returns what is wrong with the agent's words, and whether more words could not change that.
    fn wrong_words(&self, session: &Session) -> Option<(String, bool)> {
        let said = session.said.as_str();
        let shown = |text: &str| shortened(&session.mask.masked(text));
        let asked = |pattern: &Regex| format!("/{}/", shown(&on_one_line(pattern)));
        if let Some(pattern) = &self.output_not_matches
            && is_match(pattern, said)
        {
            let reason = format!("what the agent said matches {}", asked(pattern));
            return Some((reason, true));
        }
        let is_all = !session.said_more;
        if let Some(text) = &self.output_contains
            && !said.contains(text)
        {
            let reason = format!("the agent did not say {:?}", shown(text));
            return Some((reason, is_all));
        }
        if let Some(pattern) = &self.output_matches
            && !is_match(pattern, said)
        {
            let reason = format!("what the agent said does not match {}", asked(pattern));
            return Some((reason, is_all));
        }
        let may_match = !is_all && self.output_not_matches.is_some();
        may_match.then(|| (String::new(), false))
    }

    fn praise(&self, session: &Session) -> String {
        let used: Vec<&str> = self
            .used_tool
            .iter()
            .map(|glob| glob.written.as_str())
            .collect();
        match (used.as_slice(), calls(session)) {
            ([], Some(calls)) => {
                format!("as required, in {}", prose::count(calls, "tool call"))
            }
            ([], None) => "as required".into(),
            ([used], _) => format!("`{used}` was used"),
            (used, _) => format!("{} were used", prose::quoted_list(used, "and")),
        }
    }
}

/// Returns the agent's own figure, as in the results, or else the number of calls that were seen.
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
        // The transcript was masked when it was written.
        shortened(&Masked::already(prose::quoted_list(&names, "and")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Usage;

    fn globs(patterns: &[&str]) -> Vec<Glob> {
        let glob = |pattern: &&str| Glob {
            written: (*pattern).to_owned(),
            matcher: globset::Glob::new(pattern).unwrap().compile_matcher(),
        };
        patterns.iter().map(glob).collect()
    }

    /// The agent's name of a tool, and its server with the name there.
    type Used<'a> = (&'a str, Option<(&'a str, &'a str)>);

    /// A session that used tools.
    fn session(tools: Option<&[Used<'_>]>) -> Session {
        let tool = |(tool, at_server): &Used<'_>| ToolUse {
            tool: (*tool).to_owned(),
            server: at_server.map(|(server, _)| server.to_owned()),
            server_tool: at_server.map(|(_, tool)| tool.to_owned()),
        };
        Session {
            agent: "gemini-cli".into(),
            tools: tools.map(|tools| tools.iter().map(tool).collect()),
            said: "all done".into(),
            ..Session::default()
        }
    }

    fn used(pattern: &str) -> Transcript {
        Transcript {
            used_tool: globs(&[pattern]),
            ..Transcript::default()
        }
    }

    fn not_used(pattern: &str) -> Transcript {
        Transcript {
            not_used_tool: globs(&[pattern]),
            ..Transcript::default()
        }
    }

    /// Terca is between the agent and its MCP servers, whatever the agent tells.
    #[test]
    fn calls_that_terca_saw_are_judged_for_an_agent_that_tells_none() {
        let seen = ToolUse {
            tool: "search".into(),
            server: Some("docs".into()),
            server_tool: Some("search".into()),
        };
        let silent = Session {
            tapped_tools: vec![seen],
            tapped_servers: vec!["docs".into(), "idle".into()],
            ..session(None)
        };
        for (test, score) in [
            (used("docs/search"), Some(1.0)),
            (used("docs/*"), Some(1.0)),
            (used("search"), Some(1.0)),
            (used("idle/*"), Some(0.0)),
            (used("docs/page"), Some(0.0)),
            (used("shell"), None),
            (used("docs*"), Some(1.0)),
            (used("other/*"), None),
            (not_used("docs/search"), Some(0.0)),
            (not_used("docs/page"), Some(1.0)),
            (not_used("idle/*"), Some(1.0)),
            (not_used("shell"), None),
            (not_used("*"), Some(0.0)),
        ] {
            let verdict = test.judge(&silent).ok().map(|verdict| verdict.score);
            assert_eq!(verdict, score, "{test:?}");
        }
    }

    #[test]
    fn tools() {
        let shell = session(Some(&[
            ("shell", None),
            ("mcp__files__read", Some(("files", "read"))),
        ]));
        let copilot = session(Some(&[("files-read", Some(("files", "read")))]));
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
            (used("files/*"), &copilot, 1.0, "`files/*` was used"),
            (
                not_used("files/read"),
                &copilot,
                0.0,
                "`files-read` was used, but `files/read` is not allowed",
            ),
            (
                used("write*"),
                &shell,
                0.0,
                "no tool that matches `write*` was used; used: `mcp__files__read` and `shell`",
            ),
            (
                used("x"),
                &none,
                0.0,
                "no tool that matches `x` was used; used: none at all",
            ),
            (
                not_used("web*"),
                &shell,
                1.0,
                "as required, in 2 tool calls",
            ),
            (
                not_used("sh*"),
                &shell,
                0.0,
                "`shell` was used, but `sh*` is not allowed",
            ),
        ] {
            assert_eq!(test.judge(session), Ok(Grade::scored(score, message)));
        }
    }

    #[test]
    fn calls_and_words() {
        let at_most = |limit| Transcript {
            max_tool_calls: Some(limit),
            ..Transcript::default()
        };
        let says = |text: &str| Transcript {
            output_contains: Some(text.into()),
            ..Transcript::default()
        };
        let two = session(Some(&[("a", None), ("a", None)]));
        assert_eq!(
            at_most(2).judge(&two),
            Ok(Grade::pass("as required, in 2 tool calls"))
        );
        assert_eq!(
            at_most(1).judge(&two),
            Ok(Grade::fail("2 tool calls, more than 1"))
        );
        assert_eq!(
            says("done").judge(&session(None)),
            Ok(Grade::pass("as required"))
        );
        assert_eq!(
            says("DONE").judge(&two),
            Ok(Grade::fail("the agent did not say \"DONE\""))
        );
        let flood = Session {
            said_more: true,
            ..session(Some(&[]))
        };
        let pattern = |text: &str| Some(Regex::new(text).unwrap());
        for (wanted, banned, verdict, of_flood) in [
            (
                pattern("(?i)^ALL d"),
                None,
                "as required, in 2 tool calls",
                Some(1.0),
            ),
            (
                pattern("^done"),
                None,
                "what the agent said does not match /^done/",
                None,
            ),
            (None, pattern("error"), "as required, in 2 tool calls", None),
            (
                None,
                pattern("do.e"),
                "what the agent said matches /do.e/",
                Some(0.0),
            ),
        ] {
            let test = Transcript {
                output_matches: wanted,
                output_not_matches: banned,
                ..Transcript::default()
            };
            assert_eq!(test.judge(&two).unwrap().message, verdict);
            assert_eq!(test.judge(&flood).ok().map(|grade| grade.score), of_flood);
        }
        assert_eq!(
            says("done").judge(&flood),
            Ok(Grade::pass("as required, in 0 tool calls"))
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
            Ok(Grade::fail("5 tool calls, more than 4"))
        );
    }

    #[test]
    fn what_is_not_known_is_neither_passed_nor_failed() {
        let at_most = Transcript {
            max_tool_calls: Some(3),
            ..Transcript::default()
        };
        for test in [used("x"), not_used("x"), at_most] {
            let NoVerdict(reason) = test.judge(&session(None)).unwrap_err();
            assert!(reason.contains("`gemini-cli` does not report"), "{reason}");
            let oracle = Session {
                is_reference: true,
                agent: "oracle".into(),
                ..Session::default()
            };
            assert_eq!(
                test.judge(&oracle),
                Ok(Grade::pass("not checked: oracle has no session"))
            );
        }
        // A demand that is known not to be met decides, also when others are unknown.
        let mut both = used("x");
        both.output_contains = Some("nonsense".into());
        assert_eq!(both.judge(&session(None)).unwrap().score, 0.0);
    }
}
