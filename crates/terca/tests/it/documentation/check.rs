//! Does what a page says, and tells what is not as it says.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use crate::documentation::configuration;
use crate::documentation::directive::Directive;
use crate::documentation::flags::Flags;
use crate::documentation::output;
use crate::documentation::page::{Block, Page, Part};
use crate::documentation::room::{Room, Said};

/// What is wrong with a page, and how many of its blocks are exempt.
#[derive(Debug, Default)]
pub struct Findings {
    pub complaints: Vec<String>,
    pub exempt: usize,
}

pub fn check(page: &Page, repository: &Utf8Path, flags: &Flags) -> Findings {
    let mut reader = Reader {
        page,
        repository,
        flags,
        room: Room::new(repository),
        open: Vec::new(),
        said: None,
        suites: BTreeSet::new(),
        findings: Findings::default(),
    };
    if page.uses_examples() {
        reader.room.clone_examples();
    }
    reader.read();
    reader.findings
}

struct Reader<'a> {
    page: &'a Page,
    repository: &'a Utf8Path,
    flags: &'a Flags,
    room: Room,
    /// Directives that wait for their block.
    open: Vec<Directive>,
    /// What the last commands printed, until something else comes.
    said: Option<Said>,
    /// Directories that were given configuration files.
    suites: BTreeSet<Utf8PathBuf>,
    findings: Findings,
}

impl Reader<'_> {
    fn read(&mut self) {
        for part in &self.page.parts {
            match part {
                Part::Directive(directive) => self.directive(directive),
                Part::Block(block) => self.block(block),
                Part::Table(_) => self.open.retain(|directive| !directive.is_for_a_table()),
            }
        }
        let left: Vec<Directive> = std::mem::take(&mut self.open);
        for directive in left {
            self.complain(
                directive.line,
                &format!("nothing follows `{}`", directive.verb),
            );
        }
        for dir in std::mem::take(&mut self.suites) {
            if let Some(problem) = configuration::problem_of_suite(&self.room, &dir) {
                self.complain(1, &problem);
            }
        }
        for spot in &self.page.code {
            for problem in self.flags.problems(&spot.text) {
                self.complain(spot.line, &problem);
            }
        }
    }

    fn complain(&mut self, line: usize, what: &str) {
        self.findings
            .complaints
            .push(format!("{}:{line}: {what}", self.page.path));
    }

    fn directive(&mut self, directive: &Directive) {
        if let Some(problem) = directive.problem() {
            self.complain(directive.line, &problem);
        } else if directive.verb == "run" {
            let said = self.room.run("sh", &directive.body);
            if said.status != 0 {
                let what = format!("the setup ended with {}:\n{}", said.status, said.output);
                self.complain(directive.line, &what);
            }
        } else {
            self.open.push(directive.clone());
        }
    }

    fn take(&mut self, verb: &str) -> Option<Directive> {
        let at = self
            .open
            .iter()
            .position(|directive| directive.verb == verb)?;
        Some(self.open.remove(at))
    }

    fn block(&mut self, block: &Block) {
        let said = self.said.take();
        if self.take("skip").is_some() {
            self.findings.exempt += 1;
            self.parse_only(block);
        } else if let Some(from) = self.take("from") {
            self.quotation(block, &from.argument);
        } else if let Some(file) = self.take("file") {
            self.file(block, &file.argument);
        } else if self.take("workflow").is_some() {
            self.workflow(block);
        } else {
            match block.language.as_str() {
                "sh" | "bash" => self.commands(block),
                "text" => self.output(block, said),
                "yaml" => self.yaml(block),
                "json" => self.json(block),
                other => self.complain(
                    block.line,
                    &format!("nothing is known about a block of `{other}`"),
                ),
            }
        }
        for directive in std::mem::take(&mut self.open) {
            self.complain(
                directive.line,
                &format!("`{}` does not belong to what follows", directive.verb),
            );
        }
    }

    /// Of what is not run: at least it can be read.
    fn parse_only(&mut self, block: &Block) {
        match block.language.as_str() {
            "yaml" => self.parses_as_yaml(block),
            "json" => self.json(block),
            "sh" | "bash" => {
                for line in block.text.lines() {
                    for problem in self.flags.problems(line) {
                        self.complain(block.line, &problem);
                    }
                }
            }
            _ => {}
        }
    }

    fn commands(&mut self, block: &Block) {
        let expected: i32 = self
            .take("status")
            .and_then(|status| status.argument.parse().ok())
            .unwrap_or(0);
        let said = self.room.run(&block.language, &block.text);
        if said.status != expected {
            let what = format!(
                "exit status {} instead of {expected}:\n{}",
                said.status, said.output
            );
            self.complain(block.line, &what);
        }
        self.said = Some(said);
    }

    fn output(&mut self, block: &Block, said: Option<Said>) {
        let like = self.take("like").is_some();
        match said {
            None => self.complain(block.line, "no command stands before this output"),
            Some(said) => {
                if let Some(difference) = output::difference(&block.text, &said.output, like) {
                    self.complain(block.line, &difference);
                }
                self.said = Some(said);
            }
        }
    }

    fn file(&mut self, block: &Block, path: &str) {
        let file = self.room.write(path, &block.text);
        self.suites.extend(configuration::suite_of(&file));
        if block.language == "json" {
            self.json(block);
        }
    }

    fn yaml(&mut self, block: &Block) {
        if let Some(part) = self.take("in") {
            if let Some(problem) =
                configuration::problem_of_part(&self.room, &part.argument, &block.text)
            {
                self.complain(block.line, &problem);
            }
            return;
        }
        let first = block.text.lines().next().unwrap_or_default();
        match first
            .strip_prefix("# ")
            .filter(|name| name.ends_with("terca.yaml"))
        {
            Some(name) => self.file(block, name),
            None => self.complain(
                block.line,
                "which file is this? Its first line should be `# …terca.yaml`",
            ),
        }
    }

    fn workflow(&mut self, block: &Block) {
        self.parses_as_yaml(block);
        let commands = configuration::commands_of_workflow(&block.text);
        if commands.is_empty() {
            self.complain(block.line, "no command of this workflow is one of terca's");
        }
        for command in commands {
            let said = self.room.run("sh", &command);
            // That trials fail is no fault of the page.
            if !matches!(said.status, 0 | 1) {
                let what = format!("`{command}` ended with {}:\n{}", said.status, said.output);
                self.complain(block.line, &what);
            }
        }
    }

    fn parses_as_yaml(&mut self, block: &Block) {
        if let Err(error) = serde_saphyr::from_str::<serde_json::Value>(&block.text) {
            self.complain(block.line, &format!("no YAML: {error}"));
        }
    }

    fn json(&mut self, block: &Block) {
        if let Err(error) = serde_json::from_str::<serde_json::Value>(&block.text) {
            self.complain(block.line, &format!("no JSON: {error}"));
        }
    }

    /// Every line stands in the file, in this order.
    fn quotation(&mut self, block: &Block, path: &str) {
        let Ok(text) = std::fs::read_to_string(self.repository.join(path)) else {
            return self.complain(block.line, &format!("there is no {path}"));
        };
        let mut rest = text.lines().map(str::trim);
        for line in block
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            let is_gap = line.trim_start_matches("//").trim() == "…";
            if !is_gap && !rest.any(|other| other == line) {
                return self.complain(block.line, &format!("{path} does not say: {line}"));
            }
        }
    }
}
