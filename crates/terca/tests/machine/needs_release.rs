//! A release as somebody without Rust gets it: a static program that is built here, installed in each way into a root that
//! holds nothing else, and run there.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_testkit::Outcome;

use crate::containers::put_busybox;
use crate::needs_npm::release::{ADDRESS, release_command};
use crate::needs_npm::{PLATFORM, Place, VERSION, expect_success, repository};

/// Makes a release with a program that is quick to build. Returns its directory.
pub(crate) fn static_release(place: &Place) -> Utf8PathBuf {
    let mut command = release_command(place, &["--profile", "dev", "--base-url", ADDRESS]);
    command.args(["--platform", PLATFORM]);
    let build = ["CARGO_TARGET_DIR", "CARGO_INCREMENTAL"];
    let build = build
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.envs(build);
    // Else most of the program is what debuggers read, which takes long to pack.
    command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    command.env("CARGO_PROFILE_DEV_STRIP", "symbols");
    expect_success(&mut command);
    place.path("dist")
}

/// A directory that a command takes for the root of the machine, with the files of a release at `/release`.
struct Root(Utf8PathBuf);

impl Root {
    /// A root with busybox alone.
    fn with_busybox(place: &Place, name: &str, dist: &Utf8Path) -> Self {
        let root = Root(place.path(name));
        put_busybox(&root.0);
        for dir in ["dev", "tmp"] {
            fs::create_dir(root.0.join(dir)).unwrap();
        }
        let null = root.0.join("dev/null");
        expect_success(Command::new("mknod").args(["-m", "666", null.as_str(), "c", "1", "3"]));
        root.bring(dist)
    }

    /// The smallest Debian that there is, from where this machine has its own packages.
    fn with_debian(place: &Place, dist: &Utf8Path) -> Self {
        let system = fs::read_to_string("/etc/os-release").unwrap();
        let name = system
            .lines()
            .find_map(|line| line.strip_prefix("VERSION_CODENAME="));
        let mut sources = Command::new("apt-get");
        let sources =
            expect_success(sources.args(["indextargets", "--format", "$(RELEASE) $(SITE)"]));
        let site = sources
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{} ", name.unwrap())));
        let root = Root(place.path("debian"));
        let mut debootstrap = Command::new("debootstrap");
        debootstrap.args([
            "--variant=minbase",
            name.unwrap(),
            root.0.as_str(),
            site.unwrap(),
        ]);
        expect_success(&mut debootstrap);
        root.bring(dist)
    }

    fn bring(self, dist: &Utf8Path) -> Self {
        let mut copy = Command::new("cp");
        expect_success(copy.args(["-r", dist.as_str(), self.0.join("release").as_str()]));
        self
    }

    /// Runs a command in it, as somebody who has just logged in.
    fn run(&self, command: &[&str]) -> Outcome {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--pid", "--fork", "--kill-child"]);
        unshare.arg(format!("--root={}", self.0));
        if self.0.join("proc").is_dir() {
            unshare.arg("--mount-proc");
        }
        unshare.args(command).env_clear().env("HOME", "/root");
        unshare.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        unshare.output().unwrap().into()
    }

    #[track_caller]
    fn has_terca(&self, program: &str) {
        let outcome = self.run(&[program, "--version"]).expect_status(0);
        assert_eq!(outcome.stdout, format!("{VERSION}\n"));
    }
}

#[test]
#[ignore = "needs root, Node, npm, busybox, debootstrap, and Rust for musl"]
fn a_release_installs_in_an_empty_root() {
    let place = Place::new();
    let dist = static_release(&place);
    the_script_installs(&place, &dist);
    npm_installs(&place, &dist);
    the_image_has_the_program_alone(&place, &dist);
    debian_installs_and_the_tutorial_is_true(&place, &dist);
}

fn the_script_installs(place: &Place, dist: &Utf8Path) {
    let root = Root::with_busybox(place, "script", dist);
    let outcome = root.run(&["sh", "/release/install.sh", "--from", "/release"]);
    let outcome = outcome.expect_status(0);
    let told = format!("installed terca {VERSION}: /root/.local/bin/terca\n");
    assert!(outcome.stdout.starts_with(&told), "{}", outcome.stdout);
    root.has_terca("/root/.local/bin/terca");

    let address = serve(dist);
    let install = ["sh", "/release/install.sh", "--to", "/bin", "--from"];
    let outcome = root.run(&[&install[..], &[&address]].concat());
    let told = outcome.expect_status(0).stdout;
    assert_eq!(told, format!("installed terca {VERSION}: /bin/terca\n"));
    root.has_terca("terca");
    let nothing = format!("{address}/elsewhere");
    let outcome = root.run(&[&install[..], &[&nothing]].concat());
    let told = format!("error: {nothing}/SHA256SUMS cannot be downloaded\n  help: ");
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
}

