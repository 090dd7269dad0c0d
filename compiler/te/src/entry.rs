//! Pin entries, which hosts or switches apply.
//!
//! In: an outcome. Out: [`Pin`]s, one at a time, in the order of destinations, then sources. Invariants: only cables
//! that can be used have a weight; pairs without a pin are spread evenly, or left to ECMP. Planes and uplinks count
//! from 0, groups and downlinks from 1, as in path tables.

use std::fmt::{self, Write as _};

use closc_fabric::Shape;
use closc_plan::{EntropyFormat, Plan, UplinkChoice};
use closc_topology::{Link, PlaneId, PortRef, Side};
use serde::Serialize;

use crate::class::{Class, Classes};
use crate::commodity::Commodity;
use crate::engineer::Outcome;
use crate::load::Stage;
use crate::place::{Place, group_name};
use crate::placement::Placement;
use crate::route::Route;
use crate::split::{GroupPair, Weights, share};

/// Name and version of the format of pins.
pub const FORMAT: &str = "closc-pins/1";

/// Paths for traffic from the NICs of one group to those of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pin {
    /// The T0 group that sends.
    pub from: String,
    /// The sending NICs to which the pin applies, if not to all of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_nics: Option<Vec<String>>,
    /// The T0 group that receives.
    pub to: String,
    /// The receiving NICs to which the pin applies, if not to all of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_nics: Option<Vec<String>>,
    /// Prefix of all NICs of the receiving group.
    pub prefix: String,
    /// The rate that was placed, in Gb/s over all planes.
    pub gbps: f64,
    /// Action in each plane. Planes that are not listed carry none of this traffic.
    pub planes: Vec<PinPlane>,
}

/// Action in a plane.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PinPlane {
    /// The plane.
    pub plane: u8,
    /// Its weight among the planes.
    pub weight: u16,
    /// The paths in it.
    #[serde(flatten)]
    pub via: Via,
}

/// The paths in a plane.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Spread evenly over all paths that can be used.
    Even(bool),
    /// These paths, by their weights.
    Paths(Vec<Path>),
    /// One path, switch by switch, as far as the pin fixes it: the port through which packets leave each
    /// switch.
    Hops(Vec<Hop>),
}

/// A path in the terms of path tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Path {
    /// The entropy value that selects it.
    pub entropy: u32,
    /// Uplink of the sender's T0.
    pub uplink: u16,
    /// Uplink of the T1, between zones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t1_uplink: Option<u16>,
    /// Its weight among the paths of the plane.
    pub weight: u32,
}

/// One switch of a pinned path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hop {
    /// The switch.
    pub switch: String,
    /// Its port, as the device names it.
    pub port: String,
    /// The cable.
    pub cable: String,
}

impl Outcome {
    /// Returns the number of pins.
    pub fn pin_count(&self) -> usize {
        (0..self.commodities.all.len()).filter(|at| self.is_pinned(*at)).count()
    }

