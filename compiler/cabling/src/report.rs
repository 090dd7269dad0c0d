//! Findings about cables.

use std::fmt::{self, Write as _};

use closc_diagnostics::figures::format_count;
use closc_qos::units::Speed;
use schemars::JsonSchema;
use serde::Serialize;

/// Result of comparing neighbour reports with the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// Devices that report.
    pub devices: u64,
    /// Cables that are as planned.
    pub cables: u64,
    /// Number of these cables whose neighbour reports its device but not its port.
    pub by_device_only: u64,
    /// Ends whose neighbour sends only a MAC address and no name. They are not evaluated.
    pub nameless: u64,
    /// Interfaces outside the fabric, such as management ports.
    pub other_interfaces: u64,
    /// Findings, sorted by kind and place.
    pub findings: Vec<Finding>,
    /// Devices with a report that cannot be read. They are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadReport>,
    /// Causes of findings: certain ones first, then those that explain most.
    pub causes: Vec<Cause>,
}

/// A device with a report that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadReport {
    /// The device.
    pub device: String,
    /// The report, and why it cannot be read.
    pub reason: String,
}

/// A cause of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cause {
    /// Whether a report shows the cause directly. A missing neighbour has several possible causes.
    pub certain: bool,
    /// The cause as a sentence, with ports, rack and unit.
    pub text: String,
    /// Its findings, by index in `findings`.
    pub findings: Vec<usize>,
}

/// A port of a device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct DevicePort {
    /// The device.
    pub device: String,
    /// The port, in the naming of the device.
    pub port: String,
}

/// A planned cable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct PlannedCable {
    /// Its name in fabric files.
    pub name: String,
    /// The end nearer to the NICs.
    pub lower: DevicePort,
    /// The other end.
    pub upper: DevicePort,
}

/// A difference from the plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// Cables have exchanged ends: all ends are plugged in, but into each other's ports.
    Exchanged {
        /// The planned cables.
        cables: Vec<PlannedCable>,
        /// Actual connections.
        seen: Vec<(DevicePort, DevicePort)>,
        /// Whether a connection crosses planes.
        across_planes: bool,
    },
    /// Two ports are connected that should not be.
    Wrong {
        /// The connection.
        seen: (DevicePort, DevicePort),
        /// The cables that are planned at these ports.
        instead_of: Vec<PlannedCable>,
        /// Whether the connection crosses planes.
        across_planes: bool,
    },
    /// The reporting ends have no neighbour on this cable.
    Missing {
        /// The cable.
        cable: PlannedCable,
        /// Ends without a neighbour.
        silent: Vec<DevicePort>,
        /// Whether one of them is reported down.
        is_down: bool,
    },
    /// One end reports the cable as planned, and the other one has no neighbour.
    OneWay {
        /// The cable.
        cable: PlannedCable,
        /// Ends without a neighbour.
        silent: Vec<DevicePort>,
    },
    /// The neighbour is not a device of the fabric, or does not report its port.
    Unknown {
        /// The port that reports the neighbour.
        at: DevicePort,
        /// The cable that is planned there.
        cable: Option<PlannedCable>,
        /// The reported neighbour.
        seen: String,
    },
    /// A port without a planned cable has a neighbour.
    Unplanned {
        /// The port.
        at: DevicePort,
        /// Why it has no planned cable.
        because: &'static str,
        /// The reported neighbour.
        seen: String,
    },
    /// A port runs at a speed other than the planned one.
    Speed {
        /// The port.
        at: DevicePort,
        /// The planned speed.
        planned: Speed,
        /// The reported speed.
        seen: Speed,
    },
}

impl Report {
    /// Sorts findings by kind and place, and removes duplicates.
    pub(crate) fn sort(&mut self) {
        self.findings.sort();
        self.findings.dedup();
    }

    /// Returns at most `shown` causes as text. With `list`, the findings of each cause are added.
    pub fn text(&self, shown: usize, list: bool) -> String {
        let mut text = String::new();
        for (at, cause) in self.causes.iter().take(shown).enumerate() {
            if at == 0 || self.causes[at - 1].certain != cause.certain {
                text.push_str(if cause.certain { "certain\n" } else { "likely\n" });
            }
            let _ = writeln!(text, "  {}", cause.text);
            if list && cause.findings.len() > 1 {
                for finding in &cause.findings {
                    let _ = writeln!(text, "    {}", self.findings[*finding]);
                }
            }
        }
        if self.causes.len() > shown {
            let _ = writeln!(text, "and {} more", format_count((self.causes.len() - shown) as u64, "cause"));
        }
        text + &self.summary() + "\n"
    }

    fn summary(&self) -> String {
        let mut text = match self.unread.len() as u64 {
            0 => String::new(),
            unread if self.devices == 0 => {
                return format!("nothing was compared: {} cannot be read", format_count(unread, "report"));
            }
            unread => format!("incomplete, because {} cannot be read: ", format_count(unread, "report")),
        };
        let _ = write!(
            text,
            "{} of {}; {} compared, {} as planned",
            format_count(self.findings.len() as u64, "finding"),
            format_count(self.causes.len() as u64, "cause"),
            format_count(self.devices, "device"),
            format_count(self.cables, "cable")
        );
        if self.by_device_only > 0 {
            let _ = write!(text, ", {} of them by their device only", self.by_device_only);
        }
        if self.nameless > 0 {
            let _ = write!(
                text,
                "; {} with an unnamed neighbour, not judged",
                format_count(self.nameless, "end")
            );
        }
        text
    }
}

impl fmt::Display for DevicePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.device, self.port)
    }
}

impl fmt::Display for PlannedCable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} -- {})", self.name, self.lower, self.upper)
    }
}

/// Formats items, separated by commas.
fn list<T: ToString>(things: &[T]) -> String {
    things.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let planes = |across: bool| if across { "; this connects two planes" } else { "" };
        match self {
            Finding::Exchanged { cables, seen, across_planes } => {
                let word = if cables.len() == 2 { "swapped" } else { "exchanged" };
                let seen: Vec<String> = seen.iter().map(|(a, b)| format!("{a} -- {b}")).collect();
                let (cables, planes) = (list(cables), planes(*across_planes));
                write!(f, "{word}: {cables}; connected: {}{planes}", seen.join(", "))
            }
            Finding::Wrong { seen: (a, b), instead_of, across_planes } => {
                write!(f, "wrong: {a} -- {b} is connected{}", planes(*across_planes))?;
                if !instead_of.is_empty() {
                    write!(f, "; planned: {}", list(instead_of))?;
                }
                Ok(())
            }
            Finding::Missing { cable, silent, is_down } => {
                let down = if *is_down { ", and the port is down" } else { "" };
                write!(f, "missing: {cable}: no neighbour at {}{down}", list(silent))
            }
            Finding::OneWay { cable, silent } => {
                write!(
                    f,
                    "one way: {cable}: only one end reports the other; no neighbour at {}",
                    list(silent)
                )
            }
            Finding::Unknown { at, cable, seen } => {
                write!(f, "unknown: {at} has neighbour {seen}")?;
                cable.as_ref().map_or(Ok(()), |cable| write!(f, "; planned: {cable}"))
            }
            Finding::Unplanned { at, because, seen } => {
                write!(f, "unplanned: {at} is {because}, but has neighbour {seen}")
            }
            Finding::Speed { at, planned, seen } => {
                write!(f, "speed: {at} runs at {seen}; planned: {planned}")
            }
        }
    }
}
