//! The parts of a variant that are looked for in requests to models: the proof that an experiment reached its model.
//!
//! Agents wrap what they are given: they indent it, break its lines elsewhere, or put it into a text within a text. So all
//! texts of a request are compared without regard to white space, and rules count as sent if each of their lines is
//! there.

use std::cell::LazyCell;
use std::sync::LazyLock;

use crate::text::prose;
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The part of a skill's description that must be there, in characters. Agents cut long ones.
const DESCRIPTION: usize = 100;
/// A text without a space that is longer is an image, and no words.
const LONGEST_WORD: usize = 100_000;

/// A kind of part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// The file of rules.
    Rules,
    /// The description of a skill.
    Skill,
    /// The tools of an MCP server.
    McpServer,
}

impl Part {
    /// Returns the words for it before a name.
    pub fn noun(self) -> &'static str {
        match self {
            Part::Rules => "rules",
            Part::Skill => "skill",
            Part::McpServer => "MCP server",
        }
    }
}

/// The number of requests that had a part in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// The kind of part.
    pub part: Part,
    /// The path of rules or of a skill in the workspace, or the name of a server.
    pub name: String,
    /// The requests that had it in them.
    pub requests: u64,
    /// The requests that could have had it: those that offer tools, or all if none does.
    pub of: u64,
}

/// A part that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sought {
    part: Part,
    name: String,
    /// The texts that must all be there; of a server, its name in the names of tools. None for a skill that is offered by
    /// its name alone.
    texts: Vec<String>,
}

impl Sought {
    /// Looks for rules. A comment of HTML and a line that includes another file need not be there: agents take them out.
    pub fn rules(path: &str, text: &str) -> Self {
        // A comment without an end is a text like any other.
        let text = text.trim_start_matches('\u{feff}');
        let text = replaced(&COMMENTS, text, |_| "\n".to_owned());
        let lines = text.lines().map(spaced);
        let lines = lines.filter(|line| !line.is_empty() && !is_include(line));
        Sought {
            part: Part::Rules,
            name: path.to_owned(),
            texts: lines.collect(),
        }
    }

    /// Looks for a skill by its description. `None` if its `SKILL.md` has none.
    pub fn skill(path: &str, skill_md: &str) -> Option<Self> {
        let description = description(skill_md)?;
        Some(Sought {
            part: Part::Skill,
            name: path.to_owned(),
            texts: vec![description.chars().take(DESCRIPTION).collect()],
        })
    }

    /// Looks for a skill by its name in the descriptions of tools, for agents that offer no more of it.
    pub fn skill_name(path: &str) -> Self {
        Sought {
            part: Part::Skill,
            name: path.to_owned(),
            texts: Vec::new(),
        }
    }

    /// Looks for an MCP server by the names of its tools, in which most agents put the name of the server.
    pub fn server(name: &str) -> Self {
        Sought {
            part: Part::McpServer,
            name: name.to_owned(),
            texts: vec![format!("_{}_", identifier(name))],
        }
    }

    /// Returns the words for it in a log.
    pub fn label(&self) -> String {
        format!("{} {}", self.part.noun(), self.name)
    }

    /// Counts the requests that had it in them. `None` if that says nothing: an agent may name the tools of a server without
    /// naming the server.
    pub fn sent(&self, seen: &[&Seen]) -> Option<Sent> {
        let offers_tools = seen.iter().any(|seen| seen.offers_tools);
        let could = seen.iter().filter(|seen| seen.offers_tools == offers_tools);
        let label = self.label();
        let mut requests = 0;
        let mut of = 0;
        for seen in could {
            of += 1;
            requests += u64::from(seen.found.contains(&label));
        }
        let is_telling = match self.part {
            // Rules without a line are in any request.
            Part::Rules => !self.texts.is_empty(),
            Part::Skill => true,
            Part::McpServer => requests > 0,
        };
        (of > 0 && is_telling).then(|| Sent {
            part: self.part,
            name: self.name.clone(),
            requests,
            of,
        })
    }
}

