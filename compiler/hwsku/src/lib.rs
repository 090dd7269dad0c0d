//! Derives catalogue entries from the files with which SONiC describes a switch.
//!
//! In: the folder of a box with its hwskus ([`Files`]), from a checkout of sonic-net/sonic-buildimage or from a switch.
//! Out: an entry as YAML, or the reason why there is none. With [`measure`], the entry has the limits that a switch
//! reports. Invariants: an entry is returned only if the catalogue accepts it, and each of its hwskus has exactly the
//! same ports as in SONiC.

mod alias;
mod asic;
mod entry;
mod measure;
mod panel;
mod sdk;
mod sku;

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::Sources;
use closc_platform::{Breakout, Catalogue, Maker, Platform, Release, Slot};

pub use self::measure::{Answer, MeasuredEntry, USUAL_OS, commands, measure, measure_output};
pub use self::sdk::Sdk;
pub use self::sku::Row;

use self::entry::{Entry, Sku};
use self::panel::{Panel, Split};
use self::sku::{Cage, UnreadableSku};

/// Reason to omit a hwsku whose cages have unequal ports.
const MIXED: &str = "it has cages with ports of several kinds";

/// Maximum bandwidth of the service ports of a box in Mb/s.
const SERVICE_MBPS: u64 = 200_000;

/// The files of a checkout or a switch.
pub trait Files {
    /// Returns the text of a file.
    fn text(&self, path: &str) -> Option<String>;

    /// Returns the names directly in a folder.
    fn names(&self, folder: &str) -> Vec<String>;
}

/// A box with its hwskus.
pub struct Switch {
    folder: String,
    /// The name of the box in SONiC.
    pub platform: String,
    /// Maker of the ASIC.
    maker: Option<Maker>,
    /// Maximum number of ports that the ASIC can have at the same time, with the source, if known.
    logical_ports: Option<(u16, &'static str)>,
    cages: Vec<Cage>,
    /// Ports on the front panel, by hwsku.
    skus: BTreeMap<String, Vec<Row>>,
    /// Bandwidth in Mb/s of the ASIC's ports that are not on the front panel, by hwsku.
    internal: BTreeMap<String, u64>,
    /// Lanes of the ASIC's ports that are not on the front panel, in all hwskus.
    internal_lanes: BTreeSet<u16>,
    /// hwskus with ports of an older release, because those of this release are incomplete.
    restored: BTreeSet<String>,
    /// hwskus with service ports on lanes of other ports, and the number of these service ports.
    nested: BTreeMap<String, usize>,
    /// hwskus whose ports cannot be read.
    unread: BTreeMap<String, UnreadableSku>,
}

impl Switch {
    /// Reads a box from its folder.
    pub fn read(files: &dyn Files, folder: String, platform: String) -> Switch {
        let cages = sku::cages(files, &folder);
        let (mut skus, mut internal, mut unread) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (mut internal_lanes, mut nested) = (BTreeSet::new(), BTreeMap::new());
        for name in files.names(&folder) {
            match sku::rows(files, &format!("{folder}/{name}"), &cages) {
                Some(Ok(rows)) => {
                    let (inner, front): (Vec<Row>, Vec<Row>) =
                        rows.into_iter().partition(|row| row.is_internal);
                    internal_lanes.extend(inner.iter().flat_map(|row| row.lanes.iter().copied()));
                    internal.insert(name.clone(), inner.iter().map(|row| u64::from(row.mbps)).sum());
                    let is_own = |row: &&Row| !sku::is_nested(row, &front);
                    let own: Vec<Row> = front.iter().filter(is_own).cloned().collect();
                    if own.len() < front.len() {
                        nested.insert(name.clone(), front.len() - own.len());
                    }
                    skus.insert(name, own);
                }
                Some(Err(reason)) => drop(unread.insert(name, reason)),
                None => {}
            }
        }
        let maker = files.text(&format!("{folder}/platform_asic"));
        let maker = maker.and_then(|text| Maker::of_platform_asic(&text));
        let devices = files.text(&format!("{folder}/pcie.yaml")).unwrap_or_default();
        let logical_ports = asic::logical_ports(&devices);
        let restored = BTreeSet::new();
        Switch {
            folder,
            platform,
            maker,
            logical_ports,
            cages,
            skus,
            internal,
            internal_lanes,
            restored,
            nested,
            unread,
        }
    }

