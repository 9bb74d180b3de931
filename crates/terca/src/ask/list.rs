//! A list that somebody chooses from.

use console::{Key, Style, truncate_str};
use terca_report::shown;

use super::NoAnswer;
use super::keys::Keys;

/// A list while it is open.
#[derive(Debug)]
pub(super) struct List<'a> {
    items: &'a [String],
    /// The position of the current item.
    at: usize,
    /// The chosen ones, where several may be.
    chosen: Option<Vec<bool>>,
}

impl<'a> List<'a> {
    pub(super) fn of_one(items: &'a [String]) -> Self {
        List {
            items,
            at: 0,
            chosen: None,
        }
    }

    /// The first item is chosen before.
    pub(super) fn of_several(items: &'a [String]) -> Self {
        let chosen = (0..items.len()).map(|at| at == 0).collect();
        List {
            chosen: Some(chosen),
            ..List::of_one(items)
        }
    }

    /// Asks. Returns the positions of the chosen items.
    pub(super) fn ask(
        mut self,
        title: &str,
        current: &Style,
        keys: &Keys,
    ) -> Result<Vec<usize>, NoAnswer> {
        let terminal = &keys.terminal;
        terminal.hide_cursor()?;
        terminal.write_line(title)?;
        loop {
            let (rows, columns) = terminal.size();
            let lines = self.lines(usize::from(rows), usize::from(columns), current);
            terminal.write_line(&lines.join("\n"))?;
            let key = keys.next()?;
            terminal.clear_last_lines(lines.len())?;
            if self.press(&key) {
                break;
            }
        }
        let answer = self.answer();
        for at in &answer {
            terminal.write_line(&format!("  {}", shown(&self.items[*at])))?;
        }
        Ok(answer)
    }

    /// Does what a key asks for. Returns whether that ends the list.
    fn press(&mut self, key: &Key) -> bool {
        let last = self.items.len().saturating_sub(1);
        match key {
            Key::Enter => return true,
            Key::Char(' ') => match &mut self.chosen {
                Some(chosen) => {
                    if let Some(is_chosen) = chosen.get_mut(self.at) {
                        *is_chosen = !*is_chosen;
                    }
                }
                None => return true,
            },
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

    fn answer(&self) -> Vec<usize> {
        let Some(chosen) = &self.chosen else {
            return vec![self.at];
        };
        let all = chosen.iter().enumerate();
        all.filter_map(|(at, is_chosen)| is_chosen.then_some(at))
            .collect()
    }

    /// Returns the items around the current one that have room on a screen, each narrower than it.
    fn lines(&self, rows: usize, columns: usize, current: &Style) -> Vec<String> {
        let room = rows.saturating_sub(2).max(1);
        let first = (self.at + 1).saturating_sub(room);
        let items = self.items.iter().enumerate().skip(first).take(room);
        items
            .map(|(at, item)| {
                let mark = if at == self.at { ">" } else { " " };
                let box_ = match &self.chosen {
                    Some(chosen) if chosen[at] => " [x]",
                    Some(_) => " [ ]",
                    None => "",
                };
                let line = format!("{mark}{box_} {}", shown(item));
                let line = truncate_str(&line, columns.saturating_sub(1), "…");
                match at == self.at {
                    true => current.apply_to(line).to_string(),
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
        let mut one = List::of_one(&items);
        assert!(!one.press(&Key::ArrowUp) && one.press(&Key::Char(' ')));
        assert_eq!(one.answer(), [2]);
        let mut several = List::of_several(&items);
        for key in [Key::Char(' '), Key::ArrowDown, Key::Char(' '), Key::Tab] {
            assert!(!several.press(&key));
        }
        assert!(several.press(&Key::Enter));
        assert_eq!(several.answer(), [1]);
    }

    #[test]
    fn a_list_fits_the_screen() {
        let items = items(9);
        let plain = Style::new().force_styling(false);
        let mut list = List::of_several(&items);
        list.at = 5;
        assert_eq!(list.lines(4, 9, &plain), ["  [ ] i…", "> [ ] i…"]);
        assert_eq!(list.lines(1, 80, &plain), ["> [ ] item 6"]);
        let one = List::of_one(&items[..2]);
        assert_eq!(one.lines(24, 80, &plain), ["> item 1", "  item 2"]);
    }
}
