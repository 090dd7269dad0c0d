//! State of a switch or node that is kept after its file is dropped. It suffices to forward packets, and
//! borrows nothing from the file.
//!
//! Port data is stored by the slot of its cable (see [`super::cabling`]), so a port takes 16 bytes, not counting its
//! routes, and is found without its name. `ends` stores ports, and `next_hops` stores next hops.

mod ends;
pub(crate) mod next_hops;
mod routes;

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use closc_artefacts::{Address, Prefix};
use ipnet::IpNet;
use smol_str::SmolStr;

use crate::model::bgp::Speaker;
use crate::model::device::{DeviceBalance, Mac, Wire};
use crate::model::language::Language;
use crate::model::peer::Peer;
use crate::model::qos::{Pools, PortQos};
use crate::model::segment::{Tier, Usid};
pub(crate) use ends::{EndState, Ends};
pub(crate) use next_hops::NextHopSet;
pub(crate) use routes::{OtherRoute, OtherRoutes, ReceivedRoutes, RouteView};

/// A switch.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    pub(crate) language: &'static Language,
    /// Tier, derived from a cable or a segment.
    pub(crate) tier: Option<Tier>,
    /// Plane, derived from its cables.
    pub(crate) plane: Option<u8>,
    /// Plane derived from its cables, or stated in the manifest if it has no cables.
    pub(crate) stated_plane: Option<u8>,
    /// Own uSIDs, in ascending order.
    pub(crate) usids: Vec<Usid>,
    /// Whether there is a blackhole for the block.
    pub(crate) blackhole: bool,
    /// Routes to a /48 in the block through one port with a cable, in ascending order.
    pub(crate) routes: Vec<SegmentRoute>,
    /// For each slot, the uSID whose route uses it.
    pub(crate) over: Vec<Option<Usid>>,
    /// All other routes. Where switches choose the path, this list contains all routes: static ones first, then those
    /// received by BGP. Of two routes with the same prefix, the later one counts.
    pub(crate) other_routes: OtherRoutes,
    /// BGP settings, if BGP is used.
    pub(crate) speaker: Option<Speaker>,
    /// The ports with a cable, by slot.
    pub(crate) ends: Ends,
    /// MAC address of the switch, if all ports share one.
    pub(crate) mac: Option<Mac>,
    /// SONiC's `type`.
    pub(crate) kind: Option<SmolStr>,
    /// Hardware, which determines table limits.
    pub(crate) hardware: Option<SmolStr>,
    /// Platform name, if any.
    pub(crate) platform: Option<SmolStr>,
    /// Loopback addresses.
    pub(crate) loopbacks: Vec<Prefix>,
    /// Management addresses with their gateways.
    pub(crate) management: Vec<(IpNet, Option<IpAddr>)>,
    /// Configured values of its neighbours, besides their names.
    pub(crate) peers: Arc<[Peer]>,
    /// Numbers of entries in tables with hardware limits.
    pub(crate) sizes: Sizes,
    /// Load balancing over next hops, if it does not use a hash.
    pub(crate) balance: Option<DeviceBalance>,
    /// The buffer pools, if the language states them.
    pub(crate) pools: Option<Pools>,
    /// Device-wide settings.
    pub(crate) settings: Arc<NamedValues>,
    /// Enabled counters, if the language states them.
    pub(crate) counters: Arc<NamedValues>,
    /// Serial lanes, alias and cage of each port by its name, if the language states them.
    pub(crate) lanes: Arc<NamedValues>,
    /// Packets that NICs may send, where switches choose the path and the language states it.
    pub(crate) ingress: Option<Box<IngressFilter>>,
}

/// Packets that NICs may send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IngressFilter {
    /// Allowed destinations.
    pub(crate) plain: Vec<Prefix>,
    /// Denied destinations inside the allowed ones.
    pub(crate) denied: Vec<Prefix>,
    /// Accepted source addresses, by slot.
    pub(crate) sources: Vec<(u16, Vec<Address>)>,
}

/// Names with values, sorted. Many switches share a list.
pub(crate) type NamedValues = Vec<(SmolStr, SmolStr)>;

/// Numbers of entries in tables with hardware limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sizes {
    /// Own segments.
    pub(crate) segments: usize,
    /// Routes.
    pub(crate) routes: usize,
    /// Static neighbours.
    pub(crate) neighbours: usize,
}

/// A route to a /48 in the block through one port with a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentRoute {
    pub(crate) usid: Usid,
    /// Slot of the cable.
    pub(crate) slot: u16,
    /// Next hop that the route names.
    pub(crate) gateway: Gateway,
}

/// Next hop named by a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Gateway {
    /// The other address of the port's /127.
    Peer,
    /// None, because the language needs no address (P4).
    Unneeded,
    /// Any other address, which no device on the cable has.
    Other,
}

/// A next hop of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NextHop {
    /// Slot of the cable; absent if the port has none.
    pub(crate) slot: Option<u16>,
    /// Next hop that the route names.
    pub(crate) gateway: Gateway,
    /// Share of the traffic.
    pub(crate) weight: u32,
}

