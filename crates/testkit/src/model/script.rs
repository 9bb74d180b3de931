//! What the model is to say, and what is to go wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use super::vocabulary::{Action, Vocabulary};

/// Scenarios by name, in the words of one agent.
#[derive(Debug, Clone)]
pub struct Script {
    pub vocabulary: Vocabulary,
    pub scenarios: BTreeMap<String, Scenario>,
}

impl Script {
    pub fn new(vocabulary: Vocabulary) -> Self {
        Script {
            vocabulary,
            scenarios: BTreeMap::new(),
        }
    }

    pub fn scenario(mut self, name: &str, scenario: Scenario) -> Self {
        self.scenarios.insert(name.into(), scenario);
        self
    }
}

/// One conversation.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    pub turns: Vec<Turn>,
    pub fault: Option<Fault>,
    /// How long every answer is waited for.
    pub delay: Duration,
    /// The model that answers, where it is another than was asked for.
    pub answered_by: Option<&'static str>,
}

impl Scenario {
    pub fn new(turns: impl Into<Vec<Turn>>) -> Self {
        Scenario {
            turns: turns.into(),
            ..Scenario::default()
        }
    }

    /// Writes `fib.txt`, runs a command that prints what it holds, and is done: three requests, two tool calls.
    pub fn two_tools() -> Self {
        Scenario::new([
            Turn::calling(
                "Writing the file.",
                Action::write("fib.txt", "0 1 1 2 3 5 8\n"),
            ),
            Turn::calling(
                "Looking at it.",
                Action::run("cat fib.txt && echo CHECKED > checked.txt"),
            ),
            Turn::saying("Done."),
        ])
    }

    /// One answer and no tool.
    pub fn saying(text: &str) -> Self {
        Scenario::new([Turn::saying(text)])
    }

    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    pub fn answered_by(mut self, model: &'static str) -> Self {
        self.answered_by = Some(model);
        self
    }

    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The turn at which a conversation with so many tool results has arrived.
    pub(super) fn turn(&self, results: usize) -> usize {
        let mut answered = 0;
        for (index, turn) in self.turns.iter().enumerate() {
            answered += turn.calls.len();
            if results < answered || turn.calls.is_empty() {
                return index;
            }
        }
        self.turns.len()
    }

    /// What the agent will have used at the end, or after some of the turns.
    pub fn usage_of(&self, turns: usize) -> Usage {
        let used = (0..turns).map(|index| self.usage(index));
        used.sum()
    }

    pub(super) fn usage(&self, turn: usize) -> Usage {
        self.turns
            .get(turn)
            .and_then(|turn| turn.usage)
            .unwrap_or(Usage::of_turn(turn))
    }
}

/// One answer of the model.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub text: String,
    pub calls: Vec<Action>,
    /// What it costs, where the usual figures will not do.
    pub usage: Option<Usage>,
}

impl Turn {
    pub fn saying(text: &str) -> Self {
        Turn {
            text: text.into(),
            ..Turn::default()
        }
    }

    pub fn calling(text: &str, action: Action) -> Self {
        Turn {
            text: text.into(),
            calls: vec![action],
            usage: None,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// With what came from the cache.
    pub input: u64,
    pub cached: u64,
    /// Without thoughts.
    pub answer: u64,
    pub thoughts: u64,
}

impl Usage {
    /// Different in every turn, so that a turn that is counted twice or not at all shows in the sum.
    pub fn of_turn(turn: usize) -> Self {
        let turn = turn as u64;
        Usage {
            input: 1000 + 100 * turn,
            cached: 400 + 10 * turn,
            answer: 50 + turn,
            thoughts: 7,
        }
    }

    /// A title or a summary that an agent asks for on the side.
    pub(super) const ASIDE: Usage = Usage {
        input: 11,
        cached: 0,
        answer: 3,
        thoughts: 0,
    };

    /// With thoughts, which are paid for as output.
    pub fn output(self) -> u64 {
        self.answer + self.thoughts
    }

    pub fn total(self) -> u64 {
        self.input + self.output()
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(used: I) -> Usage {
        used.fold(Usage::default(), |sum, usage| Usage {
            input: sum.input + usage.input,
            cached: sum.cached + usage.cached,
            answer: sum.answer + usage.answer,
            thoughts: sum.thoughts + usage.thoughts,
        })
    }
}

/// What goes wrong, and with which requests of the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub trouble: Trouble,
    /// How many requests are answered well before it strikes.
    pub after: usize,
    /// How many requests it strikes; all that follow when it is not given.
    pub times: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// This HTTP status, with the seconds after which to come back.
    Status {
        status: u16,
        retry_after: Option<u32>,
    },
    /// The connection is closed in the middle of the answer.
    Cut,
    /// The answer ends properly in its middle.
    FirstHalf,
    /// There is no answer at all, and the connection stays open.
    Silence,
    /// The conversation is said to be too long for the model, in the words of the protocol.
    Overflow,
    /// The answer is as scripted and claims to have cost this much, so that an agent finds its conversation too long.
    Swollen(Usage),
    /// The answer is the key that the request was signed in with.
    Echo,
}

impl Fault {
    /// For all requests from the first one on.
    pub fn of(trouble: Trouble) -> Self {
        Fault {
            trouble,
            after: 0,
            times: None,
        }
    }

    /// This status for ever. Like services that are throttled or down it asks to come back in a second, so that
    /// agents that listen wait no longer than they must.
    pub fn always(status: u16) -> Self {
        let retry_after = matches!(status, 429 | 500..).then_some(1);
        Fault::of(Trouble::Status {
            status,
            retry_after,
        })
    }

    /// This status for so many requests, and good answers to the others.
    pub fn first(times: usize, status: u16) -> Self {
        Fault::always(status).times(times)
    }

    /// Comes when so many requests have been answered.
    pub fn after(self, after: usize) -> Self {
        Fault { after, ..self }
    }

    pub fn times(self, times: usize) -> Self {
        Fault {
            times: Some(times),
            ..self
        }
    }

    /// Whether it strikes the request of this number, counted from 0.
    pub(super) fn strikes(self, number: usize) -> bool {
        let since = number.checked_sub(self.after);
        since.is_some_and(|since| self.times.is_none_or(|times| since < times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turn_follows_from_the_tool_results() {
        let scenario = Scenario::new([
            Turn {
                calls: vec![Action::run("a"), Action::run("b")],
                ..Turn::default()
            },
            Turn::calling("", Action::run("c")),
            Turn::saying("end"),
        ]);
        let turns: Vec<usize> = (0..5).map(|results| scenario.turn(results)).collect();
        assert_eq!(turns, [0, 0, 1, 2, 2]);
        let endless = Scenario::new([Turn::calling("", Action::run("a"))]);
        assert_eq!((endless.turn(0), endless.turn(1)), (0, 1));
    }

    #[test]
    fn a_fault_has_a_beginning_and_an_end() {
        let struck =
            |fault: Fault| -> Vec<bool> { (0..4).map(|number| fault.strikes(number)).collect() };
        let silence = Fault::of(Trouble::Silence);
        assert_eq!(struck(silence), [true; 4]);
        assert_eq!(struck(silence.after(1)), [false, true, true, true]);
        assert_eq!(
            struck(silence.after(1).times(2)),
            [false, true, true, false]
        );
    }

    #[test]
    fn sums_are_those_of_the_turns() {
        let sum = Scenario::two_tools().usage_of(3);
        assert_eq!(
            (sum.input, sum.cached, sum.output(), sum.total()),
            (3300, 1230, 174, 3474)
        );
    }
}
