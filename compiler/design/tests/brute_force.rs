//! Compares the front with all designs of one to three tiers, which simple loops over all counts generate. No
//! design of the loops beats the front, and the loops contain each design of the front. T0s may have free
//! places and more uplinks than the ratio requires. Nodes may have several rails, and zones may have parallel
//! cables.

use std::cell::Cell;
use std::convert::Infallible;

use closc_artefacts::Routing;
use closc_design::{
    Candidates, Criteria, Design, Floor, FrontDesign, Limits, LossShare, Measure, Prices, Ratio,
    Requirements, Sieve, StageMeasure, Tier, Verdict, sample, space,
};
use closc_platform::{Breakout, Catalogue, Limit, Os, Platform};
use closc_qos::units::Length;
use proptest::prelude::*;

/// Switches in the loops. Each supports any two of its breakouts under its operating system. The third is the
/// second one with ports on every other cage only.
const BOXES: &[&str] = &["spectrum3-sn4700", "spectrum4-sn5600", "spectrum4-sn5600-256x100g"];

/// Smaller switches, which need a third tier sooner.
const SMALL: &[&str] = &["th2-64x100g", "th3-32x400g"];

/// Returns the front of all routing modes.
fn merged<'a>(
    candidates: Candidates<'a, '_>,
    passes: impl FnMut(&Design<'a>) -> Result<Verdict, Infallible>,
) -> Vec<FrontDesign<'a>> {
    let Ok(fronts) = candidates.into_fronts(|_| true, passes);
    fronts.front
}

/// Counts of a fabric, as an engineer would write them down.
struct FabricCounts {
    switches: u64,
    capacity: u64,
    cables: u64,
    modules: u64,
    hops: u8,
    /// Switches and capacity of each later stage.
    later: Vec<[u64; 2]>,
}

impl FabricCounts {
    /// Creates the counts from those of each stage: switches, capacity, cables and cages.
    fn new(hops: u8, stages: &[[u64; 4]]) -> Self {
        let [switches, capacity, cables, modules] = stages[0];
        let later = stages[1..].iter().map(|[switches, capacity, ..]| [*switches, *capacity]).collect();
        FabricCounts { switches, capacity, cables, modules, hops, later }
    }

    /// Returns the numbers of the first stage, then those of the later ones.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        let first = [self.switches, self.capacity, self.cables, self.modules];
        first.into_iter().chain(self.later.iter().flatten().copied())
    }
}

/// Returns the same numbers of a design of the search.
fn numbers_of(measure: &Measure) -> Vec<u64> {
    let first = [u64::from(measure.switches), measure.capacity, measure.cables, measure.modules];
    let later = measure.later.iter().flat_map(|stage| [u64::from(stage.switches), stage.capacity]);
    first.into_iter().chain(later).collect()
}

/// Returns the number of NICs of each stage.
fn stages(need: &Requirements) -> Vec<u64> {
    let later = need.middle_stages.iter().copied().chain(need.limits.grow_to);
    std::iter::once(need.nics).chain(later).map(u64::from).collect()
}

/// Returns the bandwidth of a switch in Mb/s, as its vendor states it.
fn capacity(platform: &Platform) -> u64 {
    let tbps_10 = match platform.id.as_str() {
        "spectrum3-sn4700" | "th3-32x400g" => 128,
        "spectrum4-sn5600" | "spectrum4-sn5600-256x100g" => 512,
        "th2-64x100g" => 64,
        other => panic!("no bandwidth of {other}"),
    };
    tbps_10 * 100_000
}

/// Returns whether a switch spreads packets evenly over this many links, according to its vendor.
fn spreads(platform: &Platform, links: u64) -> bool {
    let is_spectrum = platform.id.starts_with("spectrum");
    links <= if is_spectrum { 128 } else { 64 } || is_spectrum && [256, 512].contains(&links)
}

/// Returns the maximum number of paths from a T1 to a T0 of another zone. FRR, which Cumulus Linux runs, adds
/// up their bandwidths as 32-bit numbers of bytes per second. It announces at least 1 Mb/s for each.
fn paths_max(need: &Requirements) -> u64 {
    if need.operating_systems == [Os::Nvue] { u64::from(u32::MAX) / 125_000 } else { u64::MAX }
}

/// Returns a share of some percent.
fn percent(percent: u32) -> LossShare {
    LossShare::from_millionths(percent * 10_000).expect("1 to 100 percent")
}

/// Returns whether a failed T1 costs a NIC no more than the limit.
fn keeps_loss(need: &Requirements, planes: u16, t1s: u64) -> bool {
    need.limits.t1_loss.is_none_or(|most| u64::from(most.millionths()) * u64::from(planes) * t1s >= 1_000_000)
}

/// Returns every single-tier fabric: one switch per plane, with all NICs on it.
fn all_of_one(need: &Requirements, planes: u16, catalogue: &Catalogue) -> Vec<FabricCounts> {
    let Some(speed) = need.port_speed(planes) else { return Vec::new() };
    let mut found = Vec::new();
    for platform in boxes(need, catalogue) {
        let splits = platform.panel.breakouts.iter().filter(|split| split.speed == speed);
        for _ in splits.filter(|split| cages(need.nics.into(), **split) <= platform.panel.cages.into()) {
            let capacity = u64::from(planes) * capacity(platform) / 1000;
            found.push(FabricCounts::new(1, &[[planes.into(), capacity, 0, 0]]));
        }
    }
    found
}

