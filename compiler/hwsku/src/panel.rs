//! Derives the panel of a catalogue entry from the ports of hwskus.
//!
//! In: [`Cage`]s and [`Row`]s. Out: a [`Panel`], or the reason why the box has none. Invariants: the panel has equal
//! cages. A later check of the entry itself ensures that every port of a hwsku is on the panel.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use crate::alias::{self, AliasedPort};
use crate::sku::{Cage, Group, Row};

/// Maximum number of service ports, which are cages that differ from the equal ones.
pub(crate) const SERVICE_MAX: usize = 4;

/// Speeds of Ethernet serial lanes, in Mb/s. Modes in `platform.json` also list speeds that need fewer lanes than the
/// port has, such as 100G for a port of eight lanes.
const LANES: [u32; 5] = [10_000, 25_000, 50_000, 100_000, 200_000];

/// Minimum speed of a fabric port, in Mb/s.
pub(crate) const SLOWEST: u32 = 25_000;

/// Ports of complete cages for which SONiC lists only the first lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The number of lanes in the list.
    pub(crate) lanes: usize,
    /// Mb/s of the port.
    mbps: u32,
}

/// A split of a cage into equal ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Split {
    pub(crate) ports: u8,
    /// Mb/s of each port.
    pub(crate) mbps: u32,
    /// Number of lanes in use, if the ports leave the last lanes of the cage unused.
    pub(crate) lanes: Option<u8>,
}

impl Split {
    fn complete(ports: u8, mbps: u32) -> Split {
        Split { ports, mbps, lanes: None }
    }

    /// Returns the speed of one lane in Mb/s, in cages with this number of lanes; `None` if the lanes cannot carry the
    /// ports.
    pub(crate) fn lane_mbps(self, lanes: usize) -> Option<u32> {
        let lanes = self.lanes.map_or(lanes as u32, u32::from);
        let ports = u32::from(self.ports.max(1));
        let width = lanes / ports;
        let lane = self.mbps.checked_div(width)?;
        let is_even = lanes.is_multiple_of(ports) && lane * width == self.mbps;
        (is_even && LANES.contains(&lane)).then_some(lane)
    }
}

/// A panel of equal cages.
pub(crate) struct Panel {
    pub(crate) cages: Vec<Cage>,
    pub(crate) lanes: usize,
    pub(crate) lane_mbps: u32,
    /// Breakouts of complete cages.
    pub(crate) breakouts: Vec<Split>,
    /// Breakouts that leave lanes of a cage unused.
    pub(crate) partial: Vec<Split>,
    /// The cages of each breakout that some cages do not support.
    pub(crate) breakout_cages: BTreeMap<Split, Vec<u16>>,
    pub(crate) aliases: alias::Patterns,
    pub(crate) step: u16,
    /// Number of adjacent cages with the same number on the panel.
    pub(crate) cages_per_number: u16,
    /// Ports of complete cages, if SONiC does not list all of their lanes.
    pub(crate) listed: Option<Listed>,
    /// Lanes per number in port names.
    pub(crate) lanes_per_number: u16,
    /// Whether the name of the entry ends with its ports, because another entry of the box has the name without them.
    pub(crate) has_suffix: bool,
}

/// Derives the panel of the cages in use. Splitting one cage can disable the next one, which then has no ports in any
/// hwsku.
pub(crate) fn derive(
    cages: Vec<Cage>,
    skus: &BTreeMap<String, Vec<Row>>,
    usual: &str,
) -> Result<Panel, String> {
    let all = if cages.is_empty() { of_rows(skus, usual) } else { cages };
    let (mut cages, lanes) = equal(without_service_cages(all, skus))?;
    cages.retain(|cage| skus.values().flatten().any(|row| is_in(row, cage)));
    of_cages((cages, lanes), skus, usual)
}

/// Derives the panel of all cages, whether or not hwskus have ports in them.
pub(crate) fn of_all(
    cages: Vec<Cage>,
    skus: &BTreeMap<String, Vec<Row>>,
    usual: &str,
) -> Result<Panel, String> {
    of_cages(equal(without_service_cages(cages, skus))?, skus, usual)
}

/// Returns whether the ports of each split cage have all of its lanes.
pub(crate) fn has_all_parts(rows: &[Row], cages: &[Cage]) -> bool {
    let full = |cage: &Cage| {
        let own: Vec<&Row> = rows.iter().filter(|row| is_in(row, cage)).collect();
        let lanes: usize = own.iter().map(|row| row.lanes.len()).sum();
        own.len() < 2 || lanes == cage.lanes.len()
    };
    cages.iter().all(full)
}

