//! A command that failed and said nothing, such as `test "$(./sum 1 2)" = 3`: it is run again as a shell traces it, and the
//! last command of the trace has the values.

use crate::text::excerpt::beginning;

/// The longest explanation, in characters.
const LONGEST: usize = 200;

/// Shows what `grep` looked for and through. In a pipe shells trace word by word, at the same time.
const PRELUDE: &str = r#"grep() {
  { set +x; } 2>/dev/null
  for terca_last in "$@"; do :; done
  if [ $# -gt 1 ] && [ -f "$terca_last" ]; then
    terca_text=$(head -c 2000 "$terca_last"); command grep "$@"
  else
    terca_text=$(cat); printf '%s\n' "$terca_text" | command grep "$@"
  fi && terca_status=0 || terca_status=$?
  printf '\n+ searched: %s\n+ found: %s\n' "grep $*" "$terca_text" >&2
  set -x; return $terca_status
}
PS4='+ '; set -x
"#;

/// Returns the shell command that traces another one. `first_line` is the first line of the file that it starts, where it
/// starts one.
pub fn traced(command: &str, first_line: Option<&str>) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let line = first_line.unwrap_or_default().trim_end();
    let interpreter = line.strip_prefix("#!").and_then(|line| {
        let program = line.split_whitespace().next_back()?;
        program.rsplit('/').next()
    });
    let command = match (words.as_slice(), interpreter) {
        // In the same shell `grep` is the one above.
        (["sh", script] | [script], Some("sh")) if script.contains('/') => format!(". {script}"),
        (["sh", script], _) if !script.starts_with('-') => format!(". ./{script}"),
        (["bash", script, ..], _) if !script.starts_with('-') => {
            command.replacen("bash", "bash -x", 1)
        }
        (_, Some(shell @ ("sh" | "bash"))) => format!("{shell} -x {command}"),
        _ => command.to_owned(),
    };
    format!("{PRELUDE}{command}")
}

/// Returns the last command of a trace, and what `grep` looked through; `None` where there is none.
pub fn last_traced(output: &str) -> Option<String> {
    // A value may have several lines.
    let mut entries: Vec<String> = Vec::new();
    for line in output.lines() {
        let words = line.trim_start_matches('+').strip_prefix(' ');
        match (words.filter(|_| line.starts_with('+')), entries.last_mut()) {
            (Some(words), _) => entries.push(words.to_owned()),
            (None, Some(before)) => *before += &format!("\n{line}"),
            (None, None) => {}
        }
    }
    let is_command = |words: &str| {
        let first = words.split_whitespace().next().unwrap_or_default();
        !["", "searched:", "found:", "return", "exit", "false", "set"].contains(&first)
    };
    let last = entries.iter().rposition(|words| is_command(words))?;
    let found = entries
        .iter()
        .rposition(|words| words.starts_with("found: "));
    let told = match found.filter(|found| *found > last) {
        None => entries[last].clone(),
        Some(found) => {
            let mut before = entries[..found].iter().rev();
            let grep = before.find_map(|words| words.strip_prefix("searched: "))?;
            let text = beginning(&entries[found]["found: ".len()..], LONGEST / 2);
            format!("{}, in {text:?}", beginning(grep, LONGEST / 2))
        }
    };
    Some(beginning(&told.replace('\n', "\\n"), LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_what_is_traced_instead() {
        for (command, first_line, expected) in [
            ("test 1 = 2", None, "test 1 = 2"),
            ("./check.sh", Some("#!/bin/sh"), ". ./check.sh"),
            ("sh check.sh", None, ". ./check.sh"),
            ("./check.sh a", Some("#!/bin/sh"), "sh -x ./check.sh a"),
            (
                "./check.sh",
                Some("#!/usr/bin/env bash"),
                "bash -x ./check.sh",
            ),
            ("bash check.sh a", None, "bash -x check.sh a"),
            ("sh -c 'exit 1'", None, "sh -c 'exit 1'"),
            ("./check.py", Some("#!/usr/bin/python3"), "./check.py"),
        ] {
            assert_eq!(
                traced(command, first_line),
                format!("{PRELUDE}{expected}"),
                "{command}"
            );
        }
    }

    #[test]
    fn the_last_command_of_a_trace() {
        for (trace, told) in [
            ("", None),
            ("no trace", None),
            ("+ cat a\n+ test helo = hello\n", Some("test helo = hello")),
            (
                "++ cat a\n+ '[' 1 = 2 ']'\n+ exit 1\n",
                Some("'[' 1 = 2 ']'"),
            ),
            ("+ test a\nb = c\n+ return 1\n", Some("test a\\nb = c")),
            (
                "+ + grepcat -q a\n x\n\n+ searched: grep -q x\n+ found: helo\nyou\n+ return 1\n",
                Some("grep -q x, in \"helo\\nyou\""),
            ),
            (
                "+ grep -q x a\n\n+ searched: grep -q x a\n+ found: x\n+ return 0\n+ test 1 = 2\n",
                Some("test 1 = 2"),
            ),
        ] {
            assert_eq!(last_traced(trace).as_deref(), told, "{trace:?}");
        }
    }
}
