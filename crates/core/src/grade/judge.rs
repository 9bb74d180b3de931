//! `judge`: another agent reads the work and scores it against a rubric.
//!
//! The judge is asked with a [`prompt`] and heard with [`Opinion::of`]. A judge that gives no opinion has said
//! nothing about the work, so that there is no score; least of all is it 0.

mod opinion;
mod prompt;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{NoVerdict, Verdict, shortened};
use crate::agent::AgentChoice;
use crate::text::prose;
use crate::text::source::Place;
use crate::transcript::Stats;

pub use opinion::{Opinion, Reason};
pub use prompt::{Brief, VERDICT_FILE, prompt};

#[derive(Clone)]
pub struct JudgeTest {
    pub rubric: String,
    /// Who judges; `None` is the trial's own agent.
    pub agent: Option<AgentChoice>,
    /// The model it judges with; `None` is the trial's own for the trial's own agent, else the agent's default.
    pub model: Option<String>,
    /// The judge's own settings.
    pub config: Option<serde_json::Value>,
    /// A score that reaches this is as good as 1.
    pub pass_score: Option<f64>,
    pub place: Place,
}

/// What a test asks is told by this in fingerprints, and where it stands in its file is no part of that.
impl fmt::Debug for JudgeTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JudgeTest {
            rubric,
            agent,
            model,
            config,
            pass_score,
            place: _,
        } = self;
        f.debug_tuple("Judge")
            .field(&(rubric, agent, model, config, pass_score))
            .finish()
    }
}

/// What became of asking a judge.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// `None`: it was still at work when its time was over.
    pub opinion: Option<Result<Opinion, NoVerdict>>,
    pub by: JudgedBy,
}

/// Who judged, and what that took: paid for, though in no figure of the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgedBy {
    pub agent: String,
    pub agent_version: Option<String>,
    /// The model that was seen, else the one that was asked for.
    pub model: Option<String>,
    pub stats: Stats,
    /// Where the judge's session is kept, below the trial's folder.
    pub artifacts: String,
}

/// What `results.json` says of a judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgeRecord {
    /// As the judge gave it, whatever `passScore` makes of it.
    pub score: f64,
    pub reasons: Vec<Reason>,
    #[serde(flatten)]
    pub by: JudgedBy,
}

impl Judgement {
    pub fn record(&self) -> Option<JudgeRecord> {
        let opinion = self.opinion.as_ref()?.as_ref().ok()?;
        Some(JudgeRecord {
            score: opinion.score,
            reasons: opinion.reasons.clone(),
            by: self.by.clone(),
        })
    }
}

impl JudgeTest {
    pub(super) fn judge(
        &self,
        judgement: &Judgement,
        limit: Duration,
    ) -> Result<Verdict, NoVerdict> {
        let who = &judgement.by.agent;
        let opinion = match &judgement.opinion {
            Some(Ok(opinion)) => opinion,
            Some(Err(NoVerdict(reason))) => {
                return Err(NoVerdict(format!(
                    "the judge ({who}) gave no verdict: {reason}"
                )));
            }
            None => {
                let limit = prose::duration(limit.as_secs_f64());
                return Err(NoVerdict(format!(
                    "the judge ({who}) was still at work after {limit}"
                )));
            }
        };
        let given = opinion.score;
        let (score, said) = match self.pass_score {
            Some(pass) if given >= pass => (1.0, format!("scored {given}, and {pass} is enough")),
            Some(pass) => (given, format!("scored {given}, and {pass} would be enough")),
            None => (given, format!("scored {given}")),
        };
        let message = match opinion.in_short() {
            Some(why) => format!("{said}: {}", shortened(&why)),
            None => said,
        };
        Ok(Verdict { score, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::source::Sources;

    fn asked(pass_score: Option<f64>, start: usize) -> JudgeTest {
        let file = Sources::default().add("/s/terca.yaml", "terca.yaml", "");
        let place = Place {
            file,
            start,
            end: start,
        };
        JudgeTest {
            rubric: "good?".into(),
            agent: None,
            model: None,
            config: None,
            pass_score,
            place,
        }
    }

    fn judgement(opinion: Option<Result<Opinion, NoVerdict>>) -> Judgement {
        let by = JudgedBy {
            agent: "codex".into(),
            agent_version: None,
            model: None,
            stats: Stats::default(),
            artifacts: "artifacts/judge-quality".into(),
        };
        Judgement { opinion, by }
    }

    fn scored(score: f64) -> Judgement {
        judgement(Some(Ok(Opinion {
            score,
            summary: Some("fair".into()),
            reasons: Vec::new(),
        })))
    }

    const LIMIT: Duration = Duration::from_secs(120);

    #[test]
    fn a_score_that_is_enough_is_1_and_any_other_stays() {
        for (given, pass, score, message) in [
            (0.0, None, 0.0, "scored 0: fair"),
            (0.6, None, 0.6, "scored 0.6: fair"),
            (1.0, None, 1.0, "scored 1: fair"),
            (
                0.6,
                Some(0.7),
                0.6,
                "scored 0.6, and 0.7 would be enough: fair",
            ),
            (0.7, Some(0.7), 1.0, "scored 0.7, and 0.7 is enough: fair"),
            (
                0.0,
                Some(0.1),
                0.0,
                "scored 0, and 0.1 would be enough: fair",
            ),
        ] {
            let verdict = asked(pass, 0).judge(&scored(given), LIMIT);
            assert_eq!(
                verdict,
                Ok(Verdict {
                    score,
                    message: message.into()
                })
            );
        }
        assert_eq!(
            scored(0.6).record().unwrap().score,
            0.6,
            "the record has what the judge gave"
        );
    }

    #[test]
    fn no_opinion_is_no_zero() {
        let late = judgement(None);
        let NoVerdict(reason) = asked(None, 0).judge(&late, LIMIT).unwrap_err();
        assert_eq!(reason, "the judge (codex) was still at work after 2m 00s");
        let silent = judgement(Some(Err(NoVerdict("it said nothing".into()))));
        let NoVerdict(reason) = asked(None, 0).judge(&silent, LIMIT).unwrap_err();
        assert_eq!(reason, "the judge (codex) gave no verdict: it said nothing");
        assert_eq!((late.record(), silent.record()), (None, None));
    }

    #[test]
    fn where_a_test_stands_is_not_what_it_asks() {
        assert_eq!(
            format!("{:?}", asked(Some(0.5), 1)),
            format!("{:?}", asked(Some(0.5), 99))
        );
        assert_ne!(
            format!("{:?}", asked(Some(0.5), 1)),
            format!("{:?}", asked(None, 1))
        );
    }
}
