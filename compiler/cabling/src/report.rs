//! Findings about cables, for people and for programs.

use std::fmt::{self, Write as _};

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
    /// Those of them whose neighbour names its device but not its port.
    pub by_device_only: u64,
    /// Ends whose neighbour sends no name, only a MAC address: not judged.
    pub nameless: u64,
    /// Interfaces outside the fabric, such as management ports.
    pub other_interfaces: u64,
    /// Errors, sorted by kind and place.
    pub findings: Vec<Finding>,
    /// Their causes: certain ones first, then those that explain most.
    pub causes: Vec<Cause>,
}

/// A cause of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cause {
    /// Whether reports show it. Silence has more than one explanation.
    pub certain: bool,
    /// The cause as a sentence, with ports, rack and unit.
    pub text: String,
    /// Its findings, by their place in `findings`.
    pub findings: Vec<usize>,
}

/// A port of a device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct PortAt {
    /// The device.
    pub device: String,
    /// The port, as the device names it.
    pub port: String,
}

/// A planned cable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct CableAt {
    /// Its name in fabric files.
    pub name: String,
    /// The end nearer to the NICs.
    pub lower: PortAt,
    /// The other end.
    pub upper: PortAt,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// Cables exchanged ends among themselves: each is plugged in, at ends of the others.
    Exchanged {
        /// The planned cables.
        cables: Vec<CableAt>,
        /// Actual connection.
        seen: Vec<(PortAt, PortAt)>,
        /// Whether something is connected to another plane.
        across_planes: bool,
    },
    /// A cable connects two ports that should not be connected.
    Wrong {
        /// Connection.
        seen: (PortAt, PortAt),
        /// The cables that belong there.
        instead_of: Vec<CableAt>,
        /// Whether it connects two planes.
        across_planes: bool,
    },
    /// A cable is not seen at the ends that report.
    Missing {
        /// The cable.
        cable: CableAt,
        /// Ends that see nothing.
        silent: Vec<PortAt>,
        /// Whether one of them says that it is down.
        is_down: bool,
    },
    /// One end sees the cable as planned, and the other one sees nothing.
    OneWay {
        /// The cable.
        cable: CableAt,
        /// Ends that see nothing.
        silent: Vec<PortAt>,
    },
    /// A device that the fabric does not have, or a device that does not say its port.
    Unknown {
        /// The port that reports the neighbour.
        at: PortAt,
        /// The cable that belongs there.
        cable: Option<CableAt>,
        /// The neighbour that is reported.
        seen: String,
    },
    /// Something is plugged in where nothing belongs.
    Unplanned {
        /// The port.
        at: PortAt,
        /// Why nothing belongs there.
        because: &'static str,
        /// The neighbour that is reported.
        seen: String,
    },
    /// A port runs at another speed.
    Speed {
        /// The port.
        at: PortAt,
        /// The speed of the plan.
        planned: Speed,
        /// The speed it reports.
        seen: Speed,
    },
}

impl Report {
    /// Puts findings in the order of kinds and places.
    pub(crate) fn sort(&mut self) {
        self.findings.sort();
        self.findings.dedup();
    }

    /// Returns the causes as text, at most `shown` of them; `list` adds the findings of each.
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
            let _ = writeln!(text, "and {} more", counted((self.causes.len() - shown) as u64, "cause"));
        }
        text + &self.summary() + "\n"
    }

    fn summary(&self) -> String {
        let mut text = format!(
            "{} of {}; {} devices report, {} cables are as planned",
            counted(self.findings.len() as u64, "finding"),
            counted(self.causes.len() as u64, "cause"),
            self.devices,
            self.cables
        );
        if self.by_device_only > 0 {
            let _ = write!(text, ", {} of them by their device only", self.by_device_only);
        }
        if self.nameless > 0 {
            let _ =
                write!(text, "; {} see neighbours without a name, not judged", counted(self.nameless, "end"));
        }
        text
    }
}

fn counted(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

impl fmt::Display for PortAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.device, self.port)
    }
}

impl fmt::Display for CableAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} -- {})", self.name, self.lower, self.upper)
    }
}

/// Things with commas between.
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
                write!(f, "{word}: {cables}: connected are {}{planes}", seen.join(", "))
            }
            Finding::Wrong { seen: (a, b), instead_of, across_planes } => {
                write!(f, "wrong: {a} -- {b} is connected{}", planes(*across_planes))?;
                if !instead_of.is_empty() {
                    write!(f, "; there belongs {}", list(instead_of))?;
                }
                Ok(())
            }
            Finding::Missing { cable, silent, is_down } => {
                let down = if *is_down { ", and the port is down" } else { "" };
                write!(f, "missing: {cable}: no neighbour at {}{down}", list(silent))
            }
            Finding::OneWay { cable, silent } => {
                write!(f, "one way: {cable}: only one end sees the other; no neighbour at {}", list(silent))
            }
            Finding::Unknown { at, cable, seen } => {
                write!(f, "unknown: {at} sees {seen}")?;
                cable.as_ref().map_or(Ok(()), |cable| write!(f, "; there belongs {cable}"))
            }
            Finding::Unplanned { at, because, seen } => {
                write!(f, "unplanned: {at} is {because} and sees {seen}")
            }
            Finding::Speed { at, planned, seen } => {
                write!(f, "speed: {at} runs at {seen}, planned is {planned}")
            }
        }
    }
}
