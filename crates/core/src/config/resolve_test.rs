//! Tests of an eval: exactly one kind each, patterns that compile, names that differ.

use std::time::Duration;

use camino::Utf8PathBuf;
use globset::GlobBuilder;
use regex::Regex;

use crate::agent::AgentChoice;
use crate::config::names::unique_names;
use crate::config::paths::inside;
use crate::config::raw::{RawAgent, RawTest, RawTestKind};
use crate::config::resolve_setup::choose_agent;
use crate::config::resolver::Resolver;
use crate::config::suite::DEFAULT_TEST_SECONDS;
use crate::grade::{
    Budget, ChangedFiles, Glob, JudgeTest, PathPattern, TestKind, TestSpec, TranscriptTest,
};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

pub(super) fn tests(raw: Vec<RawTest>, resolver: &mut Resolver<'_>) -> Vec<TestSpec> {
    let mut names = Vec::new();
    let mut tests = Vec::new();
    for (index, raw) in raw.into_iter().enumerate() {
        let place = raw.name.as_ref().map_or(raw.place, |name| name.place);
        if let Some(test) = test(raw, index + 1, resolver) {
            names.push(Located::new(test.name.clone(), place));
            tests.push(test);
        }
    }
    unique_names(&names.iter().collect::<Vec<_>>(), "test", resolver);
    tests
}

fn test(raw: RawTest, position: usize, resolver: &mut Resolver<'_>) -> Option<TestSpec> {
    let kind = single_kind(&raw, resolver)?;
    let name = raw.name.map_or_else(
        || format!("{}-{position}", kind.value.key()),
        |name| name.value,
    );
    let dir = resolver.dir(raw.place).to_owned();
    Some(TestSpec {
        name,
        kind: resolved(kind, resolver)?,
        weight: raw.weight.map_or(1.0, |weight| weight.value),
        timeout: Duration::from_secs_f64(
            raw.timeout_seconds
                .map_or(DEFAULT_TEST_SECONDS, |seconds| seconds.value),
        ),
        dir,
    })
}

fn single_kind(raw: &RawTest, resolver: &mut Resolver<'_>) -> Option<Located<RawTestKind>> {
    match raw.kinds.as_slice() {
        [kind] => Some(kind.clone()),
        [] if raw.unreadable => None,
        [] => {
            resolver.problems.push(
                Diagnostic::error(Code::AsksNothing, "a test needs a kind")
                    .at(raw.place, "this test verifies nothing")
                    .help(format!(
                        "the kinds are {}",
                        prose::quoted_list(&RawTestKind::KEYS, "and")
                    )),
            );
            None
        }
        [first, second, ..] => {
            let message = format!(
                "a test has one kind, this one has `{}` and `{}`",
                first.value.key(),
                second.value.key()
            );
            resolver.problems.push(
                Diagnostic::error(Code::ConflictingKeys, message)
                    .at(second.place, "a second kind")
                    .beside(first.place, "the first kind")
                    .help("make it two tests"),
            );
            None
        }
    }
}

fn resolved(kind: Located<RawTestKind>, resolver: &mut Resolver<'_>) -> Option<TestKind> {
    match kind.value {
        RawTestKind::CommandSuccess {
            command,
            output_contains,
            output_matches,
        } => Some(TestKind::CommandSuccess {
            command: command.value,
            output_contains: value(output_contains),
            output_matches: if_given(output_matches, |pattern| regex(&pattern, resolver))?,
        }),
        RawTestKind::FileExists(paths) => {
            Some(TestKind::FileExists(all(&paths, resolver, pattern)?))
        }
        RawTestKind::FileContains {
            path,
            text,
            matches,
        } => Some(TestKind::FileContains {
            path: workspace_path(&path, resolver)?,
            text: value(text),
            matches: if_given(matches, |pattern| regex(&pattern, resolver))?,
        }),
        RawTestKind::CommandScore(command) => Some(TestKind::CommandScore {
            command: command.value,
        }),
        RawTestKind::Transcript {
            used_tool,
            not_used_tool,
            output_contains,
            max_tool_calls,
        } => {
            let (used, not_used) = (
                all(&used_tool, resolver, tool_glob),
                all(&not_used_tool, resolver, tool_glob),
            );
            Some(TestKind::Transcript(TranscriptTest {
                used_tool: used?,
                not_used_tool: not_used?,
                output_contains: value(output_contains),
                max_tool_calls: value(max_tool_calls),
            }))
        }
        RawTestKind::ChangedFiles { only, never } => {
            let only = if_given(only, |only| all(&only, resolver, path_glob));
            let never = all(&never, resolver, path_glob);
            Some(TestKind::ChangedFiles(ChangedFiles {
                only: only?,
                never: never?,
            }))
        }
        RawTestKind::Budget {
            max_tokens,
            max_cost_usd,
            max_seconds,
            max_requests,
        } => Some(TestKind::Budget(Budget {
            max_tokens: value(max_tokens),
            max_cost_usd: value(max_cost_usd),
            max_seconds: value(max_seconds),
            max_requests: value(max_requests),
        })),
        RawTestKind::Judge {
            rubric,
            agent,
            model,
            config,
            pass_score,
        } => {
            let agent = if_given(agent, |agent| {
                judge_agent(&agent, config.as_ref(), resolver)
            })?;
            if let (None, Some(config)) = (&agent, &config) {
                resolver.problems.push(
                    Diagnostic::error(Code::MisplacedKey, "`config` of a judge without an `agent`")
                        .at(config.place, "whose settings?")
                        .help("name the agent that judges: `agent: NAME`"),
                );
                return None;
            }
            Some(TestKind::Judge(JudgeTest {
                rubric: rubric.value,
                agent,
                model: value(model),
                config: value(config),
                pass_score: value(pass_score),
                place: kind.place,
            }))
        }
    }
}

