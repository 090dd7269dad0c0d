//! Compares the entries on switches with those of a plan or tree.
//!
//! In: the differing entries of each switch, with names instead of numbers. Out: lines of a report.
//! Invariants: the same difference on many switches is one line. If there are many entries, there is one line
//! per table.

use std::collections::BTreeMap;

use crate::report::{FORMAT, Impact, Line, Options, Report, Side, Sign, Wave, WaveStep};
use crate::words::{names, plural};

/// An entry that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Required action.
    pub sign: Sign,
    /// The table, or another object.
    pub object: String,
    /// The entry, with names instead of numbers.
    pub text: String,
}

/// Differences on a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its plane, if known.
    pub plane: Option<u8>,
    /// Action on the complete switch, if its entries cannot be compared.
    pub switch_action: Option<String>,
    /// Entries that differ.
    pub entries: Vec<Entry>,
}

/// Maximum number of lines for single entries. If there are more, entries are counted by table.
const WRITTEN_OUT: usize = 24;

/// Switches by the sign, subject and text that apply to them.
type EntryGroups<'a> = BTreeMap<(String, Sign, String), Vec<&'a str>>;

/// Compares switches. `devices` contains only switches that differ.
pub fn compare(devices: &BTreeMap<String, Device>, old: Side, new: Side, options: Options) -> Report {
    let mut alike: EntryGroups<'_> = BTreeMap::new();
    for (name, device) in devices {
        if let Some(whole) = &device.switch_action {
            alike.entry(("pipeline".to_owned(), Sign::Change, whole.clone())).or_default().push(name);
        }
        for entry in &device.entries {
            let key = (entry.object.clone(), entry.sign, entry.text.clone());
            alike.entry(key).or_default().push(name);
        }
    }
    if alike.len() > WRITTEN_OUT && !options.list {
        alike = by_table(devices);
    }
    let changes = alike.into_iter().map(|((subject, sign, text), switches)| {
        let whose = names(switches.iter().map(|name| (*name).to_owned()), 3);
        let kept = if options.list { switches.len() } else { 3 };
        Line {
            sign,
            subject,
            text: format!("{whose}: {text}"),
            count: switches.len() as u64,
            warning: None,
            names: switches.iter().take(kept).map(|name| (*name).to_owned()).collect(),
        }
    });
    Report {
        format: FORMAT.to_owned(),
        changes: changes.collect(),
        impact: Impact { planes: planes(devices), ..Impact::default() },
        rollout: None,
        waves: Vec::new(),
        no_waves: None,
        touched: Vec::new(),
        artefacts: Vec::new(),
        texts: Vec::new(),
        old,
        new,
    }
}

fn by_table(devices: &BTreeMap<String, Device>) -> EntryGroups<'_> {
    let mut alike: EntryGroups<'_> = BTreeMap::new();
    for (name, device) in devices {
        if let Some(whole) = &device.switch_action {
            alike.entry(("pipeline".to_owned(), Sign::Change, whole.clone())).or_default().push(name);
        }
        let mut counts: BTreeMap<(&str, Sign), u64> = BTreeMap::new();
        for entry in &device.entries {
            *counts.entry((&entry.object, entry.sign)).or_default() += 1;
        }
        for ((object, sign), count) in counts {
            let text = plural(count, "entry", "entries");
            alike.entry((object.to_owned(), sign, text)).or_default().push(name);
        }
    }
    alike
}

fn planes(devices: &BTreeMap<String, Device>) -> Vec<u8> {
    let mut planes: Vec<u8> = devices.values().filter_map(|device| device.plane).collect();
    planes.sort_unstable();
    planes.dedup();
    planes
}

/// Orders switches into one wave per plane. Switches without a plane are the first wave.
pub fn waves(devices: &BTreeMap<String, Device>) -> Vec<Wave> {
    let mut by_plane: BTreeMap<Option<u8>, Vec<String>> = BTreeMap::new();
    for (name, device) in devices {
        by_plane.entry(device.plane).or_default().push(name.clone());
    }
    let wave = |(plane, switches): (Option<u8>, Vec<String>)| {
        let count = plural(switches.len() as u64, "switch", "switches");
        let whose = plane.map_or_else(|| "switches of no plane".to_owned(), |plane| format!("plane {plane}"));
        let step = crate::rollout::Step::Change { switches: switches.len() };
        let steps = [step, crate::rollout::Step::Verify].map(|step| WaveStep {
            action: step.keyword().to_owned(),
            text: step.to_string(),
            seconds: step.duration().0,
        });
        Wave {
            plane,
            text: format!("{whose}, {count}"),
            drained: Vec::new(),
            gone: Vec::new(),
            apart: Vec::new(),
            switches,
            at_most: false,
            seconds: steps.iter().map(|step| step.seconds).sum(),
            steps: steps.to_vec(),
            back: Vec::new(),
        }
    };
    by_plane.into_iter().map(wave).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(plane: u8, entries: &[&str]) -> Device {
        let entry = |text: &&str| Entry { sign: Sign::Add, object: "t".into(), text: (*text).to_owned() };
        Device { plane: Some(plane), switch_action: None, entries: entries.iter().map(entry).collect() }
    }

    fn lines(devices: &BTreeMap<String, Device>, list: bool) -> Vec<String> {
        let side = |name: &str| Side { source: name.into(), fabric: "x".into(), digest: name.into() };
        let report = compare(devices, side("live"), side("tree"), Options { list });
        report
            .changes
            .iter()
            .map(|line| format!("{} {} {}", line.sign.symbol(), line.subject, line.text))
            .collect()
    }

    #[test]
    fn what_is_missing_alike_is_one_line() {
        let devices = [("a", device(0, &["x", "y"])), ("b", device(1, &["x"]))];
        let devices = devices.map(|(name, device)| (name.to_owned(), device)).into();
        assert_eq!(lines(&devices, false), ["+ t `a`, `b`: x", "+ t `a`: y"]);
        let waves = waves(&devices);
        assert_eq!(waves.iter().map(|wave| wave.plane).collect::<Vec<_>>(), [Some(0), Some(1)]);
    }

    #[test]
    fn many_entries_are_counted_unless_all_are_asked_for() {
        let many: Vec<String> = (0..99).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let devices = [("a".to_owned(), device(0, &many))].into();
        assert_eq!(lines(&devices, false), ["+ t `a`: 99 entries"]);
        assert_eq!(lines(&devices, true).len(), 99);
    }
}
