//! `budget`: limits for a trial.
//!
//! A figure that the agent does not report is unknown: it is neither within nor above a limit.

use std::time::Duration;

use super::declaration::{TestKindDeclaration, asking, settings};
use super::evidence::Session;
use super::grades::Grade;
use super::test::{Question, TestKind};
use super::verdict::NoVerdict;
use crate::reader::{Fields, not_negative, object, positive, whole};
use crate::text::prose;

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "budget",
    about: "The agent must stay within these limits.",
    settings: || {
        let asked = object("budget", "`budget`", fields)
            .linked("[map](eval-yaml.md#budget)")
            .kind();
        settings(asking("budget", "maxCostUsd: 0.5", asked))
    },
};

/// The limits that are set; at least one is.
#[derive(Debug, Clone, Copy, Default)]
struct Budget {
    max_tokens: Option<u64>,
    max_cost_usd: Option<f64>,
    max_seconds: Option<f64>,
    max_requests: Option<u64>,
}

fn fields(fields: &mut Fields<'_, '_>) -> Option<Budget> {
    Some(Budget {
        max_tokens: fields.optional(
            "maxTokens",
            whole().value(),
            "The most input and output tokens together.",
        ),
        max_cost_usd: fields.optional(
            "maxCostUsd",
            not_negative().value(),
            "The highest [cost](../explanations/cost.md) in US dollars.",
        ),
        max_seconds: fields.optional(
            "maxSeconds",
            positive().value(),
            "The longest time that the agent may run.",
        ),
        max_requests: fields.optional(
            "maxRequests",
            whole().value(),
            "The most requests to the model.",
        ),
    })
}

impl TestKind for Budget {
    fn question(&self, _: Duration) -> Question<'_> {
        Question::Session {
            judge: Box::new(|session| self.judge(session)),
        }
    }
}

/// A figure, or the least that it can be, and whether it is exact.
type Used = (f64, bool);

/// What is limited, its limit, what was used of it, and the way to write it.
type Line = (&'static str, Option<f64>, Used, fn(f64) -> String);

impl Budget {
    fn judge(&self, session: &Session) -> Result<Grade, NoVerdict> {
        let usage = &session.usage;
        let known = |figure: Option<f64>| (figure.unwrap_or(0.0), figure.is_some());
        let whole: fn(f64) -> String = |number| format!("{number}");
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        let tokens = (
            (input.unwrap_or(0) + output.unwrap_or(0)) as f64,
            input.is_some() && output.is_some(),
        );
        let requests = known(usage.requests.map(|requests| requests as f64));
        let lines: [Line; 4] = [
            (
                "tokens",
                self.max_tokens.map(|limit| limit as f64),
                tokens,
                whole,
            ),
            (
                "cost",
                self.max_cost_usd,
                known(usage.cost_usd),
                prose::dollars,
            ),
            (
                "seconds",
                self.max_seconds,
                (session.seconds, true),
                |seconds| format!("{seconds:.1}"),
            ),
            (
                "requests",
                self.max_requests.map(|limit| limit as f64),
                requests,
                whole,
            ),
        ];
        let mut within = Vec::new();
        let mut unknown = Vec::new();
        for (what, limit, (used, is_exact), write) in lines {
            match limit {
                Some(limit) if used > limit => {
                    let (used, limit) = (write(used), write(limit));
                    return Ok(Grade::fail(format!("{used} {what}, more than {limit}")));
                }
                Some(_) if is_exact => within.push(format!("{} {what}", write(used))),
                Some(_) => unknown.push(what),
                None => {}
            }
        }
        if unknown.is_empty() {
            return Ok(Grade::pass(prose::list(&within, "and")));
        }
        let what = prose::list(&unknown, "and");
        Err(NoVerdict(format!(
            "the agent `{}` did not report its {what}",
            session.agent
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Usage;

    fn session(usage: Usage) -> Session {
        Session {
            agent: "codex".into(),
            usage,
            seconds: 41.25,
            ..Session::default()
        }
    }

    #[test]
    fn limits() {
        let usage = Usage {
            requests: Some(3),
            input_tokens: Some(900),
            output_tokens: Some(100),
            cost_usd: Some(0.031),
            ..Usage::default()
        };
        let none = Budget::default();
        for (budget, score, message) in [
            (
                Budget {
                    max_tokens: Some(1000),
                    ..none
                },
                1.0,
                "1000 tokens",
            ),
            (
                Budget {
                    max_tokens: Some(999),
                    ..none
                },
                0.0,
                "1000 tokens, more than 999",
            ),
            (
                Budget {
                    max_cost_usd: Some(0.05),
                    ..none
                },
                1.0,
                "$0.031 cost",
            ),
            (
                Budget {
                    max_cost_usd: Some(0.03),
                    ..none
                },
                0.0,
                "$0.031 cost, more than $0.030",
            ),
            (
                Budget {
                    max_seconds: Some(60.0),
                    ..none
                },
                1.0,
                "41.2 seconds",
            ),
            (
                Budget {
                    max_seconds: Some(10.0),
                    ..none
                },
                0.0,
                "41.2 seconds, more than 10.0",
            ),
            (
                Budget {
                    max_requests: Some(2),
                    ..none
                },
                0.0,
                "3 requests, more than 2",
            ),
            (
                Budget {
                    max_requests: Some(3),
                    max_seconds: Some(60.0),
                    ..none
                },
                1.0,
                "41.2 seconds and 3 requests",
            ),
        ] {
            assert_eq!(
                budget.judge(&session(usage)),
                Ok(Grade::scored(score, message))
            );
        }
    }

    #[test]
    fn what_is_not_reported_is_neither_within_nor_above() {
        let unknown = session(Usage::default());
        let budget = Budget {
            max_tokens: Some(1),
            max_cost_usd: Some(1.0),
            ..Budget::default()
        };
        let reason = "the agent `codex` did not report its tokens and cost";
        assert_eq!(budget.judge(&unknown), Err(NoVerdict(reason.into())));
        let requests = Budget {
            max_requests: Some(0),
            max_seconds: Some(60.0),
            ..Budget::default()
        };
        assert!(
            requests.judge(&unknown).is_err(),
            "what is known to be within does not make up for it"
        );
        // Half of a sum may already be too much, and then that is known.
        let half = session(Usage {
            input_tokens: Some(50),
            ..Usage::default()
        });
        let tokens = |limit| Budget {
            max_tokens: Some(limit),
            ..Budget::default()
        };
        assert_eq!(
            tokens(49).judge(&half),
            Ok(Grade::fail("50 tokens, more than 49"))
        );
        assert!(tokens(50).judge(&half).is_err());
    }
}