fn cages(ports: u64, split: Breakout) -> u64 {
    ports.div_ceil(split.ports.into())
}

/// Maximum number of T1s per plane in the loops.
const T1S_MAX: u64 = 64;

/// Maximum number of parallel cables in the loops.
const PARALLEL_MAX: u64 = 16;

fn boxes<'a>(need: &Requirements, catalogue: &'a Catalogue) -> Vec<&'a Platform> {
    need.platforms.iter().map(|name| &**catalogue.get(name).expect("it ships")).collect()
}

/// Returns the number of T0s that hold this many NICs, with `per_group` NICs on each. T0s are added in complete
/// units of one per rail.
fn t0s(need: &Requirements, nics: u64, per_group: u64) -> u64 {
    let rails = u64::from(need.rails);
    let mut units = 1;
    while units * rails * per_group < nics {
        units += 1;
    }
    units * rails
}

/// Returns the numbers of NICs that a T0 can have. A node has the same number of NICs on each of its T0s.
fn per_groups(need: &Requirements) -> impl Iterator<Item = u64> {
    let on_each = u64::from(need.nics_per_node / need.rails);
    let most = stages(need).pop().unwrap_or_default();
    (1..=most).filter(move |count| count % on_each == 0)
}

/// Returns every two-tier fabric: any breakout on each side, any number of NICs on a T0, any T1s, and the
/// parallel cables that these need.
fn all(need: &Requirements, planes: u16, catalogue: &Catalogue) -> Vec<FabricCounts> {
    let Some(speed) = need.port_speed(planes) else { return Vec::new() };
    let boxes = boxes(need, catalogue);
    let mut found = Vec::new();
    for (low, high) in boxes.iter().flat_map(|low| boxes.iter().map(move |high| (*low, *high))) {
        let splits = |platform: &Platform| platform.panel.breakouts.clone();
        for down in splits(low).into_iter().filter(|down| down.speed == speed) {
            for (up, top) in
                splits(low).into_iter().flat_map(|up| splits(high).into_iter().map(move |top| (up, top)))
            {
                if up.speed != top.speed {
                    continue;
                }
                for per_group in
                    per_groups(need).filter(|count| cages(*count, down) <= low.panel.cages.into())
                {
                    // With growth, a first stage that fits on one T0 gets two of them.
                    let least = if stages(need).len() > 1 { 2 } else { 1 };
                    let groups: Vec<u64> =
                        stages(need).into_iter().map(|nics| t0s(need, nics, per_group).max(least)).collect();
                    if groups[0] < 2 {
                        continue;
                    }
                    for t1s in (2..=T1S_MAX).filter(|t1s| keeps_loss(need, planes, *t1s)) {
                        let bandwidth = |ports: u64, split: Breakout| ports * u64::from(split.speed.mbps());
                        let most = need.limits.oversubscription;
                        let is_enough = |uplinks: u64| {
                            let down = bandwidth(per_group, down) * u64::from(most.up);
                            down <= bandwidth(uplinks, up) * u64::from(most.down) && spreads(low, uplinks)
                        };
                        // Use only the minimum number of parallel cables for these T1s.
                        let least = (1..=PARALLEL_MAX).find(|parallel| is_enough(t1s * parallel));
                        let Some(parallel) = least else { continue };
                        let uplinks = t1s * parallel;
                        let fits = cages(per_group, down) + cages(uplinks, up) <= low.panel.cages.into()
                            && cages(groups[groups.len() - 1] * parallel, top) <= high.panel.cages.into();
                        if !fits {
                            continue;
                        }
                        let planes = u64::from(planes);
                        let of_stage = |groups: &u64| {
                            [
                                planes * (groups + t1s),
                                planes * (groups * capacity(low) + t1s * capacity(high)) / 1000,
                                planes * groups * uplinks,
                                planes * (groups * cages(uplinks, up) + t1s * cages(groups * parallel, top)),
                            ]
                        };
                        let stages: Vec<[u64; 4]> = groups.iter().map(of_stage).collect();
                        found.push(FabricCounts::new(3, &stages));
                    }
                }
            }
        }
    }
    found
}

