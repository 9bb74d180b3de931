//! Trials in containers, for each engine alike: a service of its own with an image of this machine's own files, and what must
//! hold of every engine.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Child, Command, Output, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_testkit::{Outcome, Project, wait_until};

use crate::common::mcp::{AGENT, project_with_mcp_server};
use crate::common::project;
use crate::common::proof::SOUND;
use crate::needs_bwrap::network::Service;
use crate::needs_bwrap::{Victim, attempts, probing, reached};
use crate::suite_in_sandbox::open_file;

pub(crate) const IMAGE: &str = "terca-test:1";

/// An engine with an image, which sees nothing of the machine's other containers.
pub(crate) struct Engine {
    pub(crate) word: &'static str,
    /// The variables that lead its program to it.
    env: Vec<(&'static str, String)>,
    service: Option<Child>,
    dir: tempfile::TempDir,
}

impl Engine {
    /// Starts a service of Docker's.
    pub(crate) fn docker() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().to_owned();
        // Reached by somebody else too.
        std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
        let address = format!("unix://{root}/socket");
        let service = Command::new("dockerd")
            .args(["--iptables=false", "--ip-forward=false", "--bridge=none"])
            .args(["--data-root", root.join("data").as_str()])
            .args(["--exec-root", root.join("exec").as_str()])
            .args(["--pidfile", root.join("pid").as_str()])
            .args(["--host", &address])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(root.join("log")).unwrap())
            .spawn()
            .unwrap();
        let engine = Engine {
            word: "docker",
            env: vec![("DOCKER_HOST", address)],
            service: Some(service),
            dir,
        };
        wait_until("the service answers", || {
            engine.ask(&["version"]).status.success()
        });
        let socket = root.join("socket");
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o666)).unwrap();
        engine.import();
        engine
    }

    /// Writes settings for Podman, which has no service.
    pub(crate) fn podman() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().to_owned();
        // No machine has less, and not every superuser may raise it.
        let settings = format!(
            "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n\
             [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\ntmp_dir = \"{root}/tmp\"\n"
        );
        std::fs::write(root.join("containers.conf"), settings).unwrap();
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\ngraphroot = \"{root}/data\"\nrunroot = \"{root}/run\"\n"
        );
        std::fs::write(root.join("storage.conf"), storage).unwrap();
        let engine = Engine {
            word: "podman",
            env: vec![
                ("CONTAINERS_CONF", root.join("containers.conf").to_string()),
                (
                    "CONTAINERS_STORAGE_CONF",
                    root.join("storage.conf").to_string(),
                ),
            ],
            service: None,
            dir,
        };
        engine.import();
        engine
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.dir.path()).unwrap()
    }

    /// Runs its program.
    pub(crate) fn ask(&self, args: &[&str]) -> Output {
        Command::new(self.word)
            .args(args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    pub(crate) fn told(&self, args: &[&str]) -> String {
        let output = self.ask(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {errors}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Makes the image.
    fn import(&self) {
        let tree = self.root().join("tree");
        put_busybox(&tree);
        let mut tar = Command::new("tar")
            .args(["-C", tree.as_str(), "-c", "."])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let imported = Command::new(self.word)
            .args(["import", "-c", "ENV PATH=/bin", "-c", "ENV FROM_IMAGE=yes"])
            .args(["-", IMAGE])
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(tar.stdout.take().unwrap())
            .output()
            .unwrap();
        assert!(tar.wait().unwrap().success());
        let errors = String::from_utf8_lossy(&imported.stderr);
        assert!(imported.status.success(), "{errors}");
    }

    /// Leads a project to this engine.
    pub(crate) fn with(&self, project: Project) -> Project {
        let mut project = project;
        for (name, value) in &self.env {
            project = project.env(name, value);
        }
        project
    }

    pub(crate) fn sandbox(&self) -> String {
        format!("{}:{IMAGE}", self.word)
    }

    fn containers(&self) -> String {
        self.told(&["ps", "--all", "--quiet"])
    }
}

/// Puts a shell and its tools below a directory, without any library.
pub(crate) fn put_busybox(tree: &Utf8Path) {
    let bin = tree.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let busybox = ["/bin/busybox", "/usr/bin/busybox"];
    let busybox = busybox
        .into_iter()
        .find(|path| Utf8Path::new(path).exists());
    std::fs::copy(busybox.unwrap(), bin.join("busybox")).unwrap();
    let tools = Command::new(busybox.unwrap())
        .arg("--list")
        .output()
        .unwrap();
    for tool in String::from_utf8(tools.stdout).unwrap().lines() {
        if tool != "busybox" {
            symlink("busybox", bin.join(tool)).unwrap();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(service) = &mut self.service {
            let id = rustix::process::Pid::from_child(service);
            // Ends its own helpers.
            let _ = rustix::process::kill_process(id, Signal::TERM);
            let _ = service.wait();
        }
    }
}

/// Fails unless no container and no process of a project is left.
fn assert_nothing_left(engine: &Engine, project: &Project) {
    assert_eq!(engine.containers(), "", "containers were left behind");
    let left = project.processes();
    assert!(left.is_empty(), "processes were left behind: {left:?}");
}

/// `more` is what this engine does not refuse.
pub(crate) fn an_agent_reaches_nothing_but_its_trial(engine: &Engine, more: &[&str]) {
    let mut victim = Victim::start();
    let project = engine.with(probing(victim.0.id()));
    project
        .terca(&["run", "--sandbox", "none"])
        .expect_status(0);
    let open = reached(&project);
    for (name, _) in attempts(&project, 1) {
        assert!(open.iter().any(|line| line == name), "{name}: {open:?}");
    }
    let outcome = project
        .terca(&["run", "--sandbox", &engine.sandbox()])
        .expect_status(0);
    let first = format!(
        "agents run in a sandbox ({}); network: model only\n",
        if engine.word == "docker" {
            "Docker"
        } else {
            "Podman"
        }
    );
    assert!(outcome.stderr.starts_with(&first), "{}", outcome.stderr);
    let mut expected: Vec<&str> = more.to_vec();
    if rustix::process::geteuid().is_root() {
        // The user is the caller, without any capability.
        expected.push("be the superuser");
    }
    expected.push("own");
    assert_eq!(reached(&project), expected);
    let trial = project.only_trial();
    assert_eq!(trial["containedBy"], engine.word);
    let id = engine.told(&["image", "inspect", "--format", "{{.Id}}", IMAGE]);
    let hash = id.strip_prefix("sha256:").unwrap_or(&id);
    assert_eq!(trial["image"], format!("sha256:{hash}"));
    let run = std::fs::read(project.run_dir().join("run.json")).unwrap();
    let run: Value = serde_json::from_slice(&run).unwrap();
    let variant = &run["cases"][0]["variant"];
    assert_eq!(variant["containedBy"], engine.word);
    assert_eq!(variant["sandbox"], json!({ engine.word: IMAGE }));
    assert!(victim.is_alive());
    assert_nothing_left(engine, &project);
}

pub(crate) fn software_and_variables_are_the_images(engine: &Engine) {
    let project = project()
        .env("SECRET_OF_HOST", "not-for-agents")
        .agent("env > env.txt; ls /bin > programs.txt; ls / > root.txt; echo x > made.txt; mkdir dir; mkdir /made; true")
        .file(
            "fib/eval.terca.yaml",
            "prompt: look\nbefore: [{command: 'echo before > before.txt'}]\n\
             tests: [{name: image, commandSuccess: 'test \"$FROM_IMAGE\" = yes && cat before.txt'}]\n",
        );
    let project = engine.with(project);
    project
        .terca(&["run", "--sandbox", &engine.sandbox()])
        .expect_status(0);
    let env = project.trial_file("workspace/env.txt");
    assert!(env.contains("FROM_IMAGE=yes\n"), "{env}");
    assert!(env.contains("PATH=/bin\n"), "{env}");
    for name in ["SECRET_OF_HOST", "DOCKER_HOST", "CONTAINERS_CONF"] {
        assert!(!env.contains(name), "{env}");
    }
    let programs = project.trial_file("workspace/programs.txt");
    assert!(programs.contains("busybox\n") && !programs.contains("bash\n"));
    let root = project.trial_file("workspace/root.txt");
    assert!(!root.contains("made") && !root.contains("work"), "{root}");
    let caller = rustix::process::geteuid().as_raw();
    for name in ["made.txt", "dir", "before.txt"] {
        let meta = std::fs::metadata(project.trial_path("workspace").join(name)).unwrap();
        assert_eq!(meta.uid(), caller, "{name}");
    }
}

pub(crate) fn somebody_without_privileges_is_contained_too(engine: &Engine) {
    let mut victim = Victim::start();
    let project = engine.with(probing(victim.0.id()));
    let outcome: Outcome = project
        .command_without_privileges(&["run", "--keep", "all", "--sandbox", &engine.sandbox()])
        .output()
        .unwrap()
        .into();
    outcome.expect_status(0);
    assert_eq!(reached(&project), ["own"]);
    let meta = std::fs::metadata(project.trial_path("workspace/probe.txt")).unwrap();
    assert_ne!(meta.uid(), 0);
    assert!(victim.is_alive());
}

pub(crate) fn the_network_obeys_the_same_rule(engine: &Engine) {
    let service = Service::start();
    let address = format!("127.0.0.1:{}", service.port);
    let script = format!(
        "unset HTTP_PROXY http_proxy\n\
         if wget -q -O - http://{address}/ | grep -q here-am-i; then echo yes; else echo no; fi > reached.txt"
    );
    for (network, allow, answer) in [
        ("open", "", "yes\n"),
        ("model", "", "no\n"),
        ("off", "", "no\n"),
        ("model", address.as_str(), "yes\n"),
    ] {
        let project = project().agent(&script).file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
        let own = project.read("terca.yaml");
        let project = project.file("terca.yaml", format!("allow: [{allow}]\n{own}"));
        let project = engine.with(project);
        let before = service.connections();
        project
            .terca(&["run", "--sandbox", &engine.sandbox(), "--network", network])
            .expect_status(0);
        let found = project.trial_file("workspace/reached.txt");
        assert_eq!(found, answer, "{network} {allow}");
        let is_reached = service.connections() > before;
        assert_eq!(is_reached, answer == "yes\n", "{network} {allow}");
    }
}

/// The service is a program of the image, in a container of its own.
pub(crate) fn a_service_is_at_its_port(engine: &Engine) {
    let get = "wget -Y off -q -O got.txt http://127.0.0.1:$TERCA_SERVICE_WEB_PORT/hello.txt";
    let project = project()
        .agent(&format!("{get}; echo $TERCA_SERVICE_WEB_PORT > port.txt"))
        .file(
            "fib/eval.terca.yaml",
            format!(
                "prompt: go\nservices:\n  - name: web\n    port: 8080\n    \
                 command: echo hello > hello.txt && exec httpd -f -p 127.0.0.1:$TERCA_SERVICE_WEB_PORT\n\
                 tests:\n  - commandSuccess: grep hello got.txt && grep -x 8080 port.txt\n  - commandSuccess: {get}\n"
            ),
        );
    let project = engine.with(project);
    project
        .terca(&["run", "-n", "2", "--sandbox", &engine.sandbox()])
        .expect_status(0);
    assert_nothing_left(engine, &project);
}

pub(crate) fn commands_find_the_suite_and_not_the_solution(engine: &Engine) {
    let project = project()
        .agent("echo x > made.txt")
        .file("tools/check.sh", "test -f made.txt && echo checked")
        .file("fib/_tests/hidden.txt", "secret")
        .file("fib/_solution/answer.txt", "secret");
    let real = project.dir();
    let home = project.home();
    let yaml = format!(
        "prompt: make it\n\
         before: [{{command: 'sh -n \"$TERCA_SUITE_DIR/tools/check.sh\" && echo x > /tmp/from-before'}}]\n\
         tests:\n\
         - {{name: script, commandSuccess: 'sh \"$TERCA_SUITE_DIR/tools/check.sh\"'}}\n\
         - {{name: hidden, commandSuccess: 'cat hidden.txt'}}\n\
         - {{name: own files, commandSuccess: 'cat \"$TERCA_TRANSCRIPT\" && echo x > \"$TERCA_TRIAL_DIR/artifacts/mine.txt\"'}}\n\
         - {{name: solution, commandSuccess: '! cat \"$TERCA_SUITE_DIR\"/fib/_solution/answer.txt'}}\n\
         - {{name: real solution, commandSuccess: 'test -d {real}/fib && ! cat {real}/fib/_solution/answer.txt'}}\n\
         - {{name: run, commandSuccess: '! cat {real}/.terca/runs/*/events.jsonl'}}\n\
         - {{name: suite, commandSuccess: '! touch {real}/new && ! touch \"$TERCA_SUITE_DIR/new\"'}}\n\
         - {{name: home, commandSuccess: '! cat {home}/.netrc'}}\n\
         - {{name: tmp, commandSuccess: '! test -e /tmp/from-before'}}\n"
    );
    open_file(&home.join(".netrc"));
    let project = engine.with(project.file("fib/eval.terca.yaml", yaml));
    project
        .terca(&["run", "--sandbox", &engine.sandbox()])
        .expect_status(0);
    assert_eq!(project.trial_file("artifacts/mine.txt"), "x\n");
}

pub(crate) fn mcp_servers_are_tapped(engine: &Engine) {
    let script = "start\nhello\nask 2 tools/call search; answer\nexec 3>&-\nwait $server";
    let sandbox = format!("sandbox: {{{}: \"{IMAGE}\"}}\n", engine.word);
    let agent = format!("{AGENT}{script}\ntouch done\n").replace("/bin/bash", "/bin/sh");
    let project = project_with_mcp_server(script, &sandbox).executable("agent.sh", &agent);
    let project = engine.with(project);
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["containedBy"], engine.word);
    assert_eq!(trial.get("notes"), None, "{trial:#}");
    let server = &trial["delivery"]["mcpServers"]["docs"];
    assert_eq!(server["tap"]["tools"]["search"]["calls"], 1, "{server:#}");
}

pub(crate) fn an_agent_out_of_time_can_tidy_up(engine: &Engine) {
    let script = "trap 'echo bye > bye.txt; exit 0' TERM\n(trap '' TERM; sleep 600) &\nwhile :; do sleep 0.1; done";
    let project = project().agent(script).file(
        "fib/eval.terca.yaml",
        "prompt: wait\ntimeoutSeconds: 2\ntests: [{fileExists: bye.txt}]\n",
    );
    let project = engine.with(project);
    project
        .terca(&["run", "--sandbox", &engine.sandbox()])
        .expect_status(0);
    assert_eq!(project.only_trial()["timedOut"], true);
    assert_nothing_left(engine, &project);
}

/// A project whose agent ignores every signal and never ends.
fn stubborn(engine: &Engine) -> Project {
    let project = project()
        .agent("trap '' TERM INT HUP\n(setsid sh -c 'trap \"\" TERM; sleep 600') &\ntouch ready\nwhile :; do sleep 1; done")
        .file("fib/eval.terca.yaml", "prompt: wait\ntimeoutSeconds: 600\nallowWarnings: no-tests\n");
    engine.with(project)
}

fn start(engine: &Engine, project: &Project) -> terca_testkit::Session {
    let mut session = project.start(&["run", "--format", "plain", "--sandbox", &engine.sandbox()]);
    session.wait_until("the agent is at work", || {
        project.has_run()
            && project
                .run_dir()
                .join("fib/default.default.01/workspace/ready")
                .exists()
    });
    assert_ne!(engine.containers(), "");
    session
}

pub(crate) fn signals_to_terca_leave_no_container(engine: &Engine) {
    for signal in [Signal::INT, Signal::KILL] {
        let project = stubborn(engine);
        let session = start(engine, &project);
        session.signal(signal);
        let outcome = session.finish();
        if signal == Signal::INT {
            assert_eq!(outcome.status, 130, "{}", outcome.stderr);
            assert_nothing_left(engine, &project);
        } else {
            wait_until("nothing is left", || {
                engine.containers().is_empty() && project.processes().is_empty()
            });
        }
    }
}

/// The keeper of a container can be killed too, as by a machine without memory.
pub(crate) fn a_container_that_was_left_is_removed_by_the_next_run(engine: &Engine) {
    let project = stubborn(engine);
    let session = start(engine, &project);
    let keepers: Vec<i32> = keepers(session.id());
    assert_eq!(keepers.len(), 1, "{keepers:?}");
    session.signal(Signal::STOP);
    for keeper in keepers {
        let keeper = rustix::process::Pid::from_raw(keeper).unwrap();
        rustix::process::kill_process(keeper, Signal::KILL).unwrap();
    }
    session.signal(Signal::KILL);
    session.finish();
    // The supervisor inside has noticed, and the container is gone, or it is still there: either is possible here. One that
    // nobody ends is made by hand, with the same label.
    let gone = Utf8PathBuf::from("/nowhere/of-a-dead-run");
    let label = format!("terca.run={gone}");
    let alive = format!("terca.run={}", engine.root());
    for label in [&label, &alive] {
        engine.told(&[
            "run", "--detach", "--network", "none", "--label", label, IMAGE, "sleep", "600",
        ]);
    }
    let project = engine.with(project.agent("echo x > made.txt").file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    ));
    project
        .terca(&["run", "--sandbox", &engine.sandbox()])
        .expect_status(0);
    let of_dead = engine.told(&["ps", "-aq", "--filter", &format!("label={label}")]);
    assert_eq!(of_dead, "");
    let of_living = engine.told(&["ps", "-aq", "--filter", &format!("label={alive}")]);
    assert_ne!(of_living, "", "a container of a run that goes on");
    engine.told(&["rm", "-f", &of_living]);
    wait_until("nothing is left", || engine.containers().is_empty());
}

/// The keepers that a process has started.
fn keepers(parent: u32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).unwrap();
    let mut found = Vec::new();
    for task in tasks.flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            let command =
                std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
            if command.contains("__keep-container") {
                found.push(child.parse().unwrap());
            }
        }
    }
    found
}

