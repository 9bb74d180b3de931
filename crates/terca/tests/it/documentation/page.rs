//! A page of the documentation, as far as the tests look at it. Read by the parser that mdBook uses.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::documentation::directive::Directive;

#[derive(Debug)]
pub struct Page {
    /// Relative to the repository.
    pub path: Utf8PathBuf,
    pub parts: Vec<Part>,
    /// What links to its headings end with.
    pub anchors: Vec<String>,
    /// Where links and pictures lead.
    pub links: Vec<Spot>,
    /// Code within sentences and tables.
    pub code: Vec<Spot>,
    pub titles: usize,
}

/// What is tested, in the order of the page.
#[derive(Debug)]
pub enum Part {
    Directive(Directive),
    Block(Block),
    Table(Table),
}

#[derive(Debug)]
pub struct Block {
    pub line: usize,
    pub language: String,
    pub text: String,
}

/// The words in each cell; of code, without the quotes.
#[derive(Debug, Default)]
pub struct Table {
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The first word of every row but the heading. A table that is compared with the code says something about each.
    #[track_caller]
    pub fn first_column(&self) -> BTreeSet<String> {
        for row in self.rows.iter().skip(1) {
            let is_told = row.iter().skip(1).any(|cell| !cell.trim().is_empty());
            assert!(is_told, "nothing is said about `{}`", row[0]);
        }
        self.rows
            .iter()
            .skip(1)
            .filter_map(|row| row.first().cloned())
            .collect()
    }
}

#[derive(Debug)]
pub struct Spot {
    pub line: usize,
    pub text: String,
}

impl Page {
    pub fn load(repository: &Utf8Path, path: &Utf8Path) -> Page {
        let text = std::fs::read_to_string(repository.join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        Page::parse(path, &text)
    }

    pub fn parse(path: &Utf8Path, text: &str) -> Page {
        let mut reader = Reader::new(path);
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            let line = text[..range.start].matches('\n').count() + 1;
            reader.event(event, line);
        }
        reader.page
    }

    /// Tells whether its commands need the examples of the repository.
    pub fn uses_examples(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(part, Part::Block(block) if block.language == "sh" && block.text.contains("examples/"))
        })
    }

    /// The steps that a reader of the page is not told: commands in comments, and files without a name.
    pub fn hidden_setup(&self) -> Vec<String> {
        let directives = self.parts.iter().filter_map(|part| match part {
            Part::Directive(directive) => Some(directive),
            _ => None,
        });
        let problems = directives.filter_map(|directive| match directive.verb.as_str() {
            "run" => Some((
                directive.line,
                "this setup is hidden from the reader".to_owned(),
            )),
            "file" if !self.code.iter().any(|spot| spot.text == directive.argument) => Some((
                directive.line,
                format!("the text does not name the file {}", directive.argument),
            )),
            _ => None,
        });
        problems
            .map(|(line, what)| format!("{}:{line}: {what}", self.path))
            .collect()
    }

    /// The tables that such a directive stands before, with what it says.
    pub fn tables(&self, verb: &str) -> Vec<(&Directive, &Table)> {
        let mut found = Vec::new();
        let mut last = None;
        for part in &self.parts {
            match part {
                Part::Directive(directive) if directive.verb == verb => last = Some(directive),
                Part::Table(table) => found.extend(last.take().map(|directive| (directive, table))),
                _ => {}
            }
        }
        found
    }

    /// The table that this directive stands before.
    #[track_caller]
    pub fn table(&self, verb: &str, argument: &str) -> &Table {
        let tables = self.tables(verb);
        let table = tables
            .iter()
            .find(|(directive, _)| directive.argument == argument);
        table
            .unwrap_or_else(|| panic!("{}: no table after `{verb} {argument}`", self.path))
            .1
    }
}

struct Reader {
    page: Page,
    block: Option<Block>,
    table: Option<Table>,
    /// A comment that goes on, and where it began.
    comment: Option<(usize, String)>,
    heading: Option<String>,
}

impl Reader {
    fn new(path: &Utf8Path) -> Self {
        let page = Page {
            path: path.to_owned(),
            parts: Vec::new(),
            anchors: Vec::new(),
            links: Vec::new(),
            code: Vec::new(),
            titles: 0,
        };
        Reader {
            page,
            block: None,
            table: None,
            comment: None,
            heading: None,
        }
    }

    fn event(&mut self, event: Event<'_>, line: usize) {
        match event {
            Event::Start(tag) => self.start(tag, line),
            Event::End(end) => self.end(end),
            Event::Text(text) => self.words(&text),
            Event::Code(code) => {
                self.words(&code);
                self.page.code.push(Spot {
                    line,
                    text: code.into_string(),
                });
            }
            Event::SoftBreak | Event::HardBreak => self.words(" "),
            Event::Html(html) | Event::InlineHtml(html) => {
                self.comment
                    .get_or_insert((line, String::new()))
                    .1
                    .push_str(&html);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, line: usize) {
        match tag {
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.into_string(),
                    CodeBlockKind::Indented => "indented".into(),
                };
                self.block = Some(Block {
                    line,
                    language,
                    text: String::new(),
                });
            }
            Tag::Table(_) => self.table = Some(Table::default()),
            Tag::TableHead | Tag::TableRow => {
                self.table
                    .iter_mut()
                    .for_each(|table| table.rows.push(Vec::new()));
            }
            Tag::TableCell => {
                let row = self.table.as_mut().and_then(|table| table.rows.last_mut());
                row.into_iter().for_each(|row| row.push(String::new()));
            }
            Tag::Heading { level, .. } => {
                self.heading = Some(String::new());
                self.page.titles += usize::from(level == HeadingLevel::H1);
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.page.links.push(Spot {
                    line,
                    text: dest_url.into_string(),
                });
            }
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::CodeBlock => self.page.parts.extend(self.block.take().map(Part::Block)),
            TagEnd::Table => self.page.parts.extend(self.table.take().map(Part::Table)),
            TagEnd::HtmlBlock => {
                let directive = self
                    .comment
                    .take()
                    .and_then(|(line, text)| Directive::parse(line, &text));
                self.page.parts.extend(directive.map(Part::Directive));
            }
            TagEnd::Heading(_) => {
                let anchor = anchor(&self.heading.take().unwrap_or_default());
                let again = self
                    .page
                    .anchors
                    .iter()
                    .filter(|other| **other == anchor)
                    .count();
                let anchor = if again == 0 {
                    anchor
                } else {
                    format!("{anchor}-{again}")
                };
                self.page.anchors.push(anchor);
            }
            _ => {}
        }
    }

    fn words(&mut self, text: &str) {
        if let Some(block) = &mut self.block {
            block.text.push_str(text);
        }
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        }
        if let Some(cell) = self
            .table
            .as_mut()
            .and_then(|table| table.rows.last_mut()?.last_mut())
        {
            cell.push_str(text);
        }
    }
}

/// As mdBook and GitHub make it of a heading's words.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        '_' | '-' => Some(c),
        c if c.is_whitespace() => Some('-'),
        c => c.is_alphanumeric().then_some(c),
    });
    kept.flat_map(char::to_lowercase).collect()
}
