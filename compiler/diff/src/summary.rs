//! The lines of a difference, in an operator's words.
//!
//! In: a difference, and the added, removed and moved elements. Out: lines, first for settings, then for
//! elements. Invariants: every change is in exactly one line. Identical changes on many devices share a line.
//! Lines about oversubscription and replaced equipment are additional: they follow from other changes.

mod exceptions;
mod qos;
mod replacements;

use std::collections::BTreeSet;

use closc_diagnostics::figures::number;
use closc_plan::Plan;
use closc_platform::Os;
use closc_topology::{Fraction, Link, Nic, PortBlock, TierId, field};

use crate::cable_identity::replaced_cables;
use crate::change::{Change, Edit, Exception, NamedDevices, Setting, T2Setting, TierSetting, count_field};
use crate::compare::Difference;
use crate::effect::link_name;
use crate::population::{MovedCable, Population, has_same_nodes, is_upgraded};
use crate::renamed_devices::{names, noun};
use crate::renumbering::{AddressKind, ChangedAddresses, KeptAddresses, Renumbering};
use crate::report::{Line, Options, Sign};
use crate::words::{plural, tier as tier_word};

/// Number of names shown if `--list` is not given.
const FIRST: usize = 3;

/// Returns the lines for settings and addresses, then for exceptions, then for added, removed, moved and
/// replaced elements.
pub(crate) fn lines(
    difference: &Difference,
    population: &Population,
    old: &Plan,
    new: &Plan,
    options: Options,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut exceptions: Vec<&Exception> = Vec::new();
    for change in &difference.changes {
        match change {
            Change::Setting(setting) => match &**setting {
                Setting::Qos(edit) => lines.extend(qos::lines(edit)),
                setting => lines.push(setting_line(setting, old, new)),
            },
            Change::Count(tier, _) => lines.extend(count_line(*tier, old, new)),
            // The value is computed, and does not have an effect without rows.
            Change::T2(T2Setting::Rows(_))
                if [old, new].iter().all(|plan| plan.topology().t2_rows() == 1) => {}
            Change::T2(setting) => {
                let (before, after) = setting.values();
                lines.push(simple(Sign::Change, setting.field().path(), format!("{before} -> {after}")));
            }
            Change::Tier(tier, setting) => lines.push(tier_line(*tier, setting, population, new)),
            Change::Naming(named, edit) => lines.extend(naming_line(*named, edit, old, new, options)),
            Change::T2Added(t2) => {
                lines.push(simple(
                    Sign::Add,
                    field!("tiers.t2").path(),
                    format!("T2 tier of {}", t2.tier.platform.id),
                ));
            }
            Change::T2Removed(t2) => {
                lines.push(simple(
                    Sign::Remove,
                    field!("tiers.t2").path(),
                    format!("T2 tier of {}", t2.tier.platform.id),
                ));
            }
            Change::Exception(exception) => exceptions.push(exception),
        }
    }
    lines.extend([TierId::T0, TierId::T1].into_iter().filter_map(|tier| bandwidth_line(tier, old, new)));
    lines.extend(address_lines(difference, old, new, options));
    lines.extend(exceptions::lines(&exceptions, &difference.implied_exceptions, old, new, options));
    let replaced = replaced_cables(old.fabric(), new.fabric());
    lines.extend(population_lines(population, &replaced, old, new, options));
    lines.extend(replacements::lines(&replaced, old, new, options));
    lines
}

/// Returns a line if the oversubscription of a tier differs. The difference follows from other changes, such
/// as another breakout.
fn bandwidth_line(tier: TierId, old: &Plan, new: &Plan) -> Option<Line> {
    let mbps = |plan: &Plan| {
        let tier = plan.topology().tier(tier)?;
        let total = |ports: &PortBlock| u64::from(ports.count) * u64::from(ports.breakout.speed.mbps());
        Some((total(&tier.down), total(&tier.up))).filter(|(down, up)| *down > 0 && *up > 0)
    };
    let (before, after) = (mbps(old)?, mbps(new)?);
    if before.0 * after.1 == after.0 * before.1 {
        return None;
    }
    let [ratio_before, ratio_after] = [before, after].map(|(down, up)| Fraction::reduce(down, up));
    let (ratio_before, ratio_after) = (ratio_before?, ratio_after?);
    let word = tier_word(tier);
    let path = match tier {
        TierId::T0 => field!("tiers.t0.oversubscription").path(),
        TierId::T1 | TierId::T2 => field!("tiers.t1.oversubscription").path(),
    };
    let sides = [("downlinks", before.0, after.0), ("uplinks", before.1, after.1)];
    let other = sides.into_iter().filter(|(_, before, after)| before != after);
    let other = other.map(|(side, before, after)| {
        format!("{side} of each {word} have {} Gb/s instead of {}", gbps(after), gbps(before))
    });
    let text = format!("{ratio_before} -> {ratio_after}: {}", other.collect::<Vec<_>>().join(", "));
    Some(simple(Sign::Change, path, text))
}