fn of_cages(
    (cages, lanes): (Vec<Cage>, usize),
    skus: &BTreeMap<String, Vec<Row>>,
    usual: &str,
) -> Result<Panel, String> {
    if let Some((lane, cage)) = cages.iter().find_map(|cage| Some((duplicate_lane(&cage.lanes)?, cage))) {
        return Err(format!(
            "Ethernet{} has lane {lane} twice; expected each lane once per port",
            cage.number
        ));
    }
    let listed = listed_lanes(&cages, skus);
    let all: BTreeSet<Split> =
        skus.values().flat_map(|rows| splits(rows, &cages, listed)).filter_map(|(_, split)| split).collect();
    let used = || all.iter().copied().filter(|split| split.lanes.is_none());
    let fastest = used().map(|split| split.mbps).max();
    // All cages are assumed to support slower ports. Support for the fastest ports is known only from modes and hwskus.
    let is_everywhere = |split: &Split| {
        let of_cage =
            |cage: &Cage| skus.values().any(|rows| split_of(rows, cage, listed) == Use::Split(*split));
        let has_mode = |cage: &Cage| cage.modes.contains_key(&(split.ports, split.mbps));
        Some(split.mbps) != fastest || cages.iter().all(|cage| has_mode(cage) || of_cage(cage))
    };
    let aliases = aliases((&cages, lanes, listed), skus, usual).ok_or("aliases follow no pattern")?;
    let common = |mode: &(u8, u32)| cages.iter().all(|cage| cage.modes.contains_key(mode));
    let offered = cages[0].modes.keys().copied().filter(common);
    let offered = offered.map(|(ports, mbps)| Split::complete(ports, mbps));
    let known =
        |split: &Split| if split.ports == 1 { aliases.whole.is_some() } else { aliases.split.is_some() };
    let fits = |split: &Split| split.lane_mbps(lanes).is_some() && split.mbps >= SLOWEST;
    let mut breakouts: Vec<Split> =
        offered.chain(used().filter(is_everywhere)).filter(fits).filter(known).collect();
    breakouts.sort_by_key(|split| (Reverse(u32::from(split.ports) * split.mbps), split.ports));
    breakouts.dedup();
    let lane_mbps =
        breakouts.iter().filter_map(|split| split.lane_mbps(lanes)).max().ok_or("no breakouts")?;
    let is_partial =
        |split: &Split| split.lanes.is_some() && split.lane_mbps(lanes).is_some_and(|lane| lane <= lane_mbps);
    let partial = all.iter().copied().chain(partial_modes(&cages, lanes, &aliases));
    let partial: BTreeSet<Split> = partial.filter(is_partial).filter(fits).filter(known).collect();
    let mut partial: Vec<Split> = partial.into_iter().collect();
    partial.sort_by_key(|split| (Reverse(u32::from(split.ports) * split.mbps), *split));
    let breakout_cages = breakout_cages(&cages, &breakouts, (skus, listed));
    let (step, cages_per_number) = numbers(&cages).ok_or("numbers on the panel are not evenly spaced")?;
    let lanes_per_number = lanes_per_number(&cages, skus);
    Ok(Panel {
        cages,
        lanes,
        lane_mbps,
        breakouts,
        partial,
        breakout_cages,
        aliases,
        step,
        cages_per_number,
        listed,
        lanes_per_number,
        has_suffix: false,
    })
}

/// Returns the cages of each breakout that some cages lack: those with the mode in `platform.json`, and those with the
/// breakout in a hwsku. Without `platform.json`, all cages are assumed to support each breakout.
fn breakout_cages(
    cages: &[Cage],
    breakouts: &[Split],
    (skus, listed): (&BTreeMap<String, Vec<Row>>, Option<Listed>),
) -> BTreeMap<Split, Vec<u16>> {
    if cages.iter().any(|cage| cage.modes.is_empty()) {
        return BTreeMap::new();
    }
    let supports = |cage: &Cage, split: Split| {
        cage.modes.contains_key(&(split.ports, split.mbps))
            || skus.values().any(|rows| split_of(rows, cage, listed) == Use::Split(split))
    };
    let of = |split: &Split| {
        let own = (0..).zip(cages).filter(|(_, cage)| supports(cage, *split)).map(|(at, _)| at);
        (*split, own.collect::<Vec<u16>>())
    };
    breakouts.iter().map(of).filter(|(_, own)| own.len() < cages.len()).collect()
}

