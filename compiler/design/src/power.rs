//! Power of a design: switches, and the modules in cages of switches and NICs.
//!
//! In: a design and the media of its cables. Out: a [`Power`]. Invariants: a sum exists only if all of its
//! figures are published. Parts without a figure are named.

use std::fmt;

use closc_platform::Platform;
use closc_qos::units::Speed;

use crate::cables::{Media, module_medium};
use crate::design::{Design, Side, Tier};
use crate::optics;

/// A kind of module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module<'a> {
    /// Medium that it terminates.
    pub medium: &'a str,
    /// Lanes of its cage.
    pub lanes: u8,
    /// Speed of each lane.
    pub lane: Speed,
}

/// A kind of component that draws power.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Consumer<'a> {
    /// A switch, by the name of its platform.
    Switch(&'a str),
    /// A module in a cage.
    Module(Module<'a>),
}

/// Power of all components of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PowerItem<'a> {
    /// The kind.
    pub consumer: Consumer<'a>,
    /// Number.
    pub count: u64,
    /// Typical power of each in watts.
    pub typical: Option<u32>,
    /// Maximum power of each in watts.
    pub maximum: Option<u32>,
}

/// Power of a fabric, kind by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Power<'a> {
    items: Vec<PowerItem<'a>>,
}

impl fmt::Display for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} x {}", self.medium, self.lanes, self.lane)
    }
}

impl fmt::Display for Consumer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Consumer::Switch(platform) => f.write_str(platform),
            Consumer::Module(module) => module.fmt(f),
        }
    }
}

impl<'a> Power<'a> {
    /// Returns the typical power in watts, if all of it is published.
    pub fn typical(&self) -> Option<u64> {
        self.sum(|item| item.typical)
    }

    /// Returns the maximum power in watts, if all of it is published.
    pub fn maximum(&self) -> Option<u64> {
        self.sum(|item| item.maximum)
    }

    /// Returns the kinds without a typical figure, and those without a maximum.
    pub fn unpublished_kinds(&self) -> [Vec<String>; 2] {
        let without = |figure: fn(&PowerItem<'_>) -> Option<u32>| {
            let names = self.items.iter().filter(|item| figure(item).is_none());
            names.map(|item| item.consumer.to_string()).collect()
        };
        [without(|item| item.typical), without(|item| item.maximum)]
    }

    /// Returns the modules that are bought separately from cables, with their counts.
    pub fn modules(&self) -> impl Iterator<Item = (Module<'a>, u64)> {
        self.items.iter().filter_map(|item| match &item.consumer {
            Consumer::Module(module) if !optics::is_assembly(module.medium) => Some((*module, item.count)),
            Consumer::Module(_) | Consumer::Switch(_) => None,
        })
    }

    fn sum(&self, figure: impl Fn(&PowerItem<'_>) -> Option<u32>) -> Option<u64> {
        self.items.iter().try_fold(0, |sum, item| Some(sum + u64::from(figure(item)?) * item.count))
    }

    fn add(&mut self, item: PowerItem<'a>) {
        match self.items.iter_mut().find(|known| known.consumer == item.consumer) {
            Some(known) => known.count += item.count,
            None if item.count > 0 => self.items.push(item),
            None => {}
        }
    }

    /// Adds the modules in downlink or uplink cages of a tier.
    fn add_modules(&mut self, tier: &Tier<'_>, side: Option<Side>, medium: &'a str) {
        let Some(side) = side else { return };
        let lanes = side.breakout.share.map_or(tier.platform.panel.lanes, |share| share.lanes);
        let mbps = side.breakout.speed.mbps() * u32::from(side.breakout.ports) / u32::from(lanes.max(1));
        let lane = Speed::from_mbps(mbps).unwrap_or(side.breakout.speed);
        self.add_module(medium, lanes, lane, u64::from(tier.switches) * u64::from(side.cages()));
    }

    fn add_module(&mut self, medium: &'a str, lanes: u8, lane: Speed, count: u64) {
        let medium = module_medium(medium, lanes, lane);
        let figures = optics::module(medium, lanes, lane);
        let (typical, maximum) =
            (figures.map(|figures| figures.typical), figures.map(|figures| figures.maximum));
        let consumer = Consumer::Module(Module { medium, lanes, lane });
        self.add(PowerItem { consumer, count, typical, maximum });
    }
}

impl<'a> Design<'a> {
    /// Returns the power with cables of these media. All ports of a NIC share one cage.
    pub fn power(&self, media: &Media<'a>) -> Power<'a> {
        let mut power = Power { items: Vec::with_capacity(8) };
        for tier in self.tiers() {
            let platform: &'a Platform = tier.platform;
            let stated = platform.power.as_ref().or(tier.chassis.power.as_ref());
            power.add(PowerItem {
                consumer: Consumer::Switch(&platform.id),
                count: tier.switches.into(),
                typical: stated.and_then(|stated| stated.typical_watts),
                maximum: stated.and_then(|stated| stated.maximum_watts),
            });
        }
        let lanes = u8::try_from(self.nic_lanes()).unwrap_or(u8::MAX);
        let mbps = u64::from(self.port_speed.mbps()) * u64::from(self.planes) / u64::from(lanes.max(1));
        let lane = u32::try_from(mbps).ok().and_then(Speed::from_mbps).unwrap_or(self.port_speed);
        power.add_module(media.nic_t0.medium, lanes, lane, self.nics.into());
        power.add_modules(&self.t0, Some(self.t0.down), media.nic_t0.medium);
        power.add_modules(&self.t0, self.t0.up, media.t0_t1.medium);
        power.add_modules(&self.t1, self.has_t1().then_some(self.t1.down), media.t0_t1.medium);
        if let Some(third) = &self.third {
            power.add_modules(&self.t1, self.t1.up, media.t1_t2.medium);
            power.add_modules(&third.tier, Some(third.tier.down), media.t1_t2.medium);
        }
        power
    }
}
