//! The agents that judge in a plan.

use serde_json::Value;

use crate::agent::{AgentChoice, AgentRef};
use crate::config::suite::Eval;
use crate::grade::{JudgeTest, TestSpec};
use crate::plan::{Case, Plan, Variant};
use crate::text::{Code, Diagnostic, Diagnostics};

impl Plan {
    /// Returns every agent that takes part, judges included.
    pub fn agents(&self) -> Vec<AgentRef> {
        let mut agents: Vec<AgentRef> = Vec::new();
        for trial in &self.trials {
            let judges = trial
                .case
                .judges()
                .map(|(_, judge)| trial.case.judge(judge));
            for choice in judges.chain([&trial.case.variant.agent]) {
                if !agents.contains(&choice.agent) {
                    agents.push(choice.agent);
                }
            }
        }
        agents
    }
}

impl Case {
    /// Returns the tests that need a judge.
    pub fn judges(&self) -> impl Iterator<Item = (&TestSpec, &JudgeTest)> {
        judges_of(&self.eval)
    }

    /// Returns the settings of its agent and of its judges.
    pub fn configs(&self) -> impl Iterator<Item = &Value> {
        let of_judges = self.judges().filter_map(|(_, judge)| judge.config.as_ref());
        self.variant.config.iter().chain(of_judges)
    }

    /// Returns the agent that judges: the one that the test names, else the trial's own.
    pub fn judge<'a>(&'a self, test: &'a JudgeTest) -> &'a AgentChoice {
        test.agent.as_ref().unwrap_or(&self.variant.agent)
    }

    /// Returns the model that judges. A model that was chosen for another agent is not for this one.
    pub fn judge_model<'a>(&'a self, test: &'a JudgeTest) -> Option<&'a str> {
        let own = if test.agent.is_none() {
            self.variant.model.as_deref()
        } else {
            None
        };
        test.model.as_deref().or(own)
    }
}

/// Returns the tests of an eval that need a judge.
pub(crate) fn judges_of(eval: &Eval) -> impl Iterator<Item = (&TestSpec, &JudgeTest)> {
    eval.tests
        .iter()
        .filter_map(|test| Some((test, test.judge()?)))
}

/// Reports tests that nobody can judge: they name no agent, and the trial's own agent is built in.
pub(crate) fn check(eval: &Eval, variant: &Variant, problems: &mut Diagnostics) {
    if !variant.agent.agent.profile().is_built_in() {
        return;
    }
    for (test, _) in judges_of(eval).filter(|(_, judge)| judge.agent.is_none()) {
        problems.push(
            Diagnostic::error(
                Code::CannotJudge,
                format!("no agent can judge the test `{}`", test.name),
            )
            .at(
                test.place,
                "it names no agent, and the trial's own agent is built in",
            )
            .help("name the agent that judges: `judge: {rubric: …, agent: NAME}`"),
        );
    }
}
