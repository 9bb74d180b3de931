//! The room of a file, shared out among its trials: those that did not pass come first.

/// The bytes that all bodies of a file may take together, compressed.
const LARGEST: u64 = 13_000_000;
/// The bytes of markup that one body may take.
const LARGEST_BODY: u64 = 400_000;
const SMALLEST_BODY: u64 = 4_000;
/// The room in a file that shows everything.
const EVERYTHING: usize = usize::MAX / 4;
/// Markup takes about so many times the room of its compressed form. What is written corrects this.
const USUAL_RATIO: u64 = 8;

/// The room that is left.
#[derive(Debug)]
pub struct Budget {
    is_unlimited: bool,
    left: u64,
    /// The markup that was written, and its compressed size.
    markup: u64,
    packed: u64,
    /// The trials that are still to be written.
    troubled: u64,
    others: u64,
}

impl Budget {
    /// Returns the room for so many trials that did not pass, and so many others.
    pub fn new(is_unlimited: bool, troubled: usize, others: usize) -> Self {
        Budget {
            is_unlimited,
            left: LARGEST,
            markup: USUAL_RATIO,
            packed: 1,
            troubled: troubled as u64,
            others: others as u64,
        }
    }

    /// Returns the bytes of markup that the next trial may take. Trials that did not pass leave the others the
    /// smallest room, not more.
    pub fn next(&mut self) -> usize {
        if self.is_unlimited {
            return EVERYTHING;
        }
        let kept = if self.troubled > 0 {
            self.others * self.packed_size(SMALLEST_BODY)
        } else {
            0
        };
        let waiting = if self.troubled > 0 {
            &mut self.troubled
        } else {
            &mut self.others
        };
        let share = self.left.saturating_sub(kept) / (*waiting).max(1);
        *waiting = waiting.saturating_sub(1);
        let room = share * self.markup / self.packed;
        usize::try_from(room.clamp(SMALLEST_BODY, LARGEST_BODY)).unwrap_or(EVERYTHING)
    }

    /// Notes that so much markup was written in so many bytes.
    pub fn spend(&mut self, markup: usize, packed: usize) {
        self.left = self.left.saturating_sub(packed as u64);
        self.markup += markup as u64;
        self.packed += packed as u64;
    }

    fn packed_size(&self, markup: u64) -> u64 {
        markup * self.packed / self.markup
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes trials that take all the room they are given. Returns the room of each.
    fn shared_out(troubled: usize, others: usize, ratio: usize) -> Vec<usize> {
        let mut budget = Budget::new(false, troubled, others);
        let give = |_| {
            let room = budget.next();
            budget.spend(room, room / ratio);
            room
        };
        (0..troubled + others).map(give).collect()
    }

    #[test]
    fn few_trials_get_all_they_may() {
        assert!(shared_out(60, 120, 10).iter().all(|room| *room == 400_000));
    }

    #[test]
    fn failures_come_first_and_nobody_gets_nothing() {
        let rooms = shared_out(100, 900, 10);
        assert!(
            rooms[..100].iter().all(|room| *room == 400_000),
            "{rooms:?}"
        );
        assert!(rooms[100..].iter().all(|room| *room >= 4_000), "{rooms:?}");
        let packed: usize = rooms.iter().map(|room| room / 10).sum();
        assert!((12_000_000..=13_000_000).contains(&packed), "{packed}");
    }

    #[test]
    fn bodies_that_cannot_be_compressed_keep_to_it_too() {
        let packed: usize = shared_out(1_000, 1_000, 1).iter().sum();
        assert!((11_000_000..=14_500_000).contains(&packed), "{packed}");
    }

    #[test]
    fn everything_is_everything() {
        assert!(Budget::new(true, 1, 1).next() > 1 << 40);
    }
}