pub(crate) fn what_is_missing_is_said(engine: &Engine) {
    let suite = || {
        let project = project().agent("echo x > made.txt").file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
        engine.with(project)
    };
    let project = suite();
    let sandbox = format!("{}:nowhere/such-an-image:3", engine.word);
    let outcome = project
        .terca(&["run", "--sandbox", &sandbox])
        .expect_status(2);
    for words in [
        "has no image `nowhere/such-an-image:3`, and Terca does not download images",
        &format!("`{} pull nowhere/such-an-image:3`", engine.word),
        "no-sandbox",
    ] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
    assert!(!project.has_run());
    let doctor = project.terca(&["doctor"]);
    let words = format!(
        "`--sandbox {}:IMAGE` runs agents in containers",
        engine.word
    );
    assert!(doctor.stdout.contains(&words), "{}", doctor.stdout);
    let project = suite();
    let outcome = project.terca(&["run", "--sandbox", &engine.sandbox(), "--agent", "codex"]);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "agentMissing", "{trial}");
    let message = trial["error"]["message"].as_str().unwrap();
    let words = format!("`codex` cannot be started in the image `{IMAGE}`");
    assert!(message.contains(&words), "{message}");
    assert_ne!(outcome.status, 0);
    assert_nothing_left(engine, &project);
}

