//! Damage to switches that speak BGP.

use crate::Mutation;

#[rustfmt::skip] // A table: one row a line.
pub(crate) const FRR: &[Mutation] = &[];

#[rustfmt::skip] // A table: one row a line.
pub(crate) const SONIC: &[Mutation] = &[];