/// The switches of three tiers, and their breakouts.
#[derive(Clone, Copy)]
struct Boxes<'a> {
    t0: (&'a Platform, Breakout, Breakout),
    t1: (&'a Platform, Breakout, Breakout),
    t2: (&'a Platform, Breakout),
}

/// Returns every choice of switches and breakouts whose cables have the same speed at both ends.
fn choices<'a>(need: &Requirements, planes: u16, catalogue: &'a Catalogue) -> Vec<Boxes<'a>> {
    let sides = |low: &'a Platform| {
        let splits = &low.panel.breakouts;
        splits.iter().flat_map(move |down| splits.iter().map(move |up| (low, *down, *up)))
    };
    let boxes = boxes(need, catalogue);
    let pairs: Vec<_> = boxes.iter().flat_map(|low| sides(low)).collect();
    let mut found = Vec::new();
    for t0 in pairs.iter().copied().filter(|(_, down, _)| need.port_speed(planes) == Some(down.speed)) {
        for t1 in pairs.iter().copied().filter(|(_, down, _)| down.speed == t0.2.speed) {
            for top in &boxes {
                let splits = top.panel.breakouts.iter().filter(|split| split.speed == t1.2.speed);
                found.extend(splits.map(|split| Boxes { t0, t1, t2: (*top, *split) }));
            }
        }
    }
    found
}

/// Returns every three-tier fabric: any number of NICs on a T0, any zones, any rows of T2s.
fn all_of_three(need: &Requirements, planes: u16, catalogue: &Catalogue) -> Vec<FabricCounts> {
    let rails = u64::from(need.rails);
    let mut found = Vec::new();
    for boxes in choices(need, planes, catalogue) {
        let (low, down, _) = boxes.t0;
        for per_group in per_groups(need).filter(|count| cages(*count, down) <= low.panel.cages.into()) {
            let all: Vec<u64> = stages(need).into_iter().map(|nics| t0s(need, nics, per_group)).collect();
            let mut in_zones: Vec<u64> =
                (2..=256).map(|zones| (all[0] / rails).div_ceil(zones) * rails).collect();
            in_zones.dedup();
            for in_zone in in_zones {
                let zones: Vec<u64> = all.iter().map(|all| all.div_ceil(in_zone)).collect();
                if in_zone >= 2 && zones[0] >= 2 && zones[zones.len() - 1] <= 256 {
                    let t0s = (in_zone, all[all.len() - 1]);
                    found.extend(of_zones(need, planes, boxes, (per_group, t0s, &zones)));
                }
            }
        }
    }
    found
}

fn bandwidth(ports: u64, split: Breakout) -> u64 {
    ports * u64::from(split.speed.mbps())
}

/// Returns the ports of a switch that splits all of its cages.
fn panel(platform: &Platform, split: Breakout) -> u64 {
    u64::from(platform.panel.cages) * u64::from(split.ports)
}

/// Returns fabrics with any numbers of parallel cables and of rows of T2s above equal zones, with the fewest
/// T1s and uplinks. `zones` are those of each stage, and `t0s` those of the last one.
fn of_zones(
    need: &Requirements,
    planes: u16,
    boxes: Boxes<'_>,
    (per_group, (groups, t0s), zones): (u64, (u64, u64), &[u64]),
) -> Vec<FabricCounts> {
    let Boxes { t0: (low, down, up), t1: (mid, mid_down, mid_up), t2: (high, top) } = boxes;
    // T2s are needed only if a T1 has too few ports for all T0s, unless two tiers are not permitted.
    if need.tiers.contains(&2) && t0s <= panel(mid, mid_down) {
        return Vec::new();
    }
    let most = need.limits.oversubscription;
    let is_enough = |t1s: u64, parallel: u64| {
        let uplinks = t1s * parallel;
        let fits = cages(per_group, down) + cages(uplinks, up) <= low.panel.cages.into();
        let down = bandwidth(per_group, down) * u64::from(most.up);
        let is_even = down <= bandwidth(uplinks, up) * u64::from(most.down);
        is_even && fits && spreads(low, uplinks) && keeps_loss(need, planes, t1s)
    };
    let (wide, all) = (u64::from(planes), panel(high, top));
    let mut found = Vec::new();
    for parallel in 1..=panel(mid, mid_down) / groups {
        let down = groups * parallel;
        let has_uplinks = |above: u64| {
            bandwidth(down, mid_down) <= bandwidth(above, mid_up)
                && cages(down, mid_down) + cages(above, mid_up) <= mid.panel.cages.into()
                && spreads(mid, above.max(parallel))
        };
        let t1s = |least: u64, rows: u64| {
            (least..=panel(low, up)).find(|t1s| t1s % rows == 0 && is_enough(*t1s, parallel))
        };
        let above =
            |least: u64, t2s: u64| (least..=panel(mid, mid_up)).find(|up| up % t2s == 0 && has_uplinks(*up));
        let (Some(fewest_t1s), Some(fewest)) = (t1s(2, 1), above(2, 1)) else { continue };
        for (rows, t1s) in (1..=fewest_t1s).filter_map(|rows| Some((rows, t1s(fewest_t1s, rows)?))) {
            for (t2s, above) in (2..=fewest).filter_map(|t2s| Some((t2s, above(fewest, t2s)?))) {
                let (to_zone, t2s) = (t1s / rows * (above / t2s), rows * t2s);
                let is_possible = zones[zones.len() - 1] * to_zone <= all
                    && spreads(high, to_zone)
                    && above * to_zone * parallel <= paths_max(need);
                let low_side = cages(t1s * parallel, up);
                let mid_sides = cages(down, mid_down) + cages(above, mid_up);
                let of_stage = |zones: &u64| {
                    let capacity =
                        zones * (groups * capacity(low) + t1s * capacity(mid)) + t2s * capacity(high);
                    [
                        wide * (zones * (groups + t1s) + t2s),
                        wide * capacity / 1000,
                        wide * zones * (groups * t1s * parallel + t1s * above),
                        wide * (zones * (groups * low_side + t1s * mid_sides)
                            + t2s * cages(zones * to_zone, top)),
                    ]
                };
                let stages: Vec<[u64; 4]> = zones.iter().map(of_stage).collect();
                found.extend(is_possible.then(|| FabricCounts::new(5, &stages)));
            }
        }
    }
    found
}

