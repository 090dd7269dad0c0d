//! The steps of a wave, with their approximate duration.
//!
//! In: counts. Out: steps, the steps that undo them, and a duration. Invariants: on a device, new
//! configuration is added before anything is changed, and obsolete configuration is removed last (make before
//! break). Traffic leaves before the first change and returns after the last.

use std::fmt;

use closc_artefacts::Routing;
use closc_platform::{Os, Release};
use closc_topology::PlaneId;

use crate::words::plural;

/// A duration in whole seconds, as an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub u64);

/// Time until all hosts have new path tables, which are small files that agents fetch.
const TABLES: Seconds = Seconds(30);
/// Time until no packets or retransmissions are in flight, with a large margin.
const IDLE: Seconds = Seconds(10);
/// Time to configure hundreds of ports of a switch. SONiC's patches take tens of seconds.
const CONFIGURE: Seconds = Seconds(60);
/// Time until all ports of a switch are up after a reload. sonic-mgmt waits this long for SONiC after `config reload`.
const RELOAD: Seconds = Seconds(420);
/// Time to download and install an image, assumed. The log in sonic-mgmt#3047 shows 49 s.
const INSTALL_IMAGE: Seconds = Seconds(120);
/// Time until an upgraded switch has booted. `ansible/upgrade_sonic.yml` of sonic-mgmt waits up to 600 s for SSH, then
/// another 60 s.
const BOOT: Seconds = Seconds(660);
/// Time to upgrade a switch to another release, until all of its ports are up. For systems other than SONiC, the same
/// time is assumed.
const UPGRADE: Seconds = Seconds(INSTALL_IMAGE.0 + BOOT.0 + RELOAD.0);
/// Switches that are configured in parallel.
const SIDE_BY_SIDE: usize = 64;
/// Time for a crew to replace or mount a switch.
const MOUNT: Seconds = Seconds(1800);
/// Time for a crew to pull, plug and test one cable.
const PLUG: Seconds = Seconds(180);
/// Crews that work in parallel.
const CREWS: usize = 8;
/// Time to read back, compare and probe.
const VERIFY: Seconds = Seconds(30);

/// One step of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Hosts get tables that deny paths.
    DenyPaths {
        /// The plane.
        plane: PlaneId,
        /// Number of switches and cables.
        places: usize,
        /// Tables to replace.
        tables: usize,
    },
    /// Neighbours stop using the places, because of their own routes or an announcement.
    Drain {
        /// The plane.
        plane: PlaneId,
        /// Number of switches and cables.
        places: usize,
        /// Routing mode: neighbours learn of the change from an announcement or from their own routes.
        routing: Routing,
    },
    /// Neighbours use the places again.
    Return {
        /// The plane.
        plane: PlaneId,
        /// Number of switches and cables.
        places: usize,
        /// Routing mode: neighbours learn of the change from an announcement or from their own routes.
        routing: Routing,
    },
    /// Switches start to use new equipment, which already forwards.
    Join {
        /// The plane.
        plane: PlaneId,
        /// Number of switches and cables.
        places: usize,
        /// Routing mode: neighbours learn of the change from an announcement or from their own routes.
        routing: Routing,
    },
    /// Switches stop using new equipment.
    Part {
        /// The plane.
        plane: PlaneId,
        /// Number of switches and cables.
        places: usize,
        /// Routing mode: neighbours learn of the change from an announcement or from their own routes.
        routing: Routing,
    },
    /// NICs to be removed stop sending and receiving.
    StopNics {
        /// Count.
        nics: usize,
    },
    /// NICs that would have been removed are used again.
    StartNics {
        /// Count.
        nics: usize,
    },
    /// Technicians replace NICs and cables in their cages, node by node.
    ReplaceNics {
        /// NICs.
        nics: usize,
        /// Cables.
        cables: usize,
    },
    /// Technicians remove unused switches and cables.
    TakeOut {
        /// Switches.
        switches: usize,
        /// Cables.
        cables: usize,
    },
    /// Wait until no packets are in flight on those paths.
    WaitIdle,
    /// Technicians mount switches and plug cables.
    Install {
        /// Switches.
        switches: usize,
        /// Cables.
        cables: usize,
    },
    /// Technicians replace switches, and pull and plug cables.
    Replace {
        /// Switches.
        switches: usize,
        /// Cables.
        cables: usize,
    },
    /// Switches install another release, reboot, and get their configuration for it.
    Upgrade {
        /// The operating system.
        os: Os,
        /// The release before.
        old: Release,
        /// The release after.
        new: Release,
        /// Count.
        switches: usize,
    },
    /// Switches get new ports, segments and routes.
    Add {
        /// Count.
        switches: usize,
    },
    /// Switches change existing settings.
    Change {
        /// Count.
        switches: usize,
    },
    /// Switches load their new configuration as a whole, and all of their ports go down in the meantime.
    Reload {
        /// Count.
        switches: usize,
    },
    /// Switches lose obsolete configuration.
    Remove {
        /// Count.
        switches: usize,
    },
    /// Entries are read back and compared, and paths are probed.
    Verify,
    /// Hosts get tables that allow the paths again.
    AllowPaths {
        /// The plane.
        plane: PlaneId,
        /// Number of switches and cables.
        places: usize,
        /// Tables to replace.
        tables: usize,
    },
    /// Hosts get the tables of the new plan.
    ReplaceTables {
        /// Count.
        tables: usize,
    },
}

