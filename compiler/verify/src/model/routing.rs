//! How packets find their way through a fabric.

/// How packets find their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Routing {
    /// Hosts write the path as uSIDs, and switches have a static route for each neighbour.
    Srv6Static,
    /// Switches choose among the next hops of static routes.
    EcmpStatic,
    /// Switches choose among the next hops that BGP comes to; ports find their neighbours themselves.
    BgpUnnumbered,
}

impl From<closc_artefacts::Routing> for Routing {
    fn from(written: closc_artefacts::Routing) -> Routing {
        match written {
            closc_artefacts::Routing::Srv6Static => Routing::Srv6Static,
            closc_artefacts::Routing::EcmpStatic => Routing::EcmpStatic,
            closc_artefacts::Routing::BgpUnnumbered => Routing::BgpUnnumbered,
        }
    }
}

impl Routing {
    /// Returns the word of the language.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Routing::Srv6Static => "srv6-static",
            Routing::EcmpStatic => "ecmp-static",
            Routing::BgpUnnumbered => "bgp-unnumbered",
        }
    }

    /// Tells whether hosts write the path.
    pub(crate) fn is_source_routed(self) -> bool {
        match self {
            Routing::Srv6Static => true,
            Routing::EcmpStatic | Routing::BgpUnnumbered => false,
        }
    }

    /// Tells whether switches speak BGP.
    pub(crate) fn speaks_bgp(self) -> bool {
        match self {
            Routing::BgpUnnumbered => true,
            Routing::Srv6Static | Routing::EcmpStatic => false,
        }
    }
}
