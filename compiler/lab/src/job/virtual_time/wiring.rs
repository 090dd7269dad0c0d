//! The ends and the state of each cable.
//!
//! In: the current faults. Out: the port that a packet from a NIC reaches, and the NIC that a packet from a switch
//! reaches. Invariants: the state depends only on the current faults, not on their order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use closc_switch::{Corruption, LinkEnd, Node};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::super::endpoint::JobEndpoint;
use super::station::Station;
use super::switches::Switches;
use crate::LabError;
use crate::lab::fault::{Fault, Harm};
use crate::model::{CableId, Model, PortId};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

/// A cable of a NIC that drops packets at random.
#[derive(Debug)]
struct LossyCable {
    ppm: u32,
    random: SplitMix64,
}

/// The cables of a fabric.
pub(super) struct Wiring<'a> {
    model: &'a Model,
    seed: u64,
    /// The connected port of each port, by number.
    mates: Vec<u32>,
    /// The station and plane of each port of a NIC.
    homes: Vec<Option<(u32, u8)>>,
    /// The port of each station and plane.
    ports: Vec<Vec<Option<u32>>>,
    /// The port number of each switch port.
    numbers: HashMap<(u32, u32), u32>,
    down: BTreeSet<u32>,
    swapped_cables: Vec<(CableId, CableId)>,
    /// Loss rate of each lossy cable, per million.
    losses: BTreeMap<CableId, u32>,
    lossy: HashMap<u32, LossyCable>,
    /// Maximum IP packet size of each cable with a limit, and the same by the NIC port of the cable.
    mtus: BTreeMap<CableId, u16>,
    narrow: HashMap<u32, u16>,
    /// Corruption of frames that leave a port of a NIC cable, by this port.
    corruptions: HashMap<u32, Corruption>,
}

