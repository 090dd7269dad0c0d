//! `domains`: what fails together.

use smol_str::SmolStr;

use crate::coordinate::TierId;
use crate::read::{Spanned, document, word};

document! {
    /// A failure domain: a power feed, a rack, a row, a building, a line card. Either a function of position (`by`) or a
    /// list (`members`).
    #[derive(Default)]
    pub struct DomainDoc as "Domain" {
        /// Group key of a switch: `tier`, `plane`, `zone` and `index` (its number in its tier, plane and zone), or the
        /// name of another kind of domain alone. The last one is counted, those before it tell runs of numbers apart.
        pub by: Option<Vec<Spanned<SmolStr>>> = "by",
        /// Numbers in a row that share a domain. Default: 1.
        #[schemars(range(min = 1))]
        pub run: Option<Spanned<u16>> = "run",
        /// Number of domains, taken in turn. Default: as many as it takes.
        #[schemars(range(min = 1))]
        pub count: Option<Spanned<u16>> = "count",
        /// The tiers whose switches it is about. Default: all that have what `by` says.
        pub tiers: Option<Vec<Spanned<TierId>>> = "tiers",
        /// Contents, with the names and ranges of `exceptions`.
        pub members: Option<Vec<Spanned<SmolStr>>> = "members",
    }
}

word!(TierId, "tier" {
    "t0" => TierId::T0,
    "t1" => TierId::T1,
    "t2" => TierId::T2,
});
