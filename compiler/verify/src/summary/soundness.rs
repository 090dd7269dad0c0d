//! Checks the values of a summary, which `merge` does not trust.

use std::collections::BTreeSet;

use closc_artefacts::manifest::GroupRun;

use super::{SHOWN, Summary};
use crate::interface::nics::Nics;
use crate::interface::{KINDS, is_number, number};
use crate::proof::chosen::counts::DeliveryCounts;
use crate::proof::count::PathCounts;
use crate::rules::rules;

/// Maximum number of planes, because their numbers are bytes.
const PLANES_MAX: u64 = 256;

/// A field, and the error in it.
type Fault = (String, String);

/// Returns the error for a field.
fn fault<T>(field: &str, why: impl Into<String>) -> Result<T, Fault> {
    Err((field.to_owned(), why.into()))
}

/// Returns the error for a field if a condition does not hold.
fn expect(holds: bool, field: &str, why: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { fault(field, why) }
}

impl Summary {
    /// Rejects impossible values, with the field and the reason.
    pub(crate) fn sound(&self) -> Result<(), Fault> {
        self.parts()?;
        self.numbers()?;
        self.verdict()?;
        self.check_shared_values()
    }

    /// Checks that the planes and zones exist in the source, and that no plane is listed twice.
    fn parts(&self) -> Result<(), Fault> {
        let planes = self.counts.planes;
        expect((1..=PLANES_MAX).contains(&planes), "counts.planes", "a fabric has 1 to 256 planes")?;
        let own = self.planes.as_deref().unwrap_or_default();
        let rising = own.windows(2).all(|pair| pair[0] < pair[1]);
        expect(rising, "planes", "expected each plane once, in ascending order")?;
        if let Some(plane) = own.iter().find(|plane| u64::from(**plane) >= planes) {
            return fault("planes", format!("the source has {planes} planes, so there is no plane {plane}"));
        }
        let has = |plane: &u8| {
            u64::from(*plane) < planes && self.planes.as_ref().is_none_or(|own| own.contains(plane))
        };
        let of_cables = self.interface.planes.iter().all(|cables| has(&cables.plane));
        expect(of_cables, "interface.planes", "it contains a plane that was not proved")?;
        expect(
            self.interface.nics.keys().all(has),
            "interface.nics",
            "it contains a plane that was not proved",
        )?;
        let has_tables = self.routing.is_source_routed() || self.groups.is_none();
        expect(has_tables, "groups", "there are no path tables with this routing")?;
        let zones = self.counts.zones;
        for run in self.groups.as_deref().unwrap_or_default() {
            let GroupRun { zone, first, last } = *run;
            if u64::from(zone) >= zones.max(1) || first == 0 || first > last {
                return fault(
                    "groups",
                    format!("there are no groups {first} to {last} of zone {zone} of {zones}"),
                );
            }
        }
        Ok(())
    }

    /// Checks that numbers are consistent. With violations, less can be checked, because they may be the reason for
    /// missing elements.
    fn numbers(&self) -> Result<(), Fault> {
        expect(self.host_links <= self.read.cables, "host_links", "there are more of them than cables")?;
        let of_planes = |(plane, count): (&u8, &u64)| {
            let own = self.planes.as_ref().is_none_or(|planes| planes.contains(plane));
            if own { *count } else { 0 }
        };
        let tiers = self.tiers.iter().try_fold(0u64, |sum, tier| sum.checked_add(*tier));
        let lone = self.uncabled.iter().map(of_planes).try_fold(0u64, u64::checked_add);
        // The tier of a switch without cables is in its uSIDs.
        let lone = if self.routing.is_source_routed() { Some(0) } else { lone };
        let all = tiers.zip(lone).and_then(|(tiers, lone)| tiers.checked_add(lone));
        let fits = tiers.is_some_and(|tiers| tiers <= self.read.switches);
        expect(fits, "tiers", "there are more switches in tiers than were read")?;
        let fits = self.broken > 0 || all == Some(self.read.switches);
        expect(
            fits,
            "tiers",
            "together with those without a cable, they are not the switches that were read",
        )?;
        self.check_read_counts()?;
        self.paths()?;
        self.deliveries()?;
        let mut nics = Nics::default();
        self.interface.nics.values().for_each(|own| _ = nics.join(own));
        // A NIC without an address is a violation.
        let listed = self.routing.is_source_routed() || nics.count() == self.read.nics || self.broken > 0;
        expect(listed, "interface.nics", "their number is not that of the NICs that were read")?;
        let senders = self.interface.senders;
        let most = if self.routing.is_source_routed() { 0 } else { self.host_links };
        expect(senders <= most, "interface.senders", "more NICs send than have cables")?;
        let load = self.load.is_none_or(|load| load.is_sound());
        expect(load, "load", "the load of cables is inconsistent")
    }

