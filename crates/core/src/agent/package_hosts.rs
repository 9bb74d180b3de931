//! The hosts that MCP servers are fetched from, where they are started by a package runner such as `npx`.

use super::mcp::McpServer;
use crate::wire::network::HostPattern;

const NPM: &[&str] = &["registry.npmjs.org"];
const YARN: &[&str] = &["registry.npmjs.org", "registry.yarnpkg.com"];
const PYPI: &[&str] = &["pypi.org", "files.pythonhosted.org"];
const DENO: &[&str] = &["registry.npmjs.org", "jsr.io", "npm.jsr.io", "deno.land"];

/// The programs that fetch a package and start it, with the hosts that they ask.
const RUNNERS: [(&str, &[&str]); 12] = [
    ("bun", NPM),
    ("bunx", NPM),
    ("deno", DENO),
    ("npm", NPM),
    ("npx", NPM),
    ("pipx", PYPI),
    ("pnpm", NPM),
    ("pnpx", NPM),
    ("uv", PYPI),
    ("uvx", PYPI),
    ("yarn", YARN),
    ("yarnpkg", YARN),
];

/// The variables that name another registry.
const REGISTRIES: [&str; 7] = [
    "npm_config_registry", "NPM_CONFIG_REGISTRY", "PIP_INDEX_URL", "UV_DEFAULT_INDEX",
    "UV_INDEX_URL", "YARN_NPM_REGISTRY_SERVER", "YARN_REGISTRY",
];

/// The programs whose arguments are a script.
const SHELLS: [&str; 4] = ["bash", "dash", "sh", "zsh"];

/// Returns the hosts that a server's program is fetched from. `env` has the variables that the agent passes on.
pub fn package_hosts(server: &McpServer<String>, env: &[(String, String)]) -> Vec<HostPattern> {
    let McpServer::Stdio {
        command,
        args,
        env: own,
        ..
    } = server
    else {
        return Vec::new();
    };
    let script = args.iter().filter(|_| SHELLS.contains(&name_of(command)));
    let words = script.flat_map(|script| script.split_whitespace());
    let runners: Vec<&[&str]> = [command.as_str()]
        .into_iter()
        .chain(words)
        .filter_map(hosts_of_runner)
        .collect();
    if runners.is_empty() {
        return Vec::new();
    }
    let is_registry = |name: &str| REGISTRIES.contains(&name);
    let named = own.iter().chain(env);
    let named = named
        .filter(|(name, _)| is_registry(name))
        .filter_map(|(_, address)| HostPattern::of_origin(address));
    let usual = runners
        .into_iter()
        .flatten()
        .filter_map(|host| host.parse().ok());
    let mut hosts: Vec<HostPattern> = Vec::new();
    for host in named.chain(usual) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn hosts_of_runner(word: &str) -> Option<&'static [&'static str]> {
    RUNNERS
        .iter()
        .find(|(name, _)| *name == name_of(word))
        .map(|(_, hosts)| *hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(command: &str, args: &[&str], env: &[(&str, &str)]) -> Vec<String> {
        let own = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let server = McpServer::Stdio {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: own.collect(),
            cwd: None,
        };
        let hosts = package_hosts(&server, &[]);
        hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_server_of_a_package_runner_needs_the_registry() {
        assert_eq!(
            hosts("npx", &["-y", "docs-mcp"], &[]),
            ["registry.npmjs.org"]
        );
        assert_eq!(
            hosts("/usr/local/bin/uvx", &["docs-mcp"], &[]),
            ["pypi.org", "files.pythonhosted.org"]
        );
        assert_eq!(
            hosts("sh", &["-c", "exec npx -y docs-mcp"], &[]),
            ["registry.npmjs.org"]
        );
    }

    #[test]
    fn a_registry_of_ones_own_is_reached_too() {
        let own = [("npm_config_registry", "https://npm.example.com/all")];
        assert_eq!(
            hosts("npx", &["-y", "docs-mcp"], &own),
            ["npm.example.com:443", "registry.npmjs.org"]
        );
    }

    #[test]
    fn other_servers_need_none() {
        assert!(hosts("node", &["server.js", "npx"], &[]).is_empty());
        assert!(hosts("sh", &["-c", "exec ./server"], &[]).is_empty());
    }
}
