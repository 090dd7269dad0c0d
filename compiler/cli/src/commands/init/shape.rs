//! Shapes of two or three tiers that may have the size that is wanted.
//!
//! In: what is wanted, and the catalogue. Out: shapes, the best first; the checks have the last word. Invariants: no tier is
//! oversubscribed, a T0 has as many uplinks as NICs, and no switch is the only one that a plane rests on.

use std::collections::BTreeSet;

use anyhow::bail;
use closc_artefacts::Routing;
use closc_diagnostics::figures::number;
use closc_platform::capability::{Capability, Support};
use closc_platform::{Breakout, Catalogue, Os, Platform, SkuFeature, Standing};
use closc_qos::units::Speed;

/// Target state.
#[derive(Clone)]
pub(super) struct Want {
    pub(super) name: String,
    pub(super) nics: u32,
    pub(super) planes: u16,
    pub(super) speed: Speed,
    pub(super) nics_per_node: u8,
    pub(super) os: Option<Os>,
    pub(super) routing: Routing,
    /// Tiers; as many as it takes if nothing is said.
    pub(super) tiers: Option<u8>,
}

impl Want {
    /// The speed of a NIC's port in a plane.
    fn port_speed(&self) -> Option<Speed> {
        let (mbps, planes) = (self.speed.mbps(), u32::from(self.planes));
        Speed::from_mbps(mbps / planes).filter(|_| mbps.is_multiple_of(planes))
    }
}

/// A fabric of two tiers, or of three.
pub(super) struct Shape<'a> {
    pub(super) platform: &'a Platform,
    pub(super) os: Os,
    pub(super) breakout: Breakout,
    /// NICs, and uplinks, of a T0.
    pub(super) per_group: u32,
    pub(super) groups: u32,
    /// Cables from a T0 to each T1.
    pub(super) parallel: u32,
    /// Switches above the T1s.
    pub(super) third: Option<Third>,
    /// Ports of a switch of the last tier that are kept free.
    pub(super) spare: u32,
    pub(super) qos: &'static str,
}

/// The third tier: each T1 has as many uplinks as downlinks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Third {
    pub(super) zones: u32,
    /// Rows of T2s; a T2 reaches all T1s of its row. With one it reaches all.
    pub(super) rows: u32,
}

impl Third {
    /// Ports of a T2 for each zone.
    pub(super) fn ports_per_zone(self, t1s: u32) -> u32 {
        t1s / self.rows
    }
}

impl Shape<'_> {
    /// Ports of its switches in a plane, used or not.
    fn cost(&self) -> u32 {
        let ports = u32::from(self.platform.ports_max(self.breakout));
        let below = self.groups + self.per_group / self.parallel;
        match self.third {
            None => below * ports,
            Some(third) => (third.zones * below + third.rows * self.groups).saturating_mul(ports),
        }
    }

    /// Whether cages are split otherwise than the platform is sold.
    pub(super) fn is_split(&self) -> bool {
        self.breakout != self.platform.panel.default_breakout
    }

    /// Whether its switches are programs, so that cables are not cut to length.
    pub(super) fn is_virtual(&self) -> bool {
        self.platform.buffer.is_none()
    }
}

/// A platform, with the operating system and the way to split cages that are wanted.
pub(super) struct Choice<'a> {
    platform: &'a Platform,
    os: Os,
    breakout: Breakout,
}

/// The numbers of a shape.
struct Size {
    per_group: u32,
    groups: u32,
    parallel: u32,
    third: Option<Third>,
    /// Ports of a switch of the last tier that are in use.
    used: u32,
}

impl<'a> Choice<'a> {
    /// Returns shapes of a size, one for each profile to try.
    fn shapes(&self, size: &Size) -> impl Iterator<Item = Shape<'a>> {
        let &Size { per_group, groups, parallel, third, used } = size;
        let Choice { platform, os, breakout } = *self;
        let ports = self.ports();
        // Hardware with most ports dark is kept for growth, or a warning.
        let spare = if platform.buffer.is_some() && used * 2 < ports { ports - used } else { 0 };
        let of = move |qos| Shape { platform, os, breakout, per_group, groups, parallel, third, spare, qos };
        qos(self).into_iter().map(of)
    }

    fn ports(&self) -> u32 {
        self.platform.ports_max(self.breakout).into()
    }

    /// The most cables from a T0 to a T1: several have a uSID each, which not every system can have.
    fn parallel_max(&self, want: &Want) -> u32 {
        let takes_several = self.os.support(Capability::SeveralLocators) == Support::Whole;
        if want.routing.is_source_routed() && !takes_several { 1 } else { self.ports() }
    }
}