/// Values that many ports share.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Facts {
    /// Whether the port is enabled.
    pub(crate) up: bool,
    /// Values that both ends must share.
    pub(crate) wire: Wire,
    /// Number of serial lanes of the port, if the language states it.
    pub(crate) lane_count: Option<u8>,
    /// Length of the cable, if configured on the device.
    pub(crate) length_m: Option<u32>,
    /// Whether a NIC is expected at the other end, if the language states this.
    pub(crate) faces_nic: Option<bool>,
    /// Whether the port takes part in load balancing, if the language states this per port.
    pub(crate) balances: Option<bool>,
    pub(crate) qos: Option<Arc<PortQos>>,
}

/// Index of [`Facts`]. The default is the index for ports that do not exist on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct FactsId(u32);

/// Interns equal values. Indices depend on thread scheduling, so results must not be sorted by them.
#[derive(Debug)]
pub(crate) struct Pool<T>(Mutex<PoolValues<T>>);

/// Values by number, and back.
#[derive(Debug)]
struct PoolValues<T> {
    numbers: HashMap<Arc<T>, u32>,
    values: Vec<Arc<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::new(PoolValues { numbers: HashMap::new(), values: Vec::new() }))
    }
}

impl<T: Hash + Eq + Clone> Pool<T> {
    /// Returns the index of a value, and its shared copy.
    pub(crate) fn intern(&self, value: &T) -> (u32, Arc<T>) {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = pool.numbers.get(value) {
            return (*number, Arc::clone(&pool.values[*number as usize]));
        }
        let number = pool.values.len() as u32;
        let shared = Arc::new(value.clone());
        pool.numbers.insert(Arc::clone(&shared), number);
        pool.values.push(Arc::clone(&shared));
        (number, shared)
    }

    /// Returns all values, by index.
    pub(crate) fn finish(self) -> Vec<Arc<T>> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).values
    }
}

impl Pool<Facts> {
    /// Creates a pool whose default index has the facts of a port that does not exist, so that every index has facts.
    pub(crate) fn with_absent() -> Self {
        let pool = Pool::default();
        pool.intern(&Facts::default());
        pool
    }

    /// Interns facts and returns their index.
    pub(crate) fn facts(&self, facts: &Facts) -> FactsId {
        FactsId(self.intern(facts).0)
    }
}

impl FactsId {
    /// Returns the facts with an index.
    #[inline]
    pub(crate) fn of(self, all: &[Arc<Facts>]) -> &Facts {
        &all[self.0 as usize]
    }
}

impl Switch {
    /// Returns tier and plane, if both are known.
    pub(crate) fn place(&self) -> Option<(Tier, u8)> {
        self.tier.zip(self.plane)
    }

    /// Returns the route of a uSID if there is exactly one.
    pub(crate) fn route(&self, usid: Usid) -> Option<SegmentRoute> {
        let first = self.routes.partition_point(|route| route.usid < usid);
        let route = *self.routes.get(first).filter(|route| route.usid == usid)?;
        let twice = self.routes.get(first + 1).is_some_and(|next| next.usid == usid);
        (!twice).then_some(route)
    }

    /// Returns the uSID whose route uses a slot.
    #[inline]
    pub(crate) fn usid_over(&self, slot: u16) -> Option<Usid> {
        self.over.get(usize::from(slot)).copied().flatten()
    }

    /// Returns whether a uSID is one of its own.
    pub(crate) fn owns(&self, usid: Usid) -> bool {
        self.usids.binary_search(&usid).is_ok()
    }
}

/// A node, if the tree contains files for nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// Its ports, by slot.
    pub(crate) ends: Ends,
    /// For each slot, the first segments whose routes use it, each with whether the next hop of its route is
    /// correct.
    pub(crate) first: Vec<Vec<(Usid, bool)>>,
    /// Segments that the node decapsulates.
    pub(crate) decapsulates: Vec<Prefix>,
    /// Inner addresses.
    pub(crate) inner: Vec<Address>,
    /// NIC numbers with their addresses, where switches choose the path.
    pub(crate) nics: Vec<(u16, Address)>,
    /// Routes, where switches choose the path. Each applies to packets from one source address, or from any. Of routes
    /// with the same prefix, the later one counts.
    pub(crate) routes: Vec<(Option<Address>, OtherRoute)>,
}

impl Node {
    /// Returns the address of a NIC, where switches choose the path.
    pub(crate) fn address(&self, nic: u16) -> Option<Address> {
        self.nics.iter().find(|(number, _)| *number == nic).map(|(_, address)| *address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_stays_small() {
        assert!(size_of::<SegmentRoute>() <= 6);
    }

    #[test]
    fn equal_values_have_one_number() {
        let pool = Pool::with_absent();
        let up = Facts { up: true, ..Facts::default() };
        let number = pool.facts(&up);
        assert_eq!(pool.facts(&up), number);
        assert_ne!(pool.facts(&Facts::default()), number);
        let all = pool.finish();
        assert!(number.of(&all).up);
        assert_eq!(FactsId::default().of(&all), &Facts::default());
    }
}
