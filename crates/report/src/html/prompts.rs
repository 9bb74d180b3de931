//! The prompts of a run, from its plan (`run.json`): one for each eval in each variant.

use std::collections::HashMap;

use serde_json::Value;
use terca_core::run::event::TrialHead;

#[derive(Debug, Clone, Default)]
pub struct Prompts {
    of: HashMap<[String; 3], String>,
}

impl Prompts {
    /// What is not as expected is passed over: a run without its plan still has results.
    pub fn of_plan(plan: &Value) -> Self {
        let cases = plan["cases"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let entry = |case: &Value| {
            let (eval, variant) = (text(&case["eval"])?, &case["variant"]);
            let key = [
                eval,
                text(&variant["environment"])?,
                text(&variant["experiment"])?,
            ];
            Some((key, text(&case["prompt"])?))
        };
        Prompts {
            of: cases.iter().filter_map(entry).collect(),
        }
    }

    pub fn get(&self, head: &TrialHead) -> Option<&str> {
        let key = [
            head.eval.clone(),
            head.environment.clone(),
            head.experiment.clone(),
        ];
        self.of.get(&key).map(String::as_str)
    }
}
