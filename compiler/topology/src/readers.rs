//! Settings that only some routing modes read.
//!
//! In: a field. Out: the routing modes that read its value. Invariants: findings about settings without effect (W0401,
//! W0403, W0902) and comparisons of fabrics use this one table.

use closc_artefacts::Routing;

use crate::field;
use crate::field::Field;

const ALL: &[Routing] = &[Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];
const SEGMENTS: &[Routing] = &[Routing::Srv6Static];
const BGP: &[Routing] = &[Routing::BgpUnnumbered];
const NEXT_HOPS: &[Routing] = &[Routing::EcmpStatic, Routing::BgpUnnumbered];

/// Fields with their readers. Fields below them have the same readers.
const SETTINGS: [(Field, &[Routing]); 5] = [
    (field!("addresses.asn_base"), BGP),
    (field!("ecmp"), NEXT_HOPS),
    (field!("entropy"), SEGMENTS),
    (field!("mtu.payload"), SEGMENTS),
    (field!("srv6"), SEGMENTS),
];

impl Field {
    /// Returns the routing modes whose artefacts depend on the value. With others, a change of it changes no packet.
    /// Exceptions are `srv6.plan` and `srv6.widths`: T2 ports per zone and IPv4 management addresses depend on them in
    /// every mode (W0401).
    pub fn readers(self) -> &'static [Routing] {
        let is_below = |above: Field| {
            self.path()
                .strip_prefix(above.path())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        SETTINGS.into_iter().find(|(above, _)| is_below(*above)).map_or(ALL, |(_, readers)| readers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_readers_of_the_field_above() {
        assert_eq!(field!("entropy.udp_port").readers(), SEGMENTS);
        assert_eq!(field!("srv6.widths").readers(), SEGMENTS);
        assert_eq!(field!("ecmp.balance").readers(), NEXT_HOPS);
        assert_eq!(field!("addresses.asn_base").readers(), BGP);
        assert_eq!(field!("addresses.hosts").readers(), ALL);
        assert_eq!(field!("mtu.link").readers(), ALL);
    }
}