    /// Makes the pins, one at a time.
    pub fn pins<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = Pin> + 'a {
        (0..self.commodities.all.len()).filter(|at| self.is_pinned(*at)).map(|at| self.pin(plan, at))
    }

    /// Makes the lines of an `ecmp.pins` file, one at a time; none if hosts choose paths or if there are no pins.
    pub fn pin_lines<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = PinLine> + 'a {
        let (all, kinds) = (&self.commodities.all, self.network.kinds.len());
        let key = |commodity: &Commodity| (self.ends(commodity).0.group, commodity.to);
        let routes = match &self.placement {
            Placement::Pinned(Some(routes)) => routes.as_slice(),
            Placement::Pinned(None) | Placement::Sprayed(_) => &[],
        };
        let mut first = 0;
        let bundles = std::iter::from_fn(move || {
            let start = first;
            let head = all.get(start).filter(|_| !routes.is_empty())?;
            first = (start..all.len()).find(|at| key(&all[*at]) != key(head)).unwrap_or(all.len());
            Some((start..first, head))
        });
        bundles.flat_map(move |(members, head)| {
            let mut lines = Vec::new();
            for (kind, planes) in self.network.kinds.iter().map(|kind| &kind.planes).enumerate() {
                let route = members.clone().find_map(|at| routes[at * kinds + kind]);
                for (plane, route) in planes.iter().zip(route.into_iter().cycle()) {
                    let switch = self.network.shape.t0_switch(*plane, self.ends(head).0.group);
                    let uplink = (route.up as usize % self.network.shape.t0_up) as u16;
                    let nics = self.sides.to.members(&self.network, head.to as usize);
                    lines.extend(nics.map(|nic| PinLine {
                        switch: plan.topology().naming.switch(switch).to_string(),
                        nic: Place::Nic(self.network.shape.nic_at(nic)).name(plan.topology()),
                        uplink,
                    }));
                }
            }
            lines
        })
    }

    fn is_pinned(&self, at: usize) -> bool {
        let kinds = self.network.kinds.len();
        match &self.placement {
            Placement::Sprayed(splits) => splits[at].is_some(),
            Placement::Pinned(None) => false,
            Placement::Pinned(Some(routes)) => routes[at * kinds..][..kinds].iter().any(Option::is_some),
        }
    }

    fn pin(&self, plan: &Plan, at: usize) -> Pin {
        let commodity = &self.commodities.all[at];
        let (from, to) = self.ends(commodity);
        let (zone, group) = self.network.shape.group_at(to.group);
        let name = |group: usize| {
            let (zone, group) = self.network.shape.group_at(group);
            group_name(plan.topology(), zone, group)
        };
        Pin {
            from: name(from.group),
            from_nics: self.some(plan, &self.sides.from, commodity.from as usize),
            to: name(to.group),
            to_nics: self.some(plan, &self.sides.to, commodity.to as usize),
            prefix: plan.addresses().group(zone, group).to_string(),
            gbps: commodity.gbps,
            planes: self.planes(plan, at, commodity),
        }
    }

    fn ends(&self, commodity: &Commodity) -> (Class, Class) {
        (self.sides.from.all[commodity.from as usize], self.sides.to.all[commodity.to as usize])
    }

    /// Returns the names of a class's NICs, or `None` if they are all NICs of the group.
    fn some(&self, plan: &Plan, classes: &Classes, class: usize) -> Option<Vec<String>> {
        let first = classes.all[class].group * self.network.shape.per_group;
        let there = &self.network.there[first..first + self.network.shape.per_group];
        let all = there.iter().filter(|there| **there).count();
        let name = |nic: usize| Place::Nic(self.network.shape.nic_at(nic)).name(plan.topology());
        (classes.all[class].nics as usize != all)
            .then(|| classes.members(&self.network, class).map(name).collect())
    }

    fn planes(&self, plan: &Plan, at: usize, commodity: &Commodity) -> Vec<PinPlane> {
        let kinds = self.network.kinds.len();
        let mut found = Vec::new();
        for (kind, planes) in self.network.kinds.iter().map(|kind| &kind.planes).enumerate() {
            match &self.placement {
                Placement::Sprayed(splits) => {
                    let Some(weights) = splits[at].as_deref() else { continue };
                    if share(&self.network, commodity, Some(weights), kind) > 0.0 {
                        let each = planes.iter().map(|plane| PinPlane {
                            plane: plane.0,
                            weight: weights.planes[kind],
                            via: self.paths(plan, commodity, weights, kind, *plane),
                        });
                        found.extend(each);
                    }
                }
                Placement::Pinned(routes) => {
                    let route = routes.as_ref().and_then(|routes| routes[at * kinds + kind]);
                    let each = planes.iter().zip(route.into_iter().cycle()).map(|(plane, route)| PinPlane {
                        plane: plane.0,
                        weight: 1,
                        via: Via::Hops(hops(plan, &self.network.shape, *plane, route)),
                    });
                    found.extend(each);
                }
            }
        }
        found.sort_by_key(|plane| plane.plane);
        found
    }

    fn paths(
        &self,
        plan: &Plan,
        commodity: &Commodity,
        weights: &Weights,
        kind: usize,
        plane: PlaneId,
    ) -> Via {
        let shape = &self.network.shape;
        let run = GroupPair::of(&self.network, &self.sides, commodity);
        let (Some(run), Some(within)) = (run, weights.plane_weights[kind].as_ref()) else {
            return Via::Even(true);
        };
        let format = EntropyFormat::of(plan.topology());
        let path = |u: usize, v: Option<usize>, weight: u32| {
            let choice = UplinkChoice { t0: u as u16, t1: v.unwrap_or(0) as u16 };
            let t1_uplink = v.map(|v| v as u16);
            Path { entropy: format.pack(plane, choice), uplink: u as u16, t1_uplink, weight }
        };
        let mut found = Vec::new();
        for (u, weight) in within.t0.iter().enumerate().filter(|(_, weight)| **weight > 0) {
            if run.far {
                let over = &within.t1[u / shape.t0_parallel * shape.t1_up..][..shape.t1_up];
                let sum: u32 = over.iter().map(|weight| u32::from(*weight)).sum();
                let each = over.iter().enumerate().filter(|(_, over)| **over > 0);
                // The weight of a path is the weight of its T0 uplink times its share at the T1, in thousandths.
                let part = |over: u8| (u32::from(*weight) * u32::from(over) * 1000 + sum / 2) / sum;
                found.extend(each.map(|(v, over)| path(u, Some(v), part(*over).max(1))));
            } else {
                found.push(path(u, None, u32::from(*weight)));
            }
        }
        Via::Paths(found)
    }
}