pub(crate) fn limits_are_kept(engine: &Engine) {
    let script = "dd if=/dev/zero of=/dev/null bs=200M count=1 2> dd.txt; echo $? > memory.txt\n\
         (for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 600 & done) 2> forks.txt\n\
         # They are started, and become the program a moment later.\n\
         i=0; while [ $i -lt 100 ] && [ $(ps | grep -c '[s]leep 600') -lt 20 ]; do i=$((i + 1)); sleep 0.1; done\n\
         ps | grep -c '[s]leep 600' > processes.txt\nexit 0";
    let project = project().agent(script).file(
        "fib/eval.terca.yaml",
        "prompt: use much\nallowWarnings: no-tests\n",
    );
    let own = project.read("terca.yaml");
    let limits = "limits: {memory: 64MB, processes: 10, cpus: 1}\n";
    let project = engine.with(project.file("terca.yaml", format!("{limits}{own}")));
    let sandbox = engine.sandbox();
    // A shell that cannot start a program ends.
    project.terca(&["run", "--sandbox", &sandbox]);
    assert_ne!(project.trial_file("workspace/memory.txt"), "0\n");
    let forks = project.trial_file("workspace/forks.txt");
    assert!(forks.contains("can't fork"), "{forks}");
    assert_nothing_left(engine, &project);
    // Without limits the same agent gets all of it.
    let project = project.file("terca.yaml", own);
    project
        .terca(&["run", "--sandbox", &sandbox])
        .expect_status(0);
    assert_eq!(project.trial_file("workspace/memory.txt"), "0\n");
    let processes = project.trial_file("workspace/processes.txt");
    assert!(
        processes.trim().parse::<usize>().unwrap() >= 20,
        "{processes}"
    );
}

