//! The hosts that MCP servers are fetched from, where they are started by a package runner such as `npx`.

use super::mcp::McpServer;
use super::model_hosts::each_once;
use crate::wire::network::HostPattern;

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
    let words = [command.as_str()].into_iter().chain(words);
    let usual: Vec<&str> = words.flat_map(hosts_of_runner).copied().collect();
    let registries = own.iter().chain(env).filter(|(name, _)| {
        let is_registry = REGISTRIES.contains(&name.as_str());
        is_registry && !usual.is_empty()
    });
    let named = registries.filter_map(|(_, address)| HostPattern::of_origin(address));
    each_once(named.chain(usual.iter().filter_map(|host| host.parse().ok())))
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns the hosts that a program asks which fetches a package and starts it.
fn hosts_of_runner(program: &str) -> &'static [&'static str] {
    match name_of(program) {
        "bun" | "bunx" | "npm" | "npx" | "pnpm" | "pnpx" => &["registry.npmjs.org"],
        "yarn" | "yarnpkg" => &["registry.npmjs.org", "registry.yarnpkg.com"],
        "deno" => &["registry.npmjs.org", "jsr.io", "npm.jsr.io", "deno.land"],
        "pipx" | "uv" | "uvx" => &["pypi.org", "files.pythonhosted.org"],
        _ => &[],
    }
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
