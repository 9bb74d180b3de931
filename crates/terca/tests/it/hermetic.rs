//! What an agent can see: the workspace and what its variant says, and nothing of what is around.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::project;
use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::Project;

/// The variables that an agent may have without its variant saying so.
const ALLOWED: [&str; 47] = [
    "TERCA_ARTIFACTS_DIR", "PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE", "JAVA_HOME", "GOROOT", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
    "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR", "GIT_CEILING_DIRECTORIES", "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "TERCA_PROMPT_FILE",
    "TERCA_STATS_FILE", // What the shell itself sets.
    "PWD", "OLDPWD", "SHLVL", "_", "LC_ALL", "NO_UPDATE_NOTIFIER", "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_ROOT_USER_ACTION", "npm_config_audit", "npm_config_fund", "npm_config_update_notifier",
];

/// The environment of the one trial's agent, which wrote it to `env.txt` in its workspace.
fn environment(project: &Project) -> BTreeMap<String, String> {
    variables(&project.trial_file("workspace/env.txt"))
}

fn variables(text: &str) -> BTreeMap<String, String> {
    text.split_terminator('\0')
        .filter_map(|entry| entry.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn prying(script: &str) -> Project {
    project().agent(script).file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    )
}

#[test]
fn variables_are_let_through_by_name_alone() {
    let project = prying("env -0 > env.txt")
        .env("WEIRD_VAR", "1")
        .env("SECRET_KEY", "sk-secret")
        .env("AWS_SECRET_ACCESS_KEY", "aws")
        .env("GEMINI_API_KEY", "of another agent")
        .env("TERCA_EVAL", "from outside")
        .env("XDG_CONFIG_HOME", "/somewhere")
        .env("LD_PRELOAD", "")
        .env("LC_ALL", "C.UTF-8")
        .env("HTTPS_PROXY", "http://proxy:1");
    project.terca(&[]).expect_status(0);
    let seen = environment(&project);
    let strange: Vec<&String> = seen
        .keys()
        .filter(|name| !ALLOWED.contains(&name.as_str()))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert_eq!(seen["LC_ALL"], "C.UTF-8");
    assert_eq!(seen["HTTPS_PROXY"], "http://proxy:1");
    assert_ne!(seen["XDG_CONFIG_HOME"], "/somewhere");
    assert!(
        seen.contains_key("PATH") && seen.contains_key("TERCA_PROMPT_FILE"),
        "{seen:?}"
    );
}

#[test]
fn actions_and_tests_do_not_inherit_either() {
    let project = project()
        .agent("true")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nbefore: [{command: 'test -z \"$WEIRD_VAR$SECRET_KEY\"'}]\n\
             tests: [{commandSuccess: 'test -z \"$WEIRD_VAR$SECRET_KEY\"'}]\n",
        )
        .env("WEIRD_VAR", "1")
        .env("SECRET_KEY", "sk-secret");
    project.terca(&[]).expect_status(0);
}

#[test]
fn nothing_tells_the_agent_which_experiment_it_is_in() {
    let project = project()
        .executable(
            "bin/agent.sh",
            "#!/bin/sh\nenv -0 > env.txt\npwd > pwd.txt\ntr '\\0' ' ' < /proc/$$/cmdline > cmdline.txt\n",
        )
        .file(
            "terca.yaml",
            "environments: [{name: the-environment, agent: {name: command, command: ./bin/agent.sh}}]\n\
             experiments: [{name: the-experiment}]\n",
        )
        .file("the-eval/eval.terca.yaml", "prompt: go\nname: the-eval\nallowWarnings: no-tests\n");
    project.terca(&[]).expect_status(0);
    let seen = environment(&project);
    for name in [
        "TERCA_EVAL", "TERCA_ENVIRONMENT", "TERCA_EXPERIMENT", "TERCA_REPETITION",
        "TERCA_SUITE_DIR", "TERCA_TRIAL_DIR", "TERCA_TRANSCRIPT",
    ] {
        assert!(!seen.contains_key(name), "{name}");
    }
    let all = [
        format!("{seen:?}"),
        project.trial_file("workspace/pwd.txt"),
        project.trial_file("workspace/cmdline.txt"),
    ];
    for text in all {
        for name in ["the-environment", "the-experiment", "the-eval"] {
            assert!(!text.contains(name), "{name} in {text}");
        }
    }
}

