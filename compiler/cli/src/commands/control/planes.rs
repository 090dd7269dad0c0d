//! The switches in the planes that `push`, `drift` and `watch` select.
//!
//! In: `--plane`, `--shard` and the planes of `--select`; the planes of the switches of a tree or saved plan. Out:
//! [`Planes`]. Invariants: the plane of a switch comes from the inventory only if the tree has no cable list. It
//! is an error if the plane of a switch is unknown, if the fabric lacks a selected plane, or if no switch matches.

use std::collections::{BTreeSet, HashSet};

use anyhow::bail;
use closc_artefacts::{Manifest, paths};
use closc_deploy::{Inventory, Tree};

use crate::args::control::FleetArgs;

/// Selection of switches by plane.
pub(in crate::commands) enum Planes {
    /// No selection by plane.
    All,
    /// Switches by name.
    Switches(HashSet<String>),
}

impl Planes {
    /// Finds the switches of a tree.
    pub(super) fn of_tree(
        args: &FleetArgs,
        tree: &Tree,
        manifest: &Manifest,
        inventory: &Inventory,
    ) -> anyhow::Result<Planes> {
        let switches = manifest.folders(paths::SWITCHES).into_keys();
        let switches = switches.map(|name| (name, tree.plane(name)));
        Planes::select(args, requested_planes(args, manifest.counts.planes)?, inventory, switches)
    }

    /// Finds the switches of a saved plan or difference, which contains their planes.
    pub(in crate::commands) fn of_saved<'s>(
        args: &FleetArgs,
        inventory: &Inventory,
        switches: impl Iterator<Item = (&'s str, Option<u8>)>,
    ) -> anyhow::Result<Planes> {
        if let Some(shard) = args.shard {
            bail!(
                "`{}` was saved for the switches that it names: use `--shard {shard}` when saving it",
                args.source
            );
        }
        Planes::select(args, requested_planes(args, 0)?, inventory, switches)
    }

    /// Selects switches by their planes.
    fn select<'s>(
        args: &FleetArgs,
        asked: Option<BTreeSet<u8>>,
        inventory: &Inventory,
        switches: impl Iterator<Item = (&'s str, Option<u8>)>,
    ) -> anyhow::Result<Planes> {
        let Some(asked) = asked else { return Ok(Planes::All) };
        let (mut there, mut unknown, mut named) = (BTreeSet::new(), Vec::new(), HashSet::new());
        for (name, plane) in switches {
            let Some(plane) = plane.or_else(|| inventory.plane_of(name)) else {
                unknown.push(name);
                continue;
            };
            there.insert(plane);
            if asked.contains(&plane) {
                named.insert(name.to_owned());
            }
        }
        if let Some(first) = unknown.first() {
            bail!(
                "the plane of `{first}`{} is unknown: give {} `plane` in the inventory, or select by name",
                match unknown.len() {
                    1 => String::new(),
                    many => format!(" and {} more", many - 1),
                },
                if unknown.len() == 1 { "it" } else { "them" },
            );
        }
        if named.is_empty() {
            bail!("`{}` has no switch in {}; it has switches of {}", args.source, some(&asked), some(&there));
        }
        Ok(Planes::Switches(named))
    }

    /// Returns whether a switch is selected.
    pub(in crate::commands) fn has(&self, name: &str) -> bool {
        match self {
            Planes::All => true,
            Planes::Switches(named) => named.contains(name),
        }
    }
}

/// Names planes in a message.
fn some(planes: &BTreeSet<u8>) -> String {
    let numbers: Vec<String> = planes.iter().map(u8::to_string).collect();
    match numbers.as_slice() {
        [] => "no plane".to_owned(),
        [one] => format!("plane {one}"),
        many => format!("planes {}", many.join(", ")),
    }
}