/// A program in the place of the engine's does as it, but removes nothing and says that the container has failed.
pub(crate) fn a_container_that_cannot_be_removed_is_said(engine: &Engine) {
    let project = project().agent("echo x > made.txt").file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    );
    let bin = project.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\ncase $1 in\n\
         run) {0} \"$@\"; case \"$*\" in *enclosed*) exit 1;; esac;;\n\
         rm) echo 'the service is on fire' >&2; exit 1;;\n\
         ps) case \"$*\" in *name=*) echo still-there; exit;; esac; exec {0} \"$@\";;\n\
         *) exec {0} \"$@\";;\nesac\n",
        engine.word
    );
    let program = bin.join(engine.word);
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let project = engine.with(project).env("PATH", &path);
    let outcome = project.terca(&["run", "--sandbox", &engine.sandbox()]);
    for words in [
        "warning: could not be removed: the container terca-",
        "the service is on fire",
        &format!("{} rm -f terca-", engine.word),
    ] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
}

/// A suite whose eval runs in an image of its own Dockerfile.
fn with_dockerfile(engine: &Engine, run: &str) -> Project {
    let project = project()
        .agent("pwd > pwd.txt; cat /app/made.txt data.txt /opt/other.txt > all.txt; rm data.txt; echo x > /opt/new; true")
        .file(
            "fib/eval.terca.yaml",
            "prompt: look\nsandbox: {build: _image}\nprepare: [{command: 'cp /app/made.txt prepared.txt'}]\n\
             tests: [{name: place, commandSuccess: 'test \"$PWD\" = /app && test \"$OWN\" = yes && test ! -e data.txt && cat prepared.txt'}]\n",
        )
        .file("fib/_base/more.txt", "more\n")
        .file("fib/_image/data.txt", "data\n")
        .file("fib/_image/ignored.txt", "ignored\n")
        .file("fib/_image/.dockerignore", "ignored.txt\n")
        .file(
            "fib/_image/Dockerfile",
            format!("FROM {IMAGE}\nENV OWN=yes\nWORKDIR /app\nCOPY . .\nRUN {run}\n"),
        );
    engine.with(project)
}

