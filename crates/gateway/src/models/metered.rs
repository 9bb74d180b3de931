//! The answer to a request for a model, as its bytes go by: read for its figures, and taken for a recording.

use std::sync::Arc;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::RETRY_AFTER;
use terca_core::wire::ExchangeEnd;

use crate::http::watched_body::Watcher;
use crate::http::{BodyError, milliseconds};
use crate::models::answer_reader::AnswerReader;
use crate::models::dialect::Dialect;
use crate::models::key_filter::KeyFilter;
use crate::models::way::Way;
use crate::tape::Taking;

/// Those who see an answer.
pub(crate) struct Metered {
    /// Hides the keys in it, from all others too.
    pub filter: KeyFilter,
    /// Reads the answer to a request for a model.
    pub reading: Option<Reading>,
    /// Takes the answer for a recording.
    pub taking: Option<Taking>,
}

/// A request to a model, whose answer is read. It was left by the agent if this is dropped before its end.
pub(crate) struct Reading {
    pub way: Arc<Way>,
    pub number: usize,
    dialect: Dialect,
    reader: Option<AnswerReader>,
}

impl Reading {
    pub(crate) fn new(way: Arc<Way>, number: usize, dialect: Dialect) -> Self {
        Reading {
            way,
            number,
            dialect,
            reader: None,
        }
    }

    /// Begins to read an answer.
    pub(crate) fn begin(&mut self, status: u16, headers: &HeaderMap) {
        self.way.change(self.number, |entry| {
            let exchange = &mut entry.exchange;
            exchange.status = Some(status);
            let after = headers
                .get(RETRY_AFTER)
                .and_then(|value| value.to_str().ok());
            exchange.retry_after = after.and_then(|seconds| seconds.trim().parse().ok());
            self.reader = AnswerReader::new(self.dialect, headers, exchange);
        });
    }

    /// Reads bytes. Returns whether the protocol's own end was seen.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        let mut has_ended = false;
        self.way.change(self.number, |entry| {
            let elapsed = milliseconds(entry.started.elapsed());
            let exchange = &mut entry.exchange;
            exchange.first_byte_ms.get_or_insert(elapsed);
            let had_ended = exchange.end == ExchangeEnd::Whole;
            if let Some(reader) = &mut self.reader {
                reader.feed(bytes, exchange);
            }
            has_ended = exchange.end == ExchangeEnd::Whole;
            if has_ended && !had_ended {
                exchange.total_ms = elapsed;
            }
        });
        has_ended
    }

    fn finish(&mut self, broken: Option<String>) {
        let mut end = ExchangeEnd::CutByService;
        self.way.change(self.number, |entry| {
            let exchange = &mut entry.exchange;
            if let Some(reader) = &mut self.reader {
                reader.finish(exchange);
            }
            // A stream without its last event is half an answer, however politely the connection was closed.
            let is_good = exchange
                .status
                .is_some_and(|status| (200..300).contains(&status));
            if exchange.end == ExchangeEnd::Whole || self.reader.is_none() || !is_good {
                end = ExchangeEnd::Whole;
            } else if exchange.error.is_some() {
                end = ExchangeEnd::Refused;
            }
        });
        if broken.is_some() {
            end = ExchangeEnd::CutByService;
        }
        self.way.end(self.number, end, broken);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // Nothing, if it has ended already.
        self.way.end(self.number, ExchangeEnd::LeftByAgent, None);
    }
}

impl Metered {
    fn see(&mut self, bytes: &Bytes) {
        let has_ended = self.reading.as_mut().map(|reading| reading.feed(bytes));
        if let Some(taking) = &self.taking {
            taking.feed(bytes);
            if has_ended == Some(true) {
                taking.is_whole();
            }
        }
    }
}

impl Watcher for Metered {
    fn pass(&mut self, bytes: Bytes) -> Result<Bytes, BodyError> {
        let bytes = self.filter.pass(bytes)?;
        self.see(&bytes);
        Ok(bytes)
    }

    fn keeps_length(&self) -> bool {
        self.filter.keeps_length()
    }

    fn end(&mut self, broken: Option<&BodyError>) -> Result<Bytes, BodyError> {
        let rest = self.filter.end();
        if !rest.is_empty() {
            self.see(&rest);
        }
        let broken = broken.map(ToString::to_string);
        if let Some(reading) = &mut self.reading {
            reading.finish(broken.clone());
        }
        if let Some(taking) = &self.taking {
            // Half an answer that ends properly is to end properly again.
            let end = match broken {
                None => ExchangeEnd::Whole,
                Some(_) => ExchangeEnd::CutByService,
            };
            taking.end(end, broken);
        }
        Ok(rest)
    }
}