fn need(boxes: &[&str], nodes: u32, planes: u16, speed: u32, ratio: (u32, u32)) -> Requirements {
    let nics_per_node = 4;
    Requirements {
        name: "fabric".to_owned(),
        nics: nodes * u32::from(nics_per_node),
        speed: closc_qos::units::Speed::gbps(speed),
        nics_per_node,
        rails: 1,
        planes: vec![planes],
        planes_by_nic: vec![1],
        tiers: vec![2, 3],
        routings: vec![Routing::BgpUnnumbered],
        operating_systems: vec![if boxes == SMALL { Os::Eos } else { Os::Nvue }],
        platforms: boxes.iter().map(|name| (*name).to_owned()).collect(),
        vendors: Vec::new(),
        middle_stages: Vec::new(),
        nic_cable: Length::from_meters(2),
        limits: Limits {
            oversubscription: Ratio::new(ratio.0.into(), ratio.1.into()).expect("no number is 0"),
            t0_loss: None,
            t1_loss: None,
            grow_to: None,
        },
    }
}

/// Returns an error for a fabric of the loops that the front neither contains nor beats. Otherwise returns
/// counts.
fn find_missing(need: &Requirements, planes: u16) -> Result<Counts, String> {
    let catalogue = Catalogue::builtin();
    let mut plain = if need.tiers.contains(&2) { all(need, planes, &catalogue) } else { Vec::new() };
    if need.tiers.contains(&3) {
        plain.extend(all_of_three(need, planes, &catalogue));
    }
    if need.tiers.contains(&1) && need.routings.contains(&Routing::EcmpStatic) {
        plain.extend(all_of_one(need, planes, &catalogue));
    }
    let mut candidates = Candidates::new(Criteria { growth: Some(need), ..Criteria::default() });
    let found = space(need, &catalogue, &mut candidates);
    let front = merged(candidates, |_| Ok(Verdict::Firm));
    if !plain.is_empty() {
        found.map_err(|why| why.to_string())?;
    }
    if let Some(found) = front.iter().find(|found| !is_founded(found, &front, &plain)) {
        return Err(format!("beaten, or not among the loops: {:?}", found.measure));
    }
    let kept: Vec<&Measure> = front.iter().map(|found| &found.measure).collect();
    let uneven = |found: &&FrontDesign<'_>| {
        let (ratio, most) = (found.design.oversubscription(), need.limits.oversubscription);
        u64::from(ratio.down) * u64::from(most.up) < u64::from(most.down) * u64::from(ratio.up)
    };
    for other in &plain {
        let is_held = kept.iter().any(|kept| {
            let mut numbers = numbers_of(kept).into_iter().zip(other.numbers());
            kept.hops <= other.hops && numbers.all(|(own, other)| own <= other)
        });
        if !is_held {
            let numbers: Vec<u64> = other.numbers().collect();
            return Err(format!(
                "not found: {} hops; switches, Gb/s, cables, cages, later switches and Gb/s: {numbers:?}",
                other.hops
            ));
        }
    }
    let count = |hops: u8| plain.iter().filter(|plain| plain.hops == hops).count();
    let hops = kept.iter().map(|kept| kept.hops).min();
    let padded = front.iter().filter(|found| found.design.places() > need.nics).count();
    let parallel = front.iter().filter(|found| found.design.third.is_some() && found.design.parallel > 1);
    let to_t2s = front.iter().filter_map(|found| found.design.third.as_ref());
    Ok(Counts {
        one: count(1),
        three: count(5),
        padded,
        uneven: front.iter().filter(uneven).count(),
        parallel: [parallel.count(), to_t2s.filter(|third| third.parallel > 1).count()],
        hops,
    })
}

/// Returns whether a design of the front has the same numbers as a fabric of the loops, and is not beaten
/// within the front. Designs beyond the loops' maximum numbers of T1s and parallel cables are accepted.
fn is_founded(found: &FrontDesign<'_>, front: &[FrontDesign<'_>], plain: &[FabricCounts]) -> bool {
    let (design, measure) = (&found.design, &found.measure);
    let values = |measure: &Measure| measure.numbers().into_iter().map(|(_, value)| value);
    let is_beaten = front.iter().any(|other| {
        let mut pairs = values(&other.measure).zip(values(measure));
        other.measure != *measure && pairs.all(|(other, own)| other <= own)
    });
    let is_beyond = design.third.is_none()
        && (u64::from(design.t1s()) > T1S_MAX || u64::from(design.parallel) > PARALLEL_MAX);
    let numbers = numbers_of(measure);
    let has =
        |plain: &FabricCounts| plain.hops == measure.hops && plain.numbers().eq(numbers.iter().copied());
    !is_beaten && (is_beyond || plain.iter().any(has))
}

