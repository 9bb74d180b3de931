//! Finds the quote or bracket that is not closed. The YAML library complains where it notices, which is often lines later.

/// Quotes and brackets that are open, with their places and closing signs.
struct Scan<'a> {
    text: &'a str,
    open: Vec<(usize, char)>,
    /// The indentation of the line whose block of text (`|`) follows.
    block: Option<usize>,
}

/// Returns the place of the first one that is not closed, and its closing sign.
pub(super) fn unclosed(text: &str) -> Option<(usize, char)> {
    let mut scan = Scan {
        text,
        open: Vec::new(),
        block: None,
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() && scan.line(start, line).is_err() {
            break;
        }
        start += line.len();
    }
    scan.open.pop()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

impl Scan<'_> {
    /// Goes through a line; an error where the last one that is open must have been closed.
    fn line(&mut self, start: usize, line: &str) -> Result<(), ()> {
        if self.block.is_some_and(|around| indent(line) > around) {
            return Ok(());
        }
        self.block = None;
        self.check_end(line)?;
        // Whether a value may begin here.
        let mut begins = true;
        let mut last = ' ';
        let mut characters = line.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let next = characters.peek().map_or('\n', |(_, next)| *next);
            let (_, close) = self.open.last().copied().unwrap_or((0, ' '));
            let in_flow = matches!(close, ']' | '}');
            match character {
                _ if matches!(close, '"' | '\'') => {
                    if character == '\\' && close == '"' || character == '\'' && next == '\'' {
                        characters.next();
                    } else if character == close {
                        self.open.pop();
                    }
                    begins = false;
                }
                '#' if last.is_whitespace() => return Ok(()),
                '"' | '\'' if begins => self.open.push((start + at, character)),
                '[' | '{' if begins || in_flow => {
                    let close = if character == '[' { ']' } else { '}' };
                    self.open.push((start + at, close));
                    begins = true;
                }
                ']' | '}' if in_flow => {
                    if character != close {
                        return Err(());
                    }
                    self.open.pop();
                }
                '|' | '>' if begins && !in_flow => {
                    self.block = Some(indent(line));
                    return Ok(());
                }
                ',' if in_flow => begins = true,
                ':' if next.is_whitespace() || last == '"' => begins = true,
                '-' | '?' if begins && next.is_whitespace() => {}
                _ if character.is_whitespace() => {}
                _ => begins = false,
            }
            last = character;
        }
        Ok(())
    }

    /// What goes on is further in than the line on which it began.
    fn check_end(&self, line: &str) -> Result<(), ()> {
        let Some((outer, _)) = self.open.first() else {
            return Ok(());
        };
        let before = &self.text[..*outer];
        let first = before.rfind('\n').map_or(0, |end| end + 1);
        let is_whole_document = before[first..].trim().is_empty();
        let is_close = line.trim_start().starts_with([']', '}']);
        if is_whole_document || is_close || indent(line) > indent(&self.text[first..]) {
            return Ok(());
        }
        Err(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_not_closed_is_found() {
        for (text, found) in [
            ("a: \"b\nc: 1\n", Some((3, '"'))),
            ("a: 'it''s\nc: 1\n", Some((3, '\''))),
            ("a: [{b: c]\n", Some((4, '}'))),
            ("a: [{b: c}\nd: 1\n", Some((3, ']'))),
            ("- a: {b: 1\n- c\n", Some((5, '}'))),
            ("a: [\n  b,\n]\nc: 1\n", None),
            ("a: \"b\n  c\" # don't\nd: it's [ so\n", None),
            ("a: |\n  \"b [\nc: 1\n", None),
            ("{\n\"a\": [1,\n2]}\n", None),
            ("a: \"\\\"\"\nb: {x: 'y', z: \"}\"}\n", None),
        ] {
            assert_eq!(unclosed(text), found, "{text}");
        }
    }
}
