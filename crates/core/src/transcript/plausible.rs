//! Figures that agents report about themselves, and that nobody should believe.
//!
//! A figure below nothing would lengthen a budget, and one beyond measure would spoil every mean. Such a figure counts
//! as not reported, with a remark.

use serde_json::{Map, Value};

use super::Usage;

/// More tokens than any session has used.
const MOST_TOKENS: u64 = 1_000_000_000_000;
/// More requests and calls of tools than any session has made.
const MOST_CALLS: u64 = 1_000_000_000;
/// More dollars than anybody has spent on a session.
const MOST_DOLLARS: f64 = 1_000_000.0;

impl Usage {
    /// Returns the whole figures with their names, and more than each can be.
    fn whole_figures(&mut self) -> [(&'static str, &mut Option<u64>, u64); 5] {
        [
            ("requests", &mut self.requests, MOST_CALLS),
            ("inputTokens", &mut self.input_tokens, MOST_TOKENS),
            (
                "cachedInputTokens", &mut self.cached_input_tokens, MOST_TOKENS,
            ),
            ("outputTokens", &mut self.output_tokens, MOST_TOKENS),
            ("toolCalls", &mut self.tool_calls, MOST_CALLS),
        ]
    }

    /// Leaves out figures that cannot be. Returns a remark for each.
    pub fn plausible(mut self) -> (Usage, Vec<String>) {
        let mut remarks = Vec::new();
        for (name, figure, most) in self.whole_figures() {
            if let Some(absurd) = figure.take_if(|figure| *figure > most) {
                remarks.push(remark(name, &absurd.to_string()));
            }
        }
        let is_absurd = |cost: &mut f64| !(0.0..=MOST_DOLLARS).contains(cost);
        if let Some(absurd) = self.cost_usd.take_if(is_absurd) {
            remarks.push(remark("costUsd", &format!("{absurd:?}")));
        }
        (self, remarks)
    }

    /// Reads figures that an agent wrote as JSON, each for itself. Returns a remark for each that is no figure.
    pub fn read_reported(text: &str) -> Result<(Usage, Vec<String>), serde_json::Error> {
        let fields: Map<String, Value> = serde_json::from_str(text)?;
        let mut remarks = Vec::new();
        let mut usage = Usage::default();
        for (name, figure, _) in usage.whole_figures() {
            *figure = read(&fields, name, Value::as_u64, &mut remarks);
        }
        usage.cost_usd = read(&fields, "costUsd", Value::as_f64, &mut remarks);
        Ok((usage, remarks))
    }
}

fn read<T>(
    fields: &Map<String, Value>,
    name: &str,
    as_figure: fn(&Value) -> Option<T>,
    remarks: &mut Vec<String>,
) -> Option<T> {
    let value = fields.get(name).filter(|value| !value.is_null())?;
    let figure = as_figure(value);
    if figure.is_none() {
        remarks.push(remark(name, &value.to_string()));
    }
    figure
}

fn remark(name: &str, figure: &str) -> String {
    const LONGEST: usize = 40;
    let shown: String = figure.chars().take(LONGEST).collect();
    format!(
        "the agent reported {shown} as its {name}, which is impossible: it counts as not reported"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_cannot_be_count_as_not_reported() {
        for cost in [
            -5.0,
            -0.01,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e300,
        ] {
            let usage = Usage {
                cost_usd: Some(cost),
                input_tokens: Some(10),
                ..Usage::default()
            };
            let (plausible, remarks) = usage.plausible();
            assert_eq!(plausible.cost_usd, None, "{cost}");
            assert_eq!(plausible.input_tokens, Some(10));
            assert_eq!(remarks.len(), 1, "{remarks:?}");
        }
        let most = Usage {
            requests: Some(u64::MAX),
            input_tokens: Some(u64::MAX),
            cached_input_tokens: Some(u64::MAX),
            output_tokens: Some(u64::MAX),
            tool_calls: Some(u64::MAX),
            cost_usd: Some(0.0),
        };
        let (plausible, remarks) = most.plausible();
        let nothing = Usage {
            cost_usd: Some(0.0),
            ..Usage::default()
        };
        assert_eq!((plausible, remarks.len()), (nothing, 5));
    }

    #[test]
    fn each_figure_is_read_for_itself() {
        let text = r#"{"requests": -1, "inputTokens": 1e300, "outputTokens": 7, "toolCalls": "many", "costUsd": 0.5}"#;
        let (usage, remarks) = Usage::read_reported(text).unwrap();
        let expected = Usage {
            output_tokens: Some(7),
            cost_usd: Some(0.5),
            ..Usage::default()
        };
        assert_eq!((usage, remarks.len()), (expected, 3), "{remarks:?}");
        assert!(Usage::read_reported("[]").is_err());
    }
}