/// Serves the files of a directory until the tests end. Returns its address.
fn serve(dir: &Utf8Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let dir = dir.to_owned();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
            let request = lines.next().unwrap().unwrap();
            lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
            let path = request.split(' ').nth(1).unwrap().trim_start_matches('/');
            let (status, body) = match fs::read(dir.join(path)) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let head = format!(
                "HTTP/1.0 {status}\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let _ = connection.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    address
}

/// The launcher is a shell script: where npm has installed it, nothing of Node is needed.
fn npm_installs(place: &Place, dist: &Utf8Path) {
    let root = Root::with_busybox(place, "npm-root", dist);
    let packages = files(dist, ".tgz");
    assert_eq!(packages.len(), 2, "{packages:?}");
    place.install("npm-root/usr/local", &packages);
    root.has_terca("terca");
}

fn files(dist: &Utf8Path, end: &str) -> Vec<Utf8PathBuf> {
    let entries = dist.read_dir_utf8().unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<Utf8PathBuf> = entries.map(|entry| entry.path().to_owned()).collect();
    files.retain(|path| path.as_str().ends_with(end));
    files.sort();
    files
}

pub(crate) fn image(dist: &Utf8Path) -> Utf8PathBuf {
    let images = files(dist, ".tar.gz");
    let is_image = |path: &Utf8PathBuf| path.file_name().unwrap().starts_with("terca-image-");
    images.into_iter().find(is_image).unwrap()
}

fn the_image_has_the_program_alone(place: &Place, dist: &Utf8Path) {
    let unpacked = place.path("image");
    let root = Root(place.path("image-root"));
    for dir in [&unpacked, &root.0] {
        fs::create_dir(dir).unwrap();
    }
    let unpack = |from: &Utf8Path, to: &Utf8Path| {
        expect_success(Command::new("tar").args(["-xf", from.as_str(), "-C", to.as_str()]));
    };
    unpack(&image(dist), &unpacked);
    let read = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(unpacked.join(path)).unwrap()).unwrap()
    };
    let manifest = &read("manifest.json")[0];
    for layer in manifest["Layers"].as_array().unwrap() {
        unpack(&unpacked.join(layer.as_str().unwrap()), &root.0);
    }
    let mut top: Vec<String> = root
        .0
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    top.sort();
    assert_eq!(top, ["licences", "terca", "tmp"]);
    let config = read(manifest["Config"].as_str().unwrap());
    let program = config["config"]["Entrypoint"][0]
        .as_str()
        .unwrap()
        .to_owned();
    root.has_terca(&program);
    // The layout of OCI names the same files by their sums.
    let manifest = read("index.json")["manifests"][0]["digest"]
        .as_str()
        .unwrap()
        .replace(':', "/");
    let layer = read(&format!("blobs/{manifest}"))["layers"][0]["digest"].clone();
    assert_eq!(layer, config["rootfs"]["diff_ids"][0]);
    let sum = expect_success(
        Command::new("sha256sum")
            .arg(format!(
                "blobs/{}",
                layer.as_str().unwrap().replace(':', "/")
            ))
            .current_dir(&unpacked),
    );
    assert_eq!(
        format!("sha256:{}", sum.split(' ').next().unwrap()),
        layer.as_str().unwrap()
    );
}

fn debian_installs_and_the_tutorial_is_true(place: &Place, dist: &Utf8Path) {
    let root = Root::with_debian(place, dist);
    let package = files(dist, ".deb");
    let package = format!("/release/{}", package[0].file_name().unwrap());
    root.run(&["dpkg", "--install", &package]).expect_status(0);
    root.has_terca("terca");
    root.run(&["dpkg", "--verify", "terca"]).expect_status(0);

    let page = fs::read_to_string(repository().join("docs/tutorial.md")).unwrap();
    fs::write(root.0.join("root/tutorial.sh"), commands_of(&page)).unwrap();
    let outcome = root
        .run(&["sh", "-c", "cd && exec sh -eu tutorial.sh"])
        .expect_status(0);
    for told in [
        "001-slug  passed  partial 0.25  partial 0.25  withstood 17 tricks\n",
        "\nBETTER on this eval (script): ",
    ] {
        assert!(
            outcome.stdout.contains(told),
            "{}{}",
            outcome.stdout,
            outcome.stderr
        );
    }
    assert!(root.0.join("root/my-evals/report.html").is_file());

    root.run(&["dpkg", "--purge", "terca"]).expect_status(0);
    assert!(!root.0.join("usr/bin/terca").exists());
}

/// The commands and files of a page as a script. Comments in the page say which block is a file, and how commands end.
fn commands_of(page: &str) -> String {
    let (mut script, mut said) = (String::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(directive) = line.strip_prefix("<!-- test: ") {
            said = directive.trim_end_matches(" -->").to_owned();
        } else if let Some(language) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let text = block.join("\n");
            let name = text.lines().next().unwrap_or_default().strip_prefix("# ");
            script += &match (language, said.split_once(' ')) {
                (_, Some(("file", path))) => written(path, &text),
                ("sh", Some(("status", status))) => {
                    format!("status=0; {text} || status=$?; [ \"$status\" = {status} ]\n")
                }
                ("sh", None) => format!("{text}\n"),
                ("yaml", None) => written(name.expect("the name of a file"), &text),
                _ => String::new(),
            };
            said.clear();
        }
    }
    script
}

fn written(path: &str, text: &str) -> String {
    format!("cat > {path} <<'END OF THE FILE'\n{text}\nEND OF THE FILE\n")
}
