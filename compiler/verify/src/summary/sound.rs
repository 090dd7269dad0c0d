//! What a summary says is possible: for whoever puts parts together, and believes nobody.

use std::collections::BTreeSet;

use closc_artefacts::manifest::GroupRun;

use super::{SHOWN, Summary};
use crate::interface::nics::Nics;
use crate::interface::{KINDS, is_number, number};
use crate::proof::chosen::counts::DeliveryCounts;
use crate::proof::count::PathCounts;
use crate::rules::rules;

/// Planes that a fabric has at most: their numbers are bytes.
const PLANES_MAX: u64 = 256;

/// A field, and what is wrong with it.
type Fault = (String, String);

/// Says what is wrong with a field.
fn fault<T>(field: &str, why: impl Into<String>) -> Result<T, Fault> {
    Err((field.to_owned(), why.into()))
}

/// Says what is wrong with a field, where it is.
fn expect(holds: bool, field: &str, why: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { fault(field, why) }
}

impl Summary {
    /// Refuses what cannot be, with the field and the reason.
    pub(crate) fn sound(&self) -> Result<(), Fault> {
        self.parts()?;
        self.numbers()?;
        self.verdict()?;
        self.shared()
    }

    /// Planes and groups are those of the source, each once.
    fn parts(&self) -> Result<(), Fault> {
        let planes = self.counts.planes;
        expect((1..=PLANES_MAX).contains(&planes), "counts.planes", "a fabric has 1 to 256 planes")?;
        let own = self.planes.as_deref().unwrap_or_default();
        let rising = own.windows(2).all(|pair| pair[0] < pair[1]);
        expect(rising, "planes", "planes are there once each, in order")?;
        if let Some(plane) = own.iter().find(|plane| u64::from(**plane) >= planes) {
            return fault("planes", format!("the source has {planes} planes, and none is plane {plane}"));
        }
        let has = |plane: &u8| {
            u64::from(*plane) < planes && self.planes.as_ref().is_none_or(|own| own.contains(plane))
        };
        let of_cables = self.interface.planes.iter().all(|cables| has(&cables.plane));
        expect(of_cables, "interface.planes", "a plane is there that was not proved")?;
        expect(
            self.interface.nics.keys().all(has),
            "interface.nics",
            "a plane is there that was not proved",
        )?;
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

    /// Numbers fit each other.
    fn numbers(&self) -> Result<(), Fault> {
        expect(self.host_links <= self.read.cables, "host_links", "there are more than cables")?;
        let tiers = self.tiers.iter().try_fold(0u64, |sum, tier| sum.checked_add(*tier));
        let fits = tiers.is_some_and(|tiers| tiers <= self.read.switches);
        expect(fits, "tiers", "there are more switches in tiers than were read")?;
        if let Some(PathCounts { named, arrive, in_use, local, zone, far }) = self.paths {
            expect(self.routing.is_source_routed(), "paths", "hosts do not write paths with this routing")?;
            expect(arrive <= named, "paths.arrive", "more arrive than there are")?;
            expect(in_use <= arrive, "paths.in_use", "more are in use than arrive")?;
            let sum = local.checked_add(zone).and_then(|sum| sum.checked_add(far));
            expect(
                sum == Some(arrive),
                "paths",
                "those over one, three and five switches are not those that arrive",
            )?;
        }
        if let Some(DeliveryCounts { deliveries, possible, arrive, doubtful, ways, tried, .. }) =
            self.delivery
        {
            expect(!self.routing.is_source_routed(), "delivery", "switches do not choose with this routing")?;
            expect(possible <= deliveries, "delivery.possible", "more are possible than there are")?;
            let most = arrive.checked_add(doubtful).is_some_and(|sum| sum <= deliveries);
            expect(most, "delivery.arrive", "more arrive than there are")?;
            expect(ways <= tried, "delivery.ways", "more ways arrive than are tried")?;
        }
        let mut nics = Nics::default();
        self.interface.nics.values().for_each(|own| _ = nics.join(own));
        // A NIC without an address is broken.
        let listed = self.routing.is_source_routed() || nics.count() == self.read.nics || self.broken > 0;
        expect(listed, "interface.nics", "there are not as many NICs as were read")?;
        let senders = self.interface.senders;
        expect(senders <= self.host_links, "interface.senders", "more NICs send than have cables")?;
        let load = self.load.is_none_or(|load| load.is_sound());
        expect(load, "load", "what cables carry does not add up")
    }

    /// Rules are known, and what is broken adds up.
    fn verdict(&self) -> Result<(), Fault> {
        let known: BTreeSet<&str> = rules().into_iter().map(|rule| rule.code).collect();
        expect(!self.rules.is_empty(), "rules", "no rule was applied")?;
        if let Some(code) = self.rules.keys().find(|code| !known.contains(code.as_str())) {
            return fault("rules", format!("no rule is called `{code}`"));
        }
        let broken = self.rules.values().try_fold(0u64, |sum, tally| sum.checked_add(tally.broken));
        expect(broken == Some(self.broken), "broken", "it is not the sum of what rules found")?;
        expect(self.violations.len() <= SHOWN, "violations", "there are more than are shown")?;
        for violation in &self.violations {
            let found = self.rules.get(&violation.rule).is_some_and(|tally| tally.broken > 0);
            if !found {
                return fault("violations", format!("rule `{}` is not broken", violation.rule));
            }
        }
        Ok(())
    }

    /// What is compared with other parts has its form.
    fn shared(&self) -> Result<(), Fault> {
        let interface = &self.interface;
        for (kind, runs) in &interface.once {
            if !KINDS.contains(&kind.as_str()) {
                return fault("interface.once", format!("`{kind}` is nothing that is used once"));
            }
            let fits = |[first, last]: &[String; 2]| {
                is_number(first) && is_number(last) && number(first) <= number(last)
            };
            if let Some([first, last]) = runs.iter().find(|run| !fits(run)) {
                return fault("interface.once", format!("`{first}` to `{last}` is no run of a {kind}"));
            }
        }
        let gateways = interface.gateways.iter().all(|text| is_number(text));
        expect(gateways, "interface.gateways", "a gateway is no hexadecimal number")?;
        if let Some(tables) = &interface.tables {
            let sums = [Some(&tables.judged), tables.all.as_ref()];
            let fits = sums.into_iter().flatten().all(|text| is_number(text));
            expect(fits, "interface.tables", "a sum of digests is no hexadecimal number")?;
        }
        let rises = interface
            .lengths
            .iter()
            .flatten()
            .all(|(least, most)| least <= most && u32::try_from(*most).is_ok());
        expect(rises, "interface.lengths", "the shortest cable is longer than the longest")
    }
}
