//! Reads the figures of an answer as its bytes go by, without keeping them.

use crate::http::event_stream::{EventStream, LONGEST, StreamEvent};
use crate::models::dialect::{Answer, Dialect};

/// The form of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Server-sent events.
    Events,
    /// One JSON document.
    Document,
    /// Nothing that can be read.
    Unreadable,
}

/// Reads an answer piece by piece.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    dialect: Dialect,
    form: Form,
    /// The events of a stream.
    events: EventStream,
    /// The document so far.
    begun: Vec<u8>,
    /// The document is too long, and is passed over.
    is_too_long: bool,
    answer: Answer,
}

impl AnswerReader {
    /// Begins to read an answer with these headers.
    pub(crate) fn new(dialect: Dialect, content_type: &str, is_encoded: bool) -> Self {
        let form = if is_encoded {
            Form::Unreadable
        } else if content_type.starts_with("text/event-stream") {
            Form::Events
        } else {
            Form::Document
        };
        let answer = Answer {
            error: is_encoded.then(|| "the answer is compressed and was not read".to_owned()),
            ..Answer::default()
        };
        AnswerReader {
            dialect,
            form,
            events: EventStream::default(),
            begun: Vec::new(),
            is_too_long: false,
            answer,
        }
    }

    /// Returns what the answer has told so far.
    pub(crate) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Reads the next bytes. Returns whether the answer has told something new.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> bool {
        let before = self.answer.clone();
        match self.form {
            Form::Unreadable => {}
            Form::Document => {
                self.keep(bytes);
                // The agent may be gone before the end of the connection is seen.
                if bytes.last() == Some(&b'}') || bytes.last() == Some(&b']') {
                    self.read_document();
                }
            }
            Form::Events => {
                let answer = &mut self.answer;
                let mut read = |event: StreamEvent<'_>| read_event(self.dialect, &event, answer);
                self.events.feed(bytes, &mut read);
            }
        }
        self.answer != before
    }

    /// Reads what is left when the body has ended.
    pub(crate) fn finish(&mut self) {
        match self.form {
            Form::Unreadable => {}
            Form::Document => self.read_document(),
            Form::Events => {
                let answer = &mut self.answer;
                let mut read = |event: StreamEvent<'_>| read_event(self.dialect, &event, answer);
                self.events.finish(&mut read);
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.begun.len() + bytes.len() > LONGEST {
            self.is_too_long = true;
            self.begun = Vec::new();
        }
        if !self.is_too_long {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn read_document(&mut self) {
        if self.is_too_long {
            let reason = "the answer is too long and was not read";
            self.answer.error.get_or_insert_with(|| reason.to_owned());
            self.answer.has_ended = true;
        } else if let Ok(document) = serde_json::from_slice(&self.begun) {
            self.dialect.read(&document, &mut self.answer);
        }
    }
}

fn read_event(dialect: Dialect, event: &StreamEvent<'_>, answer: &mut Answer) {
    if event.data == b"[DONE]" {
        answer.has_ended = true;
    } else if event.is_whole()
        && let Ok(event) = serde_json::from_slice(event.data)
    {
        dialect.read(&event, answer);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use terca_core::wire::WireTokens;

    use super::*;

    fn stream(dialect: Dialect, events: &[Value], piece: usize) -> Answer {
        let mut text = String::new();
        for event in events {
            text.push_str(&format!("event: x\r\ndata: {event}\r\n\r\n"));
        }
        let mut reader = AnswerReader::new(dialect, "text/event-stream; charset=utf-8", false);
        for bytes in text.as_bytes().chunks(piece) {
            reader.feed(bytes);
        }
        reader.finish();
        reader.answer().clone()
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
                    Answer {
                        model: Some(model.into()),
                        stop_reason: Some(stop.into()),
                        tokens: expected,
                        has_ended: true,
                        error: None
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
            let mut reader = AnswerReader::new(dialect, "application/json", false);
            reader.feed(document.to_string().as_bytes());
            let answer = reader.answer();
            assert_eq!(
                (answer.model.as_deref(), answer.stop_reason.as_deref()),
                (Some("m"), Some("s")),
                "{dialect:?}"
            );
            let tokens = answer.tokens;
            assert_eq!(
                (tokens.input, tokens.cached, tokens.output),
                (Some(35), Some(20), Some(42)),
                "{dialect:?}"
            );
            assert!(answer.has_ended);
        }
    }

    #[test]
    fn an_error_has_its_message_and_no_end() {
        let events = [
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ];
        let answer = stream(Dialect::Anthropic, &events, 10);
        assert_eq!(answer.error.as_deref(), Some("Overloaded"));
        assert!(!answer.has_ended);
        let mut reader = AnswerReader::new(Dialect::Chat, "application/json", false);
        reader.feed(br#"{"error": {"message": "Incorrect API key", "code": 401}}"#);
        assert_eq!(reader.answer().error.as_deref(), Some("Incorrect API key"));
    }

    #[test]
    fn an_event_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let mut reader = AnswerReader::new(Dialect::Chat, "text/event-stream", false);
        reader.feed(b"data: {\"model\": \"long\", \"x\": \"");
        for _ in 0..100 {
            reader.feed(&[b'a'; 100_000]);
        }
        reader.feed(b"\"}\n\ndata: {\"model\": \"short\"}\n\n");
        assert_eq!(reader.answer().model.as_deref(), Some("short"));
        let mut reader = AnswerReader::new(Dialect::Chat, "application/json", false);
        for _ in 0..100 {
            reader.feed(&[b'a'; 100_000]);
        }
        reader.finish();
        assert!(reader.answer().error.is_some());
    }
}