/// Returns the modes of `platform.json` that leave lanes of every cage unused, and whose aliases follow the patterns.
fn partial_modes(cages: &[Cage], lanes: usize, patterns: &alias::Patterns) -> BTreeSet<Split> {
    let of_cage = |(position, cage): (u16, &Cage)| {
        let split = move |(groups, aliases): &(Vec<Group>, Vec<String>)| {
            let [group] = &groups[..] else { return Vec::new() };
            let Some((ports, used)) = group.partial_split(lanes) else { return Vec::new() };
            let width = usize::from(used) / usize::from(ports);
            let named = (0..).zip(aliases).map(|(part, alias)| AliasedPort {
                alias: alias.clone(),
                split: ports > 1,
                cage: cage.index,
                position,
                name: cage.number + part * width as u16,
                part,
                lane: part * width as u16,
            });
            let is_named =
                aliases.len() == usize::from(ports) && named.into_iter().all(|own| patterns.fits(&own));
            let speeds = group.speeds().filter(|_| is_named);
            speeds.map(|mbps| Split { ports, mbps, lanes: Some(used) }).collect()
        };
        cage.all_modes.iter().flat_map(split).collect::<BTreeSet<Split>>()
    };
    let all = (0..).zip(cages).map(of_cage);
    all.reduce(|common, own| &common & &own).unwrap_or_default()
}

/// Returns the step between the numbers of cages on the panel, and how many adjacent cages have the same number; `None`
/// if the numbers are not evenly spaced.
fn numbers(cages: &[Cage]) -> Option<(u16, u16)> {
    let first = cages.first()?.index;
    let equal = cages.iter().take_while(|cage| cage.index == first).count() as u16;
    let step = cages.get(usize::from(equal)).map_or(1, |next| next.index.wrapping_sub(first));
    let is_even = |(at, cage): (u16, &Cage)| {
        u32::from(cage.index) == u32::from(first) + u32::from(at / equal) * u32::from(step)
    };
    ((1..=16).contains(&step) && (0..).zip(cages).all(is_even)).then_some((step, equal))
}

/// Returns the ports of a hwsku in a cage.
fn ports_in<'a>(rows: &'a [Row], cage: &Cage) -> Vec<&'a Row> {
    rows.iter().filter(|row| is_in(row, cage)).collect()
}

/// Returns the ports of complete cages for which the files list only some lanes. These lanes alone would be faster than
/// any lane of a split cage.
fn listed_lanes(cages: &[Cage], skus: &BTreeMap<String, Vec<Row>>) -> Option<Listed> {
    let all = || skus.values().flat_map(|rows| cages.iter().map(|cage| (cage, ports_in(rows, cage))));
    let of_lane = |row: &Row| row.mbps / (row.lanes.len() as u32).max(1);
    let split = all().filter(|(_, own)| own.len() > 1).flat_map(|(_, own)| own);
    let fastest = split.map(of_lane).max()?;
    let mut found = all().filter_map(|(cage, own)| {
        let [row] = own[..] else { return None };
        let is_part = row.lanes.len() < cage.lanes.len() && of_lane(row) > fastest;
        let fills = row.mbps == fastest * cage.lanes.len() as u32;
        (is_part && fills).then_some(Listed { lanes: row.lanes.len(), mbps: row.mbps })
    });
    let first = found.next()?;
    found.all(|listed| listed == first).then_some(first)
}

/// Returns the lanes per number in port names: 1 if no other number fits all ports of split cages.
fn lanes_per_number(cages: &[Cage], skus: &BTreeMap<String, Vec<Row>>) -> u16 {
    let all = || skus.values().flat_map(|rows| cages.iter().map(|cage| (cage, ports_in(rows, cage))));
    let fits = |per_number: u16| {
        all().filter(|(_, own)| own.len() > 1).all(|(cage, own)| {
            own.iter().all(|row| {
                let lane = cage.lanes.iter().position(|lane| Some(lane) == row.lanes.first());
                let number = row.number.wrapping_sub(cage.number);
                lane.is_some_and(|lane| lane as u16 == number.saturating_mul(per_number))
            })
        })
    };
    [1, 2, 4].into_iter().find(|per_number| fits(*per_number)).unwrap_or(1)
}

fn duplicate_lane(lanes: &[u16]) -> Option<u16> {
    let mut seen = BTreeSet::new();
    lanes.iter().copied().find(|lane| !seen.insert(*lane))
}

