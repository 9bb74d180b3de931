//! `terca mine` over projects whose setup installs packages: the recipes of npm and pip, proven by drafts.
//!
//! The registry is a directory of files behind a port of this machine, which the project itself names. So nothing is asked
//! of a service, and the setup is known to reach a network that tests do not have.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::Project;

use crate::common::history::History;
use crate::common::project;
use crate::mined::assert_mined_evals_hold;
use crate::needs_bwrap::mine::all_are_written;

/// Serves the files of a directory. A directory is a list of links, which is an index for pip.
struct Registry {
    address: String,
    asked: Arc<AtomicUsize>,
}

impl Registry {
    fn start(dir: Utf8PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        // It ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let _ = answer(stream, &dir);
            }
        });
        Registry { address, asked }
    }
}

fn answer(mut stream: TcpStream, dir: &Utf8Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let asked = first.split(' ').nth(1).unwrap_or_default();
    let path = dir.join(asked.trim_matches('/'));
    let (status, kind, body) = match (path.read_dir_utf8(), std::fs::read(&path)) {
        (Ok(entries), _) => {
            let links = entries.flatten().map(|entry| {
                let name = entry.file_name().to_owned();
                format!("<a href=\"{name}\">{name}</a>\n")
            });
            let links: String = links.collect();
            ("200 OK", "text/html", links.into_bytes())
        }
        (_, Ok(file)) => ("200 OK", "application/octet-stream", file),
        _ => ("404 Not Found", "text/plain", Vec::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

/// Runs a command that makes a package.
fn make(dir: &Utf8Path, program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).current_dir(dir).output();
    let output = output.expect(program);
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
}

fn written(dir: &Utf8Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// A registry with one package for Node and one for Python.
fn registry(project: &Project) -> Registry {
    let dir = project.path("registry");
    written(
        &dir,
        &[
            (
                "package/package.json",
                r#"{"name": "plural-of-tests", "version": "1.0.0", "main": "index.js"}"#,
            ),
            (
                "package/index.js",
                "module.exports = (word) => word + 's';\n",
            ),
            (
                "wheel/plural_of_tests.py",
                "def plural(word):\n    return word + 's'\n",
            ),
            (
                "wheel/plural_of_tests-1.0.0.dist-info/METADATA",
                "Metadata-Version: 2.1\nName: plural-of-tests\nVersion: 1.0.0\n",
            ),
            (
                "wheel/plural_of_tests-1.0.0.dist-info/WHEEL",
                "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            ),
            (
                "wheel/plural_of_tests-1.0.0.dist-info/RECORD",
                "plural_of_tests.py,,\nplural_of_tests-1.0.0.dist-info/METADATA,,\nplural_of_tests-1.0.0.dist-info/WHEEL,,\n\
                 plural_of_tests-1.0.0.dist-info/RECORD,,\n",
            ),
        ],
    );
    make(
        &dir,
        "tar",
        &["czf", "plural-of-tests-1.0.0.tgz", "package"],
    );
    let index = dir.join("simple/plural-of-tests");
    std::fs::create_dir_all(&index).unwrap();
    let wheel = index.join("plural_of_tests-1.0.0-py3-none-any.whl");
    let zip = "import shutil, sys; shutil.move(shutil.make_archive('wheel', 'zip', 'wheel'), sys.argv[1])";
    make(&dir, "python3", &["-c", zip, wheel.as_str()]);
    Registry::start(dir)
}

#[test]
#[ignore = "needs npm, Python and bubblewrap"]
fn node_without_packages_and_with_one() {
    let project = project();
    let registry = registry(&project);
    let mut history = History::new(&project);
    history.commit(
        "Start the whole project",
        &[
            ("package.json", r#"{"name": "words", "version": "1.0.0"}"#),
            ("words.js", "exports.words = (text) => text.length;\n"),
        ],
    );
    let without = history.commit(
        "Count words and not characters",
        &[
            ("words.js", "exports.words = (text) => text.split(' ').length;\n"),
            (
                "test/words.test.js",
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { words } = require('../words.js');\n\
                 test('two', () => assert.strictEqual(words('ab cd'), 2));\n",
            ),
        ],
    );
    let address = &registry.address;
    let lock = format!(
        r#"{{"name": "words", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {{
        "": {{"name": "words", "version": "1.0.0", "dependencies": {{"plural-of-tests": "1.0.0"}}}},
        "node_modules/plural-of-tests": {{"version": "1.0.0", "resolved": "{address}/plural-of-tests-1.0.0.tgz"}}}}}}"#
    );
    history.commit(
        "Add a package for plurals",
        &[
            (
                "package.json",
                r#"{"name": "words", "version": "1.0.0", "dependencies": {"plural-of-tests": "1.0.0"}}"#,
            ),
            ("package-lock.json", &lock),
            (".npmrc", &format!("registry={address}/\n")),
            (".gitignore", "node_modules\n"),
        ],
    );
    let with = history.commit(
        "Say the number of words",
        &[
            (
                "words.js",
                "const plural = require('plural-of-tests');\nexports.words = (text) => text.split(' ').length;\n\
                 exports.said = (text) => `${exports.words(text)} ${plural('word')}`;\n",
            ),
            (
                "test/said.test.js",
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { said } = require('../words.js');\n\
                 test('two', () => assert.strictEqual(said('ab cd'), '2 words'));\n",
            ),
        ],
    );
    let again = history.commit(
        "Say the number of letters",
        &[
            (
                "letters.js",
                "const plural = require('plural-of-tests');\nexports.letters = (text) => `${text.length} ${plural('letter')}`;\n",
            ),
            (
                "test/letters.test.js",
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { letters } = require('../letters.js');\n\
                 test('two', () => assert.strictEqual(letters('ab'), '2 letters'));\n",
            ),
        ],
    );
    all_are_written(&project, &[&without, &with, &again]);
    assert!(
        registry.asked.load(Ordering::SeqCst) > 0,
        "the registry was asked"
    );
    // Evals with one lock file share their packages.
    let validate = ["-C", "repository-evals", "validate", "--format", "plain"];
    assert_mined_evals_hold(&project.terca(&validate));
    let cache = project.path("repository-evals/.terca/cache");
    let entries = cache.read_dir_utf8().unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_owned());
    let is_step = |name: &String| name.starts_with("shared-") && !name.ends_with(".lock");
    assert_eq!(names.filter(is_step).count(), 1, "{cache}");
}

#[test]
#[ignore = "needs npm, Python and bubblewrap"]
fn python_with_a_package_of_its_requirements() {
    let project = project();
    let registry = registry(&project);
    let address = &registry.address;
    let mut history = History::new(&project);
    history.commit(
        "Start the whole project",
        &[
            (
                "requirements.txt",
                &format!("--index-url {address}/simple/\nplural-of-tests==1.0.0\n"),
            ),
            ("words.py", "def words(text):\n    return len(text)\n"),
        ],
    );
    let commit = history.commit(
        "Say the number of words",
        &[
            (
                "words.py",
                "from plural_of_tests import plural\n\n\ndef words(text):\n    return f\"{len(text.split())} {plural('word')}\"\n",
            ),
            (
                "tests/test_words.py",
                "import unittest\n\nfrom words import words\n\n\nclass Words(unittest.TestCase):\n    def test_two(self):\n        \
                 self.assertEqual(words('ab cd'), '2 words')\n",
            ),
        ],
    );
    all_are_written(&project, &[&commit]);
    assert!(
        registry.asked.load(Ordering::SeqCst) > 0,
        "the registry was asked"
    );
}
