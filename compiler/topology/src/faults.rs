//! Rejections of the loader: errors of text and shape, which need no knowledge of fabrics.
//!
//! In: errors of the parser or the reader. Out: diagnostics. Invariants: there is one file per rule, and constructors
//! are named after their messages.

mod bad_address;
mod bad_alias;
mod bad_breakout;
mod bad_cages;
mod bad_fraction;
mod bad_pci;
mod bad_quantity;
mod bad_text;
mod bad_value;
mod budget;
mod duplicate_key;
mod empty;
mod missing_key;
mod not_text;
mod out_of_range;
mod several_documents;
mod syntax;
mod too_large;
pub(crate) mod unknown_key;
mod unknown_profile;
mod unknown_word;
mod unsupported_tag;
mod wrong_type;

pub(crate) use bad_address::bad_address;
pub(crate) use bad_alias::{bad_merge, recursive, unknown_anchor};
pub(crate) use bad_breakout::bad_breakout;
pub(crate) use bad_cages::bad_cages;
pub(crate) use bad_fraction::bad_fraction;
pub(crate) use bad_pci::bad_pci;
pub(crate) use bad_quantity::{bad_quantity, decimal_comma};
pub(crate) use bad_text::{bad_text, long_text};
pub(crate) use bad_value::bad_value;
pub(crate) use budget::over_budget;
pub(crate) use duplicate_key::duplicate_key;
pub(crate) use empty::empty_file;
pub(crate) use missing_key::{missing_key, no_value};
pub(crate) use not_text::not_text;
pub(crate) use out_of_range::out_of_range;
pub(crate) use several_documents::several_documents;
pub(crate) use syntax::syntax;
pub(crate) use too_large::BYTES_MAX;
pub(crate) use too_large::too_large;
pub(crate) use unknown_key::{other_file, unknown_key};
pub(crate) use unknown_profile::unknown_profile;
pub(crate) use unknown_word::unknown_word;
pub(crate) use unsupported_tag::unsupported_tag;
pub(crate) use wrong_type::{bad_release, quoted_number, wrong_key, wrong_type};

use closc_diagnostics::{Diagnostics, Rule};

/// Every rule of the loader.
pub(crate) const RULES: &[&Rule] = &[
    &empty::RULE,
    &too_large::RULE,
    &not_text::RULE,
    &syntax::RULE,
    &budget::RULE,
    &duplicate_key::RULE,
    &unknown_key::RULE,
    &missing_key::RULE,
    &wrong_type::RULE,
    &out_of_range::RULE,
    &bad_quantity::RULE,
    &unknown_word::RULE,
    &bad_address::RULE,
    &unsupported_tag::RULE,
    &several_documents::RULE,
    &bad_alias::RULE,
    &bad_breakout::RULE,
    &bad_fraction::RULE,
    &unknown_profile::RULE,
    &bad_value::RULE,
    &bad_pci::RULE,
    &bad_text::RULE,
    &bad_cages::RULE,
];

/// Keeps the first findings of each rule, because a list of thousands takes long and does not help.
pub(crate) fn limit_findings(diagnostics: Diagnostics) -> Diagnostics {
    diagnostics.shorten()
}
