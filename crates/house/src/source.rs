//! One source file without its tests.

use std::ops::RangeInclusive;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

use crate::Error;

/// A file's text, and the lines and tokens of it that are product code.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: Utf8PathBuf,
    text: String,
    test_lines: Vec<RangeInclusive<usize>>,
    token_starts: Vec<usize>,
}

impl SourceFile {
    /// Reads a file and parses its product code.
    pub(crate) fn read(path: &Utf8Path) -> Result<(Self, syn::File), Error> {
        let text = fs_err::read_to_string(path)?;
        let stream = TokenStream::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
        let mut test_lines = Vec::new();
        let product = without_tests(stream, &mut test_lines);
        let mut token_starts = Vec::new();
        collect_starts(product.clone(), &mut token_starts);
        let parsed = syn::parse2(product).map_err(|error| {
            let line = error.span().start().line;
            format!("{path}:{line}: {error}")
        })?;
        let file = SourceFile {
            path: path.to_owned(),
            text,
            test_lines,
            token_starts,
        };
        Ok((file, parsed))
    }

    /// Returns the lines that belong to no test.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = &str> {
        let numbered = self.text.lines().zip(1..);
        numbered
            .filter(|(_, number)| !self.test_lines.iter().any(|range| range.contains(number)))
            .map(|(line, _)| line)
    }

    /// Counts the tokens that belong to no test. Doc comments are tokens to the compiler, and none here: fewer comments
    /// are no gain.
    pub(crate) fn product_tokens(&self) -> usize {
        self.token_starts.len()
    }

    /// Counts the tokens from the start of one span to the end of another.
    pub(crate) fn tokens_between(&self, first: Span, last: Span) -> usize {
        let start = first.byte_range().start;
        let end = last.byte_range().end;
        self.token_starts.partition_point(|token| *token < end)
            - self.token_starts.partition_point(|token| *token < start)
    }
}

/// Removes items that are compiled for tests only, and notes their lines.
///
/// Tokens rather than syntax trees are filtered: one rule then serves items, methods and
/// statements.
fn without_tests(stream: TokenStream, removed: &mut Vec<RangeInclusive<usize>>) -> TokenStream {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut kept = Vec::new();
    let mut next = 0;
    while next < tokens.len() {
        let item = end_of_attributes(&tokens, next);
        if tokens[next..item].iter().any(is_test_attribute) {
            let end = end_of_item(&tokens, item);
            let first_line = tokens[next].span().start().line;
            removed.push(first_line..=tokens[end - 1].span().end().line);
            next = end;
            continue;
        }
        let end = item.max(next + 1);
        for token in &tokens[next..end] {
            kept.push(match token {
                TokenTree::Group(group) => {
                    let inner = without_tests(group.stream(), removed);
                    let mut filtered = Group::new(group.delimiter(), inner);
                    filtered.set_span(group.span());
                    TokenTree::Group(filtered)
                }
                other => other.clone(),
            });
        }
        next = end;
    }
    kept.into_iter().collect()
}

/// Returns the index after the outer attributes that begin at `start`.
fn end_of_attributes(tokens: &[TokenTree], start: usize) -> usize {
    let mut end = start;
    while let Some([TokenTree::Punct(hash), TokenTree::Group(group)]) = tokens.get(end..end + 2)
        && hash.as_char() == '#'
        && group.delimiter() == Delimiter::Bracket
    {
        end += 2;
    }
    end
}

fn is_test_attribute(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let text = group.stream().to_string().replace(' ', "");
    text == "test" || text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// Returns the index after the item that begins at `start`. It ends with a semicolon, a block or
/// both.
fn end_of_item(tokens: &[TokenTree], start: usize) -> usize {
    let mut end = start;
    while end < tokens.len() && !is_semicolon(&tokens[end]) && !is_block(&tokens[end]) {
        end += 1;
    }
    end = (end + 1).min(tokens.len());
    if tokens.get(end).is_some_and(is_semicolon) {
        end += 1;
    }
    end
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Collects the offsets of all tokens in order. A group counts for its two delimiters.
fn collect_starts(stream: TokenStream, starts: &mut Vec<usize>) {
    let mut touching = None;
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut after_doc = 0;
    for (index, token) in tokens.iter().enumerate() {
        if index < after_doc {
            continue;
        }
        if let Some(end) = end_of_doc_comment(&tokens, index) {
            after_doc = end;
            continue;
        }
        let is_second_half = touching.is_some_and(|first| completes(first, token));
        if !is_second_half {
            starts.push(token.span().byte_range().start);
        }
        touching = match token {
            TokenTree::Punct(punct) if !is_second_half && punct.spacing() == Spacing::Joint => {
                Some(punct.as_char())
            }
            _ => None,
        };
        if let TokenTree::Group(group) = token {
            collect_starts(group.stream(), starts);
            starts.push(group.span_close().byte_range().start);
        }
    }
}

/// Returns the index after a doc comment (`#[doc = "…"]`, `#![doc = "…"]`) that begins at `start`.
fn end_of_doc_comment(tokens: &[TokenTree], start: usize) -> Option<usize> {
    let is_mark = |token: &TokenTree, mark| matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark);
    if !is_mark(tokens.get(start)?, '#') {
        return None;
    }
    let is_inner = is_mark(tokens.get(start + 1)?, '!');
    let place = start + 1 + usize::from(is_inner);
    let TokenTree::Group(group) = tokens.get(place)? else {
        return None;
    };
    let first = group.stream().into_iter().next()?;
    matches!(first, TokenTree::Ident(name) if name == "doc").then_some(place + 1)
}

/// Says whether a character and the token after it are one operator or lifetime.
fn completes(first: char, token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(_) => first == '\'',
        TokenTree::Punct(second) => matches!(
            (first, second.as_char()),
            (':', ':')
                | ('.', '.')
                | ('&', '&')
                | ('|', '|')
                | ('-' | '=', '>')
                | ('=' | '!' | '<' | '>', '=')
                | ('+' | '-' | '*' | '/', '=')
        ),
        _ => false,
    }
}
