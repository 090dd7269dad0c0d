//! Numbers and queues of classes, and kinds of ports.
//!
//! In: the profile of a switch and its ports. Out: class numbers, queues and kinds. Invariants: classes are
//! numbered in order of their traffic class.

use closc_plan::DeviceIntent;
use closc_qos::Place;
use closc_qos::profile::{Class, Scheduler};
use closc_qos::units::Speed;
use closc_topology::{Side, TierId};

use super::Port;

/// Classes that `bit<3>` can distinguish.
pub(super) const CLASSES_MAX: usize = 8;

/// Ports that are equal in every property that affects quality of service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) place: Place,
    pub(super) speed: Speed,
    pub(super) mtu: u16,
}

impl Kind {
    pub(super) fn of(tier: TierId, port: Port<'_>) -> Self {
        Self::at(tier, port.intent.at.side, port.intent.physical.speed, port.intent.mtu)
    }

    pub(super) fn at(tier: TierId, side: Side, speed: Speed, mtu: u16) -> Self {
        let place = match (tier, side) {
            (TierId::T0, Side::Down) => Place::LastHop,
            (TierId::T0, Side::Up) => Place::Edge,
            (TierId::T1 | TierId::T2, _) => Place::Fabric,
        };
        Kind { place, speed, mtu }
    }
}

/// Returns the number of a class in the pipeline: its position when the classes are sorted by traffic class.
pub(super) fn number_of(intent: &DeviceIntent<'_>, class: &Class) -> u8 {
    let place = intent.qos.classes().position(|each| each.name == class.name);
    place.and_then(|place| u8::try_from(place).ok()).expect("a class of the profile with a number up to 255")
}

/// Returns the queue of each class. A v1model target serves queues by strict priority only. So all weighted classes
/// share the first queue, and the strict classes have queues above it, in the order of the profile's queues.
pub(super) fn queues(intent: &DeviceIntent<'_>) -> Vec<u8> {
    let strict = |class: &&Class| class.scheduler == Scheduler::Strict;
    let mut above: Vec<_> = intent.qos.classes().filter(strict).map(|class| class.queue).collect();
    above.sort_unstable();
    above.dedup();
    let queue = |class: &Class| match class.scheduler {
        Scheduler::Strict => {
            above.iter().position(|queue| *queue == class.queue).map_or(0, |place| place + 1)
        }
        Scheduler::Dwrr(_) => 0,
    };
    intent.qos.classes().map(|class| queue(class).min(CLASSES_MAX - 1) as u8).collect()
}