/// Returns whether all these parts are in a text. Most are there one after the other, so each is looked for behind the one
/// before it first: thousands of lines would else take minutes.
fn has_all(text: &str, parts: &[String]) -> bool {
    let mut behind = 0;
    parts.iter().all(|part| {
        let next = text[behind..].find(part.as_str()).map(|at| behind + at);
        match next.or_else(|| text.find(part.as_str())) {
            Some(at) => {
                behind = at + part.len();
                true
            }
            None => false,
        }
    })
}

/// Returns whether the name of a skill, at the end of its path, is a word of a text.
fn has_name(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut words = text.split(|letter: char| !(letter.is_alphanumeric() || "-_".contains(letter)));
    words.any(|word| word == name)
}

/// The parts that were found in one request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// True if the request offers tools to the model. Others are for a title or a summary.
    pub offers_tools: bool,
    /// The labels of the parts that were found.
    pub found: Vec<String>,
}

impl Seen {
    /// Looks for parts in the body of a request.
    pub fn search(body: &[u8], sought: &[Sought]) -> Self {
        let mut request = RequestText::default();
        // A body that is not JSON has no texts.
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        request.add(&body, SearchedPlace::Elsewhere);
        let RequestText {
            words,
            tools,
            descriptions,
            ..
        } = &request;
        // A text within a text has its escapes left.
        let inside = LazyCell::new(|| spaced(&replaced(&ESCAPES, words, unescaped)));
        let is_found = |Sought { part, name, texts }: &&Sought| match part {
            Part::McpServer => has_all(tools, texts),
            Part::Skill if texts.is_empty() => has_name(descriptions, name),
            Part::Rules | Part::Skill => has_all(words, texts) || has_all(&inside, texts),
        };
        Seen {
            offers_tools: request.offers_tools,
            found: sought.iter().filter(is_found).map(Sought::label).collect(),
        }
    }
}

/// The texts of a request.
#[derive(Debug, Default)]
struct RequestText {
    words: String,
    /// The names of tools as identifiers, each between underscores.
    tools: String,
    /// The other texts about tools.
    descriptions: String,
    offers_tools: bool,
}

