//! An existing network: devices, and cables between their ports.
//!
//! In: cables one by one, each with file and line. Out: an [`ExistingNetwork`]. Invariants: a port has one
//! cable, and no cable connects a device to itself. Each name is stored once, so that millions of cables fit
//! into memory.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use closc_diagnostics::figures::format_count;
use closc_qos::units::{Length, Speed};
use smol_str::SmolStr;

use crate::own;

/// Maximum number of cables of an existing network.
pub(crate) const CABLES_MAX: usize = 1 << 23;

/// Maximum length of the name of a device or port.
const NAME_MAX: usize = 255;

/// Maximum number of characters of a cable type in a message.
const KIND_MAX: usize = 60;

/// Maximum number of errors that are kept.
const FAULTS_MAX: usize = 100;

/// Kind of a device: a node, or a switch of a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Level {
    /// A server.
    Node,
    /// A switch to which nodes are cabled.
    T0,
    /// The tier above T0s.
    T1,
    /// The tier above T1s.
    T2,
}

impl Level {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Level::Node => "a node",
            Level::T0 => "a T0",
            Level::T1 => "a T1",
            Level::T2 => "a T2",
        }
    }
}

/// A place in a file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FilePlace {
    pub(crate) file: u32,
    /// Line, from 1.
    pub(crate) line: u32,
}

/// One end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plug {
    pub(crate) device: u32,
    pub(crate) port: u32,
    pub(crate) speed: Option<Speed>,
    /// Cage on the panel or of the NIC, with the number that it has there.
    pub(crate) cage: Option<Cage>,
}

/// A cage, and the plugged part of it if the list has a column for parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cage {
    pub(crate) number: u16,
    pub(crate) part: Option<u8>,
}

/// Length and medium, if known.
pub(crate) type CableSpec = (Option<Length>, Option<SmolStr>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cable {
    pub(crate) ends: [Plug; 2],
    /// Index of its length and medium in [`ExistingNetwork::specs`].
    pub(crate) spec: u32,
    pub(crate) at: FilePlace,
}

/// A cable as described by a row of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row<'a> {
    pub(crate) devices: [&'a str; 2],
    pub(crate) ports: [&'a str; 2],
    pub(crate) speeds: [Option<Speed>; 2],
    pub(crate) cages: [Option<Cage>; 2],
    pub(crate) spec: CableSpec,
    /// Kinds of the first and second end.
    pub(crate) levels: Option<[Level; 2]>,
    /// Whether the cable is drained.
    pub(crate) is_drained: bool,
    pub(crate) is_isolated: bool,
    /// Type of the cable, if it is not a medium of a fabric, such as `cat6`.
    pub(crate) other_type: Option<&'a str>,
}

/// A cable that may or may not belong to the fabric, depending on the other cables.
#[derive(Debug)]
struct DeferredCable {
    devices: [SmolStr; 2],
    ports: [SmolStr; 2],
    other_type: Option<SmolStr>,
    /// The other values of its row.
    row: Row<'static>,
    at: FilePlace,
}

/// A reason why an existing network is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// File and line, if known.
    pub place: Option<String>,
    /// The error.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// The reasons why an existing network is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ImportError(pub Vec<Fault>);

impl From<Fault> for ImportError {
    fn from(fault: Fault) -> Self {
        ImportError(vec![fault])
    }
}

/// Names with consecutive numbers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<SmolStr, u32>,
    names: Vec<SmolStr>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).expect("there are fewer names than ends of cables");
        self.names.push(SmolStr::new(name));
        self.numbers.insert(SmolStr::new(name), number);
        number
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(crate) fn name(&self, number: u32) -> &SmolStr {
        &self.names[number as usize]
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(SmolStr::as_str)
    }
}

/// Devices and cables.
#[derive(Debug, Default)]
pub struct ExistingNetwork {
    pub(crate) devices: Names,
    pub(crate) ports: Names,
    pub(crate) cables: Vec<Cable>,
    pub(crate) specs: Vec<CableSpec>,
    /// Drained cables, by number.
    pub(crate) drained: HashSet<u32>,
    pub(crate) isolated: HashSet<u32>,
    /// Tiers of devices as stated in the input.
    pub(crate) levels: HashMap<u32, (Level, FilePlace)>,
    /// Words that hint at the kind of a device, such as its role.
    pub(crate) roles: HashMap<SmolStr, SmolStr>,
    /// Device models from lists of devices.
    pub(crate) models: HashMap<SmolStr, SmolStr>,
    /// Devices whose LLDP reports were read.
    pub(crate) reporters: HashSet<SmolStr>,
    /// Whether the lab numbers interfaces itself, so that their names do not identify ports of a panel.
    pub(crate) is_numbered: bool,
    /// Links that are not cables of the fabric.
    pub(crate) skipped_links: u64,
    /// Reasons for skipping links, each with the number of links and the first of them.
    reasons: BTreeMap<SmolStr, (u64, FilePlace)>,
    /// Cables with status planned, which count only if the lists do not contain other cables.
    planned_cables: Vec<DeferredCable>,
    /// Cables with a type that is not a medium of a fabric. They count unless they lead to a device outside
    /// the fabric.
    foreign_cables: Vec<DeferredCable>,
    cable_by_port: HashMap<(u32, u32), u32>,
    spec_numbers: HashMap<CableSpec, u32>,
    files: Vec<String>,
    /// Cable types that do not determine the medium, with the assumed medium, the number of cables and the
    /// first of them.
    types: BTreeMap<(SmolStr, Option<&'static str>), (u64, FilePlace)>,
    faults: Vec<Fault>,
}

impl ExistingNetwork {
    /// Registers a file, and returns its number for [`FilePlace`].
    pub(crate) fn file(&mut self, name: &str) -> u32 {
        self.files.push(name.to_owned());
        u32::try_from(self.files.len() - 1).expect("there are fewer files than cables")
    }