    /// Replaces the ports of each hwsku that lacks a port of a split cage with those of an older release.
    pub fn restore_ports(&mut self, older: &Switch) {
        for (name, rows) in &mut self.skus {
            let known = older.skus.get(name).filter(|_| !panel::has_all_parts(rows, &self.cages));
            if let Some(known) = known.filter(|known| panel::has_all_parts(known, &self.cages)) {
                rows.clone_from(known);
                self.restored.insert(name.clone());
            }
        }
    }

    /// Returns the bandwidth of the largest hwsku in Mb/s, including internal ports; `None` if the bandwidth of all
    /// hwskus is unknown.
    pub fn mbps(&self) -> Option<u64> {
        let total = |(name, rows): (&String, &Vec<Row>)| {
            rows.iter().map(|row| u64::from(row.mbps)).sum::<u64>() + self.internal[name]
        };
        let unread = self.unread.values().filter_map(|unread| unread.mbps);
        self.skus.iter().map(total).chain(unread).max()
    }

    /// Returns whether the folder contains hwskus.
    pub fn has_hwskus(&self) -> bool {
        !self.skus.is_empty() || !self.unread.is_empty()
    }

    /// Returns the reason why the ports of a hwsku cannot be read.
    pub fn unread(&self, hwsku: &str) -> Option<&str> {
        self.unread.get(hwsku).map(|unread| &*unread.reason)
    }

    /// Returns the folder of the box.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the ports of a hwsku on the front panel.
    pub fn ports(&self, hwsku: &str) -> Option<&[Row]> {
        self.skus.get(hwsku).map(Vec::as_slice)
    }

    /// Returns the names of the hwskus.
    pub fn hwskus(&self) -> impl Iterator<Item = &str> {
        self.skus.keys().map(String::as_str)
    }

    /// Returns the first port of a hwsku that an entry lacks, ignoring service ports. The outer option is `None` if the
    /// box lacks the hwsku, and the inner one if the entry lacks none of the ports.
    pub fn differing_port(&self, platform: &Platform, hwsku: &str) -> Option<Option<&Row>> {
        let panel: BTreeSet<u16> = platform.panel.serial_lanes.iter().copied().collect();
        let mut rows =
            self.ports(hwsku)?.iter().filter(|row| row.lanes.iter().all(|lane| panel.contains(lane)));
        let own: BTreeSet<(String, String, u16, Vec<u16>)> = platform
            .ports()
            .map(|port| (port.name.to_string(), port.alias.to_string(), port.panel, port.lanes))
            .collect();
        let named =
            |row: &Row| (format!("Ethernet{}", row.number), row.alias.clone(), row.index, row.lanes.clone());
        Some(rows.find(|row| !own.contains(&named(row))))
    }
}

/// Origin of the files of a box.
pub struct Origin<'a> {
    /// The repository or switch, as text for comments.
    pub source: &'a str,
    /// First release of each hwsku that some supported releases lack.
    pub since: &'a BTreeMap<String, Release>,
    /// First release with the box, if some supported releases lack it.
    pub platform_since: Option<Release>,
    /// NVIDIA's ASIC, as in SONiC's `asic_table.j2`: `SPECTRUM-4`.
    pub spectrum: Option<&'a str>,
}

/// A derived entry.
pub struct DerivedPlatform {
    /// Name of the entry.
    pub id: String,
    /// YAML of the entry.
    pub text: String,
    /// Hwskus that the entry does not describe, with the reason.
    pub notes: Vec<String>,
}