/// Returns the planes that match all of `--plane`, `--select` and `--shard`; `None` if none of these options is
/// given. `count` is the number of planes of the fabric, or 0 if unknown.
fn requested_planes(args: &FleetArgs, count: u64) -> anyhow::Result<Option<BTreeSet<u8>>> {
    let named = [("--plane", args.plane.as_slice()), ("--select plane=", args.select.planes())];
    if args.shard.is_none() && named.iter().all(|(_, planes)| planes.is_empty()) {
        return Ok(None);
    }
    if let Some(shard) = args.shard.filter(|shard| u64::from(shard.of()) > count) {
        bail!(
            "{} shards are more than {count} planes: compile the part with `--shard`, and push that tree",
            shard.of()
        );
    }
    let mut found: BTreeSet<u8> =
        (0..=u8::MAX).filter(|plane| count == 0 || u64::from(*plane) < count).collect();
    for (option, planes) in named.into_iter().filter(|(_, planes)| !planes.is_empty()) {
        if let Some(plane) = planes.iter().find(|plane| count > 0 && u64::from(**plane) >= count) {
            bail!(
                "`{option}{}{plane}`: the last plane of this fabric is {}",
                if option.ends_with('=') { "" } else { " " },
                count - 1
            );
        }
        found.retain(|plane| planes.contains(plane));
    }
    if let Some(shard) = args.shard {
        // The same planes as those of `compile --shard`.
        found.retain(|plane| u64::from(*plane) * u64::from(shard.of()) / count == u64::from(shard.index()));
    }
    if found.is_empty() {
        bail!("no plane matches all of `--plane`, `--shard` and `--select`");
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use camino::Utf8Path;
    use closc_artefacts::{Entry, Memory, Routing};
    use closc_deploy::{Device, TreeError};

    use super::*;

    /// Returns a tree of the given planes with one T0 each, and a switch without cables.
    fn files(planes: &[u8]) -> (Memory, Manifest) {
        let mut manifest = Manifest::new("f", Routing::Srv6Static);
        manifest.counts.planes = 2;
        manifest.uncabled.insert("alone".to_owned(), 1);
        let mut files: Vec<(String, String)> = planes
            .iter()
            .map(|plane| {
                let row = format!("{plane},nic-t0,n1,nic0p{plane},p{plane}-t0-001,eth1,1m,virtual,used\n");
                (format!("cables/plane-{plane}.csv"), format!("{}{row}", closc_artefacts::cables::HEADER))
            })
            .collect();
        files.extend(planes.iter().map(|plane| (format!("switches/p{plane}-t0-001/a"), String::new())));
        files.push(("switches/alone/a".to_owned(), String::new()));
        let mut memory = Memory::default();
        for (path, text) in files {
            manifest.files.insert(path.clone().into(), Entry::of(text.as_bytes()));
            memory.files.insert(path.into(), text.into_bytes());
        }
        memory.files.insert("manifest.json".into(), manifest.to_bytes());
        (memory, manifest)
    }

    fn tree(planes: &[u8]) -> (Tree, Manifest) {
        let (memory, manifest) = files(planes);
        (Tree::open(Arc::new(memory)).expect("it is complete"), manifest)
    }

    fn args(shard: Option<&str>, plane: &[u8], select: &str) -> FleetArgs {
        let mut args = FleetArgs::of(Utf8Path::new("tree"), Utf8Path::new("inventory.yaml"));
        args.shard = shard.map(|shard| shard.parse().expect("a shard"));
        args.plane = plane.to_vec();
        args.select = select.parse().expect("terms");
        args
    }

    /// Returns the selected switches, with an inventory without planes.
    fn select_names(args: &FleetArgs, planes: &[u8]) -> Result<Vec<&'static str>, String> {
        let (tree, manifest) = tree(planes);
        let found = Planes::of_tree(args, &tree, &manifest, &Inventory::default())
            .map_err(|error| error.to_string())?;
        let all = ["alone", "p0-t0-001", "p1-t0-001"];
        Ok(all.into_iter().filter(|name| found.has(name)).collect())
    }

    #[test]
    fn the_tree_says_which_switches_are_in_a_plane() {
        let both = [0, 1];
        assert_eq!(select_names(&args(None, &[], ""), &both), Ok(vec!["alone", "p0-t0-001", "p1-t0-001"]));
        for args in [args(Some("0/2"), &[], ""), args(None, &[0], ""), args(None, &[], "plane=0")] {
            assert_eq!(select_names(&args, &both), Ok(vec!["p0-t0-001"]));
        }
        assert_eq!(
            select_names(&args(Some("1/2"), &[1], "plane=0,plane=1"), &both),
            Ok(vec!["alone", "p1-t0-001"])
        );
        let refused =
            |args: FleetArgs, planes: &[u8]| select_names(&args, planes).expect_err("it is refused");
        assert!(refused(args(Some("0/3"), &[], ""), &both).contains("3 shards are more than 2 planes"));
        assert!(
            refused(args(None, &[2], ""), &both).contains("`--plane 2`: the last plane of this fabric is 1")
        );
        assert!(refused(args(None, &[], "plane=7"), &both).contains("`--select plane=7`: the last plane"));
        assert!(refused(args(Some("0/2"), &[1], ""), &both).contains("no plane matches all of"));
        let lacks = refused(args(Some("0/2"), &[], ""), &[1]);
        assert_eq!(lacks, "`tree` has no switch in plane 0; it has switches of plane 1");
    }

    #[test]
    fn a_list_that_was_changed_is_refused() {
        let (mut files, _) = files(&[0, 1]);
        files.files.insert("cables/plane-0.csv".into(), b"changed".to_vec());
        let found = Tree::open(Arc::new(files)).err();
        assert_eq!(found, Some(TreeError::Changed { path: "cables/plane-0.csv".to_owned() }));
    }

    #[test]
    fn where_no_tree_says_it_the_inventory_does() {
        let mut inventory = Inventory::default();
        let named = ["p0-t0-001", "p1-t0-001"];
        for (name, plane) in named.into_iter().zip([Some(0), None]) {
            inventory.devices.insert(name.to_owned(), Device { plane, ..Device::at("127.0.0.1:9", 1) });
        }
        let of = |inventory: &Inventory, args: &FleetArgs, names: &[&str]| {
            let found = Planes::of_saved(args, inventory, names.iter().map(|name| (*name, None)))
                .map_err(|error| error.to_string())?;
            Ok::<_, String>(names.iter().filter(|name| found.has(name)).count())
        };
        let plane = args(None, &[0], "");
        assert_eq!(of(&inventory, &plane, &named[..1]), Ok(1));
        let why = of(&inventory, &plane, &named).expect_err("a switch has no plane");
        assert!(
            why.contains("the plane of `p1-t0-001` is unknown: give it `plane` in the inventory"),
            "{why}"
        );
        inventory.devices.get_mut("p1-t0-001").expect("it is there").plane = Some(1);
        assert_eq!(of(&inventory, &plane, &named), Ok(1));
        let why = of(&inventory, &args(None, &[2], ""), &named).expect_err("there is none");
        assert!(why.contains("has no switch in plane 2; it has switches of planes 0, 1"), "{why}");
        let saved = [("p0-t0-001", Some(1)), ("p1-t0-001", Some(0))].into_iter();
        let found = Planes::of_saved(&plane, &inventory, saved).expect("the plan has the planes");
        assert!(found.has("p1-t0-001") && !found.has("p0-t0-001"));
        let why = of(&inventory, &args(Some("0/2"), &[], ""), &named).expect_err("a plan is whole");
        assert!(why.contains("use `--shard 0/2` when saving it"), "{why}");
    }
}
