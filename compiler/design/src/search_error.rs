//! The reasons why a search finds nothing.
//!
//! In: a need, and the platforms that were tried. Out: a [`SearchError`]. Invariants: each platform that the need names
//! has its own reason.

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_platform::{Catalogue, Os, Platform};
use closc_qos::units::Speed;

use crate::need::Need;
use crate::panel::Model;

/// Why the search found nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// A name is not in the catalogue.
    #[error("no platform `{name}` in the catalogue{}", meant.as_ref().map_or_else(
        || ": `closc platforms` lists them".to_owned(),
        |meant| format!("; did you mean `{meant}`?")
    ))]
    Platform {
        /// The name.
        name: String,
        /// The nearest name of the catalogue.
        meant: Option<String>,
    },
    /// No hardware is of this vendor.
    #[error("no hardware of a vendor `{name}` in the catalogue; vendors are {known}")]
    Vendor {
        /// The name.
        name: String,
        /// The vendors of the catalogue.
        known: String,
    },
    /// The speed of a NIC does not divide.
    #[error(
        "{0} does not divide into whole Mb/s over any of these numbers of planes: change `--speed` or `--planes`"
    )]
    Speed(Speed),
    /// Rails do not divide the NICs of a node.
    #[error("{rails} rails do not divide the {nics} NICs of a node: change `--rails` or `--nics-per-node`")]
    Rails {
        /// Rails.
        rails: u8,
        /// NICs of a node.
        nics: u8,
    },
    /// With any of these numbers of planes, a failed T0 costs more than the limit.
    #[error("{}", fail(*least, *next))]
    Planes {
        /// The fewest planes that keep the limit.
        least: u32,
        /// The fewest planes that keep it and divide the speed of a NIC.
        next: Option<u16>,
    },
    /// Planes by NIC do not divide the rails.
    #[error(
        "{rails} rails cannot be divided over any of these numbers of planes by NIC: change `--planes-by-nic` or `--rails`"
    )]
    ByNic {
        /// Rails.
        rails: u8,
    },
    /// Source routing does not support planes by NIC.
    #[error(
        "planes by NIC need `--routing ecmp-static` or `bgp-unnumbered`: path tables of `srv6-static` list paths to every NIC"
    )]
    ByNicRouting,
    /// The number of NICs is not a multiple of those of a node.
    #[error(
        "{nics} is not a whole number of nodes of {node} NICs: use `--nics {next}`, or change `--nics-per-node`"
    )]
    Nodes {
        /// NICs.
        nics: u32,
        /// NICs of a node.
        node: u8,
        /// The next larger multiple, or the largest.
        next: u32,
    },
    /// One T0 holds all NICs, or a T0 of a single tier has less than two.
    #[error("{}: use `--nics {least}`, or fewer `--nics-per-node`", if *is_one {
        format!("{nics} NICs are less than two on each T0")
    } else {
        format!(
            "one T0 holds {nics} NICs: `--tiers 1` needs `--routing ecmp-static`, and more tiers have two T0s or more"
        )
    })]
    Few {
        /// NICs.
        nics: u32,
        /// The fewest NICs.
        least: u32,
        /// Whether the need permits one tier.
        is_one: bool,
    },
    /// One tier without static routes.
    #[error(
        "`--tiers 1` needs `--routing ecmp-static`: switches without uplinks have no BGP neighbours, and path tables of \
         `srv6-static` list uplinks"
    )]
    OneTierRouting,
    /// One tier whose rails are separate, although switches must join them.
    #[error(
        "`--tiers 1` with {rails} rails has a switch per rail, and only nodes join them: use `--rails 1`, or \
         `closc design --planes-by-nic {rails}`"
    )]
    OneTierRails {
        /// Rails.
        rails: u8,
    },
    /// Switches have no such ports.
    #[error(
        "no switch of {of} has ports of {speeds} and can do this routing: change `--speed`, `--planes`, `--routing` or `--os`"
    )]
    Ports {
        /// The vendors, or the catalogue.
        of: String,
        /// Speeds of ports.
        speeds: String,
    },
    /// None of the named platforms is suitable: the reason of each.
    #[error("{0}")]
    Named(String),
    /// Designs exist for other limits only.
    #[error("no design keeps these limits")]
    Limits,
}

