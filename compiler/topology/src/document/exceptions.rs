//! `exceptions`: differences from the counts.

use smol_str::SmolStr;

use super::cables::CableDoc;
use super::tiers::HardwareDoc;
use crate::read::{NameMap, Spanned, document};

document! {
    /// Differences from the counts. Switches, nodes, NICs and NIC ports have the names that closc generates. A link
    /// between switches is `LOWER--UPPER`, the second parallel one `LOWER--UPPER#2`. A host cable has the name of its
    /// NIC port. A range in brackets stands for each of its numbers, written with as many digits as in the names:
    /// `p3-t0-[017-024]`.
    #[derive(Default)]
    pub struct ExceptionsDoc as "Exceptions" {
        /// Absent elements: planes as in `plane 3`, switches, nodes, NICs, links and host cables. Their positions stay
        /// reserved, and nothing is renumbered.
        pub absent: Option<Vec<Spanned<SmolStr>>> = "absent",
        /// Elements without new traffic: switches, links, host cables, and planes as in `plane 3`.
        pub drained: Option<Vec<Spanned<SmolStr>>> = "drained",
        /// Drained links and host cables whose switch ports drop every received IPv6 packet except ICMPv6. Needs
        /// `routing: srv6-static` and SONiC switches, which drop these packets by an access list. If the key is
        /// present, even with an empty list, every SONiC switch has this access list. Isolating a cable then changes
        /// only its ports.
        pub isolated: Option<Vec<Spanned<SmolStr>>> = "isolated" => [SWITCHES, NAMED],
        /// Cables that differ from their kind, by name.
        pub cables: Option<NameMap<SmolStr, CableDoc>> = "cables",
        /// Switches with other hardware or another operating system, by name.
        pub devices: Option<NameMap<SmolStr, HardwareDoc>> = "devices",
    }
}
