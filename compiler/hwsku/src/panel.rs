//! Derives the panel of a catalogue entry from the ports of hwskus.
//!
//! In: [`Cage`]s and [`Row`]s. Out: a [`Panel`], or the reason why the box has none. Invariants: the panel has equal
//! cages. A later check of the entry itself ensures that every port of a hwsku is on the panel.

use std::collections::{BTreeMap, BTreeSet};

use crate::alias::{self, AliasedPort};
use crate::sku::{Cage, Row};

/// Maximum number of service ports, which are cages that differ from the equal ones.
const SERVICE_MAX: usize = 4;

/// Speeds of Ethernet serial lanes, in Mb/s. Modes in `platform.json` also list speeds that need fewer lanes than the
/// port has, such as 100G for a port of eight lanes.
const LANES: [u32; 5] = [10_000, 25_000, 50_000, 100_000, 200_000];

/// Minimum speed of a fabric port, in Mb/s.
const SLOWEST: u32 = 25_000;

/// Ports of complete cages for which SONiC lists only the first lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The number of lanes in the list.
    pub(crate) lanes: usize,
    /// Mb/s of the port.
    mbps: u32,
}

/// A panel of equal cages.
pub(crate) struct Panel {
    pub(crate) cages: Vec<Cage>,
    pub(crate) lanes: usize,
    pub(crate) lane_mbps: u32,
    /// Breakouts: number of ports and Mb/s.
    pub(crate) breakouts: Vec<(u8, u32)>,
    pub(crate) aliases: alias::Patterns,
    pub(crate) step: u16,
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
    let all = if cages.is_empty() { of_rows(skus) } else { cages };
    let (mut cages, lanes) = equal(all)?;
    cages.retain(|cage| skus.values().flatten().any(|row| is_in(row, cage)));
    of_cages((cages, lanes), skus, usual)
}

/// Derives the panel of all cages, whether or not hwskus have ports in them.
pub(crate) fn of_all(
    cages: Vec<Cage>,
    skus: &BTreeMap<String, Vec<Row>>,
    usual: &str,
) -> Result<Panel, String> {
    of_cages(equal(cages)?, skus, usual)
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
    let used: BTreeSet<(u8, u32)> =
        skus.values().flat_map(|rows| splits(rows, &cages, listed)).filter_map(|(_, split)| split).collect();
    let fastest = used.iter().map(|(_, mbps)| *mbps).max();
    // All cages are assumed to support slower ports. Support for the fastest ports is known only from modes and hwskus.
    let is_everywhere = |split: &(u8, u32)| {
        let of_cage =
            |cage: &Cage| skus.values().any(|rows| split_of(rows, cage, listed) == Use::Split(*split));
        Some(split.1) != fastest || cages.iter().all(|cage| cage.modes.contains_key(split) || of_cage(cage))
    };
    let aliases = aliases((&cages, lanes, listed), skus, usual).ok_or("aliases follow no pattern")?;
    let common = |split: &(u8, u32)| cages.iter().all(|cage| cage.modes.contains_key(split));
    let offered = cages[0].modes.keys().copied().filter(common);
    let known =
        |split: &(u8, u32)| if split.0 == 1 { aliases.whole.is_some() } else { aliases.split.is_some() };
    let width = |ports: u8| lanes as u32 / u32::from(ports.max(1));
    let fits = |split: &(u8, u32)| {
        let lane = split.1 / width(split.0).max(1);
        lanes % usize::from(split.0.max(1)) == 0
            && split.1 == lane * width(split.0)
            && LANES.contains(&lane)
            && split.1 >= SLOWEST
    };
    let mut breakouts: Vec<(u8, u32)> =
        offered.chain(used.iter().copied().filter(is_everywhere)).filter(fits).filter(known).collect();
    breakouts.sort_by_key(|(ports, mbps)| (std::cmp::Reverse(u32::from(*ports) * mbps), *ports));
    breakouts.dedup();
    let lane_mbps =
        breakouts.iter().map(|(ports, mbps)| mbps / width(*ports).max(1)).max().ok_or("no breakouts")?;
    let step = cages.get(1).map_or(1, |second| second.index.wrapping_sub(cages[0].index));
    if step == 0 || step > 16 || !has_even_numbers(&cages, step) {
        return Err("numbers on the panel are not evenly spaced".to_owned());
    }
    let lanes_per_number = lanes_per_number(&cages, skus);
    Ok(Panel {
        cages,
        lanes,
        lane_mbps,
        breakouts,
        aliases,
        step,
        listed,
        lanes_per_number,
        has_suffix: false,
    })
}

/// Returns whether the numbers of cages on the panel have this distance.
fn has_even_numbers(cages: &[Cage], step: u16) -> bool {
    let first = cages.first().map_or(0, |cage| u32::from(cage.index));
    cages.iter().zip(0..).all(|(cage, at)| u32::from(cage.index) == first + at * u32::from(step))
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

/// Derives cages from the numbers on the panel, if no file describes the cages.
fn of_rows(skus: &BTreeMap<String, Vec<Row>>) -> Vec<Cage> {
    let mut found: BTreeMap<u16, Cage> = BTreeMap::new();
    for rows in skus.values() {
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
        return Err(format!("{} cages of {lanes} lanes and {} of other sizes", own.len(), others.len()));
    }
    Ok((own, *lanes))
}

/// Returns the position and the breakout of each cage in use; `None` if a cage has ports of two kinds.
pub(crate) fn splits(rows: &[Row], cages: &[Cage], listed: Option<Listed>) -> Vec<(u16, Option<(u8, u32)>)> {
    let used = (0..).zip(cages).map(|(at, cage)| (at, split_of(rows, cage, listed)));
    used.filter(|(_, used)| *used != Use::Unused)
        .map(|(at, used)| (at, if let Use::Split(split) = used { Some(split) } else { None }))
        .collect()
}

/// Use of a cage by ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Unused,
    /// Ports of two kinds, or only a part of the ports of a breakout.
    Mixed,
    /// A number of equal ports, and their speed in Mb/s.
    Split((u8, u32)),
}

fn split_of(rows: &[Row], cage: &Cage, listed: Option<Listed>) -> Use {
    let own = ports_in(rows, cage);
    let Some(first) = own.first() else { return Use::Unused };
    if is_complete(&own, cage, listed) {
        return Use::Split((1, first.mbps));
    }
    let is_equal = own.iter().all(|row| (row.mbps, row.lanes.len()) == (first.mbps, first.lanes.len()));
    let ports = cage.lanes.len() / first.lanes.len().max(1);
    if is_equal && own.len() == ports { Use::Split((ports as u8, first.mbps)) } else { Use::Mixed }
}

/// Returns whether the only port of a cage uses all of its lanes, including those that the files omit. A slower port with
/// as many listed lanes uses a part of the cage.
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
