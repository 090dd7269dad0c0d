//! Differences between two fabrics, their impact, and the rollout order.
//!
//! In: two plans, or the manifests of two compiled trees. Out: a [`Difference`] that can be applied, a
//! [`Report`] for terminals and tools, the waves of a rollout, and work orders. Invariants: only counts and
//! exceptions are compared, unless wiring rules differ. Then elements are compared one by one. No I/O.

mod cable_identity;
mod change;
mod compare;
mod effect;
mod impact;
mod migration;
mod minimal_moves;
mod mode;
mod moves;
mod node_routes;
mod plans;
mod population;
mod reloads;
mod renamed_devices;
mod renumbering;
mod replacements;
mod report;
mod short_text;
mod summary;
mod switch_classes;
mod touched_artefacts;
mod touched_tiers;
mod verdict;
mod words;

pub mod edit;
pub mod grow;
pub mod live;
pub mod rollout;
pub mod show;
pub mod tree;

pub use cable_identity::ReplacedCable;
pub use change::{
    ApplyError, Change, Edit, Exception, ExceptionTarget, Hardware, NamedDevices, Setting, T2Setting,
    TierSetting, Toggle,
};
pub use compare::Difference;
pub use impact::{PairChange, Share, impact};
pub use minimal_moves::{MinimalMoves, SettingValue, settings_for_growth};
pub use mode::{Place, RolloutMode, Verdict, judge};
pub use population::{Delta, MovedCable, Population};
pub use reloads::ReloadComparison;
pub use renamed_devices::RenamedDevices;
pub use renumbering::{
    AddressKind, ChangedAddress, ChangedAddresses, ChangedFamily, ChangedWidth, KeptAddresses, Renumbering,
};
pub use replacements::{ChangedModules, ReplacedNics, ReplacedSwitches};
pub use report::{
    FORMAT, Impact, Line, Options, Pairs, Report, Rollout as RolloutText, Side, Sign, TouchedTier,
    Wave as WaveText, WaveStep,
};
pub use touched_artefacts::{Artefacts, Item, TouchedArtefacts};
