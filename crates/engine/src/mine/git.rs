//! Asks git about the objects of a repository, and nothing else.
//!
//! A repository may come from anybody, and its settings can name programs: hooks, monitors of files, filters, drivers of
//! diffs, helpers of transports. So git never reads them. It works in an empty directory of Terca's own, which names the
//! repository's directory of objects and has no remote; nothing is checked out, contents are read as they are stored, and
//! nothing is written into the repository.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use camino::Utf8PathBuf;
use terca_core::new_suite::mine::Refusal;
use terca_core::new_suite::mine::commit::{self, Change, Commit, Entry};

use crate::suite::commit::Repository;

/// More commits are not looked at.
const MOST_COMMITS: usize = 20_000;
/// A longer answer about one commit is not read.
const LONGEST_ANSWER: u64 = 64 << 20;
/// The message of a commit is shorter.
const LARGEST_COMMIT: u64 = 1 << 20;

/// Git, with the objects of one repository.
#[derive(Debug)]
pub(super) struct Git {
    dir: Utf8PathBuf,
    path: String,
    contents: Option<Contents>,
}

/// A process that gives the contents of objects.
#[derive(Debug)]
struct Contents {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Git {
    /// Makes an empty directory for git, with the objects of a repository that is at this commit.
    pub(super) fn new(
        repository: &Repository,
        head: &str,
        dir: Utf8PathBuf,
        path: &str,
    ) -> io::Result<Self> {
        fs_err::create_dir_all(dir.join("refs"))?;
        fs_err::create_dir_all(dir.join("objects/info"))?;
        let alternates = format!("{}\n", repository.objects());
        fs_err::write(dir.join("objects/info/alternates"), alternates)?;
        fs_err::write(dir.join("HEAD"), format!("{head}\n"))?;
        // Hashes of SHA-256 are longer, and git has to know.
        let format = match head.len() {
            64 => "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
            _ => "[core]\n\trepositoryformatversion = 0\n",
        };
        fs_err::write(dir.join("config"), format)?;
        let shallow = repository.shallow();
        if !shallow.is_empty() {
            fs_err::write(dir.join("shallow"), shallow.join("\n") + "\n")?;
        }
        Ok(Git {
            dir,
            path: path.to_owned(),
            contents: None,
        })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(["--no-pager", "-c", "protocol.allow=never"])
            .args(args)
            .current_dir(&self.dir)
            // Ctrl+C at the terminal is for Terca, which ends git.
            .process_group(0)
            .env_clear()
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .env("HOME", &self.dir)
            .env("GIT_DIR", &self.dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }

    fn ask(&self, args: &[&str]) -> io::Result<Vec<u8>> {
        let mut child = self.command(args).spawn()?;
        let mut answer = Vec::new();
        if let Some(output) = child.stdout.take() {
            output.take(LONGEST_ANSWER).read_to_end(&mut answer)?;
        }
        // The pipe is closed: a longer answer ends here.
        let status = child.wait()?;
        match status.success() {
            true => Ok(answer),
            false => Err(io::Error::other(format!("`git {}` failed", args.join(" ")))),
        }
    }

    /// Returns the hashes of the commits since a time, the newest first.
    pub(super) fn commits(&self, head: &str, since: Option<i64>) -> io::Result<Vec<String>> {
        let most = format!("--max-count={MOST_COMMITS}");
        let since = since.map(|seconds| format!("--max-age={seconds}"));
        let mut args = vec!["rev-list", most.as_str()];
        args.extend(since.as_deref());
        args.extend([head, "--"]);
        self.lines(&args)
    }

    fn lines(&self, args: &[&str]) -> io::Result<Vec<String>> {
        let answer = self.ask(args)?;
        let text = String::from_utf8_lossy(&answer);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Returns the hashes of the single commits that a merge brings to its first parent, at most so many.
    pub(super) fn merged(&self, parent: &str, id: &str, most: usize) -> io::Result<Vec<String>> {
        let (most, not) = (format!("--max-count={most}"), format!("^{parent}"));
        self.lines(&["rev-list", "--no-merges", &most, id, &not, "--"])
    }

    /// Reads a commit.
    pub(super) fn commit(&mut self, id: &str) -> Result<Option<Commit>, Refusal> {
        let object = self.content(id, LARGEST_COMMIT)?;
        Ok(object.and_then(|object| Commit::read(id, &object)))
    }

    /// Returns what differs between a commit and its parent.
    pub(super) fn changes(&self, parent: &str, id: &str) -> Result<Vec<Change>, Refusal> {
        let answer = self.ask(&[
            "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff",
            "--no-textconv", parent, id, "--",
        ])?;
        commit::changes(&answer)
    }

    /// Returns what a diff changes in a commit. The new objects are in git's own directory.
    pub(super) fn applied(&self, commit: &str, diff: &str) -> Result<Vec<Change>, Refusal> {
        let file = self.dir.join("patch");
        fs_err::write(&file, diff)?;
        self.ask(&["read-tree", commit])?;
        self.ask(&["apply", "--cached", "--whitespace=nowarn", file.as_str()])?;
        self.changes(commit, &self.lines(&["write-tree"])?.concat())
    }

    /// Returns all files of a commit.
    pub(super) fn tree(&self, id: &str) -> Result<Vec<Entry>, Refusal> {
        commit::tree(&self.ask(&["ls-tree", "-r", "-z", "-l", "--full-tree", id])?)
    }

    /// Returns the content of an object, or `None` if it is missing or larger than that.
    pub(super) fn content(&mut self, id: &str, most: u64) -> Result<Option<Vec<u8>>, Refusal> {
        let mut contents = match self.contents.take() {
            Some(contents) => contents,
            None => Contents::start(self.command(&["cat-file", "--batch"]))?,
        };
        let content = contents.of(id, most)?;
        // One that did not answer is not asked again.
        self.contents = Some(contents);
        Ok(content)
    }
}

impl Contents {
    fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("git has no input or no output"));
        };
        Ok(Contents {
            child,
            questions,
            answers: BufReader::new(answers),
        })
    }

    fn of(&mut self, id: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        writeln!(self.questions, "{id}")?;
        self.questions.flush()?;
        let mut head = String::new();
        (&mut self.answers).take(1_000).read_line(&mut head)?;
        // `HASH blob 12`, or `HASH missing`
        let size = head
            .split_whitespace()
            .nth(2)
            .and_then(|size| size.parse::<u64>().ok());
        let Some(size) = size else {
            return match head.trim_end().ends_with("missing") {
                true => Ok(None),
                false => Err(io::Error::other("git gave no object")),
            };
        };
        let mut object = (&mut self.answers).take(size + 1);
        if size > most {
            io::copy(&mut object, &mut io::sink())?;
            return Ok(None);
        }
        let mut content = Vec::new();
        object.read_to_end(&mut content)?;
        if content.len() as u64 != size + 1 {
            return Err(io::Error::other("git gave a part of an object"));
        }
        content.pop();
        Ok(Some(content))
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
