//! The plane of a switch: from the compiled tree or saved plan, otherwise from the inventory.
//!
//! In: the plane that an entry of the inventory sets, and the one of the tree. Out: the plane of the switch.
//! Invariants: an entry that contradicts the tree is an error with its place, so that planes are pushed one by one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Inventory, InventoryError};

/// The plane that a compiled tree or saved plan has for a switch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KnownPlane {
    /// The plane; `None` in a tree without cable lists.
    pub(crate) of_switch: Option<u8>,
    /// The number of planes of the fabric; 0 if unknown.
    pub(crate) n_planes: u64,
}

/// A list of the inventory, whose first matching entry applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleList {
    /// `devices`, then `p4runtime`.
    P4Runtime,
    /// `sonic`.
    Sonic,
    /// `ssh`.
    Ssh,
}

impl RuleList {
    /// Returns its key in an inventory.
    pub(crate) fn key(self) -> &'static str {
        match self {
            RuleList::P4Runtime => "p4runtime",
            RuleList::Sonic => "sonic",
            RuleList::Ssh => "ssh",
        }
    }
}

/// The text of an inventory, for locating its values. It does not affect whether two inventories are equal.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    /// The path of the file, if it has one.
    pub(super) path: Option<String>,
    pub(super) text: String,
}

impl PartialEq for Text {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Text {}

/// The places of `plane` in an inventory.
#[derive(Default, Deserialize)]
struct Places {
    #[serde(default)]
    devices: BTreeMap<String, PlaneField>,
    #[serde(default)]
    p4runtime: Vec<PlacedRule>,
    #[serde(default)]
    sonic: Vec<PlaneField>,
    #[serde(default)]
    ssh: Vec<PlaneField>,
}

#[derive(Deserialize)]
struct PlaneField {
    plane: Option<Spanned<u8>>,
}

#[derive(Deserialize)]
struct PlacedRule {
    device: PlaneField,
}

impl Inventory {
    /// Returns the plane of a switch. `given` is the value in the entry of `list` that matches it.
    pub(crate) fn plane_in(
        &self,
        list: RuleList,
        name: &str,
        given: Option<u8>,
        known: KnownPlane,
    ) -> Result<Option<u8>, InventoryError> {
        let Some(plane) = given else { return Ok(known.of_switch) };
        let reason = match known {
            KnownPlane { of_switch: Some(own), .. } if own != plane => {
                format!("`{name}` is in plane {own}; remove `plane`, which comes from the compiled tree")
            }
            KnownPlane { of_switch: None, n_planes } if n_planes > 0 && u64::from(plane) >= n_planes => {
                format!("the last plane of this fabric is {}", n_planes - 1)
            }
            KnownPlane { .. } => return Ok(Some(plane)),
        };
        Err(InventoryError::Plane { place: self.place_of(list, name), plane, reason })
    }

    /// Returns file, line and column of `plane` in the entry that matches a switch.
    fn place_of(&self, list: RuleList, name: &str) -> String {
        let (path, text) = (self.text.path.as_deref().unwrap_or("inventory"), self.text.text.as_str());
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! { max_nodes: 4_000_000, max_events: 16_000_000 },
        };
        let places: Places = serde_saphyr::from_str_with_options(text, options).unwrap_or_default();
        let is_of = |devices: &str| closc_sonic::fits(devices, name);
        let place = match list {
            RuleList::P4Runtime => {
                let rule = self.p4runtime.iter().zip(&places.p4runtime);
                let mut fitting = rule.filter(|(rule, _)| is_of(&rule.devices));
                places.devices.get(name).or_else(|| fitting.next().map(|(_, place)| &place.device))
            }
            RuleList::Sonic => {
                let mut rules = self.sonic.iter().zip(&places.sonic);
                rules.find(|(rule, _)| is_of(&rule.devices)).map(|(_, place)| place)
            }
            RuleList::Ssh => {
                let mut rules = self.ssh.iter().zip(&places.ssh);
                rules.find(|(rule, _)| is_of(&rule.devices)).map(|(_, place)| place)
            }
        };
        match place.and_then(|place| place.plane.as_ref()) {
            Some(plane) => format!("{path}:{}:{}", plane.referenced.line(), plane.referenced.column()),
            None => path.to_owned(),
        }
    }
}