impl Step {
    /// Returns the identifier used in JSON.
    pub fn keyword(self) -> &'static str {
        match self {
            Step::DenyPaths { .. } => "deny-paths",
            Step::Drain { .. } => "drain",
            Step::Return { .. } => "return",
            Step::Join { .. } => "join",
            Step::Part { .. } => "part",
            Step::StopNics { .. } => "stop-nics",
            Step::StartNics { .. } => "start-nics",
            Step::ReplaceNics { .. } => "replace-nics",
            Step::TakeOut { .. } => "take-out",
            Step::WaitIdle => "wait-idle",
            Step::Install { .. } => "install",
            Step::Replace { .. } => "replace",
            Step::Upgrade { .. } => "upgrade",
            Step::Add { .. } => "add",
            Step::Change { .. } => "change",
            Step::Reload { .. } => "reload",
            Step::Remove { .. } => "remove",
            Step::Verify => "verify",
            Step::AllowPaths { .. } => "allow-paths",
            Step::ReplaceTables { .. } => "replace-tables",
        }
    }

    /// Returns the step, or `None` if it does not concern any switch.
    pub(super) fn if_any(self) -> Option<Step> {
        match self {
            Step::Upgrade { switches: 0, .. }
            | Step::Add { switches: 0 }
            | Step::Change { switches: 0 }
            | Step::Reload { switches: 0 }
            | Step::Remove { switches: 0 } => None,
            some => Some(some),
        }
    }

    /// Returns the step as a sentence whose number of switches is an upper bound.
    pub fn at_most(self) -> String {
        let switches = |count: usize| plural(count as u64, "switch", "switches");
        match self {
            Step::Add { switches: all } => format!("add ports and routes on at most {}", switches(all)),
            Step::Change { switches: all } => format!("change settings of at most {}", switches(all)),
            Step::Reload { switches: all } => format!("reload at most {}", switches(all)),
            Step::Remove { switches: all } => {
                format!("remove obsolete entries on at most {}", switches(all))
            }
            other => other.to_string(),
        }
    }

    /// Returns the approximate duration.
    pub fn duration(self) -> Seconds {
        match self {
            Step::DenyPaths { .. } | Step::AllowPaths { .. } | Step::ReplaceTables { .. } => TABLES,
            Step::WaitIdle | Step::StopNics { .. } | Step::StartNics { .. } => IDLE,
            Step::Install { switches: devices, cables }
            | Step::Replace { switches: devices, cables }
            | Step::TakeOut { switches: devices, cables }
            | Step::ReplaceNics { nics: devices, cables } => {
                Seconds(MOUNT.0 * devices.div_ceil(CREWS) as u64 + PLUG.0 * cables.div_ceil(CREWS) as u64)
            }
            Step::Upgrade { switches, .. } => {
                Seconds((UPGRADE.0 + CONFIGURE.0) * switches.div_ceil(SIDE_BY_SIDE) as u64)
            }
            Step::Drain { places, .. }
            | Step::Return { places, .. }
            | Step::Join { places, .. }
            | Step::Part { places, .. } => Seconds(CONFIGURE.0 * places.div_ceil(SIDE_BY_SIDE) as u64),
            Step::Add { switches } | Step::Change { switches } | Step::Remove { switches } => {
                Seconds(CONFIGURE.0 * switches.div_ceil(SIDE_BY_SIDE) as u64)
            }
            Step::Reload { switches } => Seconds(RELOAD.0 * switches.div_ceil(SIDE_BY_SIDE) as u64),
            Step::Verify => VERIFY,
        }
    }

    /// Returns the step that undoes this one, or `None` if there is nothing to undo.
    pub fn undone(self) -> Option<Step> {
        match self {
            Step::DenyPaths { plane, places, tables } => Some(Step::AllowPaths { plane, places, tables }),
            Step::AllowPaths { plane, places, tables } => Some(Step::DenyPaths { plane, places, tables }),
            Step::Drain { plane, places, routing } => Some(Step::Return { plane, places, routing }),
            Step::Return { plane, places, routing } => Some(Step::Drain { plane, places, routing }),
            Step::Join { plane, places, routing } => Some(Step::Part { plane, places, routing }),
            Step::Part { plane, places, routing } => Some(Step::Join { plane, places, routing }),
            Step::Add { switches } => Some(Step::Remove { switches }),
            Step::Remove { switches } => Some(Step::Add { switches }),
            Step::StopNics { nics } => Some(Step::StartNics { nics }),
            Step::StartNics { nics } => Some(Step::StopNics { nics }),
            Step::TakeOut { switches, cables } => Some(Step::Install { switches, cables }),
            Step::Install { switches, cables } => Some(Step::TakeOut { switches, cables }),
            Step::Upgrade { os, old, new, switches } => {
                Some(Step::Upgrade { os, old: new, new: old, switches })
            }
            Step::WaitIdle | Step::Verify => None,
            Step::Replace { .. }
            | Step::ReplaceNics { .. }
            | Step::Change { .. }
            | Step::Reload { .. }
            | Step::ReplaceTables { .. } => Some(self),
        }
    }
}

