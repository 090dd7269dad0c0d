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

impl Routing {
    /// Every way, in the order of the language reference.
    const ALL: [Routing; 3] = [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];

    /// Returns the word of the language.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Routing::Srv6Static => "srv6-static",
            Routing::EcmpStatic => "ecmp-static",
            Routing::BgpUnnumbered => "bgp-unnumbered",
        }
    }

    /// Returns what a word stands for.
    pub(crate) fn from_word(word: &str) -> Option<Routing> {
        Routing::ALL.into_iter().find(|routing| routing.word() == word)
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
