//! Nothing of Terca is published yet, so no page may tell its reader to install it from a registry: such a command fails,
//! or fetches the package of somebody else who took the name.

/// Commands that fetch a package by its name. Their words come first on a line, or after other words.
const INSTALLERS: &[&[&str]] = &[
    &["npm", "install"],
    &["npm", "i"],
    &["npm", "add"],
    &["npm", "exec"],
    &["npm", "x"],
    &["npm", "create"],
    &["npm", "init"],
    &["npx"],
    &["pnpm", "install"],
    &["pnpm", "add"],
    &["pnpm", "dlx"],
    &["yarn", "add"],
    &["yarn", "dlx"],
    &["yarn", "global", "add"],
    &["bun", "add"],
    &["bun", "install"],
    &["bunx"],
    &["cargo", "install"],
    &["cargo", "add"],
    &["cargo", "binstall"],
    &["brew", "install"],
    &["brew", "tap"],
    &["pip", "install"],
    &["pip3", "install"],
    &["pipx", "install"],
    &["pipx", "run"],
    &["uv", "tool", "install"],
    &["uv", "tool", "run"],
    &["uv", "pip", "install"],
    &["uv", "add"],
    &["uvx"],
    &["conda", "install"],
    &["apt", "install"],
    &["apt-get", "install"],
    &["snap", "install"],
    &["nix", "run"],
    &["docker", "run"],
    &["docker", "pull"],
    &["podman", "run"],
    &["podman", "pull"],
];

/// Options that give a place to install from.
const PLACES: &[&str] = &["--path", "--git", "--pkg-url"];

/// Returns the commands in a text that install Terca from a registry.
pub fn commands(text: &str) -> Vec<String> {
    text.lines().flat_map(commands_of_line).collect()
}

fn commands_of_line(line: &str) -> Vec<String> {
    let parts = line.split(['`', ';', '|', '&', '#', '(', ')']);
    let words = |part: &str| -> Vec<String> {
        let words = part.split_whitespace();
        words
            .map(|word| {
                word.trim_matches(['"', '\'', ',', '.', '[', ']', '*'])
                    .to_owned()
            })
            .collect()
    };
    parts
        .map(words)
        .filter_map(|words| command(&words))
        .collect()
}

fn command(words: &[String]) -> Option<String> {
    for at in 0..words.len() {
        let is_installer = |names: &&&[&str]| {
            // Options may be between the words of a command, as in `npm --global install`.
            let mut rest = words[at..].iter().filter(|word| !word.starts_with('-'));
            words[at] == names[0]
                && names
                    .iter()
                    .all(|name| rest.next().is_some_and(|word| word == name))
        };
        if !INSTALLERS.iter().any(|names| is_installer(&names)) {
            continue;
        }
        let rest = &words[at + 1..];
        let has_place = rest.iter().any(|word| {
            PLACES
                .iter()
                .any(|place| word == place || word.starts_with(&format!("{place}=")))
        });
        if !has_place && rest.iter().any(|word| is_terca(word)) {
            return Some(words[at..].join(" "));
        }
    }
    None
}

/// The name of a package of Terca, with or without a version: no path and no file.
fn is_terca(word: &str) -> bool {
    let name = word.strip_prefix('@').unwrap_or(word);
    let name = name
        .split(['@', '=', '~', '<', '>', '[', ':'])
        .next()
        .unwrap_or(name);
    name == "terca"
        || name == "create-terca"
        || (name.starts_with("terca/") && !name.ends_with(".tgz"))
        || (name.ends_with("/terca")
            && !name.starts_with(['.', '/', '~', '$'])
            // An image that was loaded: no registry has this name.
            && !name.starts_with("localhost/")
            && !name.contains("crates/"))
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn every_way_to_install_what_is_not_there_is_found() {
        for bad in [
            "npm install terca",
            "npm install -g terca",
            "npm install --global terca @google/gemini-cli",
            "npm --global install terca",
            "npm i -g terca@0.1.0",
            "npm install @terca/linux-x64",
            "npm exec terca",
            "npm init terca",
            "npx terca check",
            "npx --yes terca@latest",
            "pnpm add -g terca",
            "pnpm dlx terca",
            "yarn global add terca",
            "yarn dlx terca",
            "bun add terca",
            "bunx terca",
            "cargo install terca",
            "cargo install --locked terca@0.1",
            "cargo binstall terca",
            "brew install terca",
            "brew install somebody/tap/terca",
            "pip install terca",
            "pip install terca==0.1",
            "pip install 'terca[all]'",
            "pipx run terca",
            "uv tool install terca",
            "uvx terca",
            "apt-get install -y terca",
            "docker run --rm terca/terca check",
            "docker pull terca:latest",
            "docker run --rm example.com/terca:0.1.0",
            "Run `npm install -g terca`, then go on.",
            "    - npm install --global terca @anthropic-ai/claude-code",
            "      - run: cd evals && npx terca check",
        ] {
            assert_eq!(commands(bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn what_is_there_can_be_installed() {
        for good in [
            "cargo install --locked --path crates/terca",
            "cargo install --locked --git ADDRESS terca",
            "cargo install --git=ADDRESS terca",
            "npm install -g target/npm/*.tgz",
            "npm install -g ./terca-0.1.0.tgz ./terca-linux-x64-0.1.0.tgz",
            "npm install -g @google/gemini-cli && terca check",
            "npm install; terca",
            "cargo run -- -C examples/quickstart",
            "cargo test -p terca",
            "the packages `terca` and `@terca/linux-x64`",
            "apt install musl-tools",
            "`docker run -i`, and terca",
            "docker run --rm localhost/terca:0.1.0 check",
            "sudo apt install ./terca_0.1.0_amd64.deb",
        ] {
            assert_eq!(commands(good), [] as [&str; 0], "{good}");
        }
    }
}
