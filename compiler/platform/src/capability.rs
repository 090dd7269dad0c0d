//! What each target can express: the one table that checks, plan, `explain` and the documents read.
//!
//! In: an operating system, or a QoS profile. Out: [`Support`] by [`Capability`]. Invariants: every target has a row
//! for every capability (a new target or capability does not compile before its rows are there); what is not whole
//! has a reason that a network engineer can read. What a chip can do is in [`crate::Features`]; this is what closc
//! writes for the software on it.

mod demand;
mod rows;

use crate::Os;

pub use demand::{asked, lost};

/// Something that a target renders: an operating system, or a pipeline where the operating system is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// SONiC's CONFIG_DB.
    Sonic,
    /// FRRouting and `ip`.
    Frr,
    /// `ip` alone.
    Linux,
    /// The pipeline `fabric` over P4Runtime.
    P4Fabric,
}

impl Column {
    /// Every target, in the order of listings.
    pub const ALL: [Column; 4] = [Column::Sonic, Column::Frr, Column::Linux, Column::P4Fabric];

    /// Returns the target of an operating system.
    pub fn of(os: Os) -> Self {
        match os {
            Os::Sonic => Column::Sonic,
            Os::Frr => Column::Frr,
            Os::Linux => Column::Linux,
            Os::P4 => Column::P4Fabric,
        }
    }

    /// Returns the name for people: the word in YAML, and the pipeline where there is one.
    pub fn title(self) -> &'static str {
        match self {
            Column::Sonic => "sonic",
            Column::Frr => "frr",
            Column::Linux => "linux",
            Column::P4Fabric => "p4 (fabric)",
        }
    }

    /// Tells how far a capability is rendered.
    pub fn support(self, capability: Capability) -> Support {
        rows::row(self).get(capability)
    }

    /// Tells whether a capability is rendered, if need be with a limit that has a warning of its own.
    pub fn renders(self, capability: Capability) -> bool {
        match self.support(capability) {
            Support::Whole | Support::Part(_) => true,
            Support::Not(_) => false,
        }
    }
}

impl Os {
    /// Tells whether closc renders a capability for this operating system.
    pub fn renders(self, capability: Capability) -> bool {
        Column::of(self).renders(capability)
    }
}

/// How far a target renders something; what is missing has a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// All of it.
    Whole,
    /// With a limit.
    Part(&'static str),
    /// Not at all.
    Not(&'static str),
}

/// Makes the list of capabilities and the row type, so that neither can lack an entry of the other.
macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident, $field:ident, $words:literal, $settings:literal;)+) => {
        /// Something that a fabric file can ask of a switch.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Capability {
            $($(#[$doc])* $name,)+
        }

        impl Capability {
            /// Every capability, in the order of listings.
            pub const ALL: &'static [Capability] = &[$(Capability::$name),+];

            /// Returns the words for it in a sentence.
            pub fn words(self) -> &'static str {
                match self {
                    $(Capability::$name => $words,)+
                }
            }

            /// Returns the settings of the language that ask for it.
            pub fn settings(self) -> &'static str {
                match self {
                    $(Capability::$name => $settings,)+
                }
            }
        }

        /// What one target renders: a field for each capability.
        struct Row {
            $($field: Support,)+
        }

        impl Row {
            fn get(&self, capability: Capability) -> Support {
                match capability {
                    $(Capability::$name => self.$field,)+
                }
            }
        }
    };
}

capabilities! {
    /// Code points into traffic classes and queues.
    Classes, classes, "traffic classes", "qos.classes";
    /// Weights of queues that share a port.
    Weights, weights, "scheduler weights", "qos.classes.*.scheduler";
    /// What a class may take of the buffer.
    Thresholds, thresholds, "buffer thresholds", "qos.classes.*.ingress_threshold, egress_threshold";
    /// Pauses and their headroom.
    Pauses, pauses, "PFC", "qos.classes.*.pfc";
    /// The watchdog over paused queues.
    Watchdog, watchdog, "the PFC watchdog", "qos.watchdog";
    /// Marks by queue depth.
    Marking, marking, "ECN marking", "qos.classes.*.ecn";
    /// Trimming instead of dropping.
    Trimming, trimming, "packet trimming", "qos.trimming";
    /// uN segments.
    Segments, segments, "uN segments", "routing: srv6-static";
    /// Several segments on one switch, one for each parallel cable.
    SeveralLocators, several_locators, "several locators on a switch", "tiers.*.parallel";
    /// Static next hops of unequal weight.
    StaticWeights, static_weights, "static next hops of unequal weight", "exceptions, with routing: ecmp-static";
    /// Routes over one uplink.
    Pins, pins, "pins", "ecmp.pin, ecmp.pins";
    /// Hashing of the RoCE destination queue pair.
    QueuePairHash, queue_pair_hash, "a hash over the RoCE queue pair", "routing: ecmp-static, bgp-unnumbered";
    /// BGP over unnumbered cables.
    Bgp, bgp, "BGP", "routing: bgp-unnumbered";
    /// BFD beside BGP.
    Bfd, bfd, "BFD", "routing: bgp-unnumbered";
    /// Counters that show marks, pauses, trims and drops.
    Counters, counters, "QoS counters", "qos";
    /// The loopback address of the switch.
    Loopback, loopback, "a loopback address", "addresses.loopbacks";
    /// The management address of the switch, and the gateway of its network.
    Management, management, "a management address", "addresses.management, addresses.management_gateway";
    /// Time, log and SNMP servers.
    Services, services, "time, log and SNMP servers", "services";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_whole_has_a_reason() {
        for column in Column::ALL {
            for capability in Capability::ALL {
                match column.support(*capability) {
                    Support::Whole => {}
                    Support::Part(why) | Support::Not(why) => {
                        assert!(why.len() > 10 && !why.ends_with('.'), "{column:?} {capability:?}: `{why}`");
                    }
                }
            }
        }
    }

    #[test]
    fn every_operating_system_has_its_column() {
        assert_eq!(Os::ALL.map(Column::of), Column::ALL);
    }
}
