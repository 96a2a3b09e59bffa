//! A Rust file as tokens: no comments, literals whole.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Violation;

/// A source file.
pub(super) struct Source {
    /// Path from the root, with `/`.
    pub(super) file: String,
    /// As it is written.
    pub(super) text: String,
    /// What the compiler sees of it.
    pub(super) tokens: TokenStream,
}

impl Source {
    /// The file at `file` (a path from the root) with this text; a complaint if it is not Rust.
    pub(super) fn new(file: &str, text: &str) -> Result<Self, Violation> {
        let tokens = text.parse().map_err(|error: proc_macro2::LexError| {
            Violation::new(
                file,
                error.span().start().line,
                format!("this is not Rust: {error}"),
            )
        })?;
        Ok(Self {
            file: file.into(),
            text: text.into(),
            tokens,
        })
    }

    /// Shows every list of tokens: that of the file, and what stands between each pair of brackets.
    pub(super) fn each_list(&self, see: &mut dyn FnMut(&[TokenTree])) {
        each_list(self.tokens.clone(), see);
    }
}

fn each_list(tokens: TokenStream, see: &mut dyn FnMut(&[TokenTree])) {
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    see(&list);
    for token in list {
        if let TokenTree::Group(group) = token {
            each_list(group.stream(), see);
        }
    }
}

/// The name that a token is.
pub(super) fn name(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}

/// Whether a token is this sign.
pub(super) fn is(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// The line of a token, counted from 1.
pub(super) fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// What stands in the brackets of the attribute that starts at the first of these tokens, and how many tokens it takes.
pub(super) fn attribute(tokens: &[TokenTree]) -> Option<(TokenStream, usize)> {
    if !is(tokens.first(), '#') {
        return None;
    }
    let at = if is(tokens.get(1), '!') { 2 } else { 1 };
    match tokens.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some((group.stream(), at + 1))
        }
        _ => None,
    }
}
