//! Report of the detection and placement rates of damage, by table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use crate::generated::case::Case;
use crate::generated::harmless::{REASONS, reason};
use crate::generated::placement::{Placement, file_kind, has_lines};

/// Detection and placement rate of a table.
#[derive(Debug, Default, Clone)]
struct Rate {
    tried: usize,
    found: usize,
    harmless: usize,
    /// Number of found cases in which a place is a damaged line.
    exact: usize,
    /// Median distance of the nearest place in lines; `None` if most cases have none.
    off: Option<usize>,
    /// Distances of all found cases; `off` is their median.
    distances: Vec<Option<usize>>,
}

/// Placement in files of a kind: the share of found damage with a named line in percent, and the median distance of the
/// nearest place in lines.
type PlacementRate = [usize; 2];

/// The distance if most violations do not name a line of the file.
const NONE: usize = usize::MAX;

/// Placement in the sample by file kind: the minimum, and the earlier value from text searches. A share may only rise,
/// so the test also fails if the minimum is ten points too low.
const NAMED: [(&str, PlacementRate, PlacementRate); 33] = [
    ("P4Info", [100, 0], [100, 0]),
    ("P4 programs", [0, NONE], [0, NONE]),
    ("backup-ports.json of nodes", [25, NONE], [0, NONE]),
    ("cable lists", [100, 0], [100, 0]),
    ("config_db.json", [100, 0], [20, 32]),
    ("daemons", [0, NONE], [0, NONE]),
    ("delay.json of nodes", [33, 2], [33, 2]),
    ("devices.batch", [100, 0], [100, 0]),
    ("devices.batch of nodes", [100, 0], [100, 0]),
    ("entries.txtpb", [82, 0], [26, 6]),
    ("eos.conf", [91, 0], [61, 0]),
    ("frr.conf", [89, 0], [66, 0]),
    ("ip.batch", [87, 0], [87, 0]),
    ("ip.batch of nodes", [66, 0], [66, 0]),
    ("manifest.json", [14, NONE], [14, NONE]),
    ("nccl-topology.xml of nodes", [100, 0], [100, 0]),
    ("nccl.conf of nodes", [100, 0], [100, 0]),
    ("netplan.yaml of nodes", [38, 1], [38, 1]),
    ("networkd lo.network of nodes", [0, NONE], [0, NONE]),
    ("networkd port.link of nodes", [50, 1], [50, 1]),
    ("networkd port.network of nodes", [28, 4], [28, 4]),
    ("networkd rdma.rules of nodes", [66, 0], [66, 0]),
    ("nic-qos.sh of nodes", [40, NONE], [40, NONE]),
    ("nicN.env of nodes", [100, 0], [100, 0]),
    ("nvue.yaml", [93, 0], [16, 92]),
    ("path tables (JSON)", [50, 1], [42, 1]),
    ("pins.txtpb", [83, 0], [25, 6]),
    ("routes.batch of nodes", [100, 0], [100, 0]),
    ("sysctl.conf", [100, 0], [100, 0]),
    ("sysctl.conf of nodes", [90, 0], [90, 0]),
    ("tc.batch", [76, 0], [76, 0]),
    ("tna.txtpb", [88, 0], [25, 7]),
    ("vccl.conf of nodes", [100, 0], [100, 0]),
];

/// Detection rates of all tables.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    sections: BTreeMap<String, Rate>,
    missed_cases: BTreeSet<String>,
    /// Reasons that were used.
    used_reasons: BTreeSet<usize>,
}

impl Rates {
    /// Counts a case.
    pub(crate) fn count(&mut self, case: &Case, found: Option<Placement>) {
        let rate = self.sections.entry(case.section.clone()).or_default();
        rate.tried += 1;
        if let Some(placed) = found {
            rate.found += 1;
            rate.exact += usize::from(placed == Placement::Exact);
            rate.distances.push(match placed {
                Placement::Exact => Some(0),
                Placement::Off(lines) => Some(lines),
                Placement::Nowhere => None,
            });
            if placed != Placement::Exact && env::var_os("CLOSC_DAMAGE_PLACED").is_some() {
                println!("{placed:?}: {}", case.name());
            }
        } else if let Some(reason) = reason(case) {
            rate.harmless += 1;
            self.used_reasons.insert(reason);
            if env::var_os("CLOSC_DAMAGE_LISTED").is_some() {
                println!("listed: {} [{}]", case.name(), REASONS[reason].text);
            }
        } else {
            self.missed_cases.insert(case.name());
        }
    }

    /// Prints the table, and fails if damage was missed. With all cases, each reason must be used, and the page must be
    /// up to date. With all cases of certain sections, the lines of these sections can be written.
    pub(crate) fn judge(&mut self, whole: bool, some: bool, drawn: Option<u64>) {
        self.sections.values_mut().for_each(Rate::measure);
        let own = page(&self.sections);
        println!("{own}");
        for (section, rate) in &self.sections {
            let off = rate.off.map_or("-".to_owned(), |lines| lines.to_string());
            println!("named: {section}: {} of {}, {off} lines off", rate.exact, rate.found);
        }
        let missed: Vec<&str> = self.missed_cases.iter().map(String::as_str).collect();
        assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
        if !whole && !some && drawn.is_none() {
            self.place();
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kill-rates.md");
        let written = fs::read_to_string(&path).unwrap_or_default();
        let bless = env::var_os("CLOSC_BLESS").is_some();
        if whole && some && bless {
            let mut sections = read(&written);
            sections.extend(self.sections.clone());
            fs::write(&path, page(&sections)).expect("the page can be written");
        }
        if !whole || some {
            return;
        }
        let idle: Vec<String> = REASONS
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.used_reasons.contains(at))
            .map(|(_, reason)| format!("{reason:?}"))
            .collect();
        assert!(idle.is_empty(), "reasons that nothing needs:\n{}", idle.join("\n"));
        if bless {
            fs::write(&path, &own).expect("the page can be written");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, own, "write the page anew with CLOSC_BLESS=1");
    }
}

