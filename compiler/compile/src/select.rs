//! `--select`: some of the devices, by terms that must all hold.
//!
//! In: text such as `plane=3,tier=t0`; a key given several times means any of its values. Out: a predicate.

use std::fmt;
use std::str::FromStr;

use closc_topology::Switch;

/// Some of the devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    planes: Vec<u8>,
    tiers: Vec<String>,
    zones: Vec<u16>,
    devices: Vec<String>,
}

impl Selection {
    /// Tells whether everything is selected.
    pub fn is_everything(&self) -> bool {
        *self == Selection::default()
    }

    /// Tells whether a switch is selected; its name is asked for where devices are named.
    pub fn has(&self, switch: Switch, name: impl FnOnce() -> String) -> bool {
        let any = |empty: bool, found: bool| empty || found;
        any(self.planes.is_empty(), self.planes.contains(&switch.plane.0))
            && any(self.zones.is_empty(), self.zones.contains(&switch.zone.0))
            && any(self.tiers.is_empty(), self.tiers.iter().any(|t| t == switch.tier.word()))
            && (self.devices.is_empty() || self.devices.contains(&name()))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let planes = self.planes.iter().map(|plane| format!("plane={plane}"));
        let zones = self.zones.iter().map(|zone| format!("zone={zone}"));
        let tiers = self.tiers.iter().map(|tier| format!("tier={tier}"));
        let devices = self.devices.iter().map(|device| format!("device={device}"));
        let terms: Vec<String> = planes.chain(zones).chain(tiers).chain(devices).collect();
        f.write_str(&terms.join(","))
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut selection = Selection::default();
        for term in text.split(',').filter(|term| !term.is_empty()) {
            let (key, value) =
                term.split_once('=').ok_or(format!("`{term}` is no term; write `plane=3` or `tier=t0`"))?;
            let number = |what: &str| format!("`{value}` is no {what} number");
            match key {
                "plane" => selection.planes.push(value.parse().map_err(|_| number("plane"))?),
                "zone" => selection.zones.push(value.parse().map_err(|_| number("zone"))?),
                "tier" if ["t0", "t1", "t2"].contains(&value) => selection.tiers.push(value.to_owned()),
                "tier" => return Err(format!("`{value}` is no tier; there are t0, t1 and t2")),
                "device" => selection.devices.push(value.to_owned()),
                other => {
                    return Err(format!("`{other}` is no key; there are plane, zone, tier and device"));
                }
            }
        }
        Ok(selection)
    }
}

#[cfg(test)]
mod tests {
    use closc_topology::{Naming, PlaneId, TierId, ZoneId};

    use super::*;

    #[test]
    fn terms_of_one_key_are_alternatives_and_keys_all_hold() {
        let selection: Selection = "plane=1,plane=3,tier=t0".parse().unwrap();
        let naming = Naming::default_for(false);
        let t0 = |plane| Switch { plane: PlaneId(plane), tier: TierId::T0, zone: ZoneId(0), index: 4 };
        let has = |selection: &Selection, switch| selection.has(switch, || naming.switch(switch).to_string());
        assert!(has(&selection, t0(1)) && has(&selection, t0(3)));
        assert!(!has(&selection, t0(2)));
        assert!(!has(&selection, Switch { tier: TierId::T1, ..t0(1) }));
        let named: Selection = format!("device={}", naming.switch(t0(1))).parse().unwrap();
        assert!(has(&named, t0(1)) && !has(&named, t0(2)));
        assert!("".parse::<Selection>().unwrap().is_everything());
        assert!("rack=3".parse::<Selection>().unwrap_err().contains("no key"));
    }
}