impl<'a> Wiring<'a> {
    pub(super) fn new(model: &'a Model, seats: &[JobEndpoint], switches: &Switches, seed: u64) -> Wiring<'a> {
        let n = model.all_ports().count();
        let mut homes = vec![None; n];
        let mut ports = Vec::with_capacity(seats.len());
        for (station, seat) in (0..).zip(seats) {
            for (plane, port) in (0..).zip(&seat.ports) {
                if let Some(port) = port {
                    homes[port.number() as usize] = Some((station, plane));
                }
            }
            ports.push(seat.ports.iter().map(|port| port.map(PortId::number)).collect());
        }
        let numbers = switches.ends().map(|(number, end)| ((end.node.0, end.port), number)).collect();
        Wiring {
            model,
            seed,
            mates: model.all_ports().map(|port| port.peer().number()).collect(),
            homes,
            ports,
            numbers,
            down: BTreeSet::new(),
            swapped_cables: Vec::new(),
            losses: BTreeMap::new(),
            lossy: HashMap::new(),
            mtus: BTreeMap::new(),
            narrow: HashMap::new(),
            corruptions: HashMap::new(),
        }
    }

    fn is_up(&self, port: u32) -> bool {
        !self.down.contains(&port) && !self.down.contains(&self.mates[port as usize])
    }

    /// Decides whether the cable at a NIC port drops a frame. Losses are drawn at random.
    fn loses(&mut self, port: u32, frame: usize) -> bool {
        let is_long = |mtu: &u16| frame > usize::from(*mtu) + ETHERNET;
        if self.narrow.get(&port).is_some_and(is_long) {
            return true;
        }
        self.lossy
            .get_mut(&port)
            .is_some_and(|lossy| lossy.random.next_u64() % 1_000_000 < u64::from(lossy.ppm))
    }

    /// Changes bytes of a frame that leaves a port, if the port corrupts it.
    fn corrupt(&mut self, port: u32, frame: &mut [u8]) {
        if let Some(corruption) = self.corruptions.get_mut(&port) {
            corruption.apply(frame);
        }
    }

    /// Lets frames that leave a port change bytes; `None` ends it.
    pub(super) fn set_corruption(
        &mut self,
        port: u32,
        corruption: Option<Corruption>,
        switches: &mut Switches,
    ) {
        if switches.set_corruption(port, corruption.clone()) {
            return;
        }
        match corruption {
            Some(corruption) => self.corruptions.insert(port, corruption),
            None => self.corruptions.remove(&port),
        };
    }

    /// Returns the station and plane that a packet from a switch reaches; `None` if the cable drops it.
    pub(super) fn reaches(&mut self, node: Node, port: u32, frame: &mut [u8]) -> Option<(usize, u8)> {
        let port = *self.numbers.get(&(node.0, port))?;
        let mate = self.mates[port as usize];
        let (station, plane) = self.homes[mate as usize]?;
        self.corrupt(port, frame);
        (self.is_up(mate) && !self.loses(mate, frame.len())).then_some((station as usize, plane))
    }

    /// Returns the switch port that a packet from a station reaches; `None` if the cable drops it.
    pub(super) fn leaves(
        &mut self,
        switches: &Switches,
        (station, plane): (usize, u8),
        frame: &mut [u8],
    ) -> Option<LinkEnd> {
        let port = self.ports[station].get(usize::from(plane)).copied().flatten()?;
        if !self.is_up(port) || self.loses(port, frame.len()) {
            return None;
        }
        self.corrupt(port, frame);
        switches.end(self.mates[port as usize])
    }

    /// Applies the current faults.
    pub(super) fn change(
        &mut self,
        standing: &[Fault],
        now_ns: u64,
        switches: &mut Switches,
        stations: &mut [Station<'_>],
    ) -> Result<(), LabError> {
        let (mut down, mut swapped) = (BTreeSet::new(), Vec::new());
        let (mut losses, mut mtus) = (BTreeMap::new(), BTreeMap::new());
        for fault in standing {
            match fault.harm(self.model)? {
                Harm::Down(ports) => down.extend(ports.iter().map(|port| port.number())),
                Harm::Lossy(cable, ppm) => drop(losses.insert(cable, ppm)),
                Harm::Narrow(cable, bytes) => drop(mtus.insert(cable, bytes)),
                Harm::Swapped(a, b) => swapped.push((a, b)),
            }
        }
        self.replug(swapped, switches)?;
        let touched: BTreeSet<u32> = self.down.union(&down).copied().collect();
        self.down = down;
        for port in touched {
            let (mate, up) = (self.mates[port as usize], self.is_up(port));
            switches.set_link(port, up);
            for home in [port, mate].into_iter().filter_map(|port| self.homes[port as usize]) {
                stations[home.0 as usize].set_carrier(home.1, up, now_ns);
            }
        }
        self.lose(losses, switches);
        self.limit(mtus, switches);
        Ok(())
    }

    /// Restores cables that are no longer swapped, and swaps others at their upper ends.
    fn replug(&mut self, swapped: Vec<(CableId, CableId)>, switches: &mut Switches) -> Result<(), LabError> {
        let before = std::mem::replace(&mut self.swapped_cables, swapped);
        let gone =
            before.iter().filter(|pair| !self.swapped_cables.contains(pair)).map(|pair| (*pair, false));
        let new = self.swapped_cables.iter().filter(|pair| !before.contains(pair)).map(|pair| (*pair, true));
        let changes: Vec<((CableId, CableId), bool)> = gone.chain(new).collect();
        for ((a, b), swap) in changes {
            for cable in [a, b] {
                switches.unplug(cable.lower().number());
                switches.unplug(cable.upper().number());
            }
            let (first, second) = if swap { (b, a) } else { (a, b) };
            for (lower, upper) in [(a.lower(), first.upper()), (b.lower(), second.upper())] {
                let (lower, upper) = (lower.number(), upper.number());
                (self.mates[lower as usize], self.mates[upper as usize]) = (upper, lower);
                switches.plug(lower, upper)?;
            }
        }
        Ok(())
    }

    fn limit(&mut self, mtus: BTreeMap<CableId, u16>, switches: &mut Switches) {
        let before = std::mem::replace(&mut self.mtus, mtus);
        let touched: BTreeSet<CableId> = before.keys().chain(self.mtus.keys()).copied().collect();
        for cable in touched {
            let (lower, mtu) = (cable.lower().number(), self.mtus.get(&cable).copied());
            if switches.set_mtu(lower, mtu) {
                continue;
            }
            match mtu {
                Some(mtu) => self.narrow.insert(lower, mtu),
                None => self.narrow.remove(&lower),
            };
        }
    }

    fn lose(&mut self, losses: BTreeMap<CableId, u32>, switches: &mut Switches) {
        let before = std::mem::replace(&mut self.losses, losses);
        let touched: BTreeSet<CableId> = before.keys().chain(self.losses.keys()).copied().collect();
        for cable in touched {
            let ppm = self.losses.get(&cable).copied().unwrap_or(0);
            if before.get(&cable).copied().unwrap_or(0) == ppm {
                continue;
            }
            let (lower, seed) = (cable.lower().number(), self.seed ^ (cable.0 as u64) << 32);
            if !switches.set_loss(lower, ppm, seed) {
                let lossy = LossyCable { ppm, random: SplitMix64::seed_from_u64(seed) };
                self.lossy.insert(lower, lossy);
            }
        }
    }
}