/// Counts of fabrics of the loops by tiers, and of designs in the front. The latter are counted by free
/// places, by additional uplinks, and by parallel cables below and above the T1s of three tiers. Also
/// contains the fewest hops.
#[derive(Debug)]
struct Counts {
    one: usize,
    three: usize,
    padded: usize,
    uneven: usize,
    parallel: [usize; 2],
    hops: Option<u8>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_loops_find_nothing_better(
        nodes in 2_u32..200,
        planes in prop::sample::select(vec![1_u16, 2, 4]),
        speed in prop::sample::select(vec![200_u32, 400, 800]),
        ratio in prop::sample::select(vec![(1_u32, 1_u32), (2, 1), (3, 2), (1, 2)]),
        rails in prop::sample::select(vec![1_u8, 2, 4]),
    ) {
        let need = Requirements { rails, ..need(BOXES, nodes, planes, speed, ratio) };
        let found = find_missing(&need, planes);
        prop_assert!(found.is_ok(), "{:?}", found);
    }

    #[test]
    fn plain_loops_of_one_tier_find_nothing_better(
        nodes in 1_u32..80,
        planes in prop::sample::select(vec![1_u16, 2, 4]),
        speed in prop::sample::select(vec![100_u32, 200, 400, 800]),
        tiers in prop::sample::select(vec![vec![1_u8], vec![1, 2], vec![1, 2, 3]]),
    ) {
        let need = need(BOXES, nodes, planes, speed, (1, 1));
        let need = Requirements { tiers, routings: vec![Routing::EcmpStatic], ..need };
        let found = find_missing(&need, planes);
        prop_assert!(found.is_ok(), "{:?}", found);
    }

    #[test]
    fn plain_loops_of_three_tiers_find_nothing_better(
        nodes in 2_u32..80,
        planes in prop::sample::select(vec![1_u16, 2]),
        speed in prop::sample::select(vec![100_u32, 200]),
        ratio in prop::sample::select(vec![(1_u32, 1_u32), (2, 1), (3, 2), (1, 2)]),
        rails in prop::sample::select(vec![1_u8, 2, 4]),
        more in 0_u32..16,
    ) {
        let need = Requirements { rails, ..need(SMALL, nodes * 16 + more, planes, speed, ratio) };
        let found = find_missing(&need, planes);
        prop_assert!(found.is_ok(), "{:?}", found);
    }

    /// Few NICs with an unnecessary third tier, so that zones are small and have parallel cables.
    #[test]
    fn plain_loops_of_small_zones_find_nothing_better(
        nodes in 4_u32..120,
        planes in prop::sample::select(vec![1_u16, 2]),
        speed in prop::sample::select(vec![100_u32, 200, 400]),
        ratio in prop::sample::select(vec![(1_u32, 1_u32), (2, 1), (3, 2), (1, 2)]),
        rails in prop::sample::select(vec![1_u8, 2]),
        t1_loss in prop::sample::select(vec![None, Some(10_u32), Some(4), Some(3)]),
    ) {
        let need = need(&SMALL[1..], nodes, planes, speed, ratio);
        let limits = Limits { t1_loss: t1_loss.map(percent), ..need.limits };
        let need = Requirements { rails, tiers: vec![3], operating_systems: vec![Os::Eos], limits, ..need };
        let found = find_missing(&need, planes);
        prop_assert!(found.is_ok(), "{:?}", found);
    }

    /// A limit on the failure of a T1 requires more T1s, and more uplinks than the ratio.
    #[test]
    fn plain_loops_with_a_limit_on_t1s_find_nothing_better(
        nodes in 2_u32..200,
        planes in prop::sample::select(vec![1_u16, 2, 4]),
        speed in prop::sample::select(vec![200_u32, 400, 800]),
        ratio in prop::sample::select(vec![(1_u32, 1_u32), (2, 1), (1, 2)]),
        rails in prop::sample::select(vec![1_u8, 2, 4]),
        most in 1_u32..20,
    ) {
        let need = need(BOXES, nodes, planes, speed, ratio);
        let limits = Limits { t1_loss: Some(percent(most)), ..need.limits };
        let need = Requirements { rails, tiers: vec![2], limits, ..need };
        let found = find_missing(&need, planes);
        prop_assert!(found.is_ok(), "{:?}", found);
    }

    /// The numbers of each stage are compared, not only those of the first.
    #[test]
    fn plain_loops_of_stages_find_nothing_better(
        nodes in 2_u32..60,
        factors in prop::collection::vec(2_u32..6, 1..3),
        planes in prop::sample::select(vec![1_u16, 2]),
        rails in prop::sample::select(vec![1_u8, 2, 4]),
    ) {
        let need = staged(need(BOXES, nodes, planes, 400, (1, 1)), &factors);
        let need = Requirements { rails, tiers: vec![2], ..need };
        let found = find_missing(&need, planes);
        prop_assert!(found.is_ok(), "{:?}", found);
    }

