//! Comments that tell the tests what to do with the block or table below. Readers of the page do not see them.
//!
//! | comment | |
//! |---|---|
//! | `test: run`, then lines of shell | setup that a reader of the reference need not see; no guide has it |
//! | `test: status N` | the commands below end with this exit status (else 0) |
//! | `test: like` | the output below differs from time to time in its numbers |
//! | `test: file PATH` | the block below is this file |
//! | `test: in terca.yaml`, `test: in eval.terca.yaml` | the block below is a part of such a file |
//! | `test: workflow` | the block below is for a CI system: its `terca` commands are run |
//! | `test: from PATH` | the block below stands in this file of the repository; `…` leaves something out |
//! | `test: skip REASON` | the block below is not tested; these are counted |
//! | `test: keys WHAT`, `test: values WHAT`, `test: files WHAT` | what the table below is compared with |

/// What stands in one comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    pub line: usize,
    pub verb: String,
    /// The rest of the first line.
    pub argument: String,
    /// The lines below.
    pub body: String,
}

/// Those that stand before a block.
const OF_BLOCKS: [&str; 7] = ["status", "like", "file", "in", "workflow", "from", "skip"];
/// Those that stand before a table.
const OF_TABLES: [&str; 3] = ["keys", "values", "files"];

impl Directive {
    /// `None` for other comments.
    pub fn parse(line: usize, html: &str) -> Option<Directive> {
        let text = html
            .trim()
            .strip_prefix("<!--")?
            .strip_suffix("-->")?
            .trim();
        let text = text.strip_prefix("test:")?.trim_start();
        let (first, body) = text.split_once('\n').unwrap_or((text, ""));
        let (verb, argument) = first.trim().split_once(' ').unwrap_or((first.trim(), ""));
        Some(Directive {
            line,
            verb: verb.to_owned(),
            argument: argument.trim().to_owned(),
            body: body.to_owned(),
        })
    }

    pub fn is_for_a_table(&self) -> bool {
        OF_TABLES.contains(&self.verb.as_str())
    }

    /// What is wrong with the comment itself.
    pub fn problem(&self) -> Option<String> {
        let known =
            OF_BLOCKS.contains(&self.verb.as_str()) || self.is_for_a_table() || self.verb == "run";
        if !known {
            return Some(format!("no such directive: `{}`", self.verb));
        }
        let says_why = self.verb != "skip" || self.argument.split_whitespace().count() >= 3;
        (!says_why).then(|| "`skip` needs a reason".to_owned())
    }
}
