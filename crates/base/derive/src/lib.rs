//! Derive macros for settings of consensus methods.
//!
//! Pick this crate through `partita-core`, which re-exports both macros: a struct of settings, or an enum that is the
//! type of one, is written once, and names, help, values, ranges and aliases are read from it.
//!
//! | macro | reads | gives |
//! |---|---|---|
//! | [`Settings`] | fields, their doc comments and types, `#[setting(…)]` | `partita_core::Settings` |
//! | [`SettingChoice`] | variants and their doc comments | `partita_core::SettingType` |
//!
//! ```text
//! #[derive(Clone, Default, Serialize, Deserialize, Settings)]
//! #[serde(default)]
//! #[settings(check = Self::check)]          // optional: fn(&Self, &ProblemSize) -> Result<(), SettingsError>
//! struct Example {
//!     /// Independent initializations; the best is kept.
//!     #[setting(range = 1..=100_000, alias = "n_init")]
//!     restarts: u32,
//!     /// Stop when a round gains at most this share.
//!     #[setting(range = 0.0..)]
//!     tolerance: f64,
//!     /// Speed of forgetting.
//!     #[setting(above = 0.0)]
//!     theta: f64,
//!     #[setting(flatten)]
//!     common: CommonSettings,
//! }
//! ```

#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, ExprRange, Field, Fields, Lit, LitStr,
    Meta, RangeLimits,
};

/// Implements `partita_core::Settings` for a struct with named fields: what each setting is called, what it does (the
/// first paragraph of its doc comment), which values it takes (its type and `range` or `above`), and what else it is
/// called (`alias`, `#[doc(alias = …)]`). Defaults are those of `Default`.
#[proc_macro_derive(Settings, attributes(setting, settings))]
pub fn settings(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(|input| settings_of(&input)))
}

/// Implements `partita_core::SettingType` for an enum without fields: its values are the names of the variants in kebab
/// case, as `#[serde(rename_all = "kebab-case")]` writes them.
#[proc_macro_derive(SettingChoice)]
pub fn setting_choice(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(|input| choice_of(&input)))
}

fn expand(tokens: syn::Result<Tokens>) -> TokenStream {
    tokens.unwrap_or_else(Error::into_compile_error).into()
}

fn settings_of(input: &DeriveInput) -> syn::Result<Tokens> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            input,
            "settings are a struct with named fields",
        ));
    };
    let entries = data
        .fields
        .iter()
        .map(entry)
        .collect::<syn::Result<Vec<_>>>()?;
    let (name, check) = (&input.ident, check_of(&input.attrs)?);
    Ok(quote! {
        impl ::partita_core::Settings for #name {
            fn fields() -> ::std::vec::Vec<::partita_core::SettingInfo> {
                let mut fields = ::std::vec::Vec::new();
                #(#entries)*
                fields
            }

            fn check(&self, size: &::partita_core::ProblemSize) -> ::std::result::Result<(), ::partita_core::SettingsError> {
                #check
            }
        }
    })
}

/// The function that compares settings with each other and with the size of the problem.
fn check_of(attributes: &[Attribute]) -> syn::Result<Tokens> {
    let mut check = quote! {
        let _ = size;
        ::std::result::Result::Ok(())
    };
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("settings"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("check") {
                return Err(meta.error("only `check` is known here"));
            }
            let function: Expr = meta.value()?.parse()?;
            check = quote! { (#function)(self, size) };
            Ok(())
        })?;
    }
    Ok(check)
}

/// What is said of one field in its attributes.
#[derive(Default)]
struct Said {
    flatten: bool,
    ranges: Vec<Tokens>,
    aliases: Vec<LitStr>,
}

fn entry(field: &Field) -> syn::Result<Tokens> {
    let ty = &field.ty;
    let said = said(field)?;
    if said.flatten {
        return Ok(quote! { fields.extend(<#ty as ::partita_core::Settings>::fields()); });
    }
    let Some(name) = field.ident.as_ref().map(ToString::to_string) else {
        return Err(Error::new_spanned(field, "settings have names"));
    };
    let help = first_paragraph(&field.attrs);
    if help.is_empty() {
        return Err(Error::new_spanned(
            field,
            "a setting says what it does in a doc comment",
        ));
    }
    let (aliases, ranges) = (&said.aliases, &said.ranges);
    Ok(quote! {
        fields.push(::partita_core::SettingInfo {
            name: #name,
            help: #help,
            aliases: &[#(#aliases),*],
            values: <#ty as ::partita_core::SettingType>::values()#(.within(#ranges))*,
        });
    })
}

fn said(field: &Field) -> syn::Result<Said> {
    let mut said = Said::default();
    for attribute in &field.attrs {
        if attribute.path().is_ident("setting") {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("flatten") {
                    said.flatten = true;
                } else if meta.path.is_ident("range") {
                    said.ranges.push(range(&meta.value()?.parse()?));
                } else if meta.path.is_ident("above") {
                    let low: Expr = meta.value()?.parse()?;
                    said.ranges
                        .push(quote! { ::partita_core::SettingRange::above((#low) as f64) });
                } else if meta.path.is_ident("alias") {
                    said.aliases.push(meta.value()?.parse()?);
                } else {
                    return Err(meta.error("known are `range`, `above`, `alias` and `flatten`"));
                }
                Ok(())
            })?;
        } else if attribute.path().is_ident("doc")
            && let Meta::List(_) = &attribute.meta
        {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("alias") {
                    said.aliases.push(meta.value()?.parse()?);
                }
                Ok(())
            })?;
        }
    }
    Ok(said)
}

/// `low..=high`, `low..high` (taken as closed below and open above) or `low..`.
fn range(range: &ExprRange) -> Tokens {
    let end = |end: &Option<Box<Expr>>, none: Tokens| {
        end.as_ref().map_or(none, |end| quote! { (#end) as f64 })
    };
    let low = end(&range.start, quote! { f64::NEG_INFINITY });
    let high = end(&range.end, quote! { f64::INFINITY });
    let open = matches!(range.limits, RangeLimits::HalfOpen(_)) && range.end.is_some();
    quote! { ::partita_core::SettingRange { low: #low, above_low: false, high: #high, below_high: #open } }
}

/// The first paragraph of a doc comment, without the marks of links and code.
fn first_paragraph(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        });
    let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    lines
        .join(" ")
        .replace("[`", "")
        .replace("`]", "")
        .replace('`', "")
}

fn choice_of(input: &DeriveInput) -> syn::Result<Tokens> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(input, "a choice is an enum"));
    };
    let mut names = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "a choice has no fields"));
        }
        names.push(kebab(&variant.ident.to_string()));
    }
    let name = &input.ident;
    Ok(quote! {
        impl ::partita_core::SettingType for #name {
            fn values() -> ::partita_core::SettingValues {
                ::partita_core::SettingValues::Choice(&[#(#names),*])
            }
        }
    })
}

fn kebab(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.chars().enumerate() {
        if c.is_uppercase() && at > 0 {
            text.push('-');
        }
        text.extend(c.to_lowercase());
    }
    text
}