impl SearchError {
    /// Reports an unknown vendor.
    pub(crate) fn vendor<'v>(name: &str, known: impl Iterator<Item = &'v str>) -> Self {
        let known: BTreeSet<&str> = known.collect();
        SearchError::Vendor { name: name.to_owned(), known: join_words(known) }
    }

    /// Reports that the need has too few planes for its limit on the failure of a T0.
    pub(crate) fn planes(need: &Need, models: &[Model<'_>], least: u32) -> Self {
        let mut enough = (1..=PLANES_MAX as u16).filter(|planes| u32::from(*planes) >= least);
        let has_ports = |speed: Speed| {
            let mut breakouts = models.iter().flat_map(|model| &model.platform.panel.breakouts);
            breakouts.any(|breakout| breakout.speed == speed)
        };
        let next = enough.find(|planes| need.port_speed(*planes).is_some_and(has_ports));
        SearchError::Planes { least, next }
    }

    /// Reports an unknown name.
    pub fn platform(name: &str, catalogue: &Catalogue) -> Self {
        let meant = catalogue.suggest(name).map(ToString::to_string);
        SearchError::Platform { name: name.to_owned(), meant }
    }
}

/// The most planes of a fabric.
const PLANES_MAX: u32 = 16;

/// Returns the reason why a limit on the failure of a T0 cannot be kept.
fn fail(least: u32, next: Option<u16>) -> String {
    if least > PLANES_MAX {
        let percent = 100_u32.div_ceil(PLANES_MAX);
        return format!(
            "`--fail` needs {least} planes, and a fabric has at most {PLANES_MAX}: allow `t0<={percent}%`"
        );
    }
    let next = next.map_or_else(
        || "no switch has the ports of so many planes".to_owned(),
        |next| format!("use `--planes {next}`"),
    );
    format!("`--fail` needs {least} planes or more: a failed T0 costs a NIC one plane; {next}")
}

/// Returns the reason where no platform has the ports and the routing.
pub(crate) fn no_ports(need: &Need, speeds: &[(u16, Speed)], models: &[Model<'_>]) -> SearchError {
    let words: Vec<String> = speeds.iter().map(|(_, speed)| speed.to_string()).collect();
    let words = words.join(" or ");
    if need.platforms.is_empty() {
        let of = if need.vendors.is_empty() { "the catalogue".to_owned() } else { join_words(&need.vendors) };
        return SearchError::Ports { of, speeds: words };
    }
    let reasons = models.iter().map(|model| reason(need, (speeds, &words), model.platform));
    SearchError::Named(reasons.collect::<Vec<_>>().join("; "))
}

/// Returns the reason of one platform.
fn reason(need: &Need, (speeds, words): (&[(u16, Speed)], &str), platform: &Platform) -> String {
    let name = &platform.id;
    let breakouts = &platform.panel.breakouts;
    if !breakouts.iter().any(|split| speeds.iter().any(|(_, speed)| *speed == split.speed)) {
        return format!("`{name}` has no ports of {words}; its breakouts are {}", join_words(breakouts));
    }
    if !need.oses.iter().any(|os| platform.supports(*os)) {
        let words = |oses: &[Os]| join_words(oses.iter().map(|os| os.word()));
        return format!("`{name}` does not run {}; it runs {}", words(&need.oses), words(&platform.oses));
    }
    let splits = |os: &Os| {
        let mut offered =
            breakouts.iter().filter(|split| speeds.iter().any(|(_, speed)| *speed == split.speed));
        offered.any(|split| platform.splits(*os, *split))
    };
    let oses = || need.oses.iter().filter(|os| platform.supports(**os));
    if !oses().any(splits) {
        let oses = join_words(oses().map(|os| os.word()));
        return format!(
            "{oses} does not split adjacent cages of `{name}` into ports of {words}: use another `--os`"
        );
    }
    if need.routings.iter().all(|routing| routing.is_source_routed()) {
        let other = Routing::BgpUnnumbered.word();
        return format!(
            "`{name}` is not known to forward uSIDs: use another platform, or `--routing {other}`"
        );
    }
    format!("`{name}` has no SKU of SONiC with ports of {words}: use another `--os`")
}

fn join_words(words: impl IntoIterator<Item = impl ToString>) -> String {
    let words = words.into_iter().map(|word| format!("`{}`", word.to_string()));
    words.collect::<Vec<_>>().join(", ")
}
