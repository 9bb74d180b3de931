//! Reads the figures of an answer as its bytes go by, without keeping them.

use hyper::HeaderMap;
use terca_core::wire::messages::{Framing, MessagePieces, Piece};
use terca_core::wire::{Exchange, ExchangeEnd};

use crate::http::{LONGEST, framing, is_encoded};
use crate::models::dialect::Dialect;

/// Reads an answer piece by piece, into the exchange that it is part of.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    dialect: Dialect,
    framing: Framing,
    pieces: MessagePieces,
}

impl AnswerReader {
    /// Begins to read an answer with these headers. Returns `None` if it cannot be read.
    pub(crate) fn new(
        dialect: Dialect,
        headers: &HeaderMap,
        exchange: &mut Exchange,
    ) -> Option<Self> {
        if is_encoded(headers) {
            exchange.error = Some("the answer is compressed and was not read".to_owned());
            return None;
        }
        let framing = framing(headers);
        Some(AnswerReader {
            dialect,
            framing,
            pieces: MessagePieces::new(framing, LONGEST),
        })
    }

    /// Reads the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], exchange: &mut Exchange) {
        for piece in self.pieces.feed(bytes) {
            self.read(&piece, exchange);
        }
    }

    /// Reads what is left when the body has ended.
    pub(crate) fn finish(&mut self, exchange: &mut Exchange) {
        if let Some(piece) = self.pieces.finish() {
            self.read(&piece, exchange);
        }
    }

    fn read(&self, piece: &Piece, exchange: &mut Exchange) {
        if piece.is_whole {
            let data = piece.message().data;
            if data == "[DONE]" {
                exchange.end = ExchangeEnd::Whole;
            } else if let Ok(document) = serde_json::from_str(&data) {
                self.dialect.read(&document, exchange);
                // A document has no last event, and not every service says why its model stopped.
                if self.framing == Framing::Document && exchange.error.is_none() {
                    exchange.end = ExchangeEnd::Whole;
                }
            }
        } else if self.framing == Framing::Document {
            let reason = "the answer is too long and was not read";
            exchange.error.get_or_insert_with(|| reason.to_owned());
            exchange.end = ExchangeEnd::Whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{CONTENT_TYPE, HeaderValue};
    use serde_json::{Value, json};
    use terca_core::wire::WireTokens;

    use super::*;

    fn reader(dialect: Dialect, content_type: &'static str) -> (AnswerReader, Exchange) {
        let content_type = HeaderValue::from_static(content_type);
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type)]);
        let mut exchange = Exchange::default();
        let reader = AnswerReader::new(dialect, &headers, &mut exchange).unwrap();
        (reader, exchange)
    }

    fn stream(dialect: Dialect, events: &[Value], piece: usize) -> Exchange {
        let mut text = String::new();
        for event in events {
            text.push_str(&format!("event: x\r\ndata: {event}\r\n\r\n"));
        }
        let (mut reader, mut exchange) = reader(dialect, "text/event-stream; charset=utf-8");
        for bytes in text.as_bytes().chunks(piece) {
            reader.feed(bytes, &mut exchange);
        }
        reader.finish(&mut exchange);
        exchange
    }

    fn tokens(figures: [Option<u64>; 5]) -> WireTokens {
        let [input, cached, cache_write, output, thinking] = figures;
        WireTokens {
            input,
            cached,
            cache_write,
            cache_write_hour: None,
            output,
            thinking,
        }
    }

    #[test]
    fn figures_of_a_stream_are_found_however_it_is_cut() {
        let anthropic = [
            json!({"type": "message_start", "message": {"model": "claude-x", "usage": {
                "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 1}}}),
            json!({"type": "content_block_delta", "delta": {"text": "data: {}\n\n"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 42}}),
            json!({"type": "message_stop"}),
        ];
        let chat = [
            json!({"model": "m", "choices": [{"delta": {"content": "a"}, "finish_reason": null}], "usage": null}),
            json!({"model": "m", "choices": [{"delta": {}, "finish_reason": "stop"}]}),
            json!({"model": "m", "choices": [], "usage": {"prompt_tokens": 35, "completion_tokens": 42,
                "prompt_tokens_details": {"cached_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 7}}}),
        ];
        let responses = [
            json!({"type": "response.created", "response": {"model": "m", "status": "in_progress", "usage": null}}),
            json!({"type": "response.completed", "response": {"model": "m-1", "status": "completed", "error": null, "usage": {
                "input_tokens": 35, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 42,
                "output_tokens_details": {"reasoning_tokens": 7}}}}),
        ];
        let gemini = [
            json!({"candidates": [{"content": {}}], "modelVersion": "g", "usageMetadata": {"promptTokenCount": 35}}),
            json!({"candidates": [{"finishReason": "STOP"}], "modelVersion": "g", "usageMetadata": {
                "promptTokenCount": 35, "cachedContentTokenCount": 20, "candidatesTokenCount": 35, "thoughtsTokenCount": 7}}),
        ];
        let thought = tokens([Some(35), Some(20), None, Some(42), Some(7)]);
        for (dialect, events, model, stop, expected) in [
            (
                Dialect::Anthropic,
                &anthropic[..],
                "claude-x",
                "end_turn",
                tokens([Some(35), Some(20), Some(5), Some(42), None]),
            ),
            (Dialect::Chat, &chat, "m", "stop", thought),
            (Dialect::Responses, &responses, "m-1", "completed", thought),
            (Dialect::Gemini, &gemini, "g", "STOP", thought),
        ] {
            for piece in [1, 7, 100_000] {
                let answer = stream(dialect, events, piece);
                assert_eq!(
                    answer,
                    Exchange {
                        model_answered: Some(model.into()),
                        stop_reason: Some(stop.into()),
                        tokens: expected,
                        end: ExchangeEnd::Whole,
                        ..Exchange::default()
                    },
                    "{dialect:?} in pieces of {piece}"
                );
            }
        }
    }

    #[test]
    fn figures_of_a_document_are_found() {
        let documents = [
            (
                Dialect::Anthropic,
                json!({"type": "message", "model": "m", "stop_reason": "s", "usage": {
                    "input_tokens": 15, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 20, "output_tokens": 42}}),
            ),
            (
                Dialect::Responses,
                json!({"object": "response", "model": "m", "status": "incomplete", "incomplete_details": {"reason": "s"},
                    "usage": {"input_tokens": 35, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 42}}),
            ),
            (
                Dialect::Gemini,
                json!([{"modelVersion": "m", "usageMetadata": {"promptTokenCount": 1}}, {"candidates": [{"finishReason": "s"}],
                    "usageMetadata": {"promptTokenCount": 35, "cachedContentTokenCount": 20, "candidatesTokenCount": 42}}]),
            ),
        ];
        for (dialect, document) in documents {
            let (mut reader, mut answer) = super::tests::reader(dialect, "application/json");
            reader.feed(document.to_string().as_bytes(), &mut answer);
            reader.finish(&mut answer);
            assert_eq!(
                (
                    answer.model_answered.as_deref(),
                    answer.stop_reason.as_deref()
                ),
                (Some("m"), Some("s")),
                "{dialect:?}"
            );
            let tokens = answer.tokens;
            assert_eq!(
                (tokens.input, tokens.cached, tokens.output),
                (Some(35), Some(20), Some(42)),
                "{dialect:?}"
            );
            assert_eq!(answer.end, ExchangeEnd::Whole);
        }
    }

    #[test]
    fn an_error_has_its_message_and_no_end() {
        let events = [
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ];
        let answer = stream(Dialect::Anthropic, &events, 10);
        assert_eq!(answer.error.as_deref(), Some("Overloaded"));
        assert_ne!(answer.end, ExchangeEnd::Whole);
        let (mut reader, mut answer) = super::tests::reader(Dialect::Chat, "application/json");
        reader.feed(
            br#"{"error": {"message": "Incorrect API key", "code": 401}}"#,
            &mut answer,
        );
        reader.finish(&mut answer);
        assert_eq!(answer.error.as_deref(), Some("Incorrect API key"));
    }

    #[test]
    fn an_event_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let (mut reader, mut answer) = super::tests::reader(Dialect::Chat, "text/event-stream");
        reader.feed(b"data: {\"model\": \"long\", \"x\": \"", &mut answer);
        for _ in 0..100 {
            reader.feed(&[b'a'; 100_000], &mut answer);
        }
        reader.feed(b"\"}\n\ndata: {\"model\": \"short\"}\n\n", &mut answer);
        assert_eq!(answer.model_answered.as_deref(), Some("short"));
        let (mut reader, mut answer) = super::tests::reader(Dialect::Chat, "application/json");
        for _ in 0..100 {
            reader.feed(&[b'a'; 100_000], &mut answer);
        }
        reader.finish(&mut answer);
        assert!(answer.error.is_some());
    }
}
