//! Detection and placement rates of damage per table, as a report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use crate::case::Case;
use crate::harmless::{REASONS, reason};
use crate::placed::{Placed, file_kind, has_lines};

/// Detection and placement rate of a table.
#[derive(Debug, Default, Clone)]
struct Rate {
    tried: usize,
    found: usize,
    harmless: usize,
    /// Found cases in which a place is a damaged line.
    exact: usize,
    /// Median distance of the nearest place in lines; `None` where most have none.
    off: Option<usize>,
    /// The distance of each found case, of which `off` is the median.
    distances: Vec<Option<usize>>,
}

/// Minimum share, in percent, of found damage of the sample with a named line, by file kind. These figures only rise:
/// the test also fails if one of them is ten points too low.
const LEAST: [(&str, usize); 29] = [
    ("P4Info", 100),
    ("cable lists", 100),
    ("config_db.json", 20),
    ("delay.json of nodes", 33),
    ("devices.batch", 100),
    ("devices.batch of nodes", 100),
    ("entries.txtpb", 26),
    ("eos.conf", 61),
    ("frr.conf", 66),
    ("ip.batch", 87),
    ("ip.batch of nodes", 66),
    ("manifest.json", 14),
    ("nccl-topology.xml of nodes", 100),
    ("nccl.conf of nodes", 100),
    ("netplan.yaml of nodes", 38),
    ("networkd port.link of nodes", 50),
    ("networkd port.network of nodes", 28),
    ("networkd rdma.rules of nodes", 66),
    ("nic-qos.sh of nodes", 40),
    ("nicN.env of nodes", 100),
    ("nvue.yaml", 16),
    ("path tables (JSON)", 42),
    ("pins.txtpb", 25),
    ("routes.batch of nodes", 100),
    ("sysctl.conf", 100),
    ("sysctl.conf of nodes", 90),
    ("tc.batch", 76),
    ("tna.txtpb", 25),
    ("vccl.conf of nodes", 100),
];

/// Detection rates of all tables.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    sections: BTreeMap<String, Rate>,
    missed: BTreeSet<String>,
    /// Reasons that were used.
    used: BTreeSet<usize>,
}

impl Rates {
    /// Counts a case.
    pub(crate) fn count(&mut self, case: &Case, found: Option<Placed>) {
        let rate = self.sections.entry(case.section.clone()).or_default();
        rate.tried += 1;
        if let Some(placed) = found {
            rate.found += 1;
            rate.exact += usize::from(placed == Placed::Exact);
            rate.distances.push(match placed {
                Placed::Exact => Some(0),
                Placed::Off(lines) => Some(lines),
                Placed::Nowhere => None,
            });
            if placed != Placed::Exact && env::var_os("CLOSC_DAMAGE_PLACED").is_some() {
                println!("{placed:?}: {}", case.name());
            }
        } else if let Some(reason) = reason(case) {
            rate.harmless += 1;
            self.used.insert(reason);
            if env::var_os("CLOSC_DAMAGE_LISTED").is_some() {
                println!("listed: {} [{}]", case.name(), REASONS[reason].why);
            }
        } else {
            self.missed.insert(case.name());
        }
    }

    /// Prints the table, and fails if damage was missed. With all cases, each reason must be used, and the page must be
    /// up to date; with all cases of some sections, their lines of the page can be written.
    pub(crate) fn judge(&mut self, whole: bool, some: bool, drawn: Option<u64>) {
        self.sections.values_mut().for_each(Rate::measure);
        let own = page(&self.sections);
        println!("{own}");
        let missed: Vec<&str> = self.missed.iter().map(String::as_str).collect();
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
            .filter(|(at, _)| !self.used.contains(at))
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
    /// Fails if less damage of the sample has its line named than before, or if a minimum is too low.
    fn place(&self) {
        let mut wrong = Vec::new();
        for (kind, rate) in kinds(&self.sections) {
            let share = rate.exact * 100 / rate.found.max(1);
            let least = LEAST.iter().find(|(known, _)| *known == kind).map_or(0, |(_, least)| *least);
            if share < least || share > least + 9 {
                wrong.push(format!("(\"{kind}\", {share}),"));
            }
        }
        assert!(wrong.is_empty(), "shares of named lines other than in LEAST:\n{}", wrong.join("\n"));
    }
}

impl Rate {
    /// Computes the median distance.
    fn measure(&mut self) {
        // Cases without a line are further away than all others.
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
    }
    kinds
}

/// Reads the rates from a page.
fn read(page: &str) -> BTreeMap<String, Rate> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let section = cells.next()?.trim_end_matches('`').to_owned();
        let (tried, found) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
        let harmless = cells.next()?.parse().ok()?;
        let exact = cells.nth(1)?.split_once(' ').and_then(|(count, _)| count.parse().ok()).unwrap_or(0);
        let off = cells.next()?.trim_end_matches(" |").parse().ok();
        Some((section, Rate { tried, found, harmless, exact, off, distances: Vec::new() }))
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
        total.exact += if has_lines(section) { rate.exact } else { 0 };
    }
    line(&mut page, "all", &total);
    page.push_str(LINES);
    for (kind, rate) in kinds(sections) {
        let _ = writeln!(page, "| `{kind}` | {} | {} |", rate.found, share(rate.exact, rate.found));
    }
    page.push_str("\n## Harmless damage\n\n| file | damage | reason |\n|---|---|---|\n");
    for reason in REASONS {
        let field =
            if reason.field.is_empty() { "anything".to_owned() } else { format!("`{}`", reason.field) };
        let hows: Vec<String> = reason.hows.iter().map(|how| words(&format!("{how:?}"))).collect();
        let hows = if hows.is_empty() { String::new() } else { format!(" {}", hows.join(", ")) };
        let field = field.replace('|', "\\|");
        let _ = writeln!(page, "| {} | {field}{hows} | {} |", reason.section, reason.why);
    }
    page
}

/// `LostEverywhere` as words.
fn words(name: &str) -> String {
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
    let off = rate.off.map_or("-".to_owned(), |lines| lines.to_string());
    let exact = share(rate.exact, rate.found);
    let Rate { tried, found: count, harmless, .. } = rate;
    let _ = writeln!(page, "| {name} | {tried} | {count} | {harmless} | {found} | {exact} | {off} |");
}

/// A count, and its share.
fn share(count: usize, of: usize) -> String {
    (count * 100).checked_div(of).map_or("-".to_owned(), |share| format!("{count} ({share} %)"))
}

/// The head of the table of file kinds.
const LINES: &str = "
## Named lines

Judge how often a violation names the damaged line. For damage that is found, the table counts the cases in which a place of a violation is a changed
line. For a removed line its neighbours and the first line of its block count. Of a repeated line, both count. The last column of the first table is
the median distance to the nearest place, in lines. It is `-` if most violations name no line of the file.

| file | found | line named |
|---|---|---|
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

`CLOSC_ALL_DAMAGE=1 CLOSC_BLESS=1 cargo nextest run -p closc-verify --test generated` writes this page. `CLOSC_DAMAGE=eos.conf,tc.batch` instead of
the first variable writes the lines of these files. Without either, the test uses a sample.

| damaged | variants | found | listed below | found of the rest | line named | lines off |
|---|---|---|---|---|---|---|
";