/// Writes a bandwidth in Gb/s.
fn gbps(mbps: u64) -> String {
    match mbps % 1000 {
        0 => number(mbps / 1000),
        _ => format!("{:.3}", mbps as f64 / 1000.0).trim_end_matches('0').to_owned(),
    }
}

/// Returns a line for each kind of changed addresses. Changed entries in a list of management ports have a
/// separate note.
fn address_lines(difference: &Difference, old: &Plan, new: &Plan, options: Options) -> Vec<Line> {
    let kept = if options.list { KeptAddresses::All } else { KeptAddresses::First };
    let renumbering = Renumbering::compare(old, new, kept);
    let is_of = |variant: fn(&Setting) -> bool| {
        difference.changes.iter().any(|change| matches!(change, Change::Setting(own) if variant(own)))
    };
    let is_listed = is_of(|own| matches!(own, Setting::ManagementList(_)))
        && !is_of(|own| matches!(own, Setting::ManagementPool(_)));
    let has_note = |kind: AddressKind| is_listed && kind == AddressKind::Management;
    let shown = renumbering.kinds.iter().zip(renumbering.lines()).filter(|(kind, _)| !has_note(kind.kind));
    let line = |(kind, text): (&ChangedAddresses, String)| {
        let names = kind.addresses.iter().map(|one| format!("{} {} -> {}", one.element, one.old, one.new));
        let line = simple(Sign::Change, "addresses", format!("renumbers {text}"));
        Line {
            count: kind.changed,
            warning: renumbering.reason(),
            names: limit_names(names, options),
            ..line
        }
    };
    shown.map(line).collect()
}

fn simple(sign: Sign, subject: &str, text: String) -> Line {
    Line { sign, subject: subject.to_owned(), text, count: 1, warning: None, names: Vec::new() }
}

/// Keeps all names, or the first few.
fn limit_names(names: impl Iterator<Item = String>, options: Options) -> Vec<String> {
    if options.list { names.collect() } else { names.take(FIRST).collect() }
}

/// Returns the releases that differ before and after. Without the setting, a release is assumed.
fn releases(old: &Plan, new: &Plan) -> (String, String) {
    let text = |plan: &Plan| {
        let topology = plan.topology();
        let all = Os::ALL
            .into_iter()
            .filter(|os| old.topology().releases.get(os) != new.topology().releases.get(os));
        let one = |os: Os| {
            let note = if topology.releases.contains_key(&os) { "" } else { " (assumed)" };
            Some(format!("{}: {}{note}", os.keyword(), topology.release(os)?))
        };
        all.filter_map(one).collect::<Vec<_>>().join(", ")
    };
    (text(old), text(new))
}

/// Returns the number of switches that another release upgrades.
fn upgrade_note(old: &Plan, new: &Plan) -> Option<String> {
    let (old, new) = (old.fabric(), new.fabric());
    let upgraded = new.switches().filter(|switch| is_upgraded(old, new, *switch)).count() as u64;
    (upgraded > 0)
        .then(|| plural(upgraded, "switch installs it and reboots", "switches install it and reboot"))
}

