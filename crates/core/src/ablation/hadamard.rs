//! Hadamard matrices: square, of +1 and −1, with columns that are orthogonal to each other.
//!
//! Two constructions give most orders that are a multiple of 4: Paley's for primes, and Sylvester's, which doubles an
//! order. Of those up to 48, 28 and 36 are missing: designs of so many parts have a few rows more.

/// A matrix by rows; `true` is +1.
pub type Matrix = Vec<Vec<bool>>;

/// Returns the matrix of the smallest order from `least` on that can be made. Its first row has nothing but +1.
pub fn at_least(least: usize) -> Matrix {
    (least.max(1)..).find_map(of_order).unwrap_or_default()
}

fn of_order(order: usize) -> Option<Matrix> {
    match order {
        1 => Some(vec![vec![true]]),
        order if !order.is_multiple_of(2) => None,
        order => paley(order).or_else(|| of_order(order / 2).as_ref().map(doubled)),
    }
}

/// Sylvester: `[[H, H], [H, −H]]`.
fn doubled(half: &Matrix) -> Matrix {
    let beside = |row: &Vec<bool>, is_same: bool| -> Vec<bool> {
        let second = row.iter().map(|entry| *entry == is_same);
        row.iter().copied().chain(second).collect()
    };
    let upper = half.iter().map(|row| beside(row, true));
    let lower = half.iter().map(|row| beside(row, false));
    upper.chain(lower).collect()
}

/// Paley: the order is one more than a prime that leaves 3 when divided by 4.
fn paley(order: usize) -> Option<Matrix> {
    let q = order - 1;
    if q % 4 != 3 || !is_prime(q) {
        return None;
    }
    let is_square = |number: usize| (1..q).any(|root| root * root % q == number);
    let squares: Vec<bool> = (0..q).map(is_square).collect();
    let entry = |row: usize, column: usize| match (row, column) {
        (0, _) => true,
        (row, column) if row == column => true,
        (_, 0) => false,
        (row, column) => squares[(row + q - column) % q],
    };
    let row = |row: usize| (0..order).map(|column| entry(row, column)).collect();
    Some((0..order).map(row).collect())
}

fn is_prime(number: usize) -> bool {
    number > 1
        && (2..)
            .take_while(|of| of * of <= number)
            .all(|of| !number.is_multiple_of(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_orthogonal() {
        for least in 1..=100 {
            let matrix = at_least(least);
            let order = matrix.len();
            assert!(order >= least);
            assert!(matrix[0].iter().all(|entry| *entry));
            for one in 0..order {
                for other in 0..one {
                    let same = matrix.iter().filter(|row| row[one] == row[other]).count();
                    assert_eq!(2 * same, order, "columns {one} and {other} of {order}");
                }
            }
        }
    }

    #[test]
    fn most_multiples_of_four_up_to_48_are_there() {
        for order in [4, 8, 12, 16, 20, 24, 32, 40, 44, 48] {
            assert_eq!(at_least(order - 1).len(), order);
        }
    }
}
