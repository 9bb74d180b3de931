//! The reference of commands is made of the commands, so that it has all of them, with all their flags.
//!
//! `UPDATE_DOCS=1 cargo test -p terca --bin terca documented` brings it up to date.

use clap::{Arg, Command, CommandFactory};

use super::Cli;

const PAGE: &str = "docs/reference/commands.md";

fn program() -> Command {
    let mut program = Cli::command();
    program.build();
    program
}

/// All commands, those of commands too, by their full names.
fn commands(program: &Command) -> Vec<(String, &Command)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), program)];
    while let Some((name, command)) = open.pop() {
        for below in command
            .get_subcommands()
            .filter(|below| below.get_name() != "help" && !below.is_hide_set())
        {
            open.push((
                format!("{name} {}", below.get_name()).trim().to_owned(),
                below,
            ));
        }
        if !name.is_empty() && command.get_subcommands().next().is_none() {
            found.push((name, command));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

fn is_told(argument: &Arg) -> bool {
    !argument.is_hide_set() && !argument.is_global_set() && argument.get_id() != "help"
}

fn table(arguments: &[&Arg]) -> String {
    let rows = arguments.iter().map(|argument| {
        format!(
            "| {} | {} | {} |\n",
            name(argument),
            default(argument),
            meaning(argument)
        )
    });
    format!(
        "| argument | default | meaning |\n|---|---|---|\n{}",
        rows.collect::<String>()
    )
}

fn name(argument: &Arg) -> String {
    let value = argument
        .get_value_names()
        .map(|names| names.join(" "))
        .unwrap_or_default();
    let takes_value = argument.get_action().takes_values();
    let value = if takes_value { value } else { String::new() };
    let short = argument
        .get_short()
        .map(|short| format!("`-{short}`, "))
        .unwrap_or_default();
    match argument.get_long() {
        Some(long) => format!("{short}`{}`", format!("--{long} {value}").trim_end()),
        None => format!("`{value}`"),
    }
}

fn default(argument: &Arg) -> String {
    let values = argument
        .get_default_values()
        .iter()
        .filter(|_| argument.get_action().takes_values());
    values
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(", ")
}

fn meaning(argument: &Arg) -> String {
    let help = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let choices: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|_| argument.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let choices = if choices.is_empty() {
        String::new()
    } else {
        format!(" ({})", choices.join(", "))
    };
    format!("{help}{choices}")
        .replace('|', "\\|")
        .trim()
        .to_owned()
}

fn section(name: &str, command: &Command) -> String {
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| is_told(argument))
        .collect();
    let positionals = arguments.iter().filter(|argument| argument.is_positional());
    let positionals: String = positionals
        .map(|argument| {
            let value = argument
                .get_value_names()
                .map(|names| names.join(" "))
                .unwrap_or_default();
            let several = if matches!(argument.get_action(), clap::ArgAction::Append) {
                "…"
            } else {
                ""
            };
            if argument.is_required_set() {
                format!(" {value}{several}")
            } else {
                format!(" [{value}{several}]")
            }
        })
        .collect();
    let options = if arguments.iter().any(|argument| !argument.is_positional()) {
        " [OPTIONS]"
    } else {
        ""
    };
    let table = if arguments.is_empty() {
        String::new()
    } else {
        format!("\n\n{}", table(&arguments))
    };
    format!(
        "`terca {name}{positionals}{options}`: {}{table}",
        lower_first(&about)
    )
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| format!("{}{}.", first.to_lowercase(), letters.as_str()))
        .unwrap_or_default()
}

#[test]
fn every_command_and_flag_is_documented() {
    let program = program();
    let common: Vec<&Arg> = program
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .collect();
    terca_testkit::generated(PAGE, "common flags", &table(&common));
    for (name, command) in commands(&program) {
        terca_testkit::generated(PAGE, &format!("terca {name}"), &section(&name, command));
    }
}
