//! `closc diff --patches`: the changes on SONiC switches as patches for `config apply-patch`, and files and commands
//! for FRR.
//!
//! In: two plans. Out: a folder with patches, and `patches.json`, which lists the switches, duration and port flaps
//! of each patch. Invariants: the files of a switch are rendered for both sides, compared, and freed. Among equal
//! switches, only the first and the last are compared.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_artefacts::carriers::{Transport, undelivered_files};
use closc_artefacts::paths;
use closc_compile::PlainSwitches;
use closc_diagnostics::figures::format_count;
use closc_diff::{Change, Difference, Setting, TouchedArtefacts};
use closc_files::disk;
use closc_plan::Plan;
use closc_render::Templates;
use closc_sonic::{FrrChange, FrrConfig, Method, Patch, Reason};
use closc_topology::{PlaneId, Switch, TierId, ZoneId};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::reloads;
use super::side::Side;
use crate::args::Args;
use crate::output::{self, Document};

/// The index of patches.
pub(crate) const PATCHES: Document<Index<'static>> = Document::new("closc-patches/1");

/// Equal changes on some switches.
#[derive(Serialize, JsonSchema)]
struct Group {
    switches: Vec<String>,
    /// Change of CONFIG_DB: `patch`, `reload`, or `none` if only `frr.conf` changes.
    method: &'static str,
    /// Why a patch is not sufficient.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<Reason>,
    /// The patches, one after the other.
    files: Vec<String>,
    operations: usize,
    /// The ports that go down and come up again.
    bounces: Vec<String>,
    /// Estimated duration on one switch.
    seconds: u64,
    /// Change of `frr.conf`, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    routing: Option<Routing>,
    /// Changed files that are not in a patch, each with the transport that delivers it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    uncarried: BTreeMap<String, String>,
}

/// Change of `frr.conf`.
#[derive(Serialize, JsonSchema)]
struct Routing {
    /// `commands` for vtysh, or `restart` of the `bgp` container. A reload of CONFIG_DB also restarts it.
    method: &'static str,
    /// The file for `/etc/sonic/frr/frr.conf`.
    file: String,
    /// The lines for `vtysh -f`, if commands are sufficient.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<String>,
    /// The neighbours whose sessions are reset; `*` means all.
    resets: Vec<String>,
}

/// Contents of `patches.json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Index<'a> {
    old: &'a closc_diff::Side,
    new: &'a closc_diff::Side,
    groups: &'a [Group],
}

