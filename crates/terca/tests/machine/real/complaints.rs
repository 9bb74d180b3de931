//! What is found wrong in a table of trials, told together at the end.

use serde_json::Value;
use terca_testkit::agents::RealAgent;
use terca_testkit::{Request, Served, Usage};

/// Claims that did not hold.
pub struct Complaints {
    agent: RealAgent,
    list: Vec<String>,
}

impl Complaints {
    pub fn new(agent: RealAgent) -> Self {
        Complaints {
            agent,
            list: Vec::new(),
        }
    }

    pub fn add(&mut self, name: &str, what: &str, trial: &Value) {
        let short = serde_json::json!({
            "status": trial["status"], "error": trial["error"], "timedOut": trial["timedOut"], "stats": trial["stats"],
            "modelObserved": trial["delivery"]["modelObserved"], "mcpServers": trial["delivery"]["mcpServers"],
            "notes": trial["notes"],
        });
        self.list.push(format!("{name}: {what}\n    {short}"));
    }

    /// Every figure is null or what the model served in the session. It may have what broke off, and what was asked on
    /// the side, besides.
    pub fn check_figures(
        &mut self,
        name: &str,
        trial: &Value,
        session: &[Request],
        aside: &[Request],
    ) {
        let whole = used(session, |served| served.whole);
        let broken_off = used(session, |served| !served.whole);
        let aside_used = used(aside, |_| true);
        let least = session.iter().filter(|request| is_whole(request)).count();
        let extra = |of: fn(Usage) -> u64| of(broken_off) + of(aside_used);
        let input = |usage: Usage| usage.input;
        let ranges = [
            (
                "requests",
                least as u64,
                (session.len() + aside.len()) as u64,
            ),
            ("inputTokens", whole.input, whole.input + extra(input)),
            (
                "outputTokens",
                whole.output(),
                whole.output() + extra(Usage::output),
            ),
        ];
        for (key, least, most) in ranges {
            let figure = &trial["stats"][key];
            let is_true = match figure.as_u64() {
                // What is not known is not 0. The gateway knows.
                Some(0) => least == 0 && trial["wire"].is_object(),
                Some(figure) => (least..=most).contains(&figure),
                None => figure.is_null(),
            };
            if !is_true {
                self.add(
                    name,
                    &format!("{key} is {figure} and was {least} to {most}"),
                    trial,
                );
            }
        }
    }

    /// The model that is said to have answered has answered.
    pub fn check_model(&mut self, name: &str, trial: &Value, main: &[Request]) {
        let observed = &trial["delivery"]["modelObserved"];
        let Some(observed) = observed.as_str() else {
            return;
        };
        let served: Vec<&str> = main
            .iter()
            .filter_map(|request| request.served.as_ref())
            .map(|served| served.model.as_str())
            .collect();
        let is_served = served
            .iter()
            .any(|model| observed == *model || observed.ends_with(&format!("/{model}")));
        if !is_served {
            let what = format!(
                "{observed} is said to have answered, and {:?} has",
                served.first()
            );
            self.add(name, &what, trial);
        }
    }

    #[track_caller]
    pub fn expect_none(self) {
        let (name, list) = (self.agent.name, self.list);
        assert!(list.is_empty(), "{name}:\n  {}", list.join("\n  "));
    }
}

fn is_whole(request: &Request) -> bool {
    request.served.as_ref().is_some_and(|served| served.whole)
}

fn used(requests: &[Request], counts: fn(&Served) -> bool) -> Usage {
    let served = requests
        .iter()
        .filter_map(|request| request.served.as_ref());
    served
        .filter(|served| counts(served))
        .map(|served| served.usage)
        .sum()
}
