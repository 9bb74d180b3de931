//! `terca explain`: what an error means, what it usually comes from, and what to do next.

use terca_core::text::explain;
use terca_core::text::explain::Code;
use terca_core::text::prose;

use super::refusal::{Outcome, Refusal};
use crate::args::ExplainArgs;
use crate::screen;

pub(super) fn explain(args: &ExplainArgs) -> Outcome {
    if args.codes.is_empty() {
        screen::say(&format!(
            "{}\n`terca explain CODE` says more about one.",
            explain::overview()
        ));
        return Ok(0);
    }
    let codes = args
        .codes
        .iter()
        .map(|word| find(word))
        .collect::<Result<Vec<Code>, Refusal>>()?;
    screen::say_all(&codes.into_iter().map(explain::brief).collect::<Vec<_>>());
    Ok(0)
}

/// Also as it was copied, with its brackets.
fn find(word: &str) -> Result<Code, Refusal> {
    let bare = word
        .trim()
        .trim_start_matches("error")
        .trim_start_matches("warning");
    let bare = bare.trim_matches(|c: char| matches!(c, '[' | ']' | ':' | '`'));
    if let Some(code) = Code::find(bare) {
        return Ok(code);
    }
    let refusal = Refusal::misuse(Code::Usage, format!("no error has the code `{word}`"));
    Err(
        match prose::did_you_mean(bare, Code::ALL.iter().map(|code| code.word())) {
            Some(meant) => refusal.help(format!("did you mean `{meant}`?")),
            None => refusal.help("`terca explain` lists all codes"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    #[test]
    fn a_code_may_be_copied_with_what_stands_around_it() {
        for word in [
            "no-runs",
            "error[no-runs]",
            "[no-runs]:",
            "`no-runs`",
            "No_Runs",
        ] {
            assert_eq!(find(word).ok(), Some(Code::NoRuns), "{word}");
        }
        for word in ["", "error", "norun-s-at-all"] {
            assert!(find(word).is_err(), "{word}");
        }
    }

    /// What the texts call right can be typed.
    #[test]
    fn commands_in_the_texts_are_understood() {
        let mut tried = 0;
        for code in Code::ALL {
            let (wrong, right) = code.text().split_once("\nRight:\n").unwrap();
            for command in commands(right).chain(commands(wrong).filter(|_| *code != Code::Usage)) {
                assert!(args::is_understood(&command), "{}: {command}", code.word());
                tried += 1;
            }
            if *code == Code::Usage {
                assert!(commands(wrong).all(|command| !args::is_understood(&command)));
            }
        }
        assert!(tried > 40, "{tried}");
    }

    /// The calls of Terca in the shell blocks of a text, without comments, variables in front and redirections.
    fn commands(text: &str) -> impl Iterator<Item = String> {
        let blocks = text
            .split("```sh\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next());
        let lines = blocks
            .flat_map(str::lines)
            .map(|line| line.split(" #").next().unwrap_or_default());
        let calls = lines
            .flat_map(|line| line.split(['&', ';']))
            .map(|call| call.split(" <").next().unwrap());
        calls.filter_map(|call| {
            let words: Vec<&str> = call
                .split_whitespace()
                .skip_while(|word| word.contains('='))
                .collect();
            (words.first() == Some(&"terca")).then(|| words.join(" ").replace('\'', ""))
        })
    }
}