pub(crate) fn an_image_is_built_and_its_files_are_the_workspace(engine: &Engine) {
    let run = "echo made > made.txt && mkdir -p /opt && echo other > /opt/other.txt";
    let project = with_dockerfile(engine, run);
    let outcome = project.terca(&["run"]).expect_status(0);
    assert!(
        outcome.stderr.contains("builds the image of"),
        "{}",
        outcome.stderr
    );
    assert_eq!(project.trial_file("workspace/pwd.txt"), "/app\n");
    assert_eq!(
        project.trial_file("workspace/all.txt"),
        "made\ndata\nother\n"
    );
    assert_eq!(project.trial_file("workspace/more.txt"), "more\n");
    assert!(!project.trial_path("workspace/ignored.txt").exists());
    let run = std::fs::read(project.run_dir().join("run.json")).unwrap();
    let run: Value = serde_json::from_slice(&run).unwrap();
    let variant = &run["cases"][0]["variant"];
    assert_eq!(variant["containedBy"], engine.word);
    let image = variant["image"].as_str().unwrap();
    assert!(image.starts_with("terca-build:"), "{image}");
    let id = engine.told(&["image", "inspect", "--format", "{{.Id}}", image]);
    let hash = id.strip_prefix("sha256:").unwrap_or(&id);
    let trial = &project.results()["trials"][0];
    assert_eq!(trial["image"], format!("sha256:{hash}"));
    // What it was made of is unchanged.
    let outcome = project.terca(&["run"]).expect_status(0);
    assert!(!outcome.stderr.contains("builds"), "{}", outcome.stderr);
    project.terca(&["regrade"]).expect_status(0);
    assert_nothing_left(engine, &project);
}