    /// Growth adds zones.
    #[test]
    fn plain_loops_of_growing_zones_find_nothing_better(
        nodes in 4_u32..40,
        factors in prop::collection::vec(2_u32..5, 1..3),
        rails in prop::sample::select(vec![1_u8, 2]),
    ) {
        let need = staged(need(&SMALL[1..], nodes, 1, 400, (1, 1)), &factors);
        let need = Requirements { rails, tiers: vec![3], operating_systems: vec![Os::Eos], ..need };
        let found = find_missing(&need, 1);
        prop_assert!(found.is_ok(), "{:?}", found);
    }
}

/// Adds stages, each larger than the previous one by a factor.
fn staged(need: Requirements, factors: &[u32]) -> Requirements {
    let mut nics = need.nics;
    let mut stages: Vec<u32> = Vec::new();
    for factor in factors {
        nics *= factor;
        stages.push(nics);
    }
    let limits = Limits { grow_to: stages.pop(), ..need.limits };
    Requirements { middle_stages: stages, limits, ..need }
}

/// Returns the front of designs that meet the requirements, without checking files.
fn front(need: &Requirements) -> Vec<Measure> {
    let catalogue = Catalogue::builtin();
    let mut candidates = Candidates::new(Criteria { growth: Some(need), ..Criteria::default() });
    // If the search fails, the front is empty.
    let _outside = space(need, &catalogue, &mut candidates);
    merged(candidates, |_| Ok(Verdict::Firm)).into_iter().map(|found| found.measure).collect()
}

/// Returns a design that meets harder requirements, but is neither in the front for easier ones nor beaten by
/// it.
fn better(harder: &Requirements, easier: &Requirements) -> Option<Measure> {
    let easier = front(easier);
    let is_held = |harder: &Measure| easier.iter().any(|own| own == harder || own.beats(harder));
    let harder = front(harder).into_iter().map(|measure| Measure { later: Vec::new(), ..measure });
    harder.into_iter().find(|harder| !is_held(harder))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_harder_need_has_no_better_design(
        nodes in 8_u32..250,
        more in 1_u32..25,
        planes in prop::sample::select(vec![1_u16, 2, 4]),
        speed in prop::sample::select(vec![200_u32, 400]),
        rails in prop::sample::select(vec![1_u8, 2, 4]),
        boxes in prop::sample::select(vec![BOXES, SMALL]),
    ) {
        let easier = Requirements { rails, ..need(boxes, nodes, planes, speed, (1, 1)) };
        let limits = easier.limits;
        let ratio = |down, up| Ratio::new(down, up).expect("no number is 0");
        let harder = [
            Requirements { nics: easier.nics + more * 4, ..easier.clone() },
            Requirements { limits: Limits { grow_to: Some(easier.nics + more * 8), ..limits }, ..easier.clone() },
            Requirements { limits: Limits { oversubscription: ratio(1, 2), ..limits }, ..easier.clone() },
            Requirements { limits: Limits { oversubscription: ratio(2, 3), ..limits }, ..easier.clone() },
        ];
        for harder in harder {
            prop_assert_eq!(better(&harder, &easier), None, "{:?}", harder);
        }
    }
}

/// Candidates that count the branches they omit.
struct CountedCandidates<'c, 'a, 'p> {
    candidates: &'c mut Candidates<'a, 'p>,
    omitted: Cell<u32>,
}

impl<'a> Sieve<'a> for CountedCandidates<'_, 'a, '_> {
    fn omits(&self, floor: &Floor<'a>, tiers: u8) -> bool {
        let omits = self.candidates.omits(floor, tiers);
        self.omitted.set(self.omitted.get() + u32::from(omits));
        omits
    }

    fn add_design(&mut self, design: Design<'a>) {
        self.candidates.add_design(design);
    }
}

/// A search that omits branches below a bar finds the same front as the complete search.
#[test]
fn a_bar_omits_nothing_of_the_front() {
    let catalogue = Catalogue::builtin();
    let mut omitted = 0;
    for (boxes, nodes, planes, speed) in [
        (BOXES, 41, 2, 800),
        (BOXES, 64, 1, 400),
        (BOXES, 200, 4, 400),
        (SMALL, 333, 1, 100),
        (SMALL, 1500, 1, 100),
        (SMALL, 77, 2, 400),
    ] {
        let need = need(boxes, nodes, planes, speed, (1, 1));
        let mut samples = Candidates::new(Criteria::default());
        sample(&need, &catalogue, 1, &mut samples).expect("there are designs");
        let firm = |_: &Design<'_>| Ok::<_, Infallible>(Verdict::Firm);
        let Ok(mut candidates) = samples.into_bar(firm);
        let mut counted = CountedCandidates { candidates: &mut candidates, omitted: Cell::new(0) };
        space(&need, &catalogue, &mut counted).expect("there are designs");
        omitted += counted.omitted.get();
        let found: Vec<Measure> = merged(candidates, firm).into_iter().map(|found| found.measure).collect();
        assert_eq!(found, front(&need), "{nodes} nodes, {planes} planes, {speed}G");
    }
    assert!(omitted > 0, "the bar omits no branch");
}