impl Switch {
    /// Derives the entries of a box, the main one first. If hwskus use only every other cage, a second entry has only
    /// these cages. SDK properties without an effect are added to `ignored`.
    pub fn derive(
        &self,
        files: &dyn Files,
        origin: &Origin<'_>,
        ignored: &mut BTreeSet<String>,
    ) -> Result<Vec<DerivedPlatform>, String> {
        if let Some(count) = several_asics(files, &self.folder) {
            return Err(format!("{count} ASICs, but closc supports one per switch"));
        }
        if self.platform.contains("simx") {
            return Err("a simulator".to_owned());
        }
        let usual = files.text(&format!("{}/default_sku", self.folder)).unwrap_or_default();
        let usual = usual.split_whitespace().next().unwrap_or_default().to_owned();
        let mut notes: Vec<String> =
            { self.unread.iter() }.map(|(name, of)| format!("hwsku {name}: {}", of.reason)).collect();
        if self.skus.is_empty() {
            return Err(notes.join("; "));
        }
        notes.extend(self.restored.iter().map(|name| {
            format!("note on hwsku {name}: a cage lacks a port, so the ports of an older release are used")
        }));
        notes.extend(self.nested.iter().map(|(name, count)| {
            format!("note on hwsku {name}: ports on lanes of faster ports are ignored: {count}")
        }));
        let mut used = panel::derive(self.cages.clone(), &self.skus, &usual)?;
        let mut found = Vec::new();
        let is_front = |cage: &&Cage| !cage.lanes.iter().any(|lane| self.internal_lanes.contains(lane));
        if used.step > 1
            && let Ok(all) =
                panel::of_all(self.cages.iter().filter(is_front).cloned().collect(), &self.skus, &usual)
            && let Ok(entry) = self.entry(files, origin, ignored, (&all, &usual), notes.clone())
        {
            found.push(entry);
            used.has_suffix = true;
            notes.clear();
        }
        let fastest = used.lane_mbps;
        found.push(self.entry(files, origin, ignored, (&used, &usual), notes)?);
        self.derive_other_names(files, origin, ignored, (&mut found, fastest));
        Ok(found)
    }

    /// Derives an entry of its own for each hwsku that has the full bandwidth of the box, and whose ports have names
    /// or cages that differ from those of the other entries. Skips hwskus whose lanes would be faster than those of
    /// the main entry, because SONiC lists only a part of their lanes.
    fn derive_other_names(
        &self,
        files: &dyn Files,
        origin: &Origin<'_>,
        ignored: &mut BTreeSet<String>,
        (found, fastest): (&mut Vec<DerivedPlatform>, u32),
    ) {
        let mbps = |rows: &mut dyn Iterator<Item = &Row>| rows.map(|row| u64::from(row.mbps)).sum::<u64>();
        let most = self.skus.values().map(|rows| mbps(&mut rows.iter())).max().unwrap_or(0);
        for (name, rows) in self.skus.iter().filter(|(name, _)| !self.restored.contains(*name)) {
            let is_note = |note: &String| {
                note.strip_prefix(&format!("hwsku {name}")).is_some_and(|rest| rest.starts_with([':', ' ']))
            };
            if !found.iter().any(|entry| entry.notes.iter().any(is_note)) {
                continue;
            }
            let own = BTreeMap::from([(name.clone(), rows.clone())]);
            let Ok(mut panel) = panel::derive(Vec::new(), &own, name) else { continue };
            let is_on_panel = |row: &&Row| panel.cages.iter().any(|cage| panel::is_in(row, cage));
            let is_slower = mbps(&mut rows.iter().filter(is_on_panel)) + SERVICE_MBPS < most;
            if is_slower || panel.lane_mbps > fastest {
                continue;
            }
            panel.has_suffix = true;
            let Ok(entry) = self.entry_of(files, origin, ignored, (&panel, name), (&own, Vec::new())) else {
                continue;
            };
            if found.iter().all(|known| known.id != entry.id) {
                for known in found.iter_mut() {
                    known.notes.retain(|note| !is_note(note));
                }
                found.push(entry);
            }
        }
    }

    /// Derives the entry for a panel.
    fn entry(
        &self,
        files: &dyn Files,
        origin: &Origin<'_>,
        ignored: &mut BTreeSet<String>,
        panel: (&Panel, &str),
        notes: Vec<String>,
    ) -> Result<DerivedPlatform, String> {
        self.entry_of(files, origin, ignored, panel, (&self.skus, notes))
    }

    /// Derives an entry of some hwskus with a panel.
    fn entry_of(
        &self,
        files: &dyn Files,
        origin: &Origin<'_>,
        ignored: &mut BTreeSet<String>,
        (panel, usual): (&Panel, &str),
        (own, mut notes): (&BTreeMap<String, Vec<Row>>, Vec<String>),
    ) -> Result<DerivedPlatform, String> {
        let mut skus = Vec::new();
        for (name, rows) in own {
            match sku(files, self, panel, name, rows) {
                Ok(sku) => skus.push(sku),
                Err(reason) => notes.push(format!("hwsku {name}: {reason}")),
            }
        }
        for sku in &mut skus {
            ignored.append(&mut sku.sdk.ignored_properties);
            sku.since = origin.since.get(&sku.name).copied();
        }
        skus.sort_by_key(|sku| (sku.name != usual, sku.breakouts.len(), sku.name.len()));
        let maker = self.maker(&skus, &mut notes);
        self.accept_hwskus(panel, (skus, maker), notes, origin)
    }

