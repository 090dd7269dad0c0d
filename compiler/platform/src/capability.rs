//! Capabilities: settings of a fabric file, and to what extent closc renders them for an operating system or
//! pipeline. Checks, the plan, `explain` and the generated documentation use them.
//!
//! In: the `capabilities` of `templates/<os>/os.yaml`, or a QoS profile. Out: [`Support`] by [`Capability`].
//! Invariants: every row has a cell for every capability; partial or missing support has a reason. Features of an ASIC
//! are in [`crate::Features`]; capabilities concern the configuration of the software on it.

mod demand;

use serde::Deserialize;

pub use demand::required_capabilities;

/// Support of a target for a capability, with the reason if support is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Complete.
    Whole,
    /// Partial, with the limit.
    Part(&'static str),
    /// None, with the reason.
    Not(&'static str),
}

/// Support, as written in a file.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Cell {
    Whole,
    Part(String),
    Not(String),
}

impl Cell {
    fn support(&'static self) -> Support {
        match self {
            Cell::Whole => Support::Whole,
            Cell::Part(why) => Support::Part(why),
            Cell::Not(why) => Support::Not(why),
        }
    }
}

/// Generates the list of capabilities and the type of rows, so that neither can lack an entry of the other.
macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident, $field:ident, $words:literal, $settings:literal;)+) => {
        /// A capability that a fabric file can require of a switch.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Capability {
            $($(#[$doc])* $name,)+
        }

        impl Capability {
            /// Every capability, in the order of listings.
            pub const ALL: &'static [Capability] = &[$(Capability::$name),+];

            /// Returns the key of the capability in the file of an operating system.
            pub fn key(self) -> &'static str {
                match self {
                    $(Capability::$name => stringify!($field),)+
                }
            }

            /// Returns the description for use in a sentence.
            pub fn description(self) -> &'static str {
                match self {
                    $(Capability::$name => $words,)+
                }
            }

            /// Returns the settings of the fabric language that require the capability.
            pub fn settings(self) -> &'static str {
                match self {
                    $(Capability::$name => $settings,)+
                }
            }
        }

        /// Capabilities of one target: a field for each.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Row {
            $($field: Cell,)+
        }

        impl Row {
            /// Returns the support for a capability.
            pub(crate) fn get(&'static self, capability: Capability) -> Support {
                match capability {
                    $(Capability::$name => self.$field.support(),)+
                }
            }
        }
    };
}

capabilities! {
    /// Mapping of code points to traffic classes and queues.
    Classes, classes, "traffic classes", "qos.classes";
    /// Scheduler weights of queues.
    Weights, weights, "scheduler weights", "qos.classes.*.scheduler";
    /// Share of the buffer that a class may take.
    Thresholds, thresholds, "buffer thresholds", "qos.classes.*.ingress_threshold, egress_threshold";
    /// PFC and its headroom.
    Pauses, pauses, "PFC", "qos.classes.*.pfc";
    /// The PFC watchdog.
    Watchdog, watchdog, "the PFC watchdog", "qos.watchdog";
    /// A PFC watchdog that forwards, or has a set polling interval.
    WatchdogDetails, watchdog_details, "a PFC watchdog that forwards or has a set polling interval", "qos.watchdog.action, poll";
    /// A PFC watchdog that only notifies.
    WatchdogAlerts, watchdog_alerts, "a watchdog that only notifies", "qos.watchdog.action";
    /// PFC priorities and groups numbered differently from their class.
    PauseNumbers, pause_numbers, "PFC priorities and groups numbered differently from their class", "qos.classes.*.priority, priority_group";
    /// Queues beyond the eighth, and strict ones below weighted ones.
    AnyQueues, any_queues, "queues beyond 7 or strict ones below weighted ones", "qos.classes.*.queue, scheduler";
    /// ECN marking by queue depth.
    Marking, marking, "ECN marking", "qos.classes.*.ecn";
    /// Trimming instead of dropping.
    Trimming, trimming, "packet trimming", "qos.trimming";
    /// Routes to IPv4 addresses: over cables with /31 prefixes, or with BGP over unnumbered ones (RFC 8950).
    Ipv4, ipv4, "IPv4 between NICs", "addresses.hosts, links, loopbacks";
    /// uN segments.
    Segments, segments, "uN segments", "routing: srv6-static";
    /// Several locators on a switch, one for each parallel cable.
    SeveralLocators, several_locators, "several locators on a switch", "tiers.*.parallel";
    /// Static next hops of unequal weight.
    StaticWeights, static_weights, "static next hops of unequal weight", "exceptions, with routing: ecmp-static";
    /// Routes over one uplink.
    Pins, pins, "pins", "ecmp.pin, ecmp.pins";
    /// Hashing of the RoCE destination queue pair.
    QueuePairHash, queue_pair_hash, "a hash over the RoCE queue pair", "routing: ecmp-static, bgp-unnumbered";
    /// The least loaded next hop for each burst of a flow.
    Flowlets, flowlets, "balancing of flowlets by load", "ecmp.balance: flowlet";
    /// The least loaded next hop for each packet.
    Adaptive, adaptive, "balancing of packets by load", "ecmp.balance: adaptive";
    /// Each next hop in turn, packet by packet.
    Spraying, spraying, "spraying of packets by switches", "ecmp.balance: spray";
    /// BGP over unnumbered cables.
    Bgp, bgp, "BGP", "routing: bgp-unnumbered";
    /// BFD for BGP sessions.
    Bfd, bfd, "BFD", "routing: bgp-unnumbered";
    /// Link bandwidths that BGP announces with routes, and uses as weights of paths.
    Bandwidths, bandwidths, "link bandwidths of BGP", "routing: bgp-unnumbered, with zones or tiers.t0.parallel";
    /// An access list that drops packets that arrive on isolated cables.
    Isolation, isolation, "isolation of cables", "exceptions.isolated";
    /// Counters of ECN marks, PFC pauses, trimmed packets and drops.
    Counters, counters, "QoS counters", "qos";
    /// The loopback address of the switch.
    Loopback, loopback, "a loopback address", "addresses.loopbacks";
    /// The management address of the switch, and the gateway of its network.
    Management, management, "a management address", "addresses.management, addresses.management_gateway, addresses.management_list, addresses.widths.index";
    /// Ports without a cable, which are shut down.
    SparePorts, spare_ports, "ports without a cable, shut", "tiers.*.down.spare, tiers.*.up.spare";
    /// Cages with ports of two kinds.
    SharedCages, shared_cages, "a cage split into unequal ports", "tiers.*.down.breakout, tiers.*.up.breakout";
    /// Time, log and SNMP servers.
    Services, services, "time, log and SNMP servers", "services";
}
