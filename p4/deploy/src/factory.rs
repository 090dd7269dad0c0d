//! Factory settings that switches lack, and files of switches that undo a push at the next boot.
//!
//! In: findings about one switch at a time. Out: [`FactoryNote`]s, one per setting. Invariants: a finding changes
//! neither the switch nor the exit code; a switch that is read several times is counted once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use closc_platform::FactorySetting;
use schemars::JsonSchema;
use serde::Serialize;
use smol_str::SmolStr;

/// A factory setting, or a file, with the switches that it concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct FactoryNote {
    /// Its place in the configuration, or the path of the file.
    pub place: String,
    /// A name for people.
    pub title: String,
    /// Whether the setting is absent or the file is present.
    pub state: FactoryState,
    /// The consequence.
    pub effect: String,
    /// Number of affected switches.
    pub switches: usize,
    /// The first of them.
    pub first: String,
}

/// Presence of a factory setting, or of a file that undoes a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FactoryState {
    /// The configuration lacks the setting.
    Absent,
    /// The switch has the file.
    Present,
    /// The transport cannot read whether the switch has the file.
    Unknown,
}

impl FactoryNote {
    /// Returns the line for people.
    pub fn line(&self) -> String {
        let FactoryNote { place, title, state, effect, switches, first } = self;
        let one = *switches == 1;
        let of = if one { "1 switch".to_owned() } else { format!("{switches} switches") };
        let verb = match (state, one) {
            (FactoryState::Absent, true) => "lacks",
            (FactoryState::Absent, false) => "lack",
            (FactoryState::Present, true) => "has",
            (FactoryState::Present, false) => "have",
            (FactoryState::Unknown, _) => "may have",
        };
        let why = match state {
            FactoryState::Absent => format!(", so {effect}"),
            FactoryState::Present => format!(": at the next boot, {effect}"),
            FactoryState::Unknown => format!(": this transport cannot read it, and at boot {effect}"),
        };
        format!("{of} (first: `{first}`) {verb} `{place}` ({title}){why}")
    }
}

/// A setting by its place, and its state.
type Key = (&'static str, FactoryState);

/// Settings and files, with the switches that they concern.
type SettingFindings = BTreeMap<Key, (&'static FactorySetting, BTreeSet<SmolStr>)>;

/// Findings about the switches of one run. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FactoryNotes(Arc<Mutex<SettingFindings>>);

impl FactoryNotes {
    /// Adds a finding about a switch.
    pub(crate) fn add(&self, device: &SmolStr, setting: &'static FactorySetting, state: FactoryState) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, devices) = all.entry((&setting.place, state)).or_insert_with(|| (setting, BTreeSet::new()));
        devices.insert(device.clone());
    }

    /// Returns the findings, one per setting and state.
    pub(crate) fn all(&self) -> Vec<FactoryNote> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let notes = all.iter().map(|((place, state), (setting, devices))| FactoryNote {
            place: (*place).to_owned(),
            title: setting.title.clone(),
            state: *state,
            effect: setting.effect.clone(),
            switches: devices.len(),
            first: devices.first().map(SmolStr::to_string).unwrap_or_default(),
        });
        notes.collect()
    }
}