    /// Returns file and line in the form `FILE:LINE`.
    pub(crate) fn place(&self, at: FilePlace) -> String {
        format!("{}:{}", self.files[at.file as usize], at.line)
    }

    /// Records an error, unless there are already [`FAULTS_MAX`].
    pub(crate) fn fault(&mut self, at: FilePlace, text: impl Into<String>) {
        if self.faults.len() < FAULTS_MAX {
            let place = Some(self.place(at));
            self.faults.push(Fault { place, text: text.into() });
        }
    }

    /// Counts a skipped link that is not a cable of the fabric, with the reason.
    pub(crate) fn skip_link(&mut self, why: &str, at: FilePlace) {
        self.skipped_links += 1;
        self.reasons.entry(why.into()).or_insert((0, at)).0 += 1;
    }

    /// Keeps a cable until all cables are read, because it is planned or its type is not a medium.
    pub(crate) fn defer(&mut self, row: &Row<'_>, is_planned: bool, at: FilePlace) {
        let cables = if is_planned { &mut self.planned_cables } else { &mut self.foreign_cables };
        if cables.len() == CABLES_MAX {
            return self.fault(at, format!("there are more than {CABLES_MAX} cables"));
        }
        let (devices, ports) = (row.devices.map(SmolStr::new), row.ports.map(SmolStr::new));
        let other = row.other_type.map(SmolStr::new);
        let row = Row { devices: [""; 2], ports: [""; 2], other_type: None, spec: row.spec.clone(), ..*row };
        cables.push(DeferredCable { devices, ports, other_type: other, row, at });
    }

    /// Adds or skips deferred cables. If no cable is plugged, the list describes a network to be built, so
    /// its planned cables count.
    fn settle(&mut self) {
        let (others, planned) =
            (std::mem::take(&mut self.foreign_cables), std::mem::take(&mut self.planned_cables));
        let known = planned.iter().filter(|cable| cable.other_type.is_none());
        let known = known.flat_map(|cable| cable.devices.iter().map(SmolStr::as_str));
        let naming = own::naming(&self.devices.names().chain(known));
        // If nodes, T0s and T1s have names in closc's own form, a device with another name does not belong to
        // the fabric.
        let beside = |cable: &DeferredCable| {
            let (naming, kind) = (naming.as_ref()?, cable.other_type.as_ref()?);
            if cable.row.levels.is_some() {
                return None;
            }
            let device = cable.devices.iter().find(|name| own::place(naming, name).is_none())?;
            Some(format!("`{kind}` to `{device}`, which is not a node or switch of the fabric"))
        };
        for cable in others {
            match beside(&cable) {
                Some(why) => self.skip_outside(&why, cable.at),
                None => self.add_deferred(cable),
            }
        }
        let is_plan = self.cables.is_empty();
        for cable in planned {
            match beside(&cable) {
                _ if !is_plan => self.skip_link("planned, while others are connected", cable.at),
                Some(why) => self.skip_outside(&why, cable.at),
                None => self.add_deferred(cable),
            }
        }
    }

    /// Skips a cable to a device outside the fabric. If there are too many reasons, they share one entry.
    fn skip_outside(&mut self, why: &str, at: FilePlace) {
        let is_kept = self.reasons.len() < FAULTS_MAX || self.reasons.contains_key(why);
        self.skip_link(if is_kept { why } else { "to more devices outside the fabric" }, at);
    }

    fn add_deferred(&mut self, cable: DeferredCable) {
        let DeferredCable { devices, ports, other_type: other, row, at } = cable;
        if let Some(kind) = other {
            self.note(&kind, None, at);
        }
        let [devices, ports] = [&devices, &ports].map(|names| names.each_ref().map(SmolStr::as_str));
        self.add(&Row { devices, ports, ..row }, at);
    }

    /// Records a cable type that does not determine the medium, with the assumed medium.
    pub(crate) fn note(&mut self, kind: &str, taken: Option<&'static str>, at: FilePlace) {
        // The column may contain free text of any length.
        let kind: SmolStr = kind.chars().filter(|sign| !sign.is_control()).take(KIND_MAX).collect();
        if self.types.len() < FAULTS_MAX || self.types.contains_key(&(kind.clone(), taken)) {
            self.types.entry((kind, taken)).or_insert((0, at)).0 += 1;
        }
    }