/// Text for switches that announce themselves as a last resort.
const LAST_RESORT: &str = "they announce that they are a last resort (RFC 8326)";

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switches = |count: usize| plural(count as u64, "switch", "switches");
        let places = |count: usize| plural(count as u64, "switch or cable", "switches and cables");
        let files = |count: usize| plural(count as u64, "path table", "path tables");
        let nics = |count: usize| plural(count as u64, "NIC", "NICs");
        match self {
            Step::DenyPaths { plane, places: all, tables } => {
                write!(f, "hosts leave {} of plane {plane} ({})", places(*all), files(*tables))
            }
            Step::Drain { plane, places: all, routing } => {
                let how = routing_text(*routing, LAST_RESORT, "neighbours get routes without them");
                write!(f, "drain {} of plane {plane}: {how}", places(*all))
            }
            Step::Return { plane, places: all, routing } => {
                let how = routing_text(
                    *routing,
                    "they withdraw that they are a last resort (RFC 8326)",
                    "neighbours get routes over them",
                );
                write!(f, "return to {} of plane {plane}: {how}", places(*all))
            }
            Step::Join { plane, places: all, routing } => {
                let how = routing_text(
                    *routing,
                    "they withdraw that they are a last resort (RFC 8326)",
                    "neighbours add them to their routes",
                );
                write!(f, "also send over {} of plane {plane}: {how}", places(*all))
            }
            Step::Part { plane, places: all, routing } => {
                let how = routing_text(*routing, LAST_RESORT, "neighbours remove them from their routes");
                write!(f, "route around {} of plane {plane}: {how}", places(*all))
            }
            Step::StopNics { nics: all } => write!(f, "stop the traffic of {} permanently", nics(*all)),
            Step::StartNics { nics: all } => write!(f, "let {} send and receive again", nics(*all)),
            Step::ReplaceNics { nics: all, cables } => replace_nics(f, &nics(*all), *cables),
            Step::TakeOut { switches, cables } => by_hand(f, ("remove", "unplug"), *switches, *cables),
            Step::WaitIdle => f.write_str("wait until no packets are in flight there"),
            Step::Install { switches, cables } => by_hand(f, ("install", "plug in"), *switches, *cables),
            Step::Replace { switches, cables } => {
                by_hand(f, ("replace", "unplug and plug in"), *switches, *cables)
            }
            Step::Upgrade { os, new, switches: all, .. } => {
                upgrade(f, (*os, *new), &switches(*all), self.duration())
            }
            Step::Add { switches: all } => write!(f, "add ports and routes on {}", switches(*all)),
            Step::Change { switches: all } => write!(f, "change settings of {}", switches(*all)),
            Step::Reload { switches: all } => write!(f, "reload {}", switches(*all)),
            Step::Remove { switches: all } => {
                write!(f, "remove obsolete entries on {}", switches(*all))
            }
            Step::Verify => f.write_str("read back, compare and probe"),
            Step::AllowPaths { plane, places: all, tables } => {
                write!(f, "hosts return to {} of plane {plane} ({})", places(*all), files(*tables))
            }
            Step::ReplaceTables { tables } => write!(f, "hosts load {}", files(*tables)),
        }
    }
}

