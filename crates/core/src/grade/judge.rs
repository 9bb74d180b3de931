//! `judge`: another agent reads the work and scores it against a rubric.
//!
//! A judge without an opinion has said nothing about the work, so there is no score; least of all is it 0.

use std::time::Duration;

use serde_json::json;

use super::declaration::{TestKindDeclaration, settings};
use super::grades::Grade;
use super::judgement::{JudgeTest, Judgement};
use super::test::{Question, TestKind};
use super::verdict::{NoVerdict, shortened};
use crate::agent::AgentChoice;
use crate::reader::agent::{agent_choice, agent_settings};
use crate::reader::{Fields, Kind, Node, Reader, Value, filled_text, object, share};
use crate::text::mask::Masked;
use crate::text::{Code, Diagnostic, Located, prose};

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "judge",
    about: "Another agent scores the work against a rubric.",
    settings: || {
        settings(
            object("judge", "`judge`", fields)
                .linked("[map](eval-yaml.md#judge)")
                .kind(),
        )
    },
};

fn fields(fields: &mut Fields<'_, '_>) -> Option<JudgeTest> {
    let rubric = fields.required(
        "rubric",
        filled_text().value(),
        "The requirements for the work, in your own words.",
    );
    let is_named = fields
        .peek("agent")
        .is_some_and(|node| node.value != Value::Null);
    let agent = fields.optional(
        "agent",
        agent_choice(),
        "The agent that judges: any but `oracle`, `nop` and `cheat`. Default: the trial's own agent.",
    );
    let model = fields.optional(
        "model",
        filled_text().then(|model, reader| Some(reader.filled(&model)?.value)),
        "The model that it judges with. Default: the trial's own model for the trial's own agent, else the agent's \
         default.",
    );
    let config = fields.optional(
        "config",
        agent_settings(),
        "The judge's own settings, as in an environment. Only with `agent`.",
    );
    let pass_score = fields.optional(
        "passScore",
        pass_score(),
        "A score of at least this counts as 1.",
    );
    let agent = match agent {
        Some(agent) => Some(able_to_judge(agent, config.as_ref(), fields.reader)?),
        None => None,
    };
    if let Some(config) = config.as_ref().filter(|_| !is_named) {
        return fields.refuse(
            Diagnostic::error(
                Code::MisplacedKey,
                "`config` for a judge without an `agent`",
            )
            .at(config.place, "it is not clear whose settings these are")
            .help("name the agent that judges: `agent: NAME`"),
        );
    }
    let mut secrets = Vec::new();
    let mut fill = |text: &Located<String>| {
        let filled = fields.reader.filled_secret(text).unwrap_or_default();
        secrets.extend(filled.taken);
        filled.text
    };
    let config = config.map(|config| config.filled(&mut fill));
    Some(JudgeTest {
        rubric: rubric?,
        agent,
        // An empty variable names no model.
        model: model.filter(|model| !model.is_empty()),
        secrets,
        config,
        pass_score,
    })
}

/// A score above 0: any work reaches 0.
fn pass_score() -> Kind<f64> {
    share()
        .with("exclusiveMinimum", json!(0))
        .then(|score, reader| {
            if score.value > 0.0 {
                return Some(score.value);
            }
            reader.refuse(
                Diagnostic::error(Code::AsksNothing, "any work reaches a `passScore` of 0")
                    .at(score.place, "this test would always pass")
                    .help("a score above 0, such as 0.8, is as good as 1 when the judge gives it"),
            )
        })
}

/// Refuses an agent that cannot judge, or cannot be given these settings.
fn able_to_judge(
    choice: Located<AgentChoice>,
    config: Option<&Node>,
    reader: &mut Reader<'_>,
) -> Option<AgentChoice> {
    let profile = choice.value.agent.profile();
    if profile.is_built_in() {
        return reader.refuse(
            Diagnostic::error(
                Code::CannotJudge,
                format!("the agent `{}` cannot judge", profile.name),
            )
            .at(choice.place, "it is built in, and cannot judge")
            .help("name another agent, or omit `agent` to let the trial's own agent judge"),
        );
    }
    if let Some(config) = config.filter(|_| !profile.capabilities.config) {
        return reader.refuse(
            Diagnostic::error(
                Code::AgentCannot,
                format!("the agent `{}` cannot be given `config`", profile.name),
            )
            .at(config.place, "it has no settings of its own")
            .help("remove `config`, or choose another agent"),
        );
    }
    Some(choice.value)
}

impl TestKind for JudgeTest {
    fn question(&self, limit: Duration) -> Question<'_> {
        Question::Judge {
            asked: self,
            judge: Box::new(move |judgement| self.judge(judgement, limit)),
        }
    }
}

impl JudgeTest {
    fn judge(&self, judgement: &Judgement, limit: Duration) -> Result<Grade, NoVerdict> {
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
                    "the judge ({who}) was still running after {limit}"
                )));
            }
        };
        let given = opinion.score;
        let (score, said) = match self.pass_score {
            Some(pass) if given >= pass => (1.0, format!("scored {given} ({pass} is enough)")),
            Some(pass) => (given, format!("scored {given} ({pass} would be enough)")),
            None => (given, format!("scored {given}")),
        };
        let message = match opinion.in_short() {
            // A judge's words are masked before its verdict is read.
            Some(why) => format!("{said}: {}", shortened(&Masked::already(why))),
            None => said,
        };
        Ok(Grade::scored(score, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::judgement::{JudgedBy, Opinion};
    use crate::transcript::Stats;

    fn asked(pass_score: Option<f64>) -> JudgeTest {
        JudgeTest {
            rubric: "good?".into(),
            agent: None,
            model: None,
            config: None,
            secrets: Vec::new(),
            pass_score,
        }
    }

    fn judgement(opinion: Option<Result<Opinion, NoVerdict>>) -> Judgement {
        let by = JudgedBy {
            agent: "codex".into(),
            agent_version: None,
            model: None,
            access: None,
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
                "scored 0.6 (0.7 would be enough): fair",
            ),
            (0.7, Some(0.7), 1.0, "scored 0.7 (0.7 is enough): fair"),
            (0.0, Some(0.1), 0.0, "scored 0 (0.1 would be enough): fair"),
        ] {
            let verdict = asked(pass).judge(&scored(given), LIMIT);
            assert_eq!(verdict, Ok(Grade::scored(score, message)));
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
        let NoVerdict(reason) = asked(None).judge(&late, LIMIT).unwrap_err();
        assert_eq!(reason, "the judge (codex) was still running after 2m 00s");
        let silent = judgement(Some(Err(NoVerdict("it said nothing".into()))));
        let NoVerdict(reason) = asked(None).judge(&silent, LIMIT).unwrap_err();
        assert_eq!(reason, "the judge (codex) gave no verdict: it said nothing");
        assert_eq!((late.record(), silent.record()), (None, None));
    }
}