    /// Returns the notes on assumed media and skipped links.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |((kind, taken), (count, at)): (&(SmolStr, Option<&'static str>), &(u64, FilePlace))| {
            let place = self.place(*at);
            match taken {
                Some(medium) => format!(
                    "{place}: the type `{kind}` can mean several media; `{medium}` is assumed from the length for {}",
                    format_count(*count, "cable")
                ),
                None => format!(
                    "{place}: the type `{kind}` is not a medium; the default is assumed for {}",
                    format_count(*count, "cable")
                ),
            }
        };
        let reason = |(why, (count, at)): (&SmolStr, &(u64, FilePlace))| {
            format!("{}: {} skipped: {why}", self.place(*at), format_count(*count, "cable"))
        };
        self.types.iter().map(note).chain(self.reasons.iter().map(reason)).collect()
    }

    /// Returns the network.
    ///
    /// # Errors
    ///
    /// Returns at most 100 errors.
    pub fn finish(mut self) -> Result<ExistingNetwork, ImportError> {
        self.settle();
        if !self.faults.is_empty() {
            return Err(ImportError(self.faults));
        }
        if self.cables.is_empty() {
            return Err(
                Fault { place: None, text: "the files and reports contain no cables".to_owned() }.into()
            );
        }
        Ok(self)
    }

    pub(crate) fn cable_count(&self) -> usize {
        self.cables.len()
    }

    /// Adds a cable, or records an error if it is not valid.
    pub(crate) fn add(&mut self, row: &Row<'_>, at: FilePlace) {
        for (name, what) in
            row.devices.iter().map(|name| (name, "device")).chain(row.ports.iter().map(|name| (name, "port")))
        {
            if name.is_empty() || name.len() > NAME_MAX || name.chars().any(char::is_control) {
                return self.fault(at, format!("the name of a {what} is empty, too long or not printable"));
            }
        }
        if row.devices[0] == row.devices[1] {
            let text =
                format!("`{}` is cabled to itself: expected a cable between two devices", row.devices[0]);
            return self.fault(at, text);
        }
        if self.cables.len() == CABLES_MAX {
            return self.fault(at, format!("there are more than {CABLES_MAX} cables"));
        }
        let end = |network: &mut ExistingNetwork, side: usize| Plug {
            device: network.devices.number(row.devices[side]),
            port: network.ports.number(row.ports[side]),
            speed: row.speeds[side],
            cage: row.cages[side],
        };
        let ends = [end(self, 0), end(self, 1)];
        let number = u32::try_from(self.cables.len()).expect("CABLES_MAX fits");
        for (side, plug) in ends.iter().enumerate() {
            if let Entry::Occupied(other) = self.cable_by_port.entry((plug.device, plug.port)) {
                let other = &self.cables[*other.get() as usize];
                let text = format!(
                    "`{}` port `{}` has a cable already, at {}",
                    row.devices[side],
                    row.ports[side],
                    self.place(other.at)
                );
                return self.fault(at, text);
            }
        }
        for plug in &ends {
            self.cable_by_port.insert((plug.device, plug.port), number);
        }
        for (plug, level) in ends.iter().zip(row.levels.into_iter().flatten()) {
            self.set_level(plug.device, level, at);
        }
        let next = u32::try_from(self.specs.len()).expect("there are fewer kinds of cables than cables");
        let spec = *self.spec_numbers.entry(row.spec.clone()).or_insert(next);
        if spec == next {
            self.specs.push(row.spec.clone());
        }
        if row.is_drained {
            self.drained.insert(number);
        }
        if row.is_isolated {
            self.isolated.insert(number);
        }
        self.cables.push(Cable { ends, spec, at });
    }

    /// Adds a cable, unless its other end has already reported it.
    pub(crate) fn add_seen(&mut self, row: &Row<'_>, at: FilePlace) {
        let known = |network: &ExistingNetwork, side: usize| {
            let device = network.devices.find(row.devices[side])?;
            network.cable_by_port.get(&(device, network.ports.find(row.ports[side])?)).copied()
        };
        match (known(self, 0), known(self, 1)) {
            (Some(a), Some(b)) if a == b => {}
            _ => self.add(row, at),
        }
    }

    fn set_level(&mut self, device: u32, level: Level, at: FilePlace) {
        match self.levels.entry(device) {
            Entry::Vacant(entry) => {
                entry.insert((level, at));
            }
            Entry::Occupied(entry) if entry.get().0 == level => {}
            Entry::Occupied(entry) => {
                let (other, before) = *entry.get();
                let name = self.devices.name(device).clone();
                let text = format!(
                    "`{name}` is {} here and {} at {}: a device has one tier",
                    level.label(),
                    other.label(),
                    self.place(before)
                );
                self.fault(at, text);
            }
        }
    }

    /// Returns the number of devices with cables.
    pub(crate) fn device_count(&self) -> usize {
        self.devices.names.len()
    }

    /// Returns the cable in a port.
    pub(crate) fn cable_at(&self, device: u32, port: u32) -> Option<u32> {
        self.cable_by_port.get(&(device, port)).copied()
    }
}