    /// Returns the maker of the ASIC, unless `platform_asic` and an SDK file name different ones.
    fn maker(&self, skus: &[Sku], notes: &mut Vec<String>) -> Option<Maker> {
        let own = self.maker?;
        let other = skus.iter().find(|sku| sku.sdk.has_bcm && own != Maker::Broadcom);
        let Some(sku) = other else { return Some(own) };
        let word = own.keyword();
        notes.push(format!("platform_asic names {word}, but hwsku {} has a Broadcom SDK file", sku.name));
        None
    }

    /// Omits each hwsku whose ports the entry would not describe exactly. Fails if all hwskus are omitted, or if the
    /// catalogue rejects the entry.
    fn accept_hwskus(
        &self,
        panel: &Panel,
        (mut skus, maker): (Vec<Sku>, Option<Maker>),
        mut notes: Vec<String>,
        origin: &Origin<'_>,
    ) -> Result<DerivedPlatform, String> {
        loop {
            if skus.is_empty() {
                return Err(notes.join("; "));
            }
            let Origin { source, platform_since, spectrum, .. } = origin;
            let id = id(&self.platform, panel, &skus[0]);
            let entry = Entry {
                id: &id,
                source,
                platform: &self.platform,
                since: *platform_since,
                maker,
                spectrum: *spectrum,
                logical_ports: self.logical_ports.or(spectrum.and_then(asic::ports_of_spectrum)),
                panel,
                skus: &skus,
            };
            let text = entry.text();
            let platform = accept(&text)?;
            let of = |sku: &Sku| difference(&platform, panel, &self.skus[&sku.name]);
            let Some((at, why)) = skus.iter().enumerate().find_map(|(at, sku)| Some((at, of(sku)?))) else {
                return Ok(DerivedPlatform { id, text, notes });
            };
            let sku = skus.remove(at);
            let properties = sku.sdk.properties();
            let space = if properties.is_empty() { "" } else { " " };
            notes.push(format!("hwsku {}{space}{properties}: {why}", sku.name));
        }
    }
}

/// Returns the number of ASICs of a box, as text; `None` if it is 1 or not stated.
fn several_asics(files: &dyn Files, folder: &str) -> Option<String> {
    let text = files.text(&format!("{folder}/asic.conf"))?;
    let count = text.lines().find_map(|line| line.trim().strip_prefix("NUM_ASIC="))?;
    (count.trim() != "1").then(|| count.trim().to_owned())
}

/// A hwsku whose cages are split into equal ports.
fn sku(files: &dyn Files, switch: &Switch, panel: &Panel, name: &str, rows: &[Row]) -> Result<Sku, String> {
    let mut cages: BTreeMap<Split, Vec<u16>> = BTreeMap::new();
    for (cage, split) in panel::splits(rows, &panel.cages, panel.listed) {
        let split = split.ok_or_else(|| mixed_cage(rows, panel, cage))?;
        cages.entry(split).or_default().push(cage);
    }
    let is_service = |split: &Split, cages: &[u16]| {
        split.mbps < panel::SLOWEST && cages.len() <= panel::SERVICE_MAX && split.ports == 1
    };
    cages.retain(|split, cages| !is_service(split, cages));
    let mut breakouts: Vec<Split> = cages.keys().copied().collect();
    breakouts.sort_by_key(|split| std::cmp::Reverse(split.ports));
    if breakouts.is_empty() {
        return Err("it has no ports on the panel".to_owned());
    }
    let is_offered = |split: &&Split| panel.breakouts.contains(split) || panel.partial.contains(split);
    if let Some(split) = breakouts.iter().find(|split| !is_offered(split)) {
        return Err(reason_against(*split, panel));
    }
    let sdk = Sdk::read(files, &format!("{}/{name}", switch.folder));
    let states_autoneg = rows.iter().any(|row| row.states_autoneg);
    cages.retain(|_, of| of.len() < panel.cages.len());
    Ok(Sku { name: name.to_owned(), breakouts, cages, since: None, sdk, states_autoneg })
}

