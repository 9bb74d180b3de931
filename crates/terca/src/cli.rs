//! The command line as a whole: parsed, and handed to the command that it names.

#[cfg(test)]
mod documented;
mod other_flags;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use terca_core::text::Code;

use crate::args::{Colour, Common};
use crate::commands::{Command, RunArgs};
use crate::{VERSION, screen};

/// Tests command-line coding agents with coding tasks, and measures how much rules files, MCP servers and models
/// help.
#[derive(Debug, Parser)]
#[command(
    name = "terca",
    disable_version_flag = true,
    after_help = "Exit status: 0 every trial passed, 1 some did not, 2 usage or configuration error,\n\
                  3 some trials ended in an error, 130 interrupted"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    common: Common,
    /// Print the version number
    #[arg(short = 'V', visible_short_alias = 'v', long = "version")]
    version: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Does what the arguments of this process ask for.
pub fn run() -> ExitCode {
    let cli = match read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => refuse(error),
    };
    if cli.version {
        screen::out(VERSION);
        return ExitCode::SUCCESS;
    }
    let command = cli
        .command
        .unwrap_or(Command::Run(cli.run.without_command()));
    let outcome = command.run(&cli.common, Cli::command);
    ExitCode::from(outcome.unwrap_or_else(|error| error.show(&cli.common)))
}

fn read(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let words = help_of_help(words.into_iter().collect());
    let matches = Cli::command().try_get_matches_from(words)?;
    if let Some((flag, command)) = flag_before_command(&matches) {
        let message = format!(
            "`--{flag}` is before `{command}`; options come after the command: `terca {command} --{flag} …`"
        );
        return Err(Cli::command().error(ErrorKind::ArgumentConflict, message));
    }
    Cli::from_arg_matches(&matches)
}

/// `terca help --help` is `terca help`: the parser's own command takes no flags.
fn help_of_help(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_asked = matches!(words.as_slice(), [_, help, flag] if help == "help" && (flag == "--help" || flag == "-h"));
    if is_asked {
        words.pop();
    }
    words
}

/// Shows what is wrong, under the code that every error has, and ends the program. Help that was asked for is no
/// error.
fn refuse(mut error: clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit()
    }
    other_flags::advise(&mut error, &Cli::command());
    let rendered = error.render();
    let text = if screen::colour(Colour::Auto, &std::io::stderr()) {
        rendered.ansi().to_string()
    } else {
        rendered.to_string()
    };
    let code = format!("error[{}]:", Code::Usage.as_str());
    let text = text.replacen("error:", &code, 1).replace("tip:", "help:");
    screen::err_painted(&text);
    std::process::exit(error.exit_code())
}

/// `terca -t fib check` would otherwise check everything, with the selection silently ignored.
fn flag_before_command(matches: &ArgMatches) -> Option<(String, &str)> {
    let (command, _) = matches.subcommand()?;
    let run = RunArgs::augment_args(clap::Command::new("run"));
    let flag = run
        .get_arguments()
        .find(|argument| {
            let source = matches.value_source(argument.get_id().as_str());
            source == Some(ValueSource::CommandLine)
        })?
        .get_long()?
        .to_owned();
    Some((flag, command))
}

#[cfg(test)]
mod tests {
    use terca_core::config::gateway::GatewayMode;
    use terca_core::config::sandbox::Sandbox;
    use terca_core::run::settings::{Keep, RunSettings, SelectionSettings};
    use terca_core::wire::network::Network;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Every flag that decides how a run goes is in its settings; those of the display are not.
    #[test]
    fn flags_become_settings() {
        let line = "terca run -t a,b -t c -x x -e e -n 3 --agent oracle --model m --timeout 9.5 --sandbox auto --network model --seed 7 --gateway meter \
                    --shard 2/3 --aa \
                    --budget-usd 0.5 -c 4 --fail-fast --retries 2 --fail-under 0.9 --margin 2.5 --keep failed \
                    --on cluster,boxes --on local --format json --no-cache --junit j.xml --no-github";
        let cli = read(line.split_whitespace().map(OsString::from)).unwrap();
        let Some(Command::Run(args)) = &cli.command else {
            panic!("{:?}", cli.command)
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected = RunSettings {
            selection: SelectionSettings {
                evals: names(&["a,b", "c"]),
                experiments: names(&["x"]),
                environments: names(&["e"]),
                repetitions: Some(3),
                agent: Some("oracle".into()),
                named_by_agent: true,
                model: Some("m".into()),
                timeout: Some(9.5),
                sandbox: Some(Sandbox::Auto),
                network: Some(Network::Model),
                seed: Some(7),
                gateway: Some(GatewayMode::Meter),
            },
            shard: "2/3".parse().ok(),
            aa: true,
            validate: false,
            ablation: None,
            budget_usd: Some(0.5),
            concurrency: Some(4),
            fail_fast: true,
            retries: Some(2),
            fail_under: 0.9,
            fail_on: None,
            margin: Some(0.025),
            keep: Keep::Failed,
            replay: None,
            failed: None,
            latest_agents: Default::default(),
            on: names(&["cluster", "boxes", "local"]),
            offline_tests: false,
        };
        assert_eq!(RunSettings::from(args), expected);
        let usual = read(["terca".into()]).unwrap();
        assert_eq!(RunSettings::from(&usual.run), RunSettings::default());
    }

    /// Tells whether a line, of words without spaces, can be typed.
    fn is_understood(line: &str) -> bool {
        read(line.split_whitespace().map(OsString::from)).is_ok()
    }

    /// Every command that `terca explain` calls right can be typed.
    #[test]
    fn commands_in_the_explanations_are_understood() {
        let mut tried = 0;
        for code in Code::ALL {
            let (wrong, right) = code.text().split_once("\nRight:\n").unwrap();
            for command in commands(right).chain(commands(wrong).filter(|_| *code != Code::Usage)) {
                assert!(is_understood(&command), "{}: {command}", code.as_str());
                tried += 1;
            }
            if *code == Code::Usage {
                assert!(commands(wrong).all(|command| !is_understood(&command)));
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
