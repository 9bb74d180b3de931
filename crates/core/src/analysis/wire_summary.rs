//! The requests of several trials to models, and the connections that their agents were refused, in one sentence.

use std::collections::BTreeMap;

use crate::analysis::summary::DeliveryCounts;
use crate::run::outcome::TrialReport;
use crate::stats::sample::median;
use crate::text::prose;
use crate::wire::Wire;
use crate::wire::network::RefusedHost;

/// The most parts of a variant, and the most hosts, that are named.
const SHOWN: usize = 5;

/// The requests of several trials to models, and the connections that their agents were refused.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WireSummary {
    /// The trials whose requests passed through the gateway.
    trials: usize,
    wire: Wire,
    refused: BTreeMap<String, u64>,
    refused_elsewhere: u64,
}

impl WireSummary {
    /// Adds up the trials. Returns `None` if there is nothing to say.
    pub fn of<'a>(reports: impl IntoIterator<Item = &'a TrialReport>) -> Option<Self> {
        let mut summary = WireSummary::default();
        let mut first_bytes = Vec::new();
        for report in reports {
            if let Some(wire) = &report.wire {
                summary.trials += 1;
                summary.wire.add(wire);
                first_bytes.extend(wire.first_byte_seconds);
            }
            if let Some(network) = &report.network {
                summary.refused_elsewhere += network.refused_elsewhere;
                for RefusedHost { host, port, count } in &network.refused {
                    *summary.refused.entry(format!("{host}:{port}")).or_default() += count;
                }
            }
        }
        summary.wire.first_byte_seconds = median(&first_bytes);
        let is_empty = summary.trials == 0 && summary.refused_count() == 0;
        (!is_empty).then_some(summary)
    }

    fn refused_count(&self) -> u64 {
        self.refused.values().sum::<u64>() + self.refused_elsewhere
    }

    /// Returns the sentence: `14 requests in 3 trials, 2 failed (429 ×2), …; 120k input tokens, …; models took 41s, …`.
    pub fn sentence(&self, delivery: &DeliveryCounts) -> String {
        let mut parts = Vec::new();
        if self.trials > 0 {
            let trials = prose::count(self.trials, "trial");
            parts.push(format!("{} (in {trials})", self.wire.words()));
            parts.extend(self.wire.token_words());
            parts.push(self.wire.time_words());
            for sent in delivery.sent.iter().take(SHOWN) {
                let (noun, name) = (sent.part.noun(), &sent.name);
                parts.push(format!(
                    "{noun} `{name}` in {} of {} requests",
                    sent.requests, sent.of
                ));
            }
        }
        let refused = self.refused_count();
        if refused > 0 {
            let mut hosts: Vec<&str> = self.refused.keys().map(String::as_str).collect();
            let is_cut = hosts.len() > SHOWN || self.refused_elsewhere > 0;
            hosts.truncate(SHOWN);
            if is_cut {
                hosts.push("others");
            }
            let count = prose::count(refused, "connection");
            parts.push(format!("{count} refused ({})", prose::list(&hosts, "and")));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::network::{NetworkMode, TrialNetwork};
    use crate::wire::sent_parts::{Part, Sent};

    #[test]
    fn trials_are_added_up_in_one_sentence() {
        assert_eq!(WireSummary::of([&TrialReport::pending()]), None);
        let mut network = TrialNetwork::new(NetworkMode::Model);
        network.refused.push(RefusedHost {
            host: "pypi.org".to_owned(),
            port: 443,
            count: 3,
        });
        let wire = |answered: u64, first_byte| Wire {
            requests: 4,
            answered,
            retries: 4 - answered,
            input_tokens: Some(1200),
            cached_input_tokens: Some(200),
            output_tokens: Some(30),
            model_seconds: 2.0,
            tool_seconds: Some(0.5),
            rest_seconds: Some(1.5),
            first_byte_seconds: Some(first_byte),
            statuses: BTreeMap::from([
                ("200".to_owned(), answered),
                ("429".to_owned(), 4 - answered),
            ]),
            sent: vec![Sent {
                part: Part::Rules,
                name: "AGENTS.md".to_owned(),
                requests: answered,
                of: 4,
            }],
            ..Wire::default()
        };
        let mut one = TrialReport {
            wire: Some(wire(4, 1.0)),
            network: Some(network),
            ..TrialReport::pending()
        };
        one.phases.agent = Some(3.0);
        let mut other = TrialReport {
            wire: Some(wire(3, 2.0)),
            ..TrialReport::pending()
        };
        other.phases.agent = Some(5.0);
        let summary = WireSummary::of([&one, &other, &TrialReport::pending()]).unwrap();
        let delivery = DeliveryCounts::of(&[&one, &other]);
        assert_eq!(
            summary.sentence(&delivery),
            "8 requests, 1 failed (429 ×1), 1 tried again, first byte after 1.5s (in 2 trials); 2.4k input tokens (400 \
             cached), 60 output tokens; models took 4.0s, tools 1.0s, the rest 3.0s; rules `AGENTS.md` in 7 of 8 requests; 3 connections \
             refused (pypi.org:443)"
        );
        other.wire = None;
        other.network = one.network;
        let refused = WireSummary::of([&other]).unwrap();
        assert_eq!(
            refused.sentence(&delivery),
            "3 connections refused (pypi.org:443)"
        );
    }
}