/// Candidates that are thinned during a search have the same front at its end, even if checks reject designs.
#[test]
fn thinning_changes_no_front() {
    let catalogue = Catalogue::builtin();
    let verdict = |design: &Design<'_>| {
        let is_refused = (design.cables() + design.modules()).is_multiple_of(5);
        Ok::<_, Infallible>(if is_refused { Verdict::Refused } else { Verdict::Firm })
    };
    for (boxes, nodes, planes, speed) in
        [(BOXES, 41, 2, 800), (BOXES, 200, 4, 400), (SMALL, 333, 1, 100), (SMALL, 1500, 1, 100)]
    {
        let need = need(boxes, nodes, planes, speed, (1, 1));
        let fronts = |thinned: usize| {
            let (mut candidates, mut taken) = (Candidates::new(Criteria::default()), 0);
            let mut take = |design| {
                candidates.add(design);
                taken += 1;
                if taken % thinned == 0 {
                    let Ok(()) = candidates.thin(verdict);
                }
            };
            space(&need, &catalogue, &mut take).expect("there are designs");
            let front = merged(candidates, verdict);
            (front.into_iter().map(|found| found.measure).collect::<Vec<_>>(), taken)
        };
        let (whole, taken) = fronts(usize::MAX);
        for every in [1, 7, 64] {
            assert_eq!(fronts(every).0, whole, "{nodes} nodes, thinned at every {every} of {taken}");
        }
    }
}

/// A design that needs an assumed limit beats only others that need one. So a bar of such designs does not
/// omit a branch in which other T1s stay within their limits.
#[test]
fn a_bar_of_assumed_limits_omits_no_design_within_published_ones() {
    let catalogue = Catalogue::builtin();
    let verdict = |design: &Design<'_>| {
        let links = |tier: &Tier<'_>| tier.up.map_or(0, |up| up.count);
        let exceeds = |tier: &Tier<'_>| {
            let limits = &tier.platform.limits;
            let is_full = tier.down.count + links(tier) > limits.neighbours;
            is_full && limits.assumption(Limit::Neighbours).is_some()
        };
        let is_wide = |tier: &Tier<'_>, links: u32| {
            let up = tier.up.map(|side| side.breakout);
            let cages = tier.platform.cages_for(design.os, tier.down.breakout, up);
            let width = tier.platform.group_width((design.os, design.os.default_release()), cages);
            width.assumption.is_some() && !width.accepts(links.into())
        };
        let [t0, t1] = [&design.t0, &design.t1].map(|tier| is_wide(tier, links(tier).max(design.parallel)));
        let is_assumed = design.tiers().any(exceeds) || t0 || t1;
        Ok::<_, Infallible>(if is_assumed { Verdict::Assumed } else { Verdict::Firm })
    };
    let of = |front: Vec<FrontDesign<'_>>| {
        front.into_iter().map(|found| (found.measure, found.is_firm)).collect::<Vec<_>>()
    };
    let (mut assumed, mut firm) = (0, 0);
    for (nodes, planes, speed, grow_to) in
        [(96, 4, 200, None), (512, 8, 400, None), (2048, 8, 400, Some(65_536))]
    {
        let boxes = ["th4-64x400g", "th5-128x400g", "th3-32x400g", "th2-64x100g"];
        let need = need(&boxes, nodes, planes, speed, (1, 1));
        let limits = Limits { grow_to, ..need.limits };
        let need =
            Requirements { operating_systems: vec![Os::Eos], rails: 8, nics_per_node: 8, limits, ..need };
        let compared = Criteria { growth: Some(&need), ..Criteria::default() };
        let mut all = Candidates::new(compared);
        space(&need, &catalogue, &mut |design| all.add(design)).expect("there are designs");
        let expected = of(merged(all, verdict));
        for most in [1, 8] {
            let mut samples = Candidates::new(compared);
            sample(&need, &catalogue, most, &mut samples).expect("there are designs");
            let Ok(mut candidates) = samples.into_bar(verdict);
            space(&need, &catalogue, &mut candidates).expect("there are designs");
            assert_eq!(of(merged(candidates, verdict)), expected, "{nodes} nodes, {planes} planes, {speed}G");
        }
        assumed += expected.iter().filter(|(_, is_firm)| !is_firm).count();
        firm += expected.iter().filter(|(_, is_firm)| *is_firm).count();
    }
    assert!(assumed > 0 && firm > 0, "{assumed} designs need an assumed limit, {firm} do not");
}

