//! The places for connections: a limited number, and none for long to those who only drip.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// A browser opens about six, and one more for each page that follows a run.
pub(super) const MOST_CONNECTIONS: usize = 64;

/// The connections that are open.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    /// In the order in which they came.
    connections: Vec<Connection>,
    last: u64,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    /// `None` before it has a task.
    task: Option<AbortHandle>,
    has_been_heard: bool,
}

/// The place of one connection. It is given back even if its task panics.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    number: u64,
}

impl Places {
    /// Starts the task of a connection, if there is a place for it. If all are taken, the one that has taken longest to
    /// say what it wants is closed; if all have said it, there is no place, and the new one is closed.
    pub(super) fn start<F>(&self, task: impl FnOnce(Place) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(number) = self.take() else {
            return;
        };
        let place = Place {
            places: self.clone(),
            number,
        };
        let task = tokio::spawn(task(place)).abort_handle();
        let mut open = self.open();
        let mut all = open.connections.iter_mut();
        if let Some(connection) = all.find(|connection| connection.number == number) {
            connection.task = Some(task);
        }
    }

    fn take(&self) -> Option<u64> {
        let mut open = self.open();
        if open.connections.len() >= MOST_CONNECTIONS {
            let mut all = open.connections.iter();
            let slowest = all.position(|connection| !connection.has_been_heard)?;
            if let Some(task) = open.connections.remove(slowest).task {
                task.abort();
            }
        }
        open.last += 1;
        let number = open.last;
        open.connections.push(Connection {
            number,
            task: None,
            has_been_heard: false,
        });
        Some(number)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes that the request has been read. From now on the place is kept.
    pub(super) fn has_been_heard(&self) {
        let mut open = self.places.open();
        let mut all = open.connections.iter_mut();
        if let Some(connection) = all.find(|connection| connection.number == self.number) {
            connection.has_been_heard = true;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.open();
        open.connections
            .retain(|connection| connection.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_slowest_makes_room_and_who_was_heard_stays() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let places = Places::default();
            let (sender, started) = mpsc::channel();
            let start = |name: usize| {
                let sender = sender.clone();
                places.start(|place| async move {
                    sender.send((name, Arc::new(place))).unwrap();
                    std::future::pending::<()>().await;
                });
            };
            // A place that is held here is not given back when its task ends.
            let numbers = || -> Vec<u64> {
                let open = places.open();
                open.connections.iter().map(|one| one.number).collect()
            };
            for name in 0..MOST_CONNECTIONS {
                start(name);
            }
            let mut taken = Vec::new();
            while taken.len() < MOST_CONNECTIONS {
                tokio::task::yield_now().await;
                taken.extend(started.try_iter());
            }
            taken[0].1.has_been_heard();
            start(100);
            assert_eq!(numbers()[..2], [1, 3], "the second of all was closed");
            tokio::task::yield_now().await;
            let (name, newest) = started.try_recv().unwrap();
            assert_eq!(name, 100);
            for (_, place) in &taken {
                place.has_been_heard();
            }
            newest.has_been_heard();
            start(101);
            tokio::task::yield_now().await;
            assert!(started.try_recv().is_err(), "all of them are answered");
            drop(newest);
            start(102);
            tokio::task::yield_now().await;
            assert_eq!(started.try_recv().unwrap().0, 102);
        });
    }
}