/// The reason why a panel does not offer a split.
fn reason_against(split: Split, panel: &Panel) -> String {
    let text = entry::split(split);
    if split.mbps < panel::SLOWEST {
        return format!("`{text}` is slower than {}G, the minimum of a fabric port", panel::SLOWEST / 1_000);
    }
    match split.lane_mbps(panel.lanes) {
        None => {
            let lanes = split.lanes.map_or(panel.lanes, usize::from);
            format!("`{text}` on {lanes} lanes needs a speed per lane that Ethernet does not have")
        }
        Some(_) => format!("not every cage of the panel can be `{text}`"),
    }
}

/// The reason why the ports of a cage are not a split.
fn mixed_cage(rows: &[Row], panel: &Panel, cage: u16) -> String {
    let cage = &panel.cages[usize::from(cage)];
    let own: Vec<&Row> = rows.iter().filter(|row| panel::is_in(row, cage)).collect();
    let kinds: BTreeSet<(u32, usize)> = own.iter().map(|row| (row.mbps, row.lanes.len())).collect();
    match own[..] {
        [] => "a cage has no ports".to_owned(),
        _ if kinds.len() > 1 => MIXED.to_owned(),
        [row, ..] => {
            let lanes: usize = own.iter().map(|row| row.lanes.len()).sum();
            let order = if lanes < panel.lanes { ", which are not the first ones in order" } else { "" };
            format!(
                "Ethernet{} is in a cage of {} lanes, of which ports use {lanes}{order}",
                row.number, panel.lanes
            )
        }
    }
}

/// Returns the name of an entry: `micas-m2-w6950-128oc` for `x86_64-micas_m2-w6950-128oc-r0`. The name of a box's
/// second entry ends with its ports, as in `nvidia-sn5610n-256x100g`.
fn id(platform: &str, panel: &Panel, usual: &Sku) -> String {
    let bare = platform.split_once('-').map_or(platform, |(_, bare)| bare);
    let bare = bare.strip_suffix("-r0").unwrap_or(bare).to_lowercase();
    let id = bare.replace(|sign: char| !sign.is_ascii_alphanumeric(), "-").replace("--", "-");
    let Split { ports, mbps, .. } = usual.breakouts[0];
    let ports = panel.cages.len() * usize::from(ports);
    if panel.has_suffix { format!("{id}-{ports}x{}g", mbps / 1_000) } else { id }
}

/// Parses an entry as the catalogue does.
fn accept(text: &str) -> Result<Platform, String> {
    let mut catalogue = Catalogue::default();
    let id = catalogue.add_yaml(&mut Sources::new(), "entry", text).map_err(|found| {
        let first = found.iter().next().map(|one| one.message.clone());
        first.unwrap_or_default()
    })?;
    Ok(Platform::clone(catalogue.get(&id).expect("it was just added")))
}

/// Describes the first port of a hwsku that the entry lacks, ignoring service ports.
fn difference(platform: &Platform, panel: &Panel, rows: &[Row]) -> Option<String> {
    for (at, split) in panel::splits(rows, &panel.cages, panel.listed) {
        let own = rows.iter().filter(|row| panel::is_in(row, &panel.cages[usize::from(at)]));
        let Some(split) = split else { return Some(MIXED.to_owned()) };
        let breakout: Breakout = entry::split(split).parse().ok()?;
        if !platform.panel.offers(breakout) {
            return Some(format!("the panel does not offer {breakout}"));
        }
        for (part, row) in (0..).zip(own) {
            let port = platform.port(Slot { cage: at, part, breakout });
            let ours = port_words((&*port.name, &*port.alias, port.panel, &port.lanes, port.speed.mbps()));
            let name = format!("Ethernet{}", row.number);
            let theirs = port_words((&*name, &*row.alias, row.index, &row.lanes, row.mbps));
            if ours != theirs {
                return Some(format!("its port {theirs} is {ours} in the entry"));
            }
        }
    }
    None
}

/// Describes a port: name, alias, number of the cage, lanes, Mb/s.
fn port_words((name, alias, index, lanes, mbps): (&str, &str, u16, &[u16], u32)) -> String {
    let lanes: Vec<String> = lanes.iter().map(u16::to_string).collect();
    format!("{name} ({alias}, cage {index}, lanes {}, {}G)", lanes.join(","), mbps / 1_000)
}