    /// Checks that the numbers of tables, nodes and cables match the groups and planes.
    fn check_read_counts(&self) -> Result<(), Fault> {
        let read = &self.read;
        expect(self.planes.is_none() || read.nodes == 0, "read.nodes", "no part has nodes")?;
        expect(read.nodes <= self.counts.nodes, "read.nodes", "there are more than the source has")?;
        if self.broken > 0 {
            return Ok(());
        }
        let run = |run: &GroupRun| u64::from(run.last.saturating_sub(run.first)) + 1;
        let tables = match (&self.groups, &self.interface.tables) {
            (Some(groups), _) => groups.iter().map(run).sum(),
            (None, Some(tables)) => u64::from(tables.zones) * u64::from(tables.groups),
            (None, None) => 0,
        };
        let tables = if self.routing.is_source_routed() { tables } else { 0 };
        expect(read.tables == tables, "read.tables", "their number is not that of the groups")?;
        let cables = self.interface.planes.iter().try_fold(0u64, |sum, plane| sum.checked_add(plane.cables));
        let fits = !self.routing.is_source_routed() || cables == Some(read.cables);
        expect(fits, "interface.planes", "the planes do not have all cables that were read")
    }

    /// Checks that the counts of paths are consistent. If nothing is absent, all paths of every pair of NICs arrive.
    fn paths(&self) -> Result<(), Fault> {
        let Some(PathCounts { named, arrive, in_use, local, zone, far }) = self.paths else { return Ok(()) };
        expect(self.routing.is_source_routed(), "paths", "hosts do not write paths with this routing")?;
        expect(arrive <= named, "paths.arrive", "more arrive than there are")?;
        expect(in_use <= arrive, "paths.in_use", "more are in use than arrive")?;
        let sum = local.checked_add(zone).and_then(|sum| sum.checked_add(far));
        expect(
            sum == Some(arrive),
            "paths",
            "those over one, three and five switches are not those that arrive",
        )?;
        let planes = self.planes.as_ref().map_or(self.counts.planes, |planes| planes.len() as u64);
        // A plane whose cables are all absent is not in the list of planes with cables.
        let absent = self.interface.planes.len() as u64 != planes
            || self.interface.planes.iter().any(|plane| plane.declares);
        if self.broken > 0 || absent {
            return Ok(());
        }
        expect(named == arrive, "paths.arrive", "fewer arrive than there are, and nothing is absent")?;
        let pairs = |paths: u128, each: u64| {
            // Paths of a pair of NICs are counted over all planes that exist. A pair on one T0 has one path in each.
            let each = u128::from(each) * u128::from(planes) / u128::from(self.counts.paths_local.max(1));
            match (paths.checked_rem(each), each) {
                (Some(0), _) => Some(paths / each),
                (None, _) if paths == 0 => Some(0),
                _ => None,
            }
        };
        let counts = &self.counts;
        let of = [(local, counts.paths_local), (zone, counts.paths_zone), (far, counts.paths_far)];
        let all = of.into_iter().try_fold(0u128, |sum, (paths, each)| sum.checked_add(pairs(paths, each)?));
        let nics = u128::from(counts.nics);
        let fits = planes == 0 || all == Some(nics * nics.saturating_sub(1));
        expect(fits, "paths", "they are not those of all pairs of NICs, and nothing is absent")
    }