#[test]
fn home_and_its_like_are_private_and_empty() {
    let script = "env -0 > env.txt; find \"$HOME\" \"$TMPDIR\" -mindepth 1 ! -type d > found.txt; \
                  echo mine > \"$HOME/.left\"; echo mine > \"$TMPDIR/left\"";
    let project = prying(script);
    for (path, content) in [
        (".gemini/settings.json", "{}"),
        (".bashrc", "x"),
        (".gitconfig", "[user]\n"),
    ] {
        let path = project.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    project.terca(&["-n", "3", "-c", "1"]).expect_status(0);
    let mut homes = BTreeSet::new();
    for number in 1..=3 {
        let folder = format!("fib/default.default.{number:02}");
        let workspace = project.workspace_of(&project.run_dir().join(folder));
        let seen = variables(&std::fs::read_to_string(workspace.join("env.txt")).unwrap());
        for name in [
            "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
            "TMPDIR",
        ] {
            let path = Utf8Path::new(&seen[name]);
            assert!(path.starts_with(project.work_dir()), "{name} is {path}");
            assert!(
                !path.starts_with(project.home()) && !path.starts_with(project.dir()),
                "{name} is {path}"
            );
        }
        assert_eq!(
            std::fs::read_to_string(workspace.join("found.txt")).unwrap(),
            "",
            "they are empty"
        );
        homes.insert(seen["HOME"].clone());
        homes.insert(seen["TMPDIR"].clone());
    }
    assert_eq!(homes.len(), 6, "each trial has its own: {homes:?}");
    assert!(!project.home().join(".left").exists());
    project.assert_nothing_left();
}

#[test]
fn the_workspace_is_outside_the_suite_and_of_no_repository() {
    let script = "pwd -P > pwd.txt; git rev-parse --show-toplevel > git.txt 2>&1; echo \"status $?\" >> git.txt; \
                  d=$(pwd -P); while [ \"$d\" != / ]; do d=$(dirname \"$d\"); \
                  for f in AGENTS.md GEMINI.md CLAUDE.md .git .gemini terca.yaml; do [ -e \"$d/$f\" ] && echo \"$d/$f\"; done; done > above.txt; true";
    let project = prying(script)
        .file("AGENTS.md", "of the suite")
        .file("CLAUDE.md", "of the suite");
    let git = |args: &[&str]| {
        let status = std::process::Command::new("git")
            .args(args)
            .current_dir(project.dir())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "git {args:?}");
    };
    git(&["init", "-q", "."]);
    project.terca(&[]).expect_status(0);
    let place = Utf8PathBuf::from(project.trial_file("workspace/pwd.txt").trim());
    assert!(!place.starts_with(project.dir()), "{place}");
    assert!(!place.starts_with(project.home()), "{place}");
    let answer = project.trial_file("workspace/git.txt");
    assert!(
        answer.contains("not a git repository") && answer.contains("status 128"),
        "{answer}"
    );
    assert_eq!(
        project.trial_file("workspace/above.txt"),
        "",
        "nothing above it that agents read"
    );
}

#[test]
fn without_a_work_directory_of_ones_own_the_workspace_is_still_outside() {
    let project = prying("pwd -P > pwd.txt");
    let mut command = project.command(&[]);
    assert!(
        command
            .env_remove("TERCA_WORK_DIR")
            .output()
            .unwrap()
            .status
            .success()
    );
    let place = Utf8PathBuf::from(project.trial_file("workspace/pwd.txt").trim());
    assert!(
        place.starts_with("/var/tmp") && !place.starts_with(project.dir()),
        "{place}"
    );
    assert!(!place.exists(), "gone with the run");
}

#[test]
fn the_prompt_is_the_standard_input_and_it_ends() {
    let project = prying("cat > stdin.txt; cat >> stdin.txt; cp \"$TERCA_PROMPT_FILE\" file.txt");
    project.terca(&[]).expect_status(0);
    let whole = project.trial_file("workspace/stdin.txt");
    assert_eq!(whole.trim_end(), "go");
    assert_eq!(project.trial_file("workspace/file.txt"), whole);
}

#[test]
fn an_agent_need_not_read_its_prompt() {
    let long = "x".repeat(1_000_000);
    let project = project().agent("exec 0<&-; echo done > done").file(
        "fib/eval.terca.yaml",
        format!("prompt: {long}\nallowWarnings: no-tests\n"),
    );
    project.terca(&[]).expect_status(0);
}

#[test]
fn long_prompts_arrive_whole() {
    for size in [100_000, 1_000_000] {
        let line = "0123456789 grün \"quoted\" $HOME `x` \\n\n";
        let prompt: String = line.chars().cycle().take(size).collect();
        let project = project()
            .agent("cat > stdin.txt; cp \"$TERCA_PROMPT_FILE\" file.txt")
            .file("fib/task.md", &prompt)
            .file(
                "fib/eval.terca.yaml",
                "promptFile: task.md\nallowWarnings: no-tests\n",
            );
        project.terca(&[]).expect_status(0);
        for file in ["stdin.txt", "file.txt"] {
            let arrived = project.trial_file(&format!("workspace/{file}"));
            assert!(
                arrived.trim_end() == prompt.trim_end(),
                "{size}, {file}: {} bytes",
                arrived.len()
            );
        }
    }
}

