//! `budget`: limits for a trial.
//!
//! A figure that the agent does not report is unknown: it is neither within nor above a limit.

use std::time::Duration;

use super::declaration::{TestKindDeclaration, asking, settings};
use super::evidence::Session;
use super::test::{Question, TestKind};
use super::verdict::{NoVerdict, Verdict};
use crate::reader::values::{not_negative, positive, whole};
use crate::reader::{Fields, object};
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

/// One limit, and the figure to compare with it.
struct BudgetLine {
    what: &'static str,
    limit: f64,
    used: Used,
    write: fn(f64) -> String,
}

enum Used {
    Exactly(f64),
    AtLeast(f64),
    Unknown,
}

impl Used {
    fn known(figure: Option<f64>) -> Self {
        figure.map_or(Used::Unknown, Used::Exactly)
    }
}

impl Budget {
    fn judge(&self, session: &Session) -> Result<Verdict, NoVerdict> {
        let lines = self.lines(session);
        let mut within = Vec::new();
        let mut unknown = Vec::new();
        for line in &lines {
            match line.used {
                Used::Exactly(used) | Used::AtLeast(used) if used > line.limit => {
                    let (used, limit) = ((line.write)(used), (line.write)(line.limit));
                    return Ok(Verdict::fail(format!(
                        "{used} {}, more than {limit}",
                        line.what
                    )));
                }
                Used::Exactly(used) => within.push(format!("{} {}", (line.write)(used), line.what)),
                Used::AtLeast(_) | Used::Unknown => unknown.push(line.what),
            }
        }
        if unknown.is_empty() {
            return Ok(Verdict::pass(prose::list(&within, "and")));
        }
        let what = prose::list(&unknown, "and");
        Err(NoVerdict(format!(
            "the agent `{}` did not report its {what}",
            session.agent
        )))
    }

    fn lines(&self, session: &Session) -> Vec<BudgetLine> {
        let usage = &session.usage;
        let whole: fn(f64) -> String = |number| format!("{number}");
        let tokens = match (usage.input_tokens, usage.output_tokens) {
            (Some(input), Some(output)) => Used::Exactly((input + output) as f64),
            (Some(part), None) | (None, Some(part)) => Used::AtLeast(part as f64),
            (None, None) => Used::Unknown,
        };
        let requests = Used::known(usage.requests.map(|requests| requests as f64));
        [
            self.max_tokens.map(|limit| BudgetLine {
                what: "tokens",
                limit: limit as f64,
                used: tokens,
                write: whole,
            }),
            self.max_cost_usd.map(|limit| BudgetLine {
                what: "cost",
                limit,
                used: Used::known(usage.cost_usd),
                write: prose::dollars,
            }),
            self.max_seconds.map(|limit| {
                let write = |seconds| format!("{seconds:.1}");
                BudgetLine {
                    what: "seconds",
                    limit,
                    used: Used::Exactly(session.seconds),
                    write,
                }
            }),
            self.max_requests.map(|limit| BudgetLine {
                what: "requests",
                limit: limit as f64,
                used: requests,
                write: whole,
            }),
        ]
        .into_iter()
        .flatten()
        .collect()
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
                Ok(Verdict::scored(score, message))
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
            Ok(Verdict::fail("50 tokens, more than 49"))
        );
        assert!(tokens(50).judge(&half).is_err());
    }
}
