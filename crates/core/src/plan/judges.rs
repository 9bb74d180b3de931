//! Who judges in a plan.

use crate::agent::AgentChoice;
use crate::agent::AgentRef;
use crate::config::suite::Eval;
use crate::grade::{JudgeTest, TestKind, TestSpec};
use crate::plan::{Case, Plan, Variant};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;

impl Plan {
    /// Every agent that takes part, those that judge included.
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
    /// The tests in which an agent judges.
    pub fn judges(&self) -> impl Iterator<Item = (&TestSpec, &JudgeTest)> {
        of(&self.eval)
    }

    /// Who judges: the agent that the test names, else the trial's own.
    pub fn judge<'a>(&'a self, test: &'a JudgeTest) -> &'a AgentChoice {
        test.agent.as_ref().unwrap_or(&self.variant.agent)
    }

    /// The model it judges with. One that was chosen for another agent is not for this one.
    pub fn judge_model<'a>(&'a self, test: &'a JudgeTest) -> Option<&'a str> {
        let own = if test.agent.is_none() {
            self.variant.model.as_deref()
        } else {
            None
        };
        test.model.as_deref().or(own)
    }
}

/// The tests of an eval in which an agent judges.
pub(crate) fn of(eval: &Eval) -> impl Iterator<Item = (&TestSpec, &JudgeTest)> {
    eval.tests.iter().filter_map(|test| match &test.kind {
        TestKind::Judge(judge) => Some((test, judge)),
        _ => None,
    })
}

/// The trial's own agent judges where a test names no other; `oracle`, `nop` and `cheat` have no opinion.
pub(crate) fn check(eval: &Eval, variant: &Variant, problems: &mut Diagnostics) {
    if !variant.agent.agent.profile().is_built_in() {
        return;
    }
    for (test, judge) in of(eval).filter(|(_, judge)| judge.agent.is_none()) {
        problems.push(
            Diagnostic::error(
                Code::CannotJudge,
                format!("nobody can judge the test `{}` here", test.name),
            )
            .at(
                judge.place,
                "it names no agent, and the trial's own is built in",
            )
            .help("name the agent that judges: `judge: {rubric: …, agent: NAME}`"),
        );
    }
}