impl RequestText {
    /// Adds all texts of a document.
    fn add(&mut self, document: &Value, place: SearchedPlace) {
        match document {
            Value::String(text) => self.add_text(text, place),
            Value::Array(items) => items.iter().for_each(|item| self.add(item, place)),
            Value::Object(entries) => {
                for (name, value) in entries {
                    let place = match (name.as_str(), place) {
                        ("tools", _) => SearchedPlace::Tools,
                        ("name", SearchedPlace::Tools) => SearchedPlace::ToolName,
                        (_, SearchedPlace::ToolName) => SearchedPlace::Elsewhere,
                        (_, place) => place,
                    };
                    self.add(value, place);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add_text(&mut self, text: &str, place: SearchedPlace) {
        if place == SearchedPlace::ToolName {
            self.offers_tools = true;
            self.tools += &format!("_{}_ ", identifier(text));
        }
        if place == SearchedPlace::Tools {
            self.descriptions += &format!("{text}\n");
        }
        if text.len() <= LONGEST_WORD || text.contains(' ') {
            self.words += &spaced(text);
            self.words.push('\n');
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchedPlace {
    Elsewhere,
    Tools,
    ToolName,
}

/// Returns a text with one space for each run of white space.
fn spaced(text: &str) -> String {
    prose::one_line(text)
}

/// Returns a name as the names of tools have it.
fn identifier(name: &str) -> String {
    let letters = name.chars().map(|letter| {
        if letter.is_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '_'
        }
    });
    letters.collect()
}

type Pattern = LazyLock<Option<Regex>>;

/// Finds comments of HTML.
static COMMENTS: Pattern = LazyLock::new(|| Regex::new("(?s)<!--.*?-->").ok());
/// Finds the escapes of JSON. Those of a pair such as `\\ud83e\\udd80` belong together.
static ESCAPES: Pattern =
    LazyLock::new(|| Regex::new(r#"(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]"#).ok());

fn replaced(pattern: &Pattern, text: &str, by: fn(&str) -> String) -> String {
    match &**pattern {
        Some(pattern) => {
            let by = |found: &Captures<'_>| by(&found[0]);
            pattern.replace_all(text, by).into_owned()
        }
        None => text.to_owned(),
    }
}

/// Returns what an escape of JSON stands for.
fn unescaped(escape: &str) -> String {
    let letters = serde_json::from_str(&format!("\"{escape}\""));
    letters.unwrap_or_else(|_| escape.to_owned())
}

fn is_include(line: &str) -> bool {
    line.starts_with('@') && !line.contains(' ')
}

/// Returns the description in the head of a `SKILL.md`, with one space for each run of white space.
fn description(skill_md: &str) -> Option<String> {
    let mut lines = skill_md.lines();
    lines
        .find(|line| !line.trim().is_empty())
        .filter(|line| line.trim() == "---")?;
    let head: Vec<&str> = lines.take_while(|line| line.trim() != "---").collect();
    let at = head
        .iter()
        .position(|line| line.starts_with("description:"))?;
    let mut written = head[at]["description:".len()..].trim().to_owned();
    let is_block = written.starts_with(['>', '|']) && written.len() <= 2;
    if is_block {
        written.clear();
    }
    for line in &head[at + 1..] {
        if !line.is_empty() && !line.starts_with([' ', '\t']) {
            break;
        }
        written.push(' ');
        written.push_str(line);
    }
    let text = spaced(&written);
    let unquoted = ['"', '\''].iter().find_map(|quote| {
        let inside = text.strip_prefix(*quote)?;
        inside.strip_suffix(*quote)
    });
    let text = unquoted.unwrap_or(&text).to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(body: &serde_json::Value, sought: &[Sought]) -> Seen {
        Seen::search(body.to_string().as_bytes(), sought)
    }

    #[test]
    fn rules_are_found_however_they_are_wrapped() {
        let rules = Sought::rules(
            "AGENTS.md",
            "# Rules\n\n- Use   tabs, and \"quotes\".\n<!-- for\npeople -->\n@other.md\n\n- Say \\o/ when done, with as many words as it takes.\n",
        );
        let text = "# Rules\n- Use tabs, and \"quotes\".\n- Say \\o/ when done, with as many words as it takes.";
        let broken = text.replace("as many words", "as many\n   words");
        let inside = json!({ "rules": text }).to_string();
        for body in [
            json!({"system": [{"type": "text", "text": format!("You are.\n{text}\nGo on.")}]}),
            json!({"messages": [{"content": broken}]}),
            json!({"input": [{"content": [{"text": inside}]}]}),
            json!({"contents": [{"parts": [{"text": text.replace('\n', "\n> ")}]}]}),
        ] {
            assert_eq!(
                seen(&body, std::slice::from_ref(&rules)).found,
                ["rules AGENTS.md"],
                "{body}"
            );
        }
        for body in [
            json!({"system": "# Rules\n- Use tabs, and \"quotes\"."}),
            json!({"messages": []}),
            json!(null),
        ] {
            assert!(
                seen(&body, std::slice::from_ref(&rules)).found.is_empty(),
                "{body}"
            );
        }
        assert_eq!(Seen::search(b"no JSON", &[rules]), Seen::default());
    }

    #[test]
    fn escapes_within_a_text_do_not_matter() {
        let text = "\u{feff}C:\\new\\table and \\r\\n, ü, 🦀, \"quotes\", a/b, \\u12 and \\";
        let rules = Sought::rules("R", text);
        let inside = json!({ "rules": text.trim_start_matches('\u{feff}') }).to_string();
        let ascii = inside
            .replace('ü', "\\u00fc")
            .replace('🦀', "\\ud83e\\udd80")
            .replace('/', "\\/");
        for body in [
            json!({ "system": text }),
            json!({ "system": inside }),
            json!({ "system": ascii }),
        ] {
            let found = seen(&body, std::slice::from_ref(&rules)).found;
            assert_eq!(found, ["rules R"], "{body}");
        }
    }

    #[test]
    fn rules_without_a_line_prove_nothing() {
        for empty in ["", "\n\n", "@other.md", "<!-- for people -->"] {
            let rules = Sought::rules("R", empty);
            let seen = seen(&json!({"system": "nothing"}), std::slice::from_ref(&rules));
            assert_eq!(rules.sent(&[&seen]), None, "{empty:?}");
        }
    }

    /// By looking for each line from the beginning it took minutes.
    #[test]
    fn rules_of_many_lines_are_found_in_any_order() {
        let lines: Vec<String> = (0..20_000)
            .map(|number| format!("- Rule {number}: do {} well.", number * 7919 % 20_000))
            .collect();
        let unclosed = "<!-- ".repeat(20_000);
        let rules = Sought::rules("R", &format!("{}\n{unclosed}", lines.join("\n")));
        let sought = std::slice::from_ref(&rules);
        let text = format!("You are.\n{}\n{unclosed}\nGo on.", lines.join("\n"));
        assert_eq!(seen(&json!({"system": text}), sought).found, ["rules R"]);
        let cut = text.replace("Rule 19999:", "");
        assert!(seen(&json!({"system": cut}), sought).found.is_empty());
        let (first, second) = lines.split_at(10_000);
        let swapped = [&second.join("\n"), unclosed.trim(), &first.join("\n")].join("\n");
        assert_eq!(seen(&json!({"system": swapped}), sought).found, ["rules R"]);
    }

    #[test]
    fn a_skill_is_found_by_its_description() {
        for head in [
            "description: Whistles a tune: softly.",
            "description: \"Whistles a tune: softly.\"\nname: x",
            "name: x\ndescription: >-\n  Whistles a\n  tune: softly.\nother: y",
        ] {
            let skill = Sought::skill("skills/w", &format!("---\n{head}\n---\nText.\n")).unwrap();
            let body = json!({"tools": [{"name": "Skill", "description": "Skills:\n- w: Whistles a tune: softly. (project)"}]});
            assert_eq!(seen(&body, &[skill]).found, ["skill skills/w"], "{head}");
        }
        for none in [
            "", "Text.", "---\nname: x\n---\n", "---\ndescription:\n---\n",
        ] {
            assert_eq!(Sought::skill("s", none), None, "{none:?}");
        }
    }

    #[test]
    fn a_skill_that_is_offered_by_its_name_is_found_in_the_descriptions_of_tools() {
        let skill = [Sought::skill_name(".cline/skills/zebra-care")];
        let tool = |text: &str| json!({"tools": [{"name": "skills", "description": text}]});
        let body = tool("Uses a skill. Available skills: my-zebra, zebra-care.");
        assert_eq!(
            seen(&body, &skill).found,
            ["skill .cline/skills/zebra-care"]
        );
        let mut elsewhere = tool("Available skills: my-zebra-care.");
        elsewhere["messages"] = json!([{"content": "Tell me of zebra-care."}]);
        let seen = seen(&elsewhere, &skill);
        assert!(seen.found.is_empty());
        assert_eq!(
            skill[0].sent(&[&seen]).map(|sent| (sent.requests, sent.of)),
            Some((0, 1))
        );
    }

    #[test]
    fn a_server_is_found_in_the_names_of_tools() {
        let server = [Sought::server("my-docs")];
        for body in [
            json!({"tools": [{"name": "mcp__my-docs__search"}]}),
            json!({"tools": [{"type": "function", "function": {"name": "my_docs_search"}}]}),
            json!({"tools": [{"functionDeclarations": [{"name": "mcp_my-docs_search"}]}]}),
        ] {
            let seen = seen(&body, &server);
            assert_eq!((seen.found.len(), seen.offers_tools), (1, true), "{body}");
        }
        for body in [
            json!({"tools": [{"name": "my-docsearch"}]}),
            json!({"tools": [], "messages": [{"name": "my-docs"}]}),
        ] {
            assert!(seen(&body, &server).found.is_empty(), "{body}");
        }
        let other = seen(&json!({"tools": [{"name": "search"}]}), &server);
        assert_eq!(
            server[0].sent(&[&other]),
            None,
            "the agent may leave the name out"
        );
    }

    #[test]
    fn requests_that_offer_no_tools_do_not_count_beside_others() {
        let rules = Sought::rules("R", "Use tabs.");
        let with = Seen {
            offers_tools: true,
            found: vec![rules.label()],
        };
        let without = Seen {
            offers_tools: true,
            found: Vec::new(),
        };
        let title = Seen::default();
        let sent = rules.sent(&[&with, &title, &without, &with]).unwrap();
        assert_eq!((sent.requests, sent.of), (2, 3));
        let sent = rules.sent(&[&title]).unwrap();
        assert_eq!((sent.requests, sent.of), (0, 1));
        assert_eq!(rules.sent(&[]), None);
    }
}
