//! The maps of a switch: from DSCP to traffic class, and from traffic class to queue, priority group and DSCP.
//!
//! In: a [`Profile`]. Out: sorted maps. Invariants: maps are complete if the target requires it (all 64 code points).
//! They are consistent, because all are derived from the same classes.

use std::collections::BTreeMap;

use super::Profile;
use crate::codes::{Dscp, Priority, PriorityGroup, Queue, TrafficClass};
use crate::place::Place;

impl Profile {
    /// Returns the traffic class of each of the 64 code points (SONiC: `DSCP_TO_TC_MAP`).
    pub fn dscp_to_tc(&self) -> BTreeMap<Dscp, TrafficClass> {
        Dscp::all().map(|dscp| (dscp, self.class_of(dscp).tc)).collect()
    }

    /// Returns the queue of each traffic class, including that of trimmed packets (SONiC: `TC_TO_QUEUE_MAP`).
    pub fn tc_to_queue(&self) -> BTreeMap<TrafficClass, Queue> {
        let mut map: BTreeMap<_, _> = self.classes().map(|class| (class.tc, class.queue)).collect();
        if let Some((tc, class)) = self.trim_class() {
            map.insert(tc, class.queue);
        }
        map
    }

    /// Returns the priority group of each traffic class, including that of trimmed packets (SONiC:
    /// `TC_TO_PRIORITY_GROUP_MAP`).
    pub fn tc_to_priority_group(&self) -> BTreeMap<TrafficClass, PriorityGroup> {
        let mut map: BTreeMap<_, _> = self.classes().map(|class| (class.tc, class.priority_group)).collect();
        if let Some((tc, class)) = self.trim_class() {
            map.insert(tc, class.priority_group);
        }
        map
    }

    /// Returns the queue that each received pause stops (SONiC: `MAP_PFC_PRIORITY_TO_QUEUE`).
    pub fn pfc_to_queue(&self) -> BTreeMap<Priority, Queue> {
        self.lossless().map(|class| (class.priority, class.queue)).collect()
    }

    /// Returns the priority group that sends each pause (SONiC: `PFC_PRIORITY_TO_PRIORITY_GROUP_MAP`).
    pub fn pfc_to_priority_group(&self) -> BTreeMap<Priority, PriorityGroup> {
        self.lossless().map(|class| (class.priority, class.priority_group)).collect()
    }

    /// Returns the priorities with PFC, in ascending order (SONiC: `PORT_QOS_MAP|pfc_enable`).
    pub fn pfc_priorities(&self) -> Vec<Priority> {
        self.pfc_to_queue().into_keys().collect()
    }

    /// Returns the map that rewrites the DSCP of trimmed packets on a port (SONiC: `TC_TO_DSCP_MAP`); empty without
    /// trimming.
    pub fn tc_to_dscp(&self, place: Place) -> BTreeMap<TrafficClass, Dscp> {
        let dscp = |trimming: &super::Trimming| match place {
            Place::LastHop => trimming.last_hop_dscp,
            Place::Edge | Place::Fabric => trimming.fabric_dscp,
        };
        self.trimming().map(|trimming| (trimming.tc, dscp(trimming))).into_iter().collect()
    }

    /// Returns the code point that each traffic class keeps on ASICs that rewrite packets of every class (SONiC:
    /// `TC_TO_DSCP_MAP`). It is the code point that senders use. A default class without one keeps the lowest that maps
    /// to it. Packets trimmed by another switch keep the code point for the fabric. Classes to which no code point maps
    /// are not listed.
    pub fn kept_dscp(&self) -> BTreeMap<TrafficClass, Dscp> {
        let trimmed = self.trimming().map(|trimming| (&trimming.class, trimming.fabric_dscp));
        let kept = |class: &super::Class| {
            let own = trimmed.filter(|(name, _)| **name == class.name).map(|(_, dscp)| dscp);
            let first = || Dscp::all().find(|dscp| self.class_of(*dscp).name == class.name);
            Some((class.tc, own.or_else(|| class.mark()).or_else(first)?))
        };
        self.classes().filter_map(kept).collect()
    }

    /// Returns the internal number of trimmed packets on a switch that limits such numbers to `most`. It is their
    /// traffic class, or the highest unused number; `None` without trimming, or if all are used.
    pub fn trim_priority(&self, most: u8) -> Option<u8> {
        let own = self.trimming()?.tc.get();
        let is_free = |number: &u8| self.classes().all(|class| class.tc.get() != *number);
        if own <= most { Some(own) } else { (0..=most).rev().find(is_free) }
    }

    /// Returns the queues in use, each with its classes, in ascending order.
    pub fn queues(&self) -> BTreeMap<Queue, Vec<&super::Class>> {
        let mut queues: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for class in self.classes() {
            queues.entry(class.queue).or_default().push(class);
        }
        queues
    }

    /// Returns the priority groups in use, each with its classes, in ascending order.
    pub fn priority_groups(&self) -> BTreeMap<PriorityGroup, Vec<&super::Class>> {
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for class in self.classes() {
            groups.entry(class.priority_group).or_default().push(class);
        }
        groups
    }

    /// Returns the traffic class of trimmed packets, and their class.
    fn trim_class(&self) -> Option<(TrafficClass, &super::Class)> {
        let trimming = self.trimming()?;
        Some((trimming.tc, self.class(&trimming.class)?))
    }
}