fn value<T>(given: Option<Located<T>>) -> Option<T> {
    given.map(|given| given.value)
}

/// Nothing stays nothing; what is given and wrong is no test at all.
fn if_given<T, U>(given: Option<T>, resolve: impl FnOnce(T) -> Option<U>) -> Option<Option<U>> {
    match given {
        Some(given) => resolve(given).map(Some),
        None => Some(None),
    }
}

/// An agent that can judge: one that can read, think and answer.
fn judge_agent(
    raw: &RawAgent,
    config: Option<&Located<serde_json::Value>>,
    resolver: &mut Resolver<'_>,
) -> Option<AgentChoice> {
    let choice = choose_agent(raw, resolver)?;
    let profile = choice.agent.profile();
    if profile.is_built_in() {
        resolver.problems.push(
            Diagnostic::error(
                Code::CannotJudge,
                format!("the agent `{}` cannot judge", profile.name),
            )
            .at(raw.name.place, "it is built in, and has no opinion")
            .help("name another agent, or leave `agent` out: the trial's own agent judges then"),
        );
        return None;
    }
    if let Some(config) = config.filter(|_| !profile.capabilities.config) {
        resolver.problems.push(
            Diagnostic::error(
                Code::AgentCannot,
                format!("the agent `{}` cannot be given `config`", profile.name),
            )
            .at(config.place, "it has no settings of its own")
            .help("remove `config`, or choose another agent"),
        );
        return None;
    }
    Some(choice)
}

/// Every item, or `None` after all problems of all items have been said.
fn all<T>(
    items: &[Located<String>],
    resolver: &mut Resolver<'_>,
    resolve: fn(&Located<String>, &mut Resolver<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let resolved: Vec<Option<T>> = items.iter().map(|item| resolve(item, resolver)).collect();
    resolved.into_iter().collect()
}

fn regex(pattern: &Located<String>, resolver: &mut Resolver<'_>) -> Option<Regex> {
    match Regex::new(&pattern.value) {
        Ok(regex) => Some(regex),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned();
            resolver.problems.push(
                Diagnostic::error(Code::InvalidPattern, "invalid regular expression")
                    .at(pattern.place, reason)
                    .help(r"a sign that is meant literally needs a `\` before it"),
            );
            None
        }
    }
}

/// A path, or a glob where one of `*?[{` is in it.
fn pattern(path: &Located<String>, resolver: &mut Resolver<'_>) -> Option<PathPattern> {
    let clean = workspace_path(path, resolver)?;
    if !path.value.contains(['*', '?', '[', '{']) {
        return Some(PathPattern::Path(clean));
    }
    glob(path, clean.as_str(), resolver).map(PathPattern::Glob)
}

/// A glob over the paths of a workspace; a path without any of `*?[{` is one that matches itself.
fn path_glob(path: &Located<String>, resolver: &mut Resolver<'_>) -> Option<Glob> {
    let clean = workspace_path(path, resolver)?;
    glob(path, clean.as_str(), resolver)
}

/// A glob over the names of tools.
fn tool_glob(name: &Located<String>, resolver: &mut Resolver<'_>) -> Option<Glob> {
    glob(name, &name.value, resolver)
}

/// `*` stays within a directory, `**` does not.
fn glob(written: &Located<String>, pattern: &str, resolver: &mut Resolver<'_>) -> Option<Glob> {
    match GlobBuilder::new(pattern).literal_separator(true).build() {
        Ok(glob) => Some(Glob {
            written: written.value.clone(),
            matcher: glob.compile_matcher(),
        }),
        Err(error) => {
            let reason = error.kind().to_string();
            resolver.problems.push(
                Diagnostic::error(
                    Code::InvalidPattern,
                    format!("invalid glob `{}`", written.value),
                )
                .at(written.place, reason)
                .help("a sign that is meant literally stands in brackets, as in `[[]`"),
            );
            None
        }
    }
}

fn workspace_path(path: &Located<String>, resolver: &mut Resolver<'_>) -> Option<Utf8PathBuf> {
    match inside(&path.value) {
        Ok(clean) => Some(clean),
        Err(reason) => {
            resolver.problems.push(
                Diagnostic::error(
                    Code::OutsideWorkspace,
                    format!("path `{}` lies outside the workspace", path.value),
                )
                .at(path.place, reason)
                .help("a path is one inside the workspace, such as `src/app.js`"),
            );
            None
        }
    }
}