fn setting_line(setting: &Setting, old: &Plan, new: &Plan) -> Line {
    let (before, after) = match setting {
        Setting::Releases(_) => releases(old, new),
        _ => setting.values(),
    };
    let shown = |value: String| if value.is_empty() { "none".to_owned() } else { value };
    let text = format!("{} -> {}", shown(before), shown(after));
    let mut line = simple(Sign::Change, setting.field().path(), text);
    let (before, after) = (old.topology(), new.topology());
    line.warning = if setting.is_unread(before, after) {
        let words = [before, after].map(|side| format!("`{}`", side.routing.keyword()));
        let words = if words[0] == words[1] { words[0].clone() } else { words.join(" and ") };
        Some(format!("no effect with {words}"))
    } else if matches!(setting, Setting::Releases(_)) {
        upgrade_note(old, new)
    } else {
        setting.note(new)
    };
    line
}

fn tier_line(tier: TierId, setting: &TierSetting, population: &Population, new: &Plan) -> Line {
    let (before, after) = setting.values();
    let edit = format!("{before} -> {after}");
    let each = tier_word(tier);
    let text = match setting {
        TierSetting::Down(_) => format!("downlinks in use of each {each}: {edit}"),
        TierSetting::Up(_) => format!("uplinks of each {each}: {edit}"),
        TierSetting::Platform(_)
        | TierSetting::Os(_)
        | TierSetting::DownSpare(_)
        | TierSetting::DownCage(_)
        | TierSetting::DownPort(_)
        | TierSetting::DownBreakout(_)
        | TierSetting::UpSpare(_)
        | TierSetting::UpCage(_)
        | TierSetting::UpPort(_)
        | TierSetting::UpBreakout(_)
        | TierSetting::Parallel(_)
        | TierSetting::PortOrder(_)
        | TierSetting::ByPlane(_)
        | TierSetting::ByZone(_) => edit,
    };
    let mut line = simple(Sign::Change, setting.field(tier).path(), text);
    line.warning = match setting {
        TierSetting::Parallel(_) if new.is_source_routed() => {
            let moves = if population.moved.is_empty() { "" } else { ", and moves cables" };
            Some(format!("renumbers every segment of both tiers{moves}"))
        }
        TierSetting::Parallel(_) | TierSetting::PortOrder(_) => {
            (!population.moved.is_empty()).then(|| "moves cables".to_owned())
        }
        TierSetting::DownCage(_)
        | TierSetting::UpCage(_)
        | TierSetting::DownPort(_)
        | TierSetting::UpPort(_)
        | TierSetting::DownBreakout(_)
        | TierSetting::UpBreakout(_) => Some(format!("ports of every {each} get other names")),
        TierSetting::Platform(edit) if edit.old.hardware() == edit.new.hardware() => {
            Some("the same hardware with another port layout: no switch is replaced".to_owned())
        }
        TierSetting::Platform(_)
        | TierSetting::Os(_)
        | TierSetting::Down(_)
        | TierSetting::DownSpare(_)
        | TierSetting::Up(_)
        | TierSetting::UpSpare(_)
        | TierSetting::ByPlane(_)
        | TierSetting::ByZone(_) => None,
    };
    line.count = switches(tier, new);
    line
}

/// Writes the line for the number of switches in a tier. Returns `None` if only the numbering changes,
/// because other lines describe that.
fn count_line(tier: TierId, old: &Plan, new: &Plan) -> Option<Line> {
    let what = match tier {
        TierId::T0 => "T0 groups of a zone",
        TierId::T1 => "T1s of a plane",
        TierId::T2 => "T2s of a plane",
    };
    let [before, after] = [old, new].map(|plan| plan.fabric().planned_switches(tier));
    let text = format!("{what}: {before} -> {after}");
    let line = simple(Sign::Change, count_field(tier).path(), text);
    (before != after).then(|| Line { count: switches(tier, new), ..line })
}

/// Returns the total number of switches of a tier in all planes.
fn switches(tier: TierId, plan: &Plan) -> u64 {
    plan.topology().plane_ids().map(|plane| plan.fabric().tier_switches(plane, tier).count() as u64).sum()
}

fn naming_line(
    named: NamedDevices,
    edit: &Edit<closc_topology::naming::Pattern>,
    old: &Plan,
    new: &Plan,
    options: Options,
) -> Option<Line> {
    let mut pairs = names(named, old, new);
    pairs.retain(|(old, new)| old != new);
    let noun = noun(named);
    let (first, last) = pairs.first()?;
    let text = format!(
        "{} renamed, `{first}` -> `{last}` and so on (`{}` -> `{}`)",
        plural(pairs.len() as u64, noun, &format!("{noun}s")),
        edit.old,
        edit.new
    );
    let count = pairs.len() as u64;
    let names = limit_names(pairs.into_iter().map(|(old, new)| format!("{old} -> {new}")), options);
    Some(Line { count, names, ..simple(Sign::Change, named.field().path(), text) })
}