/// The cost of a design is the sum over its switches, cables and cages. If an item has no price, the design
/// is omitted and counted.
#[test]
fn prices_are_a_number_of_each_design() {
    let catalogue = Catalogue::builtin();
    let parts = "cable nic-t0,1\ncable switch-switch,2\nmodule switch-switch,3\n";
    let prices = Prices::read(&format!("item,price\nspectrum4-sn5600,7\n{parts}")).expect("a table");
    let compared = Criteria { prices: Some(&prices), ..Criteria::default() };
    let found = |boxes: &[&str]| {
        let need = need(boxes, 64, 2, 400, (1, 1));
        let mut candidates = Candidates::new(compared);
        space(&need, &catalogue, &mut candidates).expect("there are designs");
        let unpriced = candidates.unpriced;
        (merged(candidates, |_| Ok(Verdict::Firm)), unpriced)
    };
    let (priced, none) = found(&["spectrum4-sn5600"]);
    assert!(none == 0 && !priced.is_empty());
    for FrontDesign { measure, design, .. } in &priced {
        let nic_cables = u64::from(design.places()) * u64::from(design.planes);
        let sum = u64::from(measure.switches) * 7 + nic_cables + measure.cables * 2 + measure.modules * 3;
        assert_eq!(measure.cost, sum, "{measure:?}");
    }
    let (both, unpriced) = found(&["spectrum4-sn5600", "spectrum3-sn4700"]);
    let measures =
        |front: &[FrontDesign<'_>]| front.iter().map(|found| found.measure.clone()).collect::<Vec<_>>();
    assert_eq!(measures(&both), measures(&priced));
    assert!(unpriced > 0, "the reason for an empty front");
}

/// Checks that the loops generate fabrics of each kind.
#[test]
fn loops_reach_each_kind() {
    let large = find_missing(&need(SMALL, 2048, 1, 100, (1, 1)), 1).expect("none is missing");
    assert!(large.three > 0, "{large:?}");
    let small = need(BOXES, 8, 2, 400, (1, 1));
    let found = find_missing(&small, 2).expect("none is missing");
    assert_eq!(found.hops, Some(3), "{found:?}");
    // With 41 nodes, T0s of equal size have free places.
    let uneven = find_missing(&need(BOXES, 41, 2, 800, (1, 1)), 2).expect("none is missing");
    assert!(uneven.padded > 0, "{uneven:?}");
    let limits = Limits { t1_loss: Some(percent(3)), ..small.limits };
    let found = find_missing(&Requirements { limits, ..small.clone() }, 2).expect("none is missing");
    assert!(found.uneven > 0, "{found:?}");
    let zones = need(&SMALL[1..], 32, 1, 400, (1, 1));
    let zones = Requirements { tiers: vec![3], operating_systems: vec![Os::Eos], ..zones };
    let found = find_missing(&zones, 1).expect("none is missing");
    assert!(found.parallel.iter().all(|several| *several > 0), "{found:?}");
    let small = Requirements { tiers: vec![1, 2], routings: vec![Routing::EcmpStatic], ..small };
    let found = find_missing(&small, 2).expect("none is missing");
    assert!(found.one > 0 && found.hops == Some(1), "{found:?}");
}

/// If the comparison ignored one number, such as hops, a design could beat one that is better in that number.
#[test]
fn each_number_decides() {
    let none = StageMeasure { switches: 0, capacity: 0, cost: 0, power: 0 };
    let zero = Measure {
        switches: 0,
        capacity: 0,
        planes_by_nic: 0,
        cables: 0,
        modules: 0,
        t0_loss: 0,
        hops: 0,
        cost: 0,
        power: 0,
        later: vec![none],
    };
    let later = |stage: StageMeasure| Measure { later: vec![stage], ..zero.clone() };
    let ones = [
        Measure { switches: 1, ..zero.clone() },
        Measure { capacity: 1, ..zero.clone() },
        Measure { planes_by_nic: 1, ..zero.clone() },
        Measure { cables: 1, ..zero.clone() },
        Measure { modules: 1, ..zero.clone() },
        Measure { t0_loss: 1, ..zero.clone() },
        Measure { hops: 1, ..zero.clone() },
        Measure { cost: 1, ..zero.clone() },
        Measure { power: 1, ..zero.clone() },
        later(StageMeasure { switches: 1, ..none }),
        later(StageMeasure { capacity: 1, ..none }),
        later(StageMeasure { cost: 1, ..none }),
        later(StageMeasure { power: 1, ..none }),
    ];
    assert_eq!(ones.len(), zero.numbers().len());
    for (at, worse) in ones.iter().enumerate() {
        assert!(zero.beats(worse) && !worse.beats(&zero), "{worse:?}");
        assert_eq!(worse.numbers()[at].1, 1, "{worse:?}");
        for other in &ones {
            assert!(!worse.beats(other), "{worse:?} and {other:?}");
        }
    }
    assert!(!zero.beats(&zero));
}

/// Requirements that no fabric can meet are rejected, even with the largest possible numbers. Regression: the
/// count of switches overflowed.
#[test]
fn the_largest_needs_are_refused() {
    let catalogue = Catalogue::builtin();
    for nodes in [1 << 28, (1 << 30) - 1] {
        let need = Requirements { rails: 4, ..need(BOXES, nodes, 4, 400, (1, 1)) };
        let mut found = 0;
        let result = space(&need, &catalogue, &mut |_| found += 1);
        assert!(result.is_err() && found == 0, "{nodes} nodes: {found} designs");
    }
}