impl Rates {
    /// Fails if violations name fewer damaged lines of the sample than before, or if a minimum is too low.
    fn place(&self) {
        let mut wrong = Vec::new();
        for (kind, rate) in kinds(&self.sections) {
            let share = rate.exact * 100 / rate.found.max(1);
            let known = NAMED.iter().find(|(known, ..)| *known == kind);
            let [least, most] = known.map_or([0, NONE], |(_, now, _)| *now);
            let off = rate.off.unwrap_or(NONE);
            if share < least || share > least + 9 || off > most {
                wrong.push(format!("(\"{kind}\", [{share}, {off}]"));
            }
        }
        assert!(wrong.is_empty(), "lines are named otherwise than in NAMED:\n{}", wrong.join("\n"));
    }
}

impl Rate {
    /// Computes the median distance.
    fn measure(&mut self) {
        // Cases without a line count as farther away than all others.
        self.distances.sort_by_key(|off| off.unwrap_or(usize::MAX));
        self.off = self.distances.get(self.distances.len() / 2).copied().flatten();
    }
}

/// Sums the rates by file kind.
fn kinds(sections: &BTreeMap<String, Rate>) -> BTreeMap<&str, Rate> {
    let mut kinds: BTreeMap<&str, Rate> = BTreeMap::new();
    for (section, rate) in sections.iter().filter(|(section, rate)| has_lines(section) && rate.found > 0) {
        let kind = kinds.entry(file_kind(section)).or_default();
        kind.found += rate.found;
        kind.exact += rate.exact;
        kind.distances.extend(&rate.distances);
    }
    kinds.values_mut().for_each(Rate::measure);
    kinds
}

/// Reads the rates from a page.
fn read(page: &str) -> BTreeMap<String, Rate> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let section = cells.next()?.trim_end_matches('`').to_owned();
        let mut number = || cells.next()?.parse().ok();
        Some((section, Rate { tried: number()?, found: number()?, harmless: number()?, ..Rate::default() }))
    };
    page.lines().filter_map(row).collect()
}

fn page(sections: &BTreeMap<String, Rate>) -> String {
    let mut page = String::from(HEAD);
    let mut total = Rate::default();
    for (section, rate) in sections {
        line(&mut page, &format!("`{section}`"), rate);
        total.tried += rate.tried;
        total.found += rate.found;
        total.harmless += rate.harmless;
    }
    line(&mut page, "all", &total);
    page.push_str(LINES);
    for (kind, now, before) in NAMED {
        let show = |[share, off]: PlacementRate| match off {
            NONE => format!("{share} % | -"),
            _ => format!("{share} % | {off}"),
        };
        let _ = writeln!(page, "| `{kind}` | {} | {} |", show(now), show(before));
    }
    page.push_str("\n## Harmless damage\n\n| file | damage | reason |\n|---|---|---|\n");
    for reason in REASONS {
        let field =
            if reason.field.is_empty() { "anything".to_owned() } else { format!("`{}`", reason.field) };
        let hows: Vec<String> = reason.hows.iter().map(|how| split_words(&format!("{how:?}"))).collect();
        let hows = if hows.is_empty() { String::new() } else { format!(" {}", hows.join(", ")) };
        let field = field.replace('|', "\\|");
        let _ = writeln!(page, "| {} | {field}{hows} | {} |", reason.section, reason.text);
    }
    page
}

/// Splits names such as `LostEverywhere` into words.
fn split_words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn line(page: &mut String, name: &str, rate: &Rate) {
    let found = (rate.found * 100).checked_div(rate.tried - rate.harmless);
    let found = found.map_or("-".to_owned(), |share| format!("{share} %"));
    let Rate { tried, found: count, harmless, .. } = rate;
    let _ = writeln!(page, "| {name} | {tried} | {count} | {harmless} | {found} |");
}

/// The heading of the table of file kinds.
const LINES: &str = "
## Named lines

Judge how often a violation names the damaged line. The table shows, for damage in the sample that is found, how often a violation
names a changed line, and the median distance in lines from the changed line to the nearest named one. For a removed line, its neighbours and the
first line of its block count too. For a repeated line, both lines count. The distance is `-` if most violations name no line of the file. The last two columns
are from before [decision 165](decisions/0165-positions-are-facts.md).

| file | line named | lines off | named before | lines off before |
|---|---|---|---|---|
";

const HEAD: &str = "# How much damage `closc verify` finds

Judge how much `closc verify` detects. A test damages each field of each table and each kind of line of small compiled fabrics, in every kind of
file:

- A value is removed (`lost`), emptied (`empty`), duplicated (`twice`), changed (`other`), made far larger (`larger`), or replaced by that of
  another device (`foreign`). With `everywhere`, the same is done on all devices at once.
- Numbers in tables are also changed by one, by a tenth and by half (`moved`), on one device, on a tier and everywhere.
- Mappings of `nvue.yaml` are also given a key that is in no schema, and two of their entries are swapped (`swapped`).
- The manifest is regenerated, so digests detect nothing.

Undetected damage is listed below, with the reason why it is harmless.

`CLOSC_ALL_DAMAGE=1 CLOSC_BLESS=1 cargo nextest run -p closc-verify --test it generated::` writes this page. `CLOSC_DAMAGE=eos.conf,tc.batch` instead of
the first variable writes the lines of these files. Without either, the test uses a sample.

| damaged | variants | found | listed below | found of the rest |
|---|---|---|---|---|
";