#[test]
fn the_suite_is_as_it_was_before_the_run() {
    let project = prying("echo x > a; echo y > _base; rm -f b.txt")
        .file("_base/b.txt", "b")
        .file("fib/_tests/t", "t");
    let list = |project: &Project| {
        let output = std::process::Command::new("find")
            .args([
                ".", "-path", "./.terca", "-prune", "-o", "-printf", "%p %m %s %T@ %l\n",
            ])
            .current_dir(project.dir())
            .output()
            .unwrap();
        // The suite's own directory has changed: there is a `.terca` in it now.
        let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect();
        lines.retain(|line| !line.starts_with(". "));
        lines.sort();
        lines
    };
    let before = list(&project);
    assert!(before.len() > 5, "{before:?}");
    project.terca(&["-n", "2"]).expect_status(0);
    assert_eq!(list(&project), before);
    project.assert_nothing_left();
}

#[test]
fn signals_that_terca_ignores_are_not_ignored_by_the_agent() {
    let project = project()
        .agent("grep SigIgn /proc/self/status > ignored.txt")
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    let output = project
        .command_through("nohup", &["--format", "plain"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let ignored = project.trial_file("workspace/ignored.txt");
    let mask = u64::from_str_radix(ignored.split_whitespace().last().unwrap(), 16).unwrap();
    assert_eq!(mask & 0b1, 0, "SIGHUP: {ignored}");
    assert_eq!(mask & (1 << 12), 0, "SIGPIPE: {ignored}");
}

#[test]
fn the_agents_home_has_what_set_up_made_and_does_not_reach_the_tests() {
    let project = project().agent("test -f ~/from-setup && echo trick > ~/.profile && touch seen").file(
        "fib/eval.terca.yaml",
        "prompt: go\nbefore:\n  - command: echo x > ~/from-setup\n\
         tests:\n  - fileExists: seen\n  - commandSuccess: test -f ~/from-setup\n  - commandSuccess: test ! -e ~/.profile\n",
    );
    project.terca(&[]).expect_status(0);
}

#[test]
fn a_place_below_something_that_agents_read_is_refused() {
    for (name, is_dir) in [
        (".claude", true),
        ("AGENTS.md", false),
        (".git", true),
        (".env", false),
    ] {
        let project = project()
            .agent("true")
            .file(
                "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
            )
            .directory("below/work");
        let found = project.path("below").join(name);
        if is_dir {
            std::fs::create_dir(&found).unwrap();
        } else {
            std::fs::write(&found, "x").unwrap();
        }
        let work = project.path("below/work").to_string();
        let outcome = project
            .env("TERCA_WORK_DIR", &work)
            .terca(&[])
            .expect_status(2);
        assert!(
            outcome.stderr.contains(&format!("which has {name}")),
            "{}",
            outcome.stderr
        );
    }
}

/// What a file of every trial says, in the order of the repetitions.
fn told(project: &Project, file: &str) -> Vec<String> {
    let dirs = ["01", "02", "03"].map(|n| {
        let folder = project.run_dir().join(format!("task/default.default.{n}"));
        project.workspace_of(&folder)
    });
    dirs.map(|dir| std::fs::read_to_string(dir.join(file)).unwrap_or_default())
        .to_vec()
}

#[test]
fn a_supervisor_takes_another_trial_unless_the_agent_has_changed_it() {
    // The parent of the command's shell is the supervisor.
    let suite = |command| {
        let agent = format!("{{name: command, command: '{command}'}}");
        project()
            .file(
                "task/eval.terca.yaml",
                "prompt: x\nrepetitions: 3\nallowWarnings: no-tests\n",
            )
            .file(
                "terca.yaml",
                format!("environments: [{{name: default, agent: {agent}}}]\n"),
            )
    };
    let well_behaved = suite("echo $PPID > parent; nice > priority");
    well_behaved.terca(&["-c", "1"]).expect_status(0);
    let parents = told(&well_behaved, "parent");
    assert!(parents[0].trim().parse::<u32>().is_ok(), "{parents:?}");
    assert!(
        parents.iter().all(|parent| *parent == parents[0]),
        "{parents:?}"
    );
    well_behaved.assert_nothing_left();

    let meddling = suite("echo $PPID > parent; nice > priority; renice -n 7 -p $PPID");
    meddling.terca(&["-c", "1"]).expect_status(0);
    let (parents, priorities) = (told(&meddling, "parent"), told(&meddling, "priority"));
    assert!(
        priorities.iter().all(|priority| *priority == priorities[0]),
        "{priorities:?}"
    );
    assert!(
        parents[0] != parents[1] && parents[1] != parents[2],
        "{parents:?}"
    );
    meddling.assert_nothing_left();
}
