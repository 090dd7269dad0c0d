//! The reasons why a search does not find any design.
//!
//! In: requirements, and the platforms that were tried. Out: a [`SearchError`]. Invariants: each platform
//! named in the requirements has a separate reason.

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_platform::{Catalogue, Os, Platform};
use closc_qos::units::Speed;

use crate::need::{LossShare, Requirements, WHOLE};
use crate::panel::{Model, accepts};

/// Reason why the search did not find any design.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// A name is not in the catalogue.
    #[error("no platform `{name}` in the catalogue{}", suggestion.as_ref().map_or_else(
        || ": `closc platforms` lists them".to_owned(),
        |suggestion| format!("; did you mean `{suggestion}`?")
    ))]
    Platform {
        /// The name.
        name: String,
        /// The most similar name in the catalogue.
        suggestion: Option<String>,
    },
    /// The catalogue has no suitable hardware of this vendor.
    #[error(
        "no hardware of a vendor `{name}` has a known buffer size; name a platform by `--platform`, or use a vendor of {vendors}"
    )]
    Vendor {
        /// The name of the vendor.
        name: String,
        /// The vendors in the catalogue.
        vendors: String,
    },
    /// The speed of a NIC is not divisible by any of the numbers of planes.
    #[error(
        "{0} does not divide into whole Mb/s over any of these numbers of planes: change `--speed` or `--planes`"
    )]
    Speed(Speed),
    /// The number of NICs per node is not divisible by the number of rails.
    #[error(
        "{} the {} of a node: change `--rails` or `--nics-per-node`",
        agree(*rails, "rail does not divide", "rails do not divide"), agree(*nics, "NIC", "NICs")
    )]
    Rails {
        /// Rails.
        rails: u8,
        /// NICs of a node.
        nics: u8,
    },
    /// A failed T0 costs more than the limit with any of these numbers of planes.
    #[error("{}", fail(*min_planes, *next))]
    Planes {
        /// The minimum number of planes that meets the limit.
        min_planes: u32,
        /// The minimum number of planes that meets the limit and divides the speed of a NIC.
        next: Option<u16>,
    },
    /// The number of rails is not divisible by any of the numbers of planes by NIC.
    #[error(
        "{} cannot be divided over any of these numbers of planes by NIC: change `--planes-by-nic` or `--rails`",
        agree(*rails, "rail", "rails")
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
    /// The number of NICs is not a multiple of the NICs per node.
    #[error(
        "{nics} is not a whole number of nodes of {}: use `--nics {next}`, or change `--nics-per-node`", agree(*node, "NIC", "NICs")
    )]
    Nodes {
        /// NICs.
        nics: u32,
        /// NICs of a node.
        node: u8,
        /// The next larger multiple, or the largest one.
        next: u32,
    },
    /// One T0 holds all NICs, or a T0 of a single tier has fewer than two NICs.
    #[error("{}: use `--nics {min_nics}`{}", if *is_one {
        format!("{} less than two on each T0", agree(*nics, "NIC is", "NICs are"))
    } else {
        format!(
            "one T0 holds {}: `--tiers 1` needs `--routing ecmp-static`, and more tiers have two T0s or more",
            agree(*nics, "NIC", "NICs")
        )
    }, if *min_nics > 2 { ", or fewer `--nics-per-node`" } else { "" })]
    Few {
        /// NICs.
        nics: u32,
        /// The minimum number of NICs.
        min_nics: u32,
        /// Whether the requirements permit a single tier.
        is_one: bool,
    },
    /// A single tier is requested without static routes.
    #[error(
        "`--tiers 1` needs `--routing ecmp-static`: switches without uplinks have no BGP neighbours, and path tables of \
         `srv6-static` list uplinks"
    )]
    OneTierRouting,
    /// A single tier leaves rails separate, although switches must connect them.
    #[error(
        "`--tiers 1` with {} has a switch per rail, and only nodes join them: use `--rails 1`, or \
         `closc design --planes-by-nic {rails}`", agree(*rails, "rail", "rails")
    )]
    OneTierRails {
        /// Rails.
        rails: u8,
    },
    /// None of the operating systems supports one of the routing modes.
    #[error("E0213: {oses} does not support `routing: {routings}`; change `--routing` or `--os`")]
    SystemRouting {
        /// The operating systems.
        oses: String,
        /// The routing modes.
        routings: String,
    },
    /// No switch runs any of the operating systems.
    #[error(
        "no hardware of {of} runs {oses}{}: change `--os`{}",
        if systems.is_empty() { String::new() } else { format!("; it runs {systems}") },
        software.as_ref().map_or_else(String::new, |name| format!(", or use `--platform {name}`"))
    )]
    System {
        /// The vendors as text, or the catalogue.
        of: String,
        /// The operating systems.
        oses: String,
        /// Operating systems of this hardware.
        systems: String,
        /// A software platform that runs one of them.
        software: Option<String>,
    },
    /// No switch has such ports.
    #[error(
        "no switch of {of} with {oses} has ports of {speeds}: change `--speed`, `--planes` or `--os`{by_name}"
    )]
    Ports {
        /// The vendors, or the catalogue.
        of: String,
        /// The operating systems.
        oses: String,
        /// Speeds of ports.
        speeds: String,
        /// Platforms to name, if there are any.
        by_name: String,
    },
    /// Some switches have such ports, but not with these operating systems.
    #[error(
        "{oses} does not split cages of a switch of {of} into ports of {speeds}: change `--os` or `--planes`{by_name}"
    )]
    Splits {
        /// The vendors, or the catalogue.
        of: String,
        /// The operating systems.
        oses: String,
        /// Speeds of ports.
        speeds: String,
        /// Platforms to name, if there are any.
        by_name: String,
    },
    /// Some switches have such ports, but not with this routing.
    #[error(
        "no switch of {of} with {oses} and ports of {speeds} supports this routing: change `--routing`, `--os` or `--planes`{by_name}"
    )]
    Routing {
        /// The vendors, or the catalogue.
        of: String,
        /// The operating systems.
        oses: String,
        /// Speeds of ports.
        speeds: String,
        /// Platforms to name, if there are any.
        by_name: String,
    },
    /// None of the named platforms is suitable. Contains the reason for each.
    #[error("{0}")]
    Named(String),
    /// Designs exist only with other limits.
    #[error("no design keeps these limits")]
    Limits,
}