/// The platforms that will do: the one that is named, or hardware with ports of the speed.
pub(super) fn platforms<'a>(
    catalogue: &'a Catalogue,
    want: &Want,
    named: Option<&str>,
) -> anyhow::Result<Vec<Choice<'a>>> {
    let Some(speed) = want.port_speed() else {
        bail!("{} are not whole Mb/s in each of {} planes", want.speed, want.planes);
    };
    let choice = |platform: &'a Platform| {
        let os = want.os.or(platform.oses.first().copied())?;
        let breakout = platform.panel.breakouts.iter().copied().find(|breakout| breakout.speed == speed)?;
        let segments = platform.standing(SkuFeature::Segments, os, [breakout]);
        let routes = !want.routing.is_source_routed() || segments == Standing::Has;
        (platform.supports(os) && routes).then_some(Choice { platform, os, breakout })
    };
    if let Some(name) = named {
        let Some(platform) = catalogue.get(name) else {
            let meant = catalogue.suggest(name).map(|meant| format!("; did you mean `{meant}`?"));
            bail!("there is no platform `{name}`{}", meant.unwrap_or_default());
        };
        let Some(choice) = choice(platform) else {
            bail!("{}", why_not(platform, want, speed));
        };
        return Ok(vec![choice]);
    }
    // Of switches that run SONiC there are several makers; others are taken where their system is asked for.
    let is_usual = |platform: &Platform| platform.sonic.is_some() || want.os.is_some();
    let hardware = catalogue.iter().filter(|platform| platform.buffer.is_some() && is_usual(platform));
    let choices: Vec<Choice<'_>> = hardware.filter_map(|platform| choice(platform)).collect();
    if choices.is_empty() {
        bail!(
            "no switch of the catalogue has ports of {speed} and does what is wanted: change `--speed` or `--planes`"
        );
    }
    Ok(choices)
}

/// Explains why a platform cannot be used.
fn why_not(platform: &Platform, want: &Want, speed: Speed) -> String {
    let name = &platform.id;
    let listed =
        |words: Vec<String>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let breakouts = &platform.panel.breakouts;
    if !breakouts.iter().any(|breakout| breakout.speed == speed) {
        let breakouts = listed(breakouts.iter().map(ToString::to_string).collect());
        return format!(
            "`{name}` has no ports of {speed}, a NIC's share of {} in {} planes; its breakouts are {breakouts}",
            want.speed, want.planes
        );
    }
    match want.os {
        Some(os) if !platform.supports(os) => {
            let oses = listed(platform.oses.iter().map(|os| os.word().to_owned()).collect());
            format!("`{name}` does not run `{}`; it runs {oses}", os.word())
        }
        Some(_) | None => format!(
            "`{name}` is not known to forward uSIDs, which `--routing srv6-static` needs: use `--routing bgp-unnumbered`, or \
             another platform"
        ),
    }
}

/// T1s of a plane: where one fails, a quarter of the bandwidth is gone.
const T1S_MIN: u32 = 4;

/// The most shapes that are tried.
const TRIED: usize = 100;

/// Returns shapes of so many tiers as are wanted, of two before those of three where nothing is wanted; of each number those of the
/// fewest ports first, and of as many, those that keep none free.
pub(super) fn candidates<'a>(want: &Want, choices: &[Choice<'a>]) -> Vec<Shape<'a>> {
    let best = |mut shapes: Vec<Shape<'a>>| {
        shapes.sort_by_key(|shape| (shape.cost(), shape.spare > 0, shape.is_split()));
        shapes.truncate(TRIED);
        shapes
    };
    let mut found = Vec::new();
    if want.tiers != Some(3) {
        found.extend(best(choices.iter().flat_map(|choice| shapes(want, choice)).collect()));
    }
    if want.tiers != Some(2) {
        found.extend(best(choices.iter().flat_map(|choice| three_tiers(want, choice)).collect()));
    }
    found
}

/// The most zones: uSIDs and addresses have four bits for them.
const ZONES_MAX: u32 = 16;

/// Shapes of three tiers. No cables are parallel: each T2 reaches the T1s of one row, and rows are as few as its ports allow.
fn three_tiers<'a>(want: &Want, choice: &Choice<'a>) -> Vec<Shape<'a>> {
    let (ports, node) = (choice.ports(), u32::from(want.nics_per_node));
    let mut found = Vec::new();
    for per_group in
        (T1S_MIN..=ports / 2).filter(|count| want.nics.is_multiple_of(*count) && count.is_multiple_of(node))
    {
        let total = want.nics / per_group;
        for zones in (2..=ZONES_MAX).filter(|zones| total.is_multiple_of(*zones)) {
            let groups = total / zones;
            let fits = |rows: &u32| per_group.is_multiple_of(*rows) && zones * per_group / rows <= ports;
            let rows = (1..=per_group).find(fits);
            let Some(rows) = rows.filter(|_| groups >= 2 && groups <= ports / 2) else { continue };
            let used = zones * per_group / rows;
            let size = Size { per_group, groups, parallel: 1, third: Some(Third { zones, rows }), used };
            found.extend(choice.shapes(&size));
        }
    }
    found
}

