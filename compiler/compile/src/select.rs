//! `--select`: a subset of the devices, defined by terms that must all match.
//!
//! In: text such as `plane=3,tier=t0`; if a key is repeated, any of its values matches. Out: a predicate.
//! Invariants: NICs are attached to every plane. So host files are selected only by zone and `tier=hosts`, and a
//! term about planes or devices excludes them.

use std::fmt;
use std::str::FromStr;

use closc_topology::{Switch, TierId, ZoneId};
use glob::Pattern;

/// The value of `tier` that selects host files.
const HOSTS: &str = "hosts";

/// A subset of the devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    planes: Vec<u8>,
    tiers: Vec<String>,
    zones: Vec<u16>,
    devices: Vec<Pattern>,
}

impl Selection {
    /// Returns whether everything is selected.
    pub fn is_everything(&self) -> bool {
        *self == Selection::default()
    }

    /// Returns whether switches are selected by tier or name, so that a plane may be selected partially.
    pub fn picks_devices(&self) -> bool {
        !(self.tiers.is_empty() && self.devices.is_empty())
    }

    /// Returns whether any switch can be selected.
    pub fn has_switches(&self) -> bool {
        self.tiers.is_empty() || self.tiers.iter().any(|word| word != HOSTS)
    }

    /// Returns the planes that the selection names.
    pub fn planes(&self) -> &[u8] {
        &self.planes
    }

    /// Returns the zones that the selection names.
    pub fn zones(&self) -> &[u16] {
        &self.zones
    }

    /// Returns whether the selection has terms that need the coordinates of a switch: its zone or tier.
    pub fn goes_by_coordinates(&self) -> bool {
        !(self.zones.is_empty() && self.tiers.is_empty())
    }

    /// Returns whether a switch is selected by its name.
    pub fn has_named(&self, name: &str) -> bool {
        self.devices.is_empty() || self.devices.iter().any(|pattern| pattern.matches(name))
    }

    /// Returns whether switches of a plane can be selected.
    pub(crate) fn has_plane(&self, plane: u8) -> bool {
        self.planes.is_empty() || self.planes.contains(&plane)
    }

    /// Returns whether switches of a tier can be selected.
    pub(crate) fn has_tier(&self, tier: TierId) -> bool {
        self.tiers.is_empty() || self.tiers.iter().any(|word| word == tier.keyword())
    }

    /// Returns whether elements of a zone can be selected.
    pub(crate) fn has_zone(&self, zone: ZoneId) -> bool {
        self.zones.is_empty() || self.zones.contains(&zone.0)
    }

    /// Returns whether host files are selected: path tables, and files of nodes.
    pub fn has_hosts(&self) -> bool {
        let asked = self.tiers.iter().any(|word| word == HOSTS);
        self.planes.is_empty() && self.devices.is_empty() && (asked || self.tiers.is_empty())
    }

    /// Returns whether a switch is selected; `name` is called only if the selection contains device names.
    pub fn has(&self, switch: Switch, name: impl FnOnce() -> String) -> bool {
        self.has_plane(switch.plane.0)
            && self.has_zone(switch.zone)
            && self.has_tier(switch.tier)
            && (self.devices.is_empty() || {
                let name = name();
                self.devices.iter().any(|pattern| pattern.matches(&name))
            })
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
        for term in text.split(',').filter(|_| !text.is_empty()) {
            let (key, value) = term
                .split_once('=')
                .ok_or(format!("`{term}` is not a term; write `plane=3` or `tier=t0`"))?;
            let number = |what: &str| format!("`{value}` is not a {what} number");
            match key {
                "plane" => selection.planes.push(value.parse().map_err(|_| number("plane"))?),
                "zone" => selection.zones.push(value.parse().map_err(|_| number("zone"))?),
                "tier" if ["t0", "t1", "t2", HOSTS].contains(&value) => {
                    selection.tiers.push(value.to_owned());
                }
                "tier" => {
                    return Err(format!("`{value}` is not a tier; there are t0, t1 and t2, and `hosts`"));
                }
                "device" => {
                    let pattern = Pattern::new(value);
                    selection.devices.push(pattern.map_err(|error| format!("`{value}`: {error}"))?);
                }
                other => {
                    return Err(format!("`{other}` is not a key; there are plane, zone, tier and device"));
                }
            }
        }
        Ok(selection)
    }
}

#[cfg(test)]
mod tests {
    use closc_topology::{Naming, PlaneId};

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
        for device in [naming.switch(t0(1)).to_string(), "p1-*".to_owned()] {
            let named: Selection = format!("device={device}").parse().unwrap();
            assert!(has(&named, t0(1)) && !has(&named, t0(2)), "{device}");
        }
        assert!("".parse::<Selection>().unwrap().is_everything());
        assert!("rack=3".parse::<Selection>().unwrap_err().contains("not a key"));
        assert!("device=[".parse::<Selection>().is_err());
    }

    #[test]
    fn hosts_are_selected_by_zone_alone() {
        let has = |text: &str| text.parse::<Selection>().unwrap().has_hosts();
        assert!(has("") && has("zone=2") && has("tier=hosts,zone=2") && has("tier=hosts,tier=t0"));
        assert!(!has("plane=1") && !has("tier=t0") && !has("device=*") && !has("plane=1,tier=hosts"));
    }
}