    /// Checks that the counts of deliveries are consistent. Without violations, every sender sends to all other NICs,
    /// and all possible deliveries arrive.
    fn deliveries(&self) -> Result<(), Fault> {
        let Some(DeliveryCounts { deliveries, possible, arrive, doubtful, ways, tried, .. }) = self.delivery
        else {
            return Ok(());
        };
        expect(!self.routing.is_source_routed(), "delivery", "switches do not choose with this routing")?;
        expect(possible <= deliveries, "delivery.possible", "more are possible than there are")?;
        let most = arrive.checked_add(doubtful).is_some_and(|sum| sum <= deliveries);
        expect(most, "delivery.arrive", "more arrive than there are")?;
        expect(ways <= tried, "delivery.ways", "more ways arrive than are tried")?;
        if self.broken > 0 {
            return Ok(());
        }
        let (senders, nics) = (u128::from(self.interface.senders), u128::from(self.read.nics));
        let all = senders.checked_mul(nics.saturating_sub(1));
        expect(
            all == Some(deliveries),
            "delivery.deliveries",
            "not every NIC that sends sends to every other",
        )?;
        let holds = possible == arrive && doubtful == 0;
        expect(holds, "delivery.possible", "not all arrive that are possible, and nothing is broken")?;
        expect(arrive <= ways, "delivery.ways", "fewer ways arrive than deliveries")?;
        let whole = possible < deliveries || ways == tried;
        expect(whole, "delivery.tried", "not all ways arrive that are tried, and every delivery does")
    }

    /// Checks that rules are known, and that violations add up.
    fn verdict(&self) -> Result<(), Fault> {
        let known: BTreeSet<&str> = rules().into_iter().map(|rule| rule.code).collect();
        expect(!self.rules.is_empty(), "rules", "no rule was applied")?;
        if let Some(code) = self.rules.keys().find(|code| !known.contains(code.as_str())) {
            return fault("rules", format!("`{code}` is not a rule"));
        }
        let broken = self.rules.values().try_fold(0u64, |sum, tally| sum.checked_add(tally.broken));
        expect(broken == Some(self.broken), "broken", "it is not the sum of the results of all rules")?;
        expect(self.violations.len() <= SHOWN, "violations", "there are more than are shown")?;
        for violation in &self.violations {
            let found = self.rules.get(&violation.rule).is_some_and(|tally| tally.broken > 0);
            if !found {
                return fault("violations", format!("rule `{}` is not broken", violation.rule));
            }
        }
        Ok(())
    }

    /// Checks the syntax and order of values that are compared with other parts.
    fn check_shared_values(&self) -> Result<(), Fault> {
        let interface = &self.interface;
        for (kind, runs) in &interface.once {
            if !KINDS.contains(&kind.as_str()) {
                return fault("interface.once", format!("`{kind}` is not a kind of value that is used once"));
            }
            let fits = |[first, last]: &[String; 2]| {
                is_number(first) && is_number(last) && number(first) <= number(last)
            };
            if let Some([first, last]) = runs.iter().find(|run| !fits(run)) {
                return fault("interface.once", format!("`{first}` to `{last}` is not a run of a {kind}"));
            }
        }
        let gateways = interface.gateways.iter().all(|text| is_number(text));
        expect(gateways, "interface.gateways", "a gateway is not a hexadecimal number")?;
        if let Some(tables) = &interface.tables {
            let sums = [Some(&tables.judged), tables.all.as_ref()];
            let fits = sums.into_iter().flatten().all(|text| is_number(text));
            expect(fits, "interface.tables", "a sum of digests is not a hexadecimal number")?;
        }
        let rises = interface
            .lengths
            .iter()
            .flatten()
            .all(|(least, most)| least <= most && u32::try_from(*most).is_ok());
        expect(rises, "interface.lengths", "the shortest cable is longer than the longest")
    }
}