impl SearchError {
    /// Returns the error for an unknown vendor.
    pub(crate) fn vendor<'v>(name: &str, known: impl Iterator<Item = &'v str>) -> Self {
        let known: BTreeSet<&str> = known.collect();
        SearchError::Vendor { name: name.to_owned(), vendors: join_words(known) }
    }

    /// Returns the error for too few planes to meet the limit on the failure of a T0.
    pub(crate) fn planes(need: &Requirements, models: &[Model<'_>], least: u32) -> Self {
        let mut enough = (1..=PLANES_MAX as u16).filter(|planes| u32::from(*planes) >= least);
        let has_ports = |speed: Speed| {
            let mut breakouts = models.iter().flat_map(|model| &model.platform.panel.breakouts);
            breakouts.any(|breakout| breakout.speed == speed)
        };
        let next = enough.find(|planes| need.port_speed(*planes).is_some_and(has_ports));
        SearchError::Planes { min_planes: least, next }
    }

    /// Returns the error for an unknown platform name.
    pub fn platform(name: &str, catalogue: &Catalogue) -> Self {
        let meant = catalogue.suggest(name).map(ToString::to_string);
        SearchError::Platform { name: name.to_owned(), suggestion: meant }
    }
}

/// Maximum number of planes of a fabric.
const PLANES_MAX: u32 = 16;

/// Returns the message for a limit on the failure of a T0 that cannot be met.
fn fail(least: u32, next: Option<u16>) -> String {
    if least > PLANES_MAX {
        let share = LossShare::from_millionths(WHOLE.div_ceil(PLANES_MAX));
        let allow = share.map_or(String::new(), |share| format!(": allow `t0<={share}`"));
        return format!("`--fail` needs {least} planes, and a fabric has at most {PLANES_MAX}{allow}");
    }
    let next = next.map_or_else(
        || "no switch has the ports of so many planes".to_owned(),
        |next| format!("use `--planes {next}`"),
    );
    format!("`--fail` needs {least} planes or more: a failed T0 costs a NIC one plane; {next}")
}

