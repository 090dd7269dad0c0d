//! Maps: `DSCP_TO_TC_MAP`, `TC_TO_QUEUE_MAP`, `TC_TO_PRIORITY_GROUP_MAP`, `TC_TO_DSCP_MAP`, `PORT_QOS_MAP` and
//! `SWITCH_TRIMMING`.
//!
//! In: the profile. Out: rows. Invariants: every map that a port names is written. The DSCP of trimmed packets on
//! ports to NICs differs from that inside the fabric, so that NICs can distinguish incast from congestion.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::PortKind;
use closc_qos::Place;

use super::super::json::{Document, Row};
use super::super::repeated::Fields;
use super::{Qos, keyword};

impl Qos<'_> {
    /// Writes `DSCP_TO_TC_MAP`.
    pub(in super::super) fn code_points(&self, document: &mut Document) {
        document.table("DSCP_TO_TC_MAP", |table| table.map(&[self.name()], self.profile.dscp_to_tc()));
    }

    /// Writes `TC_TO_QUEUE_MAP`.
    pub(in super::super) fn class_queues(&self, document: &mut Document) {
        document.table("TC_TO_QUEUE_MAP", |table| table.map(&[self.name()], self.profile.tc_to_queue()));
    }

    /// Writes `TC_TO_PRIORITY_GROUP_MAP`.
    pub(in super::super) fn class_groups(&self, document: &mut Document) {
        document.table("TC_TO_PRIORITY_GROUP_MAP", |table| {
            table.map(&[self.name()], self.profile.tc_to_priority_group());
        });
    }

    /// Writes `TC_TO_DSCP_MAP`: one map for each place of the switch's ports. If the ASIC clears the DSCP of packets
    /// whose class is not listed, all classes are listed with their own DSCP.
    pub(in super::super) fn write_tc_to_dscp(&self, document: &mut Document) {
        document.table("TC_TO_DSCP_MAP", |table| {
            let places: BTreeSet<Place> = self.kinds().iter().map(|kind| kind.place).collect();
            let mut names: Vec<(&str, Place)> =
                places.into_iter().map(|place| (keyword(place), place)).collect();
            names.sort_unstable();
            for (name, place) in names {
                let trimmed = self.profile.tc_to_dscp(place);
                if trimmed.is_empty() {
                    continue;
                }
                let platform = self.view.intent.platform;
                let clears = platform.clears_unmapped_dscp(&self.view.intent.hardware);
                let mut map = if clears { self.profile.kept_dscp() } else { BTreeMap::new() };
                map.extend(trimmed);
                table.map(&[name], map);
            }
        });
    }

    /// Writes `PORT_QOS_MAP`.
    pub(in super::super) fn port_maps(&self, document: &mut Document) {
        let fields = |kind: &PortKind| Fields::new(|row| self.port_map(row, kind.place));
        let by_kind = self.kinds().iter().map(|kind| vec![(String::new(), fields(kind))]).collect();
        document.table("PORT_QOS_MAP", |table| {
            table.ports(self.ports(), by_kind);
            // For packets that do not arrive on a port of the fabric.
            table.row(&["global"], |row| row.text("dscp_to_tc_map", self.name()));
        });
    }

    fn port_map(&self, row: &mut Row<'_>, place: Place) {
        let profile = self.profile;
        row.text("dscp_to_tc_map", self.name());
        if self.pauses() {
            row.commas("pfc_enable", profile.pfc_priorities());
            if self.maps_groups() {
                row.text("pfc_to_pg_map", self.name());
            }
            row.text("pfc_to_queue_map", self.name());
            if profile.watchdog().is_some() {
                row.commas("pfcwd_sw_enable", profile.pfc_priorities());
            }
        }
        if profile.trimming().is_some() {
            row.text("tc_to_dscp_map", keyword(place));
        }
        row.text("tc_to_pg_map", self.name());
        row.text("tc_to_queue_map", self.name());
    }

    /// Writes `SWITCH_TRIMMING`.
    ///
    /// It always has all four fields, because the switch rejects the later removal of a field, and `tc_value` is
    /// valid only with `from-tc`.
    pub(in super::super) fn write_trimming(&self, document: &mut Document) {
        let Some(trimming) = self.profile.trimming() else { return };
        let Some(class) = self.profile.class(&trimming.class) else { return };
        document.table("SWITCH_TRIMMING", |table| {
            table.row(&["GLOBAL"], |row| {
                row.text("dscp_value", "from-tc");
                row.number("queue_index", self.trim_queue().unwrap_or(class.queue).get());
                row.number("size", self.view.intent.platform.trim_size(self.view.intent.os, trimming.size).0);
                row.number("tc_value", trimming.tc.get());
            });
        });
    }
}