/// Writes the patches of all switches that are in both plans.
pub(super) fn write(args: &Args, folder: &Utf8Path, old: &Side, new: &Side) -> anyhow::Result<()> {
    let (Side::Plan(before), Side::Plan(after)) = (old, new) else {
        bail!("`--patches` compares two fabric files, not trees");
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{folder}`"))?;
    if folder.read_dir_utf8().with_context(|| format!("`{folder}`"))?.next().is_some() {
        bail!("`{folder}` is not empty: patches of another change could be mistaken for those of this one");
    }
    let sides = Sides { old: &before.plan, new: &after.plan, templates: Templates::builtin() };
    let groups = sides.classes().into_par_iter().map(|class| sides.groups(folder, class));
    let groups = groups.collect::<anyhow::Result<Vec<Vec<Group>>>>()?;
    let groups: Vec<Group> = groups.into_iter().flatten().collect();
    let index = Index { old: &before.side, new: &after.side, groups: &groups };
    let place = folder.join("patches.json");
    output::replace(&place, &output::document(&PATCHES, &index)?)?;
    if !args.quiet {
        let by = |method: &str| -> usize {
            groups.iter().filter(|group| group.method == method).map(|group| group.switches.len()).sum()
        };
        let routed = groups.iter().filter(|group| group.routing.is_some());
        let routed: usize = routed.map(|group| group.switches.len()).sum();
        let files: usize = groups.iter().map(|group| group.files.len()).sum();
        output::say(format!(
            "note: changes of {} by a patch ({files} in `{folder}`), {} by a reload, `frr.conf` of {routed} changes",
            format_count(by("patch") as u64, "SONiC switch"),
            by("reload")
        ));
        let uncarried: BTreeMap<&String, &String> =
            groups.iter().flat_map(|group| &group.uncarried).collect();
        for (file, instead) in uncarried {
            output::say(format!("warning: `{file}` changes, but no patch contains it: {instead}"));
        }
    }
    Ok(())
}

/// Returns whether a change is the same for every switch of a tier, zone and plane without exceptions. Such a change
/// affects traffic classes, sizes and servers, but not names, addresses or segments.
fn is_placeless(change: &Change) -> bool {
    match change {
        Change::Setting(setting) => {
            matches!(**setting, Setting::Qos(_) | Setting::LinkMtu(_) | Setting::Services(_))
        }
        _ => false,
    }
}

/// Two plans.
struct Sides<'p> {
    old: &'p Plan,
    new: &'p Plan,
    templates: Templates,
}

impl Sides<'_> {
    /// Returns the switches that may change, grouped so that all switches of a group should change in the same way.
    fn classes(&self) -> Vec<Vec<Switch>> {
        let (old, new) = (self.old, self.new);
        let difference = Difference::compare(old.fabric(), new.fabric());
        let touched = TouchedArtefacts::of(&difference, old, new);
        let switches = new.switches().filter(|s| old.fabric().has_switch(*s) && touched.switch(*s));
        if !(difference.implied_exceptions.is_empty() && difference.changes.iter().all(is_placeless)) {
            return switches.map(|switch| vec![switch]).collect();
        }
        let (plain, was_plain) = (PlainSwitches::of(new), PlainSwitches::of(old));
        let rows = new.topology().t2_rows();
        let mut alike: BTreeMap<(TierId, PlaneId, ZoneId, u16), Vec<Switch>> = BTreeMap::new();
        let mut classes = Vec::new();
        for switch in switches {
            if plain.has(switch) && was_plain.has(switch) {
                let at = (switch.tier, switch.plane, switch.zone, switch.index % rows);
                alike.entry(at).or_default().push(switch);
            } else {
                classes.push(vec![switch]);
            }
        }
        classes.extend(alike.into_values());
        classes
    }

    /// Writes one set of patches for a group of switches, or a set per switch if the first and the last differ.
    fn groups(&self, folder: &Utf8Path, class: Vec<Switch>) -> anyhow::Result<Vec<Group>> {
        let (Some(first), Some(last)) = (class.first(), class.last()) else { return Ok(Vec::new()) };
        let made = self.work(*first)?;
        if class.len() > 1 && self.work(*last)? != made {
            let each = class.into_iter().map(|switch| self.groups(folder, vec![switch]));
            return Ok(each.collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
        let Some(work) = made else { return Ok(Vec::new()) };
        let name = self.new.switch_name(*first);
        let mut files = Vec::new();
        let write = |file: &str, bytes: &[u8]| {
            disk::replace(&folder.join(file), bytes).with_context(|| format!("cannot write `{file}`"))
        };
        for (number, patch) in work.steps.iter().enumerate() {
            let more = if number == 0 { String::new() } else { format!("-{}", number + 1) };
            let file = format!("{name}{more}.json");
            write(&file, patch.to_json().as_bytes())?;
            files.push(file);
        }
        let routing = match work.routing {
            None => None,
            Some(RoutingWork { text, commands, resets }) => {
                let file = format!("{name}.{}", paths::FRR_CONF);
                write(&file, text.as_bytes())?;
                let (method, lines) = match commands {
                    Some(commands) => {
                        ("commands", Some((format!("{name}.vtysh"), commands.join("\n") + "\n")))
                    }
                    None => ("restart", None),
                };
                if let Some((file, lines)) = &lines {
                    write(file, lines.as_bytes())?;
                }
                Some(Routing { method, file, commands: lines.map(|(file, _)| file), resets })
            }
        };
        Ok(vec![Group {
            switches: class.iter().map(|switch| self.new.switch_name(*switch).to_string()).collect(),
            method: match (work.steps.is_empty(), work.reasons.is_empty()) {
                (true, true) => "none",
                (false, true) => "patch",
                (_, false) => "reload",
            },
            reasons: work.reasons,
            files,
            operations: work.operations,
            bounces: work.bounces,
            seconds: work.seconds,
            routing,
            uncarried: work.undelivered_files,
        }])
    }

    /// Computes the changes of a switch; `None` if it does not run SONiC on both sides, or nothing changes.
    fn work(&self, switch: Switch) -> anyhow::Result<Option<Work>> {
        let [before, after] = [self.old, self.new].map(|plan| reloads::render(plan, switch, &self.templates));
        let (before, after) = (before?, after?);
        if before == after {
            return Ok(None);
        }
        let Some((old, change)) = reloads::compare((self.old, &before), (self.new, &after), switch)? else {
            return Ok(None);
        };
        let changed = after.iter().filter(|(file, bytes)| before.get(*file) != Some(bytes));
        let uncarried = undelivered_files(changed.map(|(file, _)| file.as_str()), &[Transport::Patches]);
        let routing = match after.get(paths::FRR_CONF) {
            Some(wanted) => RoutingWork::compare(before.get(paths::FRR_CONF), wanted)?,
            None => None,
        };
        let (steps, reasons) = match &change.method {
            Method::Nothing if routing.is_none() && uncarried.is_empty() => return Ok(None),
            Method::Nothing => (Vec::new(), Vec::new()),
            Method::Patch => (change.steps(&old), Vec::new()),
            Method::Reload { reasons } => (Vec::new(), reasons.clone()),
        };
        Ok(Some(Work {
            routing,
            undelivered_files: uncarried.into_iter().map(|missed| (missed.file, missed.instead)).collect(),
            steps,
            reasons,
            operations: change.patch.operations.len(),
            bounces: change.bounces.into_iter().map(|bounce| bounce.port).collect(),
            seconds: change.estimate.seconds,
        }))
    }
}

/// Changes of a switch.
#[derive(PartialEq)]
struct Work {
    steps: Vec<Patch>,
    reasons: Vec<Reason>,
    operations: usize,
    bounces: Vec<String>,
    seconds: u64,
    routing: Option<RoutingWork>,
    undelivered_files: BTreeMap<String, String>,
}

/// Change of `frr.conf` on a switch.
#[derive(PartialEq)]
struct RoutingWork {
    text: String,
    /// The lines for `vtysh`; `None` if the daemons must restart.
    commands: Option<Vec<String>>,
    resets: Vec<String>,
}

/// The daemons of SONiC's `bgp` container. `bfdd` runs only if FRR is configured from CONFIG_DB
/// (`supervisord.conf.j2`).
const DAEMONS: [&str; 4] = ["mgmtd", "zebra", "staticd", "bgpd"];

impl RoutingWork {
    /// Compares two files; `None` if they give FRR the same configuration.
    fn compare(held: Option<&Vec<u8>>, wanted: &[u8]) -> anyhow::Result<Option<Self>> {
        let text = std::str::from_utf8(wanted)?.to_owned();
        let is_new = held.is_none();
        let held = held.map(|bytes| std::str::from_utf8(bytes)).transpose()?.unwrap_or_default();
        let read = |text: &str| FrrConfig::parse(text);
        if !is_new && read(held) == read(&text) {
            return Ok(None);
        }
        let change = FrrChange::diff(&read(held).as_run_by(&DAEMONS), &read(&text).as_run_by(&DAEMONS));
        let is_restart = is_new || !change.restart_reasons().is_empty();
        let resets = if is_restart {
            vec!["*".to_owned()]
        } else {
            change.resets().into_iter().map(str::to_owned).collect()
        };
        Ok(Some(RoutingWork { text, commands: (!is_restart).then(|| change.commands()), resets }))
    }
}
