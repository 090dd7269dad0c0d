//! Routing mode: a keyword of fabric files, and of the manifest of their trees.
//!
//! In: the keyword. Out: [`Routing`]. Invariants: code that depends on the routing mode matches every variant, or calls
//! a method of [`Routing`] that does.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Routing mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// Static SRv6 uSIDs, source routed by the NIC.
    #[serde(rename = "srv6-static")]
    Srv6Static,
    /// Static routes with next-hop groups.
    EcmpStatic,
    /// eBGP over unnumbered links (RFC 8950).
    BgpUnnumbered,
}

impl Routing {
    /// Returns the keyword in a fabric file.
    pub fn keyword(self) -> &'static str {
        match self {
            Routing::Srv6Static => "srv6-static",
            Routing::EcmpStatic => "ecmp-static",
            Routing::BgpUnnumbered => "bgp-unnumbered",
        }
    }

    /// Returns whether NICs write the path into packets, as uSIDs.
    pub fn is_source_routed(self) -> bool {
        match self {
            Routing::Srv6Static => true,
            Routing::EcmpStatic | Routing::BgpUnnumbered => false,
        }
    }

    /// Returns whether switches exchange routes by BGP.
    pub fn speaks_bgp(self) -> bool {
        match self {
            Routing::BgpUnnumbered => true,
            Routing::Srv6Static | Routing::EcmpStatic => false,
        }
    }

    /// Returns whether switches have static next-hop groups with weights.
    pub fn has_static_groups(self) -> bool {
        match self {
            Routing::EcmpStatic => true,
            Routing::Srv6Static | Routing::BgpUnnumbered => false,
        }
    }
}

impl fmt::Display for Routing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_routings_are_those_of_the_file() {
        for routing in [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered] {
            assert_eq!(serde_json::to_value(routing).unwrap(), routing.keyword());
        }
    }
}