/// Returns the reason why no platform has the ports and supports the routing.
pub(crate) fn no_ports(
    need: &Requirements,
    speeds: &[(u16, Speed)],
    models: &[Model<'_>],
    catalogue: &Catalogue,
) -> SearchError {
    let words: Vec<String> = speeds.iter().map(|(_, speed)| speed.to_string()).collect();
    let words = words.join(" or ");
    if !need.platforms.is_empty() {
        let reasons = models.iter().map(|model| reason(need, (speeds, &words), model.platform));
        return SearchError::Named(reasons.collect::<Vec<_>>().join("; "));
    }
    let of = if need.vendors.is_empty() { "the catalogue".to_owned() } else { join_words(&need.vendors) };
    let oses: Vec<String> = need.operating_systems.iter().map(|os| format!("`{}`", os.keyword())).collect();
    let oses = oses.join(" or ");
    let runs = |platform: &Platform| need.operating_systems.iter().any(|os| platform.supports(*os));
    let offered = |platform: &Platform| {
        let breakouts = platform.panel.breakouts.clone().into_iter();
        breakouts.filter(|split| speeds.iter().any(|(_, speed)| *speed == split.speed))
    };
    let has_ports = |platform: &Platform| offered(platform).next().is_some();
    // Static routes require only ports.
    let splits = |platform: &Platform| {
        let fits = |split| {
            need.operating_systems.iter().any(|os| accepts(platform, *os, Routing::EcmpStatic, split, None))
        };
        runs(platform) && offered(platform).any(fits)
    };
    let running: Vec<&Platform> =
        models.iter().map(|model| &**model.platform).filter(|it| runs(it)).collect();
    if running.is_empty() {
        let known: BTreeSet<&str> =
            models.iter().flat_map(|model| &model.platform.oses).map(|os| os.keyword()).collect();
        let software = catalogue.iter().find(|platform| platform.is_software() && runs(platform));
        let software = software.map(|platform| platform.id.to_string());
        return SearchError::System { of, oses, systems: join_words(known), software };
    }
    let by_name = by_name(need, speeds, catalogue);
    match (running.iter().any(|it| has_ports(it)), running.iter().any(|it| splits(it))) {
        (false, _) => SearchError::Ports { of, oses, speeds: words, by_name },
        (true, false) => SearchError::Splits { of, oses, speeds: words, by_name },
        (true, true) => SearchError::Routing { of, oses, speeds: words, by_name },
    }
}

/// Maximum number of platforms that a message names.
const NAMES_MAX: usize = 3;

/// Returns the end of a message, about suitable platforms without a known buffer size. These are tried only
/// if they are named in the requirements.
fn by_name(need: &Requirements, speeds: &[(u16, Speed)], catalogue: &Catalogue) -> String {
    let is_possible = |platform: &Platform| {
        let offered = &platform.panel.breakouts;
        let mut offered =
            offered.iter().filter(|split| speeds.iter().any(|(_, speed)| *speed == split.speed));
        let mut pairs = need
            .operating_systems
            .iter()
            .flat_map(|os| need.routings.iter().map(move |routing| (*os, *routing)));
        offered.any(|split| {
            pairs.any(|(os, routing)| platform.supports(os) && accepts(platform, os, routing, *split, None))
        })
    };
    let is_hardware = |platform: &Platform| platform.buffer.is_none() && !platform.is_software();
    let names = catalogue.iter().filter(|platform| is_hardware(platform) && need.is_of_vendor(platform));
    let names: Vec<String> =
        names.filter(|platform| is_possible(platform)).map(|platform| platform.id.to_string()).collect();
    if names.is_empty() {
        return String::new();
    }
    let more = if names.len() > NAMES_MAX { " and others" } else { "" };
    let names = join_words(names.into_iter().take(NAMES_MAX));
    format!("; platforms without a known buffer size are tried only with `--platform`: {names}{more}")
}

/// Returns the reason why one platform is not suitable.
fn reason(need: &Requirements, (speeds, words): (&[(u16, Speed)], &str), platform: &Platform) -> String {
    let name = &platform.id;
    let breakouts = &platform.panel.breakouts;
    if !breakouts.iter().any(|split| speeds.iter().any(|(_, speed)| *speed == split.speed)) {
        return format!("`{name}` has no ports of {words}; its breakouts are {}", join_words(breakouts));
    }
    if !need.operating_systems.iter().any(|os| platform.supports(*os)) {
        let words = |oses: &[Os]| join_words(oses.iter().map(|os| os.keyword()));
        return format!(
            "`{name}` does not run {}; it runs {}",
            words(&need.operating_systems),
            words(&platform.oses)
        );
    }
    let splits = |os: &Os| {
        let mut offered =
            breakouts.iter().filter(|split| speeds.iter().any(|(_, speed)| *speed == split.speed));
        offered.any(|split| platform.splits(*os, *split))
    };
    let oses = || need.operating_systems.iter().filter(|os| platform.supports(**os));
    if !oses().any(splits) {
        let oses = join_words(oses().map(|os| os.keyword()));
        return format!(
            "{oses} does not split adjacent cages of `{name}` into ports of {words}: use another `--os`"
        );
    }
    if need.routings.iter().all(|routing| routing.is_source_routed()) {
        let other = Routing::BgpUnnumbered.keyword();
        return format!(
            "`{name}` is not known to forward uSIDs: use another platform, or `--routing {other}`"
        );
    }
    format!("`{name}` has no SKU of SONiC with ports of {words}: use another `--os`")
}

/// Returns a number with the singular or plural phrase.
fn agree(count: impl Into<u64>, one: &str, many: &str) -> String {
    let count = count.into();
    format!("{count} {}", if count == 1 { one } else { many })
}

fn join_words(words: impl IntoIterator<Item = impl ToString>) -> String {
    let words = words.into_iter().map(|word| format!("`{}`", word.to_string()));
    words.collect::<Vec<_>>().join(", ")
}