fn shapes<'a>(want: &Want, choice: &Choice<'a>) -> Vec<Shape<'a>> {
    let (ports, node) = (choice.ports(), u32::from(want.nics_per_node));
    let fits = |per_group: &u32| want.nics.is_multiple_of(*per_group) && per_group.is_multiple_of(node);
    let mut shapes = Vec::new();
    for per_group in (1..=ports / 2).filter(fits) {
        let groups = want.nics / per_group;
        let parallel = |parallel: &u32| {
            let has_t1s = per_group / parallel >= T1S_MIN.min(per_group);
            has_t1s && per_group.is_multiple_of(*parallel) && groups * parallel <= ports
        };
        if groups < 2 {
            continue;
        }
        for parallel in (1..=choice.parallel_max(want)).filter(parallel) {
            let used = groups * parallel;
            let size = Size { per_group, groups, parallel, third: None, used };
            shapes.extend(choice.shapes(&size));
        }
    }
    shapes
}

/// The profiles to try.
fn qos(choice: &Choice<'_>) -> Vec<&'static str> {
    let trims = choice.platform.standing(SkuFeature::Trimming, choice.os, [choice.breakout]);
    match (choice.platform.buffer.is_some(), trims == Standing::Has) {
        (false, _) => vec!["none"],
        (true, true) => vec!["lossy-trim", "lossless"],
        (true, false) => vec!["lossless", "none"],
    }
}

/// The most NICs of a plane of such switches.
fn most(want: &Want, ports: u32) -> u32 {
    let half = ports / 2;
    if want.tiers == Some(2) { ports * half } else { half.saturating_mul(half).saturating_mul(ZONES_MAX) }
}

/// Number of larger sizes that are tried.
const SIZES: usize = 48;

/// Numbers of NICs above what is wanted that make whole T0s and nodes: the nearest ones, then those that grow by powers of two.
pub(super) fn sizes_above(want: &Want, choices: &[Choice<'_>]) -> Vec<u32> {
    let most = choices.iter().map(|choice| most(want, choice.ports())).max().unwrap_or_default();
    let half = choices.iter().map(|choice| choice.ports() / 2).max().unwrap_or_default();
    let node = u32::from(want.nics_per_node);
    let next = |step: u32| (want.nics / step + 1).saturating_mul(step);
    let of_groups = (T1S_MIN.max(node)..=half).filter(|per_group| per_group.is_multiple_of(node));
    let near: BTreeSet<u32> = of_groups.map(next).collect();
    let powers = (0..u32::BITS).filter_map(|power| node.checked_mul(1 << power));
    let powers = powers.filter(|nics| *nics > want.nics).take(8);
    near.into_iter().take(SIZES).chain(powers).filter(|nics| *nics <= most).collect()
}

/// Explains a missing shape, and names one that exists: a number of NICs that was tried, if any was found.
pub(super) fn why_none(
    want: &Want,
    choices: &[Choice<'_>],
    near: Option<u32>,
    finding: Option<&str>,
) -> String {
    let most = choices.iter().map(|choice| most(want, choice.ports())).max().unwrap_or_default();
    let nics = number(want.nics.into());
    if want.nics > most {
        return format!(
            "{} tiers of these switches have at most {} NICs, and {nics} are wanted: more planes have slower ports, of which \
             switches have more{}",
            if want.tiers == Some(2) { "two" } else { "three" },
            number(most.into()),
            if want.tiers == Some(2) { ", and `--tiers 3` has more room" } else { "" }
        );
    }
    let size = format!("{nics} NIC{}, {} a node", if want.nics == 1 { "" } else { "s" }, want.nics_per_node);
    let why = match finding {
        Some(finding) => format!("no fabric of {size}, is without a finding ({finding})"),
        None => format!("no T0s of one size make up {size}"),
    };
    let others = "name another `--platform`, `--os`, `--routing` or `--nics-per-node`";
    match near {
        Some(near) => format!("{why}: `--nics {near}` does, or {others}"),
        None => format!("{why}, and none of any number of NICs near it: {others}"),
    }
}
