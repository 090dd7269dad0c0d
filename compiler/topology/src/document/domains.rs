//! `domains`: elements that fail together.

use smol_str::SmolStr;

use crate::coordinate::TierId;
use crate::read::{Spanned, document, word};

document! {
    /// A failure domain: a power feed, a rack, a row, a building, a line card. Either a function of position (`by`) or a
    /// list (`members`).
    #[derive(Default)]
    pub struct DomainDoc as "Domain" {
        /// Coordinates that select the domain of a switch (`tier`, `plane`, `zone`, `index`), or the name of another
        /// kind of domain. `index` is the number of a switch within its tier, plane and zone. `run` or `count`
        /// divides the numbers of the last coordinate over domains. Each combination of the others has its own
        /// domains.
        pub by: Option<Vec<Spanned<SmolStr>>> = "by",
        /// Length of the run of numbers that share a domain. Default: 1.
        #[schemars(range(min = 1))]
        pub run: Option<Spanned<u16>> = "run",
        /// Number of domains, assigned in turn. Default: as many as are needed.
        #[schemars(range(min = 1))]
        pub count: Option<Spanned<u16>> = "count",
        /// Tiers of the domain's switches. Default: all tiers with the coordinates of `by`.
        pub tiers: Option<Vec<Spanned<TierId>>> = "tiers",
        /// Elements of the domain. Names and ranges are written as in `exceptions`.
        pub members: Option<Vec<Spanned<SmolStr>>> = "members",
    }
}

word!(TierId, "tier" {
    "t0" => TierId::T0,
    "t1" => TierId::T1,
    "t2" => TierId::T2,
});
