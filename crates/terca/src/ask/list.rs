//! A list that somebody chooses from.

use std::collections::BTreeSet;
use std::io;

use console::{Key, style, truncate_str};
use terca_report::shown;

use super::keys::Keys;

/// A list while it is open.
#[derive(Debug)]
pub(super) struct List<'a> {
    items: &'a [String],
    /// The position of the current item.
    at: usize,
    /// Several may be chosen.
    is_multiple: bool,
    chosen: BTreeSet<usize>,
}

impl<'a> List<'a> {
    /// The first of several items is chosen before.
    pub(super) fn new(items: &'a [String], is_multiple: bool) -> Self {
        List {
            items,
            at: 0,
            is_multiple,
            chosen: BTreeSet::from_iter(is_multiple.then_some(0)),
        }
    }

    /// Asks. Returns the positions of the chosen items.
    pub(super) fn ask(mut self, title: &str, keys: &Keys) -> io::Result<BTreeSet<usize>> {
        let terminal = &keys.terminal;
        terminal.hide_cursor()?;
        terminal.write_line(title)?;
        loop {
            let (rows, columns) = terminal.size();
            let lines = self.lines(usize::from(rows), usize::from(columns));
            terminal.write_line(&lines.join("\n"))?;
            let key = keys.next()?;
            terminal.clear_last_lines(lines.len())?;
            if self.press(&key) {
                break;
            }
        }
        for at in &self.chosen {
            terminal.write_line(&format!("  {}", shown(&self.items[*at])))?;
        }
        Ok(self.chosen)
    }

    /// Does what a key asks for. Returns whether that ends the list.
    fn press(&mut self, key: &Key) -> bool {
        let last = self.items.len().saturating_sub(1);
        match key {
            Key::Char(' ') if self.is_multiple => {
                let was_chosen = self.chosen.remove(&self.at);
                self.chosen.extend((!was_chosen).then_some(self.at));
            }
            Key::Enter | Key::Char(' ') => {
                if !self.is_multiple {
                    self.chosen.insert(self.at);
                }
                return true;
            }
            Key::ArrowDown | Key::Tab | Key::Char('j') => {
                self.at = if self.at == last { 0 } else { self.at + 1 };
            }
            Key::ArrowUp | Key::BackTab | Key::Char('k') => {
                self.at = self.at.checked_sub(1).unwrap_or(last);
            }
            _ => {}
        }
        false
    }

    /// Returns the items around the current one that have room on a screen, each narrower than it.
    fn lines(&self, rows: usize, columns: usize) -> Vec<String> {
        let room = rows.saturating_sub(2).max(1);
        let first = (self.at + 1).saturating_sub(room);
        let items = self.items.iter().enumerate().skip(first).take(room);
        items
            .map(|(at, item)| {
                let mark = if at == self.at { ">" } else { " " };
                let box_ = match self.is_multiple {
                    true if self.chosen.contains(&at) => " [x]",
                    true => " [ ]",
                    false => "",
                };
                let line = format!("{mark}{box_} {}", shown(item));
                let line = truncate_str(&line, columns.saturating_sub(1), "…");
                match at == self.at {
                    true => style(line).for_stderr().cyan().to_string(),
                    false => line.into_owned(),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(count: usize) -> Vec<String> {
        (1..=count).map(|at| format!("item {at}")).collect()
    }

    #[test]
    fn arrows_go_around_and_space_chooses() {
        let items = items(3);
        let mut one = List::new(&items, false);
        assert!(!one.press(&Key::ArrowUp) && one.press(&Key::Char(' ')));
        assert_eq!(one.chosen, BTreeSet::from([2]));
        let mut several = List::new(&items, true);
        for key in [Key::Char(' '), Key::ArrowDown, Key::Char(' '), Key::Tab] {
            assert!(!several.press(&key));
        }
        assert!(several.press(&Key::Enter));
        assert_eq!(several.chosen, BTreeSet::from([1]));
    }

    #[test]
    fn a_list_fits_the_screen() {
        let items = items(9);
        console::set_colors_enabled_stderr(false);
        let mut list = List::new(&items, true);
        list.at = 5;
        assert_eq!(list.lines(4, 9), ["  [ ] i…", "> [ ] i…"]);
        assert_eq!(list.lines(1, 80), ["> [ ] item 6"]);
        let one = List::new(&items[..2], false);
        assert_eq!(one.lines(24, 80), ["> item 1", "  item 2"]);
    }
}
