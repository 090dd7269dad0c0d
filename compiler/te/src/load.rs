//! Load of every cable, in both directions.
//!
//! In: fractions of commodities. Out: [`Loads`]. Invariants: loads are in Gb/s on one plane of a kind; an unusable
//! cable carries nothing.

use closc_fabric::Shape;

use crate::network::Network;

/// A tier of cables in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// NIC to T0.
    NicUp,
    /// T0 to NIC.
    NicDown,
    /// T0 to T1.
    T0Up,
    /// T1 to T0.
    T0Down,
    /// T1 to T2.
    T1Up,
    /// T2 to T1.
    T1Down,
}

impl Stage {
    /// All stages, in the order of a path from sender to receiver.
    pub const ALL: [Stage; 6] =
        [Stage::NicUp, Stage::T0Up, Stage::T1Up, Stage::T1Down, Stage::T0Down, Stage::NicDown];

    /// Returns the words used in reports.
    pub fn label(self) -> &'static str {
        match self {
            Stage::NicUp => "NIC to T0",
            Stage::NicDown => "T0 to NIC",
            Stage::T0Up => "T0 to T1",
            Stage::T0Down => "T1 to T0",
            Stage::T1Up => "T1 to T2",
            Stage::T1Down => "T2 to T1",
        }
    }

    /// Returns the capacity of a cable of this stage in Gb/s.
    pub(crate) fn speed(self, shape: &Shape) -> f64 {
        match self {
            Stage::NicUp | Stage::NicDown => shape.speed[0],
            Stage::T0Up | Stage::T0Down => shape.speed[1],
            Stage::T1Up | Stage::T1Down => shape.speed[2],
        }
    }
}

/// A number for each direction of each cable between switches of one plane.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LinkValues {
    pub(crate) t0_up: Vec<f64>,
    pub(crate) t0_down: Vec<f64>,
    pub(crate) t1_up: Vec<f64>,
    pub(crate) t1_down: Vec<f64>,
}

impl LinkValues {
    /// Makes a number for each cable.
    pub(crate) fn zero(shape: &Shape) -> Self {
        let t0 = vec![0.0; shape.all_groups() * shape.t0_up];
        let t1 = vec![0.0; shape.zones * shape.t1s * shape.t1_up];
        LinkValues { t0_up: t0.clone(), t0_down: t0, t1_up: t1.clone(), t1_down: t1 }
    }

    /// Returns the numbers of a stage; empty for cables of NICs.
    pub(crate) fn of(&self, stage: Stage) -> &[f64] {
        match stage {
            Stage::NicUp | Stage::NicDown => &[],
            Stage::T0Up => &self.t0_up,
            Stage::T0Down => &self.t0_down,
            Stage::T1Up => &self.t1_up,
            Stage::T1Down => &self.t1_down,
        }
    }

    /// Sets all numbers.
    pub(crate) fn fill(&mut self, value: f64) {
        for numbers in [&mut self.t0_up, &mut self.t0_down, &mut self.t1_up, &mut self.t1_down] {
            numbers.fill(value);
        }
    }

    /// Calls `each` with every load above 0 on the cables that traffic between two groups can use, and resets it to 0.
    pub(crate) fn take(
        &mut self,
        shape: &Shape,
        (a, b): (usize, usize),
        mut each: impl FnMut(Stage, usize, f64),
    ) {
        let far = shape.zone(a) != shape.zone(b);
        let upper = |group: usize| {
            let first = shape.first_t1_uplink(shape.zone(group), 0);
            first..first + if far { shape.t1s * shape.t1_up } else { 0 }
        };
        let lower = |group: usize| shape.first_t0_uplink(group)..shape.first_t0_uplink(group) + shape.t0_up;
        let ranges = [
            (Stage::T0Up, &mut self.t0_up, lower(a)),
            (Stage::T1Up, &mut self.t1_up, upper(a)),
            (Stage::T1Down, &mut self.t1_down, upper(b)),
            (Stage::T0Down, &mut self.t0_down, lower(b)),
        ];
        for (stage, numbers, range) in ranges {
            for at in range {
                let value = std::mem::take(&mut numbers[at]);
                if value > 0.0 {
                    each(stage, at, value);
                }
            }
        }
    }

    /// Returns the value of a cable between switches in the direction of a stage.
    pub(crate) fn at(&mut self, stage: Stage, at: usize) -> &mut f64 {
        match stage {
            Stage::T0Up => &mut self.t0_up[at],
            Stage::T0Down => &mut self.t0_down[at],
            Stage::T1Up => &mut self.t1_up[at],
            Stage::T1Down => &mut self.t1_down[at],
            Stage::NicUp | Stage::NicDown => unreachable!("a route holds cables between switches only"),
        }
    }
}

/// Load of every cable.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Loads {
    /// Load of cables between switches, by kind of planes.
    pub(crate) fabric: Vec<LinkValues>,
    /// Load from NICs to T0s, by kind and NIC.
    pub(crate) nic_up: Vec<Vec<f64>>,
    /// Load from T0s to NICs, by kind and NIC.
    pub(crate) nic_down: Vec<Vec<f64>>,
}

impl Loads {
    /// Makes empty loads.
    pub(crate) fn zero(network: &Network) -> Self {
        let kinds = network.kinds.len();
        let nics = vec![vec![0.0; network.there.len()]; kinds];
        Loads { fabric: vec![LinkValues::zero(&network.shape); kinds], nic_up: nics.clone(), nic_down: nics }
    }

    /// Returns the loads of a stage's cables, in a kind of planes.
    pub(crate) fn of(&self, kind: usize, stage: Stage) -> &[f64] {
        match stage {
            Stage::NicUp => &self.nic_up[kind],
            Stage::NicDown => &self.nic_down[kind],
            Stage::T0Up | Stage::T0Down | Stage::T1Up | Stage::T1Down => self.fabric[kind].of(stage),
        }
    }

    /// Returns the largest utilisation of the cables between switches.
    pub(crate) fn fabric_max(&self, network: &Network) -> f64 {
        let top = |load: &LinkValues, stage: Stage| load.of(stage).iter().copied().fold(0.0, f64::max);
        let all = self.fabric.iter().flat_map(|load| Stage::ALL.map(|stage| (load, stage)));
        all.map(|(load, stage)| top(load, stage) / stage.speed(&network.shape)).fold(0.0, f64::max)
    }

    /// Returns the largest utilisation.
    pub(crate) fn max(&self, network: &Network) -> f64 {
        let mut max = 0.0_f64;
        for kind in 0..network.kinds.len() {
            for stage in Stage::ALL {
                let top = self.of(kind, stage).iter().copied().fold(0.0, f64::max);
                max = max.max(top / stage.speed(&network.shape));
            }
        }
        max
    }
}