/// Returns the patterns of all aliases. If hwskus of a box have aliases of several styles, returns the patterns of the
/// default hwsku, or of the first hwsku with a pattern.
fn aliases(
    (cages, lanes, listed): (&[Cage], usize, Option<Listed>),
    skus: &BTreeMap<String, Vec<Row>>,
    usual: &str,
) -> Option<alias::Patterns> {
    let modes = || (0..).zip(cages).flat_map(|(position, cage)| of_modes(position, cage, lanes));
    let own = |name: &str| skus.get(name).into_iter().flat_map(|rows| of_ports(rows, cages, listed));
    let all = modes().chain(skus.values().flat_map(|rows| of_ports(rows, cages, listed)));
    let all: Vec<AliasedPort> = all.collect();
    let names = || std::iter::once(usual).chain(skus.keys().map(String::as_str));
    let beside_modes = |name: &str| alias::patterns(&modes().chain(own(name)).collect::<Vec<_>>());
    let alone = |name: &str| alias::patterns(&own(name).collect::<Vec<_>>());
    let found = alias::patterns(&all).or_else(|| names().find_map(beside_modes));
    found.or_else(|| names().find_map(alone))
}

/// Returns hwskus that do not contradict each other: a lane has the same number on the panel in all of them. Hwskus
/// with more bandwidth take precedence, then the default one, then those with more ports.
fn consistent<'a>(skus: &'a BTreeMap<String, Vec<Row>>, usual: &str) -> Vec<&'a Vec<Row>> {
    let mbps = |rows: &[Row]| rows.iter().map(|row| u64::from(row.mbps)).sum::<u64>();
    let mut ordered: Vec<(&String, &Vec<Row>)> = skus.iter().collect();
    ordered.sort_by_key(|(name, rows)| (Reverse(mbps(rows)), *name != usual, Reverse(rows.len())));
    let mut numbers: BTreeMap<u16, u16> = BTreeMap::new();
    let mut found = Vec::new();
    for (_, rows) in ordered {
        let own = || rows.iter().flat_map(|row| row.lanes.iter().map(|lane| (*lane, row.index)));
        if own().all(|(lane, index)| numbers.get(&lane).is_none_or(|known| *known == index)) {
            numbers.extend(own());
            found.push(rows);
        }
    }
    found
}

/// Derives cages from the numbers on the panel, if no file describes the cages.
fn of_rows(skus: &BTreeMap<String, Vec<Row>>, usual: &str) -> Vec<Cage> {
    let mut found: BTreeMap<u16, Cage> = BTreeMap::new();
    for rows in consistent(skus, usual) {
        let mut own: BTreeMap<u16, Cage> = BTreeMap::new();
        for row in rows {
            let cage = own.entry(row.index).or_insert_with(|| Cage {
                number: row.number,
                index: row.index,
                lanes: Vec::new(),
                modes: BTreeMap::new(),
                all_modes: Vec::new(),
            });
            cage.lanes.extend(&row.lanes);
        }
        for (index, cage) in own {
            let known = found.entry(index).or_insert_with(|| cage.clone());
            if known.lanes.len() < cage.lanes.len() {
                *known = cage;
            }
        }
    }
    let mut cages: Vec<Cage> = found.into_values().collect();
    cages.sort_by_key(|cage| cage.number);
    cages
}

/// Removes a few cages that have at most half of the bandwidth of the others in all hwskus and modes, as service ports
/// have.
fn without_service_cages(mut all: Vec<Cage>, skus: &BTreeMap<String, Vec<Row>>) -> Vec<Cage> {
    let mbps = |cage: &Cage| {
        let of_rows =
            |rows: &Vec<Row>| ports_in(rows, cage).iter().map(|row| u64::from(row.mbps)).sum::<u64>();
        let modes = cage.modes.keys().map(|(ports, mbps)| u64::from(*ports) * u64::from(*mbps));
        skus.values().map(of_rows).chain(modes).max().unwrap_or(0)
    };
    let fastest = all.iter().map(mbps).max().unwrap_or(0);
    let is_service = |cage: &Cage| (1..=fastest / 2).contains(&mbps(cage));
    let count = all.iter().filter(|cage| is_service(cage)).count();
    if count <= SERVICE_MAX && count * 2 < all.len() {
        all.retain(|cage| !is_service(cage));
    }
    all
}

/// Returns the cages of one size: the size whose cages have the most lanes in total. A few cages of other sizes are
/// service ports.
fn equal(all: Vec<Cage>) -> Result<(Vec<Cage>, usize), String> {
    let mut kinds: BTreeMap<usize, usize> = BTreeMap::new();
    for cage in &all {
        *kinds.entry(cage.lanes.len()).or_default() += cage.lanes.len();
    }
    let (lanes, _) = kinds.iter().max_by_key(|(_, total)| **total).ok_or("no ports")?;
    let (own, others): (Vec<Cage>, Vec<Cage>) = all.into_iter().partition(|cage| cage.lanes.len() == *lanes);
    if others.len() > SERVICE_MAX {
        return Err(format!(
            "{} cages have {lanes} lanes and {} have another number of lanes, but closc describes panels of equal cages",
            own.len(),
            others.len()
        ));
    }
    Ok((own, *lanes))
}

