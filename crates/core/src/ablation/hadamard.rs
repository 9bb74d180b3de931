//! Hadamard matrices: square, of +1 and −1, with columns that are orthogonal to each other.
//!
//! Three constructions give every order that is a multiple of 4 up to 48, and most beyond: Paley's two for primes, and
//! Sylvester's, which doubles an order.

/// A matrix by rows; `true` is +1.
pub type Matrix = Vec<Vec<bool>>;

/// Returns the matrix of the smallest order from `least` on that can be made. Its first row has nothing but +1.
pub fn at_least(least: usize) -> Matrix {
    let mut order = least.max(1);
    loop {
        if let Some(matrix) = of_order(order) {
            return with_full_first_row(matrix);
        }
        order += 1;
    }
}

fn of_order(order: usize) -> Option<Matrix> {
    match order {
        1 => Some(vec![vec![true]]),
        2 => of_order(1).as_ref().map(doubled),
        order if order % 4 != 0 => None,
        order => (paley_one(order))
            .or_else(|| paley_two(order))
            .or_else(|| of_order(order / 2).as_ref().map(doubled)),
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

/// Paley's first: the order is one more than a prime that leaves 3 when divided by 4.
fn paley_one(order: usize) -> Option<Matrix> {
    let q = order - 1;
    if q % 4 != 3 || !is_prime(q) {
        return None;
    }
    let squares = squares(q);
    let entry = |row: usize, column: usize| match (row, column) {
        (0, _) => true,
        (row, column) if row == column => true,
        (_, 0) => false,
        (row, column) => squares[(row + q - column) % q],
    };
    Some(matrix(order, entry))
}

/// Paley's second: half of the order is one more than a prime that leaves 1 when divided by 4.
fn paley_two(order: usize) -> Option<Matrix> {
    let q = (order / 2).checked_sub(1)?;
    if q % 4 != 1 || !is_prime(q) {
        return None;
    }
    let squares = squares(q);
    // Each entry of the conference matrix becomes a block of four.
    let conference = |row: usize, column: usize| match (row, column) {
        (0, _) | (_, 0) => true,
        (row, column) => squares[(row + q - column) % q],
    };
    let entry = |row: usize, column: usize| {
        let is_last = row % 2 == 1 && column % 2 == 1;
        if row / 2 == column / 2 {
            row.is_multiple_of(2) && column.is_multiple_of(2)
        } else {
            conference(row / 2, column / 2) != is_last
        }
    };
    Some(matrix(order, entry))
}

fn matrix(order: usize, entry: impl Fn(usize, usize) -> bool) -> Matrix {
    let row = |row: usize| (0..order).map(|column| entry(row, column)).collect();
    (0..order).map(row).collect()
}

/// Tells of each number below a prime whether it is a square modulo it.
fn squares(q: usize) -> Vec<bool> {
    let mut squares = vec![false; q];
    for number in 1..q {
        squares[number * number % q] = true;
    }
    squares
}

fn is_prime(number: usize) -> bool {
    number > 1
        && (2..)
            .take_while(|of| of * of <= number)
            .all(|of| !number.is_multiple_of(of))
}

/// Changes the signs of columns. They stay orthogonal.
fn with_full_first_row(mut matrix: Matrix) -> Matrix {
    let first = matrix[0].clone();
    for row in &mut matrix {
        for (entry, sign) in row.iter_mut().zip(&first) {
            *entry = *entry == *sign;
        }
    }
    matrix
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
    fn every_multiple_of_four_up_to_48_is_there() {
        for order in (4..=48).step_by(4) {
            assert_eq!(at_least(order - 1).len(), order);
        }
    }
}
