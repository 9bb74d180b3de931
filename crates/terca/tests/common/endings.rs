//! A suite for the formats that other programs read.

use terca_testkit::Project;

use crate::common::project;

/// A suite in which every kind of ending comes about, with names and messages that break careless formats. Its agent
/// does what the prompt says.
pub fn every_ending() -> Project {
    let agent = "prompt=$(cat)\n\
                 echo '{\"inputTokens\": 100, \"outputTokens\": 20, \"costUsd\": 0.25}' > \"$TERCA_STATS_FILE\"\n\
                 case $prompt in *right*) echo ok > answer;; *half*) echo so > answer;; esac\n";
    let hostile =
        r#"printf '\033[31mred\033[0m <b>]]></failure> | `x` @octocat #1 \001\n'; exit 1"#;
    let tests = |first: &str| {
        format!(
            "tests:\n  - {{name: there, {first}}}\n  - {{name: ok, fileContains: {{path: answer, text: ok}}}}\n"
        )
    };
    let file = "fileExists: answer";
    project()
        .executable("agent.sh", &format!("#!/bin/sh\n{agent}"))
        .file(
            "terca.yaml",
            "name: endings\nrepetitions: 2\n\
             environments: [{name: 'e|1', agent: {name: command, command: ./agent.sh}}]\n\
             experiments: [{name: base}, {name: '=with,\"rules\"'}]\n",
        )
        .file("a-right/eval.terca.yaml", format!("prompt: do it right\n{}", tests(file)))
        .file("b-half/eval.terca.yaml", format!("prompt: half of it\n{}", tests(file)))
        .file(
            "c-wrong/eval.terca.yaml",
            format!("name: '=cmd|<&\"@octocat'\nprompt: nothing\ntests:\n  - name: say\n    commandSuccess: |\n      {hostile}\n"),
        )
        .file("d-error/eval.terca.yaml", "prompt: never\nbefore: [{command: 'echo no such luck; exit 3'}]\nallowWarnings: no-tests\n")
}
