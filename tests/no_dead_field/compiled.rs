//! Compiles small fabrics in memory, as far as necessary to detect a change.
//!
//! In: a document. Out: the codes of its findings and, without an error, a digest of each unit of its tree.
//! Invariants: all stages run as they do for a file on a disk. The manifest repeats the file, so only its
//! hardware counts: `verify` applies the limits of this hardware to switches whose files do not name it.
//! Failure domains count by their members.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use camino::Utf8PathBuf;
use closc_compile::front::{Options, Source, read_text};
use closc_compile::{Part, Unit};
use closc_diff::{Difference, TouchedArtefacts};
use closc_plan::Plan;
use closc_render::Templates;
use closc_topology::DomainRule;
use serde_json::Value;

static TEMPLATES: LazyLock<Templates> = LazyLock::new(Templates::builtin);

/// Assumed place of every fabric file. The lists of pins and of management ports that it may name are beside it.
static SOURCE: LazyLock<Source> = LazyLock::new(|| {
    let folder = Utf8PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/no_dead_field"));
    Source::File(folder.join("fabric.yaml"))
});

/// Result for a document.
pub(crate) struct Compiled {
    /// Codes of all findings.
    pub(crate) codes: BTreeSet<&'static str>,
    plan: Option<Plan>,
}

/// The digest of every unit of a tree.
pub(crate) type Digests = BTreeMap<String, u64>;

/// Runs all stages that report errors.
pub(crate) fn compile(document: &Value) -> Compiled {
    let text = document.to_string();
    let reading =
        read_text(&SOURCE, text.as_bytes(), &Options::default()).expect("no platforms of a site are read");
    let codes = reading.diagnostics.iter().map(|finding| finding.rule.code).collect();
    Compiled { codes, plan: reading.plan }
}

impl Compiled {
    /// Returns whether the document results in a tree.
    pub(crate) fn has_tree(&self) -> bool {
        self.plan.is_some()
    }

    /// Renders everything.
    pub(crate) fn digests(&self) -> Digests {
        let Some(plan) = &self.plan else { return Digests::new() };
        let units = units(plan).into_iter().map(|unit| (unit.name(plan), digest(plan, unit)));
        units.chain(derived_values(plan)).collect()
    }

    /// Lists what `diff` fails to report: that there is a difference from another tree, or that a unit of both
    /// trees has changed.
    pub(crate) fn unseen(&self, before: &Compiled) -> Vec<String> {
        let (Some(old), Some(new)) = (&before.plan, &self.plan) else { return Vec::new() };
        let difference = Difference::compare(old.fabric(), new.fabric());
        if difference.is_empty() {
            return vec!["`diff` sees no difference".to_owned()];
        }
        let touched = TouchedArtefacts::of(&difference, old, new);
        let known = units(old);
        let is_untouched = |unit: &Unit| match *unit {
            Unit::Switch(switch) => !touched.switch(switch),
            Unit::Host(node) => !touched.host(node),
            Unit::Group(zone, group) => !touched.table(zone, group),
            Unit::Cables(plane) | Unit::ZoneCables(plane, _) => !touched.list(plane),
            Unit::Pipelines => false,
        };
        let untouched = units(new).into_iter().filter(|unit| known.contains(unit) && is_untouched(unit));
        untouched
            .filter(|unit| digest(old, *unit) != digest(new, *unit))
            .map(|unit| format!("`diff` says that it does not touch {}", unit.name(new)))
            .collect()
    }

    /// Returns whether a tree differs from another, and stops at the first unit that does.
    pub(crate) fn differs(&self, before: &Digests) -> bool {
        let Some(plan) = &self.plan else { return !before.is_empty() };
        let (units, beside) = (units(plan), derived_values(plan));
        units.len() + beside.len() != before.len()
            || beside.iter().any(|(name, digest)| before.get(name) != Some(digest))
            || units.into_iter().any(|unit| before.get(&unit.name(plan)) != Some(&digest(plan, unit)))
    }
}

/// Values derived from a file besides units: the hardware of switches, and failure domains.
fn derived_values(plan: &Plan) -> Vec<(String, u64)> {
    let topology = plan.topology();
    let mut hardware = DefaultHasher::new();
    for switch in plan.kinds() {
        let (platform, os) = topology.hardware(switch);
        (switch.tier.label(), platform.id.as_str(), os.keyword()).hash(&mut hardware);
    }
    let mut domains = DefaultHasher::new();
    for (kind, rule) in &topology.domains {
        (kind.as_str(), matches!(rule, DomainRule::Members(_)).then(|| format!("{rule:?}")))
            .hash(&mut domains);
        for switch in plan.fabric().switches() {
            topology.domain(kind, switch).hash(&mut domains);
        }
    }
    vec![("hardware".to_owned(), hardware.finish()), ("domains".to_owned(), domains.finish())]
}

/// Returns the units of a tree: fast ones first, and one switch of each tier before all others. Pipelines are
/// the same in every tree.
fn units(plan: &Plan) -> Vec<Unit> {
    let mut units = Unit::all(plan, &Part::default());
    units.retain(|unit| *unit != Unit::Pipelines);
    units.sort_by_key(|unit| match unit {
        Unit::Cables(_) | Unit::ZoneCables(..) => (0, None),
        Unit::Switch(switch) => (1, Some((switch.index, switch.plane, switch.zone))),
        Unit::Group(..) => (2, None),
        Unit::Host(_) | Unit::Pipelines => (3, None),
    });
    units
}

fn digest(plan: &Plan, unit: Unit) -> u64 {
    let mut hasher = DefaultHasher::new();
    for artefact in unit.render(plan, &TEMPLATES).expect("a unit of a valid fabric is rendered") {
        (artefact.path, artefact.bytes).hash(&mut hasher);
    }
    hasher.finish()
}