/// Selects a text depending on whether neighbours learn of the change from an announcement or from their own
/// routes.
fn routing_text(routing: Routing, announced: &'static str, stated: &'static str) -> &'static str {
    match routing {
        Routing::BgpUnnumbered => announced,
        Routing::EcmpStatic | Routing::Srv6Static => stated,
    }
}

/// Writes the replacement of NICs and of the cables in their cages.
fn replace_nics(f: &mut fmt::Formatter<'_>, nics: &str, cables: usize) -> fmt::Result {
    let cables = match cables {
        0 => String::new(),
        some => format!(" and {}", plural(some as u64, "cable", "cables")),
    };
    write!(f, "replace {nics}{cables}, node by node: each node is idle in the meantime")
}

/// Writes the upgrade of switches.
fn upgrade(
    f: &mut fmt::Formatter<'_>,
    (os, release): (Os, Release),
    switches: &str,
    time: Seconds,
) -> fmt::Result {
    let os = os.keyword();
    write!(
        f,
        "install `{os}` {release} on {switches}, reboot, and write the configuration for it (assumed: {time})"
    )
}

/// Writes the manual work on switches and cables.
fn by_hand(f: &mut fmt::Formatter<'_>, verbs: (&str, &str), switches: usize, cables: usize) -> fmt::Result {
    let switches =
        (switches > 0).then(|| format!("{} {}", verbs.0, plural(switches as u64, "switch", "switches")));
    let cables = (cables > 0).then(|| format!("{} {}", verbs.1, plural(cables as u64, "cable", "cables")));
    f.write_str(&switches.into_iter().chain(cables).collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 3600, self.0 % 3600 / 60, self.0 % 60) {
            (0, 0, seconds) => write!(f, "{seconds} s"),
            (0, minutes, 0) => write!(f, "{minutes} min"),
            (0, minutes, seconds) => write!(f, "{minutes} min {seconds} s"),
            (hours, minutes, _) => write!(f, "{hours} h {minutes} min"),
        }
    }
}