/// Returns the position and the breakout of each cage in use. The breakout is `None` if the ports of the cage are not
/// equal, or not on its first lanes.
pub(crate) fn splits(rows: &[Row], cages: &[Cage], listed: Option<Listed>) -> Vec<(u16, Option<Split>)> {
    let used = (0..).zip(cages).map(|(at, cage)| (at, split_of(rows, cage, listed)));
    used.filter(|(_, used)| *used != Use::Unused)
        .map(|(at, used)| (at, if let Use::Split(split) = used { Some(split) } else { None }))
        .collect()
}

/// Use of a cage by ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Unused,
    /// Ports of two kinds, or ports on other lanes than the first ones.
    Mixed,
    /// Equal ports.
    Split(Split),
}

fn split_of(rows: &[Row], cage: &Cage, listed: Option<Listed>) -> Use {
    let own = ports_in(rows, cage);
    let Some(first) = own.first() else { return Use::Unused };
    if is_complete(&own, cage, listed) {
        return Use::Split(Split::complete(1, first.mbps));
    }
    let width = first.lanes.len().max(1);
    let is_equal = own.iter().all(|row| (row.mbps, row.lanes.len()) == (first.mbps, width));
    let Some(ports) = u8::try_from(own.len()).ok().filter(|_| is_equal) else { return Use::Mixed };
    let is_first = own.iter().zip(cage.lanes.chunks(width)).all(|(row, lanes)| row.lanes[..] == *lanes);
    match (own.len() * width).cmp(&cage.lanes.len()) {
        Ordering::Equal => Use::Split(Split::complete(ports, first.mbps)),
        Ordering::Less if is_first && !cage.lanes.len().is_multiple_of(width) => Use::Mixed,
        Ordering::Less if is_first => {
            Use::Split(Split { ports, mbps: first.mbps, lanes: u8::try_from(own.len() * width).ok() })
        }
        Ordering::Less | Ordering::Greater => Use::Mixed,
    }
}

/// Returns whether the only port of a cage uses all of its lanes, including those that the files omit. A slower port
/// with as many listed lanes uses a part of the cage.
fn is_complete(own: &[&Row], cage: &Cage, listed: Option<Listed>) -> bool {
    let [row] = own else { return false };
    row.lanes.len() == cage.lanes.len() || listed == Some(Listed { lanes: row.lanes.len(), mbps: row.mbps })
}

pub(crate) fn is_in(row: &Row, cage: &Cage) -> bool {
    row.lanes.first().is_some_and(|lane| cage.lanes.contains(lane))
}

/// Returns the ports of a cage for each of its breakouts, with their aliases.
fn of_modes(position: u16, cage: &Cage, lanes: usize) -> impl Iterator<Item = AliasedPort> + '_ {
    cage.modes.iter().flat_map(move |((ports, _), aliases)| {
        let (width, split) = (lanes / usize::from((*ports).max(1)), *ports != 1);
        aliases.iter().enumerate().map(move |(part, alias)| AliasedPort {
            alias: alias.clone(),
            split,
            cage: cage.index,
            position,
            name: cage.number + (part * width) as u16,
            part: part as u16,
            lane: (part * width) as u16,
        })
    })
}

/// Returns the ports of a hwsku with their aliases. A single port that is narrower than its cage is skipped, because
/// its alias may be that of the cage or that of a part.
fn of_ports(rows: &[Row], cages: &[Cage], listed: Option<Listed>) -> Vec<AliasedPort> {
    let of = |(position, cage): (u16, &Cage)| {
        let own = ports_in(rows, cage);
        let is_complete = is_complete(&own, cage, listed);
        let split = !is_complete && own.iter().any(|row| row.lanes.len() < cage.lanes.len());
        let own = if split && own.len() == 1 { Vec::new() } else { own };
        let named = own.iter().enumerate().map(|(part, row)| AliasedPort {
            alias: row.alias.clone(),
            split,
            cage: cage.index,
            position,
            name: row.number,
            part: part as u16,
            lane: cage.lanes.iter().position(|lane| Some(lane) == row.lanes.first()).unwrap_or(0) as u16,
        });
        named.collect::<Vec<_>>()
    };
    (0..).zip(cages).flat_map(of).collect()
}
