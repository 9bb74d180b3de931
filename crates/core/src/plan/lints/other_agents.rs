//! Finds experiments that change the agent and leave the settings of the other one in place.

use crate::agent::AgentRef;
use crate::config::Patch;
use crate::config::suite::{Setup, Suite};
use crate::plan::Plan;
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;

/// Warns of each such experiment once. An agent of the command line is a choice of the moment, and no mistake.
pub(super) fn check(suite: &Suite, plan: &Plan, problems: &mut Diagnostics) {
    for experiment in &suite.experiments {
        let switched = suite.environments.iter().find_map(|environment| {
            let change = Change::of(environment, experiment)?;
            let mut variants = plan.cases().map(|case| &case.variant);
            let is_run = variants.any(|variant| {
                variant.environment == environment.name
                    && variant.experiment == experiment.name
                    && variant.agent.agent == change.to
            });
            is_run.then_some(change)
        });
        if let Some(change) = switched {
            problems.push(change.warning(experiment));
        }
    }
}

/// A change of the agent that leaves settings behind.
struct Change {
    from: AgentRef,
    to: AgentRef,
    fields: Vec<&'static str>,
}

impl Change {
    fn of(environment: &Setup, experiment: &Setup) -> Option<Self> {
        let from = environment.agent.set()?.agent;
        let to = experiment.agent.set()?.agent;
        let mut fields = Vec::new();
        if environment.model.set().is_some() && matches!(experiment.model, Patch::Keep) {
            fields.push("model");
        }
        if environment.config.set().is_some() && matches!(experiment.config, Patch::Keep) {
            fields.push("config");
        }
        (from != to && !fields.is_empty()).then_some(Change { from, to, fields })
    }

    fn warning(&self, experiment: &Setup) -> Diagnostic {
        let (from, to) = (self.from.profile().name, self.to.profile().name);
        let fields = prose::quoted_list(&self.fields, "and");
        let message = format!(
            "the experiment `{}` changes the agent to `{to}`, which does not get the environment's {fields}",
            experiment.name
        );
        let are = if self.fields.len() == 1 { "is" } else { "are" };
        let first = self.fields.first().unwrap_or(&"model");
        let warning = Diagnostic::warning(Code::SettingsOfAnother, message).help(format!(
            "give the experiment its own {fields}; `{first}: null` chooses the agent's default"
        ));
        match experiment.place {
            Some(place) => warning.at(place, format!("{fields} {are} for `{from}`")),
            None => warning,
        }
    }
}
