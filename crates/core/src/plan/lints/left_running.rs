//! Finds commands of `before` that leave a server running: trials at once share its port, and it ends before the tests.

use crate::config::suite::{Action, ShellCommand};
use crate::plan::Case;
use crate::plan::fingerprint::words;
use crate::text::{Code, Diagnostic};

/// Words that start a server in the background, or that are one.
const SERVERS: [&str; 8] = [
    "--daemonize", "mongod", "mysqld", "mysqld_safe", "nohup", "pg_ctlcluster", "postgres",
    "redis-server",
];

/// Warns of each such command of a case.
pub(super) fn check(case: &Case) -> Vec<Diagnostic> {
    let of_actions = case.actions.iter().filter_map(|action| match action {
        Action::Run(command) => Some(command),
        Action::Copy { .. } | Action::Write { .. } => None,
    });
    let commands = of_actions.chain(&case.variant.setup.command);
    let found = commands.filter(|command| leaves_server(&command.command));
    found.map(warning).collect()
}

fn warning(command: &ShellCommand) -> Diagnostic {
    let message = "a command of the setup leaves a program running";
    Diagnostic::warning(Code::LeftRunning, message)
        .at(
            command.place,
            "trials that run at once would share its port, and it ends before the tests run",
        )
        .help("name the program in `services`: each trial then has its own, at a port of its own, also for the tests")
}

fn leaves_server(line: &str) -> bool {
    let line = line.trim_end();
    let is_in_background = line.ends_with('&') && !line.ends_with("&&");
    let is = |name: &'static str| words(line).any(|word| word == name);
    is_in_background || SERVERS.into_iter().any(is) || (is("pg_ctl") && is("start"))
}

#[cfg(test)]
mod tests {
    use super::leaves_server;

    #[test]
    fn a_server_in_the_background_is_known() {
        for line in [
            "redis-server --port 7790 --daemonize yes",
            "pg_ctl -D data start",
            "node app.js &\n",
            "nohup ./serve",
            "cd db && mongod --fork",
        ] {
            assert!(leaves_server(line), "{line}");
        }
        for line in [
            "npm install", "redis-cli ping", "pg_ctl -D data stop", "true && true", "mongodump",
        ] {
            assert!(!leaves_server(line), "{line}");
        }
    }
}