/// Returns the switches of a route, each with the port through which the route leaves it. If a pin does not
/// determine the complete path, returns only the first.
fn hops(plan: &Plan, shape: &Shape, plane: PlaneId, route: Route) -> Vec<Hop> {
    let listed = if shape.has_single_paths() { usize::MAX } else { 1 };
    let each = route.cables().take(listed).map(|(stage, at)| {
        let (link, up) = match stage {
            Stage::T0Up => (shape.t0_link(plane, at), true),
            Stage::T1Up => (shape.t1_link(plane, at), true),
            Stage::T1Down => (shape.t1_link(plane, at), false),
            Stage::T0Down | Stage::NicUp | Stage::NicDown => (shape.t0_link(plane, at), false),
        };
        let (switch, port) = match (link, up) {
            (Link::Fabric { lower, up }, true) => (lower, PortRef { side: Side::Up, index: up }),
            (link, _) => plan.fabric().upper_end(link).expect("a route holds planned cables only"),
        };
        Hop {
            switch: plan.topology().naming.switch(switch).to_string(),
            port: plan.port_name(switch, port).to_string(),
            cable: plan.link_name(link),
        }
    });
    each.collect()
}

/// A line of an `ecmp.pins` file: the uplink that packets from a T0 to a NIC use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinLine {
    /// The T0.
    pub switch: String,
    /// The NIC.
    pub nic: String,
    /// The uplink, from 0.
    pub uplink: u16,
}

impl PinLine {
    /// The first line of the file.
    pub const HEADER: &str = "switch,nic,uplink\n";
}

impl fmt::Display for PinLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PinLine { switch, nic, uplink } = self;
        writeln!(f, "{switch},{nic},{uplink}")
    }
}

impl Pin {
    /// The first line of the CSV form.
    pub const CSV_HEADER: &str =
        "from,from_nics,to,to_nics,prefix,plane,plane_weight,uplink,t1_uplink,entropy,weight,switch,port\n";

    /// Returns the lines of the CSV form: one per path or hop, with `*` if traffic is spread evenly over all uplinks.
    pub fn csv(&self) -> String {
        let list = |nics: &Option<Vec<String>>| nics.as_ref().map_or_else(String::new, |nics| nics.join(" "));
        let (from_nics, to_nics) = (list(&self.from_nics), list(&self.to_nics));
        let mut text = String::new();
        for plane in &self.planes {
            let start = format!(
                "{},{from_nics},{},{to_nics},{},{},{}",
                self.from, self.to, self.prefix, plane.plane, plane.weight
            );
            match &plane.via {
                Via::Even(_) => {
                    let _ = writeln!(text, "{start},*,,,1,,");
                }
                Via::Paths(paths) => paths.iter().for_each(|path| {
                    let over = path.t1_uplink.map_or_else(String::new, |uplink| uplink.to_string());
                    let Path { uplink, entropy, weight, .. } = path;
                    let _ = writeln!(text, "{start},{uplink},{over},{entropy:#x},{weight},,");
                }),
                Via::Hops(hops) => hops.iter().for_each(|hop| {
                    let _ = writeln!(text, "{start},,,,1,{},{}", hop.switch, hop.port);
                }),
            }
        }
        text
    }
}