pub(crate) fn somebody_without_privileges_owns_the_files_of_the_image(engine: &Engine) {
    let run = "echo made > made.txt && chmod 600 made.txt && mkdir -p /opt && echo other > /opt/other.txt";
    let project = with_dockerfile(engine, run);
    let outcome: Outcome = project
        .command_without_privileges(&["run", "--keep", "all"])
        .output()
        .unwrap()
        .into();
    outcome.expect_status(0);
    assert_eq!(
        project.trial_file("workspace/all.txt"),
        "made\ndata\nother\n"
    );
    let meta = std::fs::metadata(project.trial_path("workspace/made.txt")).unwrap();
    assert_ne!(meta.uid(), 0);
}

pub(crate) fn a_build_that_fails_is_told_with_its_line(engine: &Engine) {
    let project = with_dockerfile(engine, "echo no-luck-here >&2 && false");
    let outcome = project.terca(&["run"]).expect_status(2);
    for words in ["_image/Dockerfile, line 5 (RUN echo", "no-luck-here\n"] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
    assert!(!project.has_run());
    assert_nothing_left(engine, &project);
}

/// The shape of tasks that install a program, write data with a command, and name absolute paths everywhere.
pub(crate) fn a_harbor_task_runs_in_the_image_of_its_dockerfile(engine: &Engine) {
    let project = project()
        .file(
            "tasks/count/task.toml",
            "version = \"1.0\"\n[agent]\ntimeout_sec = 60\n",
        )
        .file(
            "tasks/count/instruction.md",
            "Count the lines of /app/data/in.csv into /app/out.txt.\n",
        )
        .file(
            "tasks/count/environment/Dockerfile",
            format!(
                "FROM {IMAGE}\nWORKDIR /app\nCOPY lines.txt /opt/lines.txt\n\
                 RUN mkdir -p data && printf 'a\\nb\\n' > data/in.csv && printf '#!/bin/sh\\nwc -l < \"$1\"\\n' > /bin/lines && chmod +x /bin/lines\n"
            ),
        )
        .file("tasks/count/environment/lines.txt", "2\n")
        .file(
            "tasks/count/tests/test.sh",
            "#!/bin/sh\ncd /\nif [ \"$(cat /app/out.txt)\" = \"$(cat /opt/lines.txt)\" ] && [ \"$(lines /app/data/in.csv)\" = 2 ]; then\n\
             echo 1; else echo 0; fi > /logs/verifier/reward.txt\n",
        )
        .file(
            "tasks/count/solution/solve.sh",
            "#!/bin/sh\nlines /app/data/in.csv > /app/out.txt\n",
        );
    let project = engine.with(project);
    project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(0);
    let outcome = project.terca(&["validate"]).expect_status(0);
    assert!(outcome.stdout.contains(SOUND), "{}", outcome.stdout);
    assert_nothing_left(engine, &project);
}
