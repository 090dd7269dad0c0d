//! Detection rates of damage per table, as a report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use crate::case::Case;
use crate::harmless::{REASONS, reason};

/// Detection rate of a table.
#[derive(Debug, Default, Clone, Copy)]
struct Rate {
    tried: usize,
    found: usize,
    harmless: usize,
}

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
    pub(crate) fn count(&mut self, case: &Case, found: bool) {
        let rate = self.sections.entry(case.section.clone()).or_default();
        rate.tried += 1;
        if found {
            rate.found += 1;
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
    pub(crate) fn judge(&self, whole: bool, some: bool) {
        let own = page(&self.sections);
        println!("{own}");
        let missed: Vec<&str> = self.missed.iter().map(String::as_str).collect();
        assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
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

/// Reads the rates from a page.
fn read(page: &str) -> BTreeMap<String, Rate> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let section = cells.next()?.trim_end_matches('`').to_owned();
        let mut number = || cells.next()?.parse().ok();
        Some((section, Rate { tried: number()?, found: number()?, harmless: number()? }))
    };
    page.lines().filter_map(row).collect()
}

fn page(sections: &BTreeMap<String, Rate>) -> String {
    let mut page = String::from(HEAD);
    let mut total = Rate::default();
    for (section, rate) in sections {
        line(&mut page, &format!("`{section}`"), *rate);
        total.tried += rate.tried;
        total.found += rate.found;
        total.harmless += rate.harmless;
    }
    line(&mut page, "all", total);
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

fn line(page: &mut String, name: &str, rate: Rate) {
    let counts = rate.tried - rate.harmless;
    let share = (rate.found * 100).checked_div(counts);
    let share = share.map_or("-".to_owned(), |share| format!("{share} %"));
    let _ = writeln!(page, "| {name} | {} | {} | {} | {share} |", rate.tried, rate.found, rate.harmless);
}

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

| damaged | variants | found | listed below | found of the rest |
|---|---|---|---|---|
";