fn population_lines(
    population: &Population,
    replaced: &[MovedCable],
    old: &Plan,
    new: &Plan,
    options: Options,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let sides = [
        (Sign::Add, new, &population.switches.added, &population.nics.added, &population.cables.added),
        (
            Sign::Remove,
            old,
            &population.switches.removed,
            &population.nics.removed,
            &population.cables.removed,
        ),
    ];
    // If nodes have other rails, NICs that stay can have names between those of two other NICs.
    let has_nic_runs = has_same_nodes(old.topology(), new.topology());
    for (sign, plan, switches, nics, cables) in sides {
        let topology = plan.topology();
        for tier in TierId::ALL {
            let word = tier_word(tier);
            let of_tier: Vec<_> = switches.iter().filter(|switch| switch.tier == tier).collect();
            let subject = ("switches", word, format!("{word}s"));
            let name = |switch: &&_| topology.naming.switch(**switch).to_string();
            lines.extend(population_line(sign, subject, &of_tier, true, name, options));
        }
        let nic_name = |nic: &Nic| {
            let (node, number) = topology.node_of(*nic);
            topology.naming.nic(node, number)
        };
        let subject = ("nics", "NIC", "NICs".to_owned());
        lines.extend(population_line(sign, subject, nics, has_nic_runs, nic_name, options));
        for kind in Kind::ALL {
            let of_kind: Vec<_> = cables.iter().filter(|link| Kind::of(**link) == kind).collect();
            let one = format!("{} cable", kind.keyword());
            let subject = ("cables", one.as_str(), format!("{one}s"));
            let is_run = kind != Kind::NicT0 || has_nic_runs;
            let name = |link: &&Link| link_name(**link, plan);
            lines.extend(population_line(sign, subject, &of_kind, is_run, name, options));
        }
    }
    let replaced: BTreeSet<&MovedCable> = replaced.iter().collect();
    let moved: Vec<&MovedCable> = population.moved.iter().filter(|cable| !replaced.contains(cable)).collect();
    if !moved.is_empty() {
        let count = moved.len() as u64;
        let text = format!("{} to other ports", plural(count, "cable moves", "cables move"));
        let names = limit_names(moved.iter().map(|cable| link_name(cable.new, new)), options);
        let warning = Some("they must be unplugged".to_owned());
        lines.push(Line { count, warning, names, ..simple(Sign::Change, "cables", text) });
    }
    lines
}

/// Writes one line for all added or removed elements of a kind. Names are computed only for the elements shown. With
/// `is_run`, elements with names between the first and the last belong to them.
fn population_line<T>(
    sign: Sign,
    (subject, one, many): (&str, &str, String),
    all: &[T],
    is_run: bool,
    name: impl Fn(&T) -> String,
    options: Options,
) -> Option<Line> {
    let count = all.len() as u64;
    let text = match all {
        [] => return None,
        [only] => format!("{one} `{}`", name(only)),
        [first, .., last] => {
            let (first, last) = (name(first), name(last));
            let all = plural(count, one, &many);
            if is_run {
                format!("{all}, `{first}` to `{last}`")
            } else {
                format!("{all}, for example `{first}` and `{last}`")
            }
        }
    };
    let names = limit_names(all.iter().map(name), options);
    Some(Line { count, names, ..simple(sign, subject, text) })
}

/// Kinds of cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    NicT0,
    T0T1,
    T1T2,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::NicT0, Kind::T0T1, Kind::T1T2];

    pub(crate) fn of(link: Link) -> Kind {
        match link {
            Link::Host(_) => Kind::NicT0,
            Link::Fabric { lower, .. } => match lower.tier {
                TierId::T0 => Kind::T0T1,
                TierId::T1 | TierId::T2 => Kind::T1T2,
            },
        }
    }

    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Kind::NicT0 => "nic-t0",
            Kind::T0T1 => "t0-t1",
            Kind::T1T2 => "t1-t2",
        }
    }
}
