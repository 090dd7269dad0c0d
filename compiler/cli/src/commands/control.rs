//! Shared parts of the commands that talk to switches: the fleet, the runtime, the events.

mod models;
mod planes;
pub(super) mod release;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Files, Manifest, paths};
use closc_deploy::{
    CarrierOptions, DeviceError, Event, EventKind, FactoryNote, Fleet, Inventory, InventoryError, Observer,
    Plan, SonicOptions, Tree,
};
use closc_files::{FileError, Folder, Reason};
use closc_platform::Os;
use closc_provision::site_text::SiteText;
use closc_provision::site_tree::SiteTree;
use closc_sonic::{ConfigDb, Overlay};
use indicatif::ProgressBar;

use crate::args::control::FleetArgs;
use crate::args::{Args, Format};
use crate::labs;
use crate::limits;
use crate::output::{self, Document};
use crate::progress;

pub(super) use planes::Planes;

/// Runs a future on an asynchronous runtime.
pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    limits::raise_open_files();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?
        .block_on(work)
}

/// Maximum size of a saved plan or difference in bytes. Each changed switch takes a few kilobytes.
const SAVED_MAX: u64 = 1 << 30;

/// Keyword for the inventory of the fabric's lab.
const LAB: &str = "lab";

/// Events while switches are processed.
pub(super) const EVENT: Document<Event> = Document::new("closc-event/1");

/// An inventory, and the files that it names.
pub struct Site {
    /// The switches.
    pub inventory: Inventory,
    /// Certificates, keys and artefacts.
    pub files: Arc<dyn Files>,
}

/// The files that an inventory names: regular files below its folder. Private keys must not be readable by other users.
struct InventoryFiles {
    folder: Folder,
    keys: BTreeSet<String>,
}

impl Files for InventoryFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let read = if self.keys.contains(path) {
            self.folder.secret(path, closc_files::KEY_MAX)
        } else {
            self.folder.read(path, closc_files::TEXT_MAX)
        };
        // The caller adds the file name.
        read.map_err(|FileError { reason, .. }| io::Error::other(reason))
    }
}

/// Reads the inventory.
pub fn inventory(args: &FleetArgs) -> anyhow::Result<Site> {
    let path = if args.inventory == LAB { &of_lab(&args.source)? } else { &args.inventory };
    let site = parsed(path)?;
    selectable(args, &site.inventory)?;
    Ok(site)
}

/// Rejects a selection that an inventory cannot resolve; otherwise fewer switches than requested would be processed.
fn selectable(args: &FleetArgs, inventory: &Inventory) -> anyhow::Result<()> {
    if let Some(pattern) = args.device.iter().find(|device| device.contains(['*', '?', '['])) {
        anyhow::bail!(
            "`--device {pattern}`: expected the name of a switch; write `--select 'device={pattern}'` for a pattern"
        );
    }
    if let Some(device) = args.device.iter().find(|device| !inventory.knows(device)) {
        anyhow::bail!("the inventory has no switch `{device}`");
    }
    if args.select.goes_by_coordinates() {
        anyhow::bail!(
            "an inventory has only planes and names, but `--select {}` names a zone or tier: compile that part with `closc compile \
             --select`, and push its tree",
            args.select
        );
    }
    Ok(())
}

/// Reads an inventory; `lab` means the inventory of the running lab of `fabric`.
pub(super) fn inventory_of(fabric: &str, inventory: &Utf8Path) -> anyhow::Result<Site> {
    if inventory != LAB {
        return parsed(inventory);
    }
    let path = closc_lab::inventory(fabric, &labs::options()?)
        .with_context(|| format!("no lab of fabric `{fabric}` is up: bring it up with `closc lab up`"))?;
    parsed(&path)
}

fn parsed(path: &Utf8Path) -> anyhow::Result<Site> {
    let text = output::read(path, closc_files::TEXT_MAX)?;
    let is_of_ansible = ["all:", "[", "ungrouped:"].iter().any(|start| text.starts_with(start));
    let form = if is_of_ansible {
        "this looks like an inventory of Ansible; `closc push` has its own form (docs/push.md)"
    } else {
        "help: an inventory has `devices`, `p4runtime`, `sonic` or `ssh`; docs/push.md has examples"
    };
    let inventory = Inventory::parse(&text).map_err(|error| match &error {
        InventoryError::Syntax { place: Some(_), .. } => anyhow::anyhow!("{path}:{error}\n{form}"),
        _ => anyhow::anyhow!("`{path}`: {error}\n{form}"),
    })?;
    let inventory = inventory.at(path.as_str());
    let folder = closc_files::open_folder_of(path)?;
    let inventory = match inventory.addresses.clone() {
        None => inventory,
        Some(list) => {
            let bytes = folder.read(&list, closc_files::TEXT_MAX)?;
            let text = std::str::from_utf8(&bytes).with_context(|| format!("`{list}` is not text"))?;
            inventory.with_addresses(text).with_context(|| format!("`{path}`"))?
        }
    };
    for key in inventory.keys() {
        // An unreadable key is reported later, as an error at the switch that needs it.
        if let Err(error @ FileError { reason: Reason::Shared { .. }, .. }) =
            folder.secret(key, closc_files::KEY_MAX)
        {
            return Err(error.into());
        }
    }
    let open: Vec<&str> = inventory.in_the_clear().collect();
    if let Some(first) = open.first() {
        let n_patterns = inventory.n_patterns();
        let what = if n_patterns == 0 { "switches" } else { "switches and patterns" };
        tracing::warn!(
            "{} of {} {what} are reached over the network without TLS, the first is `{first}`: set `tls` for \
             them",
            open.len(),
            inventory.devices.len() + n_patterns
        );
    }
    let keys = inventory.keys().into_iter().map(str::to_owned).collect();
    Ok(Site { inventory, files: Arc::new(InventoryFiles { folder, keys }) })
}

/// Reads a saved plan or difference.
pub fn saved(source: &Utf8Path) -> anyhow::Result<String> {
    Ok(closc_files::read_user_text(source, SAVED_MAX)?)
}

/// Reads a saved plan, and returns it with its text.
pub(super) fn saved_plan(source: &Utf8Path) -> anyhow::Result<(Plan, String)> {
    let text = saved(source)?;
    if matches!(source.extension(), Some("yaml" | "yml")) {
        anyhow::bail!(
            "`{source}` is a fabric file: name the folder of its tree, which `closc compile` writes, or a saved plan"
        );
    }
    let plan = Plan::from_json(&text)
        .with_context(|| format!("`{source}` is neither the folder of a compiled tree nor a saved plan"))?;
    Ok((plan, text))
}

/// Returns whether the source of a push is a saved plan or difference, not a tree.
pub(super) fn is_saved(source: &Utf8Path) -> bool {
    source.is_file() && !crate::tree::is_archive(source)
}

/// Finds the inventory of the lab that runs the fabric of a tree or saved plan.
fn of_lab(source: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    let fabric = if is_saved(source) { saved_plan(source)?.0.fabric } else { crate::tree::fabric(source)? };
    let options = labs::options()?;
    closc_lab::inventory(&fabric, &options).with_context(|| {
        format!("no lab of fabric `{fabric}` is up: bring it up with `closc lab up {source}`")
    })
}

/// Returns the selected switches of a tree, with their addresses from the inventory.
pub fn fleet(args: &FleetArgs, site: &Site) -> anyhow::Result<Fleet> {
    fleet_with(args, site, SonicOptions::default(), CarrierOptions::default())
}

/// Like [`fleet`], with options for SONiC switches and for switches that are configured by copying files over SSH.
pub(super) fn fleet_with(
    args: &FleetArgs,
    site: &Site,
    mut options: SonicOptions,
    mut over_ssh: CarrierOptions,
) -> anyhow::Result<Fleet> {
    let files = crate::tree::open(&args.source, args.keys())?;
    let manifest = Manifest::read(&*files).with_context(|| format!("`{}`", args.source))?;
    release::check(args, &manifest, &site.inventory, release::now_s())?;
    options.release = release::of(args, &manifest);
    let files: Arc<dyn Files> = files.into();
    let tree = Arc::new(Tree::open(files).with_context(|| format!("`{}`", args.source))?);
    let planes = Planes::of_tree(args, &tree, &manifest, &site.inventory)?;
    // An inventory covers the complete fabric; a partial tree has only some of its switches.
    let has = |name: &str| manifest.files_below(&Utf8Path::new(paths::SWITCHES).join(name)).next().is_some();
    let select = |name: &str| is_selected(args, &planes, name) && (manifest.selection.is_none() || has(name));
    if let Some(folder) = &args.overlay {
        options.overlay = overlay_of(folder, &tree, manifest.selection.is_none())?;
    }
    options.ssh_config = args.ssh_config.as_ref().map(ToString::to_string);
    over_ssh.ssh_config.clone_from(&options.ssh_config);
    let fleet = Fleet::new(&site.inventory, &*site.files, &tree, select)?;
    let fleet = fleet.with_sonic(&site.inventory, &*site.files, &tree, options, select)?;
    let fleet = fleet.with_carried(&site.inventory, &*site.files, &tree, over_ssh, select)?;
    let fleet = fleet.with_left_alone(&site.inventory, &tree, instead, select);
    let fleet = if args.inventory == LAB { fleet.of_lab() } else { fleet };
    warn_left_alone(&fleet);
    if fleet.n_switches() == 0 {
        let is_there = |name: &&String| has(name);
        if let Some(device) = args.device.iter().find(|name| !is_there(name)) {
            anyhow::bail!("`{device}` is not a switch of `{}`", args.source);
        }
        anyhow::bail!("no selected switch of `{}` has an address in the inventory", args.source);
    }
    Ok(fleet)
}

/// Returns advice on how to configure switches with an operating system that `push` skips.
pub(super) fn instead(os: &str) -> String {
    let has_play = Os::ALL.into_iter().any(|own| own.keyword() == os && own.has_play());
    let other = if has_play {
        "`closc export ansible` writes a play for them"
    } else {
        "`closc export ansible` writes an inventory with their files"
    };
    if closc_deploy::has_carrier(os) {
        format!("add a rule under `ssh` to the inventory for `closc push`; {other}")
    } else {
        other.to_owned()
    }
}

/// Warns about switches of a tree that a command skips, and about files that it does not push.
pub(super) fn warn_left_alone(fleet: &Fleet) {
    for left in &fleet.skipped_switches {
        tracing::warn!("{}", left.line());
    }
    for uncarried in fleet.unsupported_files() {
        tracing::warn!("{}", uncarried.line());
    }
}

/// Warns about factory settings that switches lack, and about files on switches that undo a push.
pub(super) fn warn_factory(notes: &[FactoryNote]) {
    for note in notes {
        tracing::warn!("{}", note.line());
    }
}

/// Combines the errors of several switches into one.
pub(super) fn faults(faults: &[DeviceError]) -> anyhow::Error {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{}", faults.join("\n"))
}

/// Reads the overlay of a site: every `.json` file of a folder.
fn overlay(path: &Utf8Path) -> anyhow::Result<Overlay> {
    let texts = texts(path, "json")?;
    let files = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Overlay::parse(files).with_context(|| format!("overlay `{path}`"))
}

/// Reads an overlay, and validates the configurations of a tree with it. Patterns of the overlay that match no switch
/// are reported only for a complete tree, because a partial tree lacks switches of the site.
pub(super) fn overlay_of(folder: &Utf8Path, tree: &Tree, is_whole: bool) -> anyhow::Result<Overlay> {
    closc_files::names_with(folder, &OVERLAY[..1]).context("`--overlay`")?;
    let overlay = overlay(folder)?;
    let configs = tree.config_dbs();
    let switches: Vec<&str> = configs.keys().copied().collect();
    if is_whole {
        say_idle(folder, &overlay, &switches);
    }
    models::check(folder, &overlay, &switches, |switch| Ok(configs[switch]()?))?;
    Ok(overlay)
}

/// Reads an overlay, and validates the given configurations of some switches with it.
pub(super) fn overlay_for(
    folder: &Utf8Path,
    switches: &[&str],
    config: impl Fn(&str) -> anyhow::Result<ConfigDb>,
) -> anyhow::Result<Overlay> {
    let overlay = overlay(folder)?;
    say_idle(folder, &overlay, switches);
    models::check(folder, &overlay, switches, config)?;
    Ok(overlay)
}

/// Warns about files of an overlay that have no effect, because their pattern matches no switch.
fn say_idle(folder: &Utf8Path, overlay: &Overlay, switches: &[&str]) {
    for (file, pattern) in overlay.idle(switches) {
        tracing::warn!("no SONiC switch fits `{pattern}` in `{}`", folder.join(file));
    }
}

/// Reads an overlay of YAML files.
pub(super) fn site_tree(path: &Utf8Path) -> anyhow::Result<SiteTree> {
    let texts = texts(path, "yaml")?;
    let files = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    SiteTree::parse(files).map_err(anyhow::Error::msg).with_context(|| format!("overlay `{path}`"))
}

/// Reads an overlay of commands of EOS.
pub(super) fn site_text(path: &Utf8Path) -> anyhow::Result<SiteText> {
    let texts = texts(path, "conf")?;
    let files = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    SiteText::parse(files).map_err(anyhow::Error::msg).with_context(|| format!("overlay `{path}`"))
}

/// Extensions of the files of an overlay. `push` reads only files with the first.
const OVERLAY: [&str; 3] = ["json", "yaml", "conf"];

/// Reads the files of an overlay with an extension, sorted by name.
fn texts(path: &Utf8Path, extension: &str) -> anyhow::Result<Vec<(String, String)>> {
    let names = closc_files::names_with(path, &OVERLAY).context("`--overlay`")?;
    let names = names.into_iter().filter(|name| Utf8Path::new(name).extension() == Some(extension));
    let mut texts = Vec::new();
    for name in names {
        let text = output::read(&path.join(&name), closc_files::TEXT_MAX)?;
        if let Some((line, open)) = closc_provision::open_value(&text) {
            anyhow::bail!(
                "overlay `{}`:{line}: `{open}` has no value yet: write the value of your site",
                path.join(&name)
            );
        }
        texts.push((name, text));
    }
    Ok(texts)
}

/// Returns whether a switch is selected.
pub(super) fn is_selected(args: &FleetArgs, planes: &Planes, name: &str) -> bool {
    (args.device.is_empty() || args.device.iter().any(|device| device == name))
        && args.select.has_named(name)
        && planes.has(name)
}

/// Shows events: a progress bar on a terminal, JSON lines on stderr for tools.
pub fn observer(args: &Args, devices: usize, what: &'static str) -> (Observer, ProgressBar) {
    let bar = progress::bar(args.quiet || args.format != Format::Human, devices as u64, what);
    let (shown, json) = (bar.clone(), args.format == Format::Json && !args.quiet);
    let observer: Observer = Arc::new(move |event: Event| {
        if json {
            output::say_document(&EVENT, &event);
        }
        if matches!(event.what, EventKind::DeviceDone { .. } | EventKind::DeviceFailed { .. }) {
            shown.inc(1);
        }
        Ok(())
    });
    (observer, bar)
}

#[cfg(test)]
#[path = "../../../files/tests/support/names.rs"]
mod names;

#[cfg(test)]
mod tests {
    use closc_deploy::{Artefacts, Device, Target, Tls};

    use super::names::{Place, SECRET, escapes};
    use super::*;

    /// Writes an inventory next to the files that it names, and reads it.
    fn site(place: &Place, inventory: &Inventory) -> anyhow::Result<Site> {
        std::fs::write(place.inside("inventory.json"), inventory.to_json()).expect("a file can be written");
        parsed(&place.inside("inventory.json"))
    }

    fn owned(place: &Place, name: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(place.inside(name), "PEM").expect("a file can be written");
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.inside(name), rights).expect("it is ours");
    }

    #[test]
    fn no_name_in_an_inventory_leaves_its_folder() {
        let place = Place::new();
        owned(&place, "own.pem", 0o600);
        let names = escapes(&place);
        assert!(names.len() >= 500, "{}", names.len());
        for name in &names {
            let own = || Some("own.pem".to_owned());
            let given = || Some(name.clone());
            for (what, tls) in [
                ("authority", Tls { ca: given(), ..Tls::default() }),
                ("certificate", Tls { ca: own(), cert: given(), key: own(), server_name: None }),
                ("key", Tls { ca: own(), cert: own(), key: given(), server_name: None }),
            ] {
                let mut inventory = Inventory::default();
                let device = Device { tls: Some(tls), ..Device::at("127.0.0.1:9", 1) };
                inventory.devices.insert("p0-t0-001".to_owned(), device);
                let read = site(&place, &inventory).map_err(|error| format!("{error:#}")).and_then(|site| {
                    let device = &site.inventory.devices["p0-t0-001"];
                    let target =
                        Target::from_inventory("p0-t0-001", device, &site.inventory.defaults, &*site.files);
                    match target.map_err(|error| (error.to_string(), error)) {
                        Ok(_) => Ok(()),
                        Err((said, InventoryError::File { purpose: found, .. })) => {
                            assert_eq!(found, what, "{name:?}");
                            Err(said)
                        }
                        Err((said, _)) => panic!("{what} {name:?}: {said}"),
                    }
                });
                let said = read.expect_err(name);
                assert!(!said.contains(SECRET) && !said.contains("root:x"), "{what} {name:?}: {said}");
            }
            let mut inventory = Inventory::default();
            inventory.devices.insert("p0-t0-001".to_owned(), Device::at("127.0.0.1:9", 1));
            let artefacts = Artefacts { p4info: name.clone(), device_config: name.clone() };
            let site = site(&place, &inventory).expect("nothing is named");
            for path in [&artefacts.p4info, &artefacts.device_config] {
                let said = site.files.read(path).expect_err("an artefact").to_string();
                assert!(!said.contains(SECRET), "{name:?}: {said}");
            }
        }
    }

    #[test]
    fn keys_are_read_where_nobody_else_can_read_them() {
        let place = Place::new();
        for (mode, fine) in [(0o600, true), (0o400, true), (0o640, false), (0o644, false), (0o602, false)] {
            owned(&place, "closc.key", mode);
            let mut inventory = Inventory::default();
            let key = || Some("closc.key".to_owned());
            inventory.defaults.tls = Some(Tls { ca: key(), cert: key(), key: key(), server_name: None });
            match site(&place, &inventory) {
                Ok(site) => {
                    assert!(fine && site.files.read("closc.key").is_ok(), "{mode:o}");
                    // The mode of the key is checked again on each read.
                    owned(&place, "closc.key", 0o644);
                    let said = site.files.read("closc.key").expect_err("others can read it").to_string();
                    assert!(said.contains("chmod 600"), "{said}");
                }
                Err(error) => {
                    let said = format!("{error:#}");
                    assert!(!fine && said.contains(&format!("mode {mode:03o}")), "{mode:o}: {said}");
                }
            }
        }
    }

    #[test]
    fn large_files_are_not_read() {
        let place = Place::new();
        let large = std::fs::File::create(place.inside("large")).expect("a file can be made");
        large.set_len(1 << 40).expect("a file may have holes");
        let mut inventory = Inventory::default();
        let tls = Tls { ca: Some("large".to_owned()), ..Tls::default() };
        let device = Device { tls: Some(tls), ..Device::at("127.0.0.1:9", 1) };
        inventory.devices.insert("p0-t0-001".to_owned(), device);
        let site = site(&place, &inventory).expect("it is read when it is needed");
        let device = &site.inventory.devices["p0-t0-001"];
        let read = Target::from_inventory("p0-t0-001", device, &site.inventory.defaults, &*site.files);
        let said = read.expect_err("a terabyte").to_string();
        assert!(said.starts_with("`p0-t0-001`: authority `large`: is larger than "), "{said}");
        let given = control_limit(&place.inside("large"));
        assert!(given.contains("is larger than"), "{given}");
    }

    fn control_limit(path: &Utf8Path) -> String {
        saved(path).expect_err("a terabyte").to_string()
    }

    #[test]
    fn what_is_selected_goes_by_planes_and_names() {
        let mut inventory = Inventory::default();
        for (name, plane) in [("p0-t0-001", 0), ("p1-t0-001", 1), ("p1-t1-001", 1)] {
            let device = Device { plane: Some(plane), ..Device::at("127.0.0.1:9", 1) };
            inventory.devices.insert(name.to_owned(), device);
        }
        let selected = |terms: &str| {
            let mut args = FleetArgs::of(Utf8Path::new("tree"), Utf8Path::new("inventory.yaml"));
            args.select = terms.parse().expect("terms");
            selectable(&args, &inventory).map_err(|error| error.to_string())?;
            let names = || inventory.devices.keys().map(String::as_str);
            let planes = Planes::of_saved(&args, &inventory, names().map(|name| (name, None)))
                .map_err(|error| error.to_string())?;
            let names = names().filter(|name| is_selected(&args, &planes, name));
            Ok::<_, String>(names.map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(selected("plane=1"), Ok(vec!["p1-t0-001".to_owned(), "p1-t1-001".to_owned()]));
        assert_eq!(selected("plane=1,device=*-t0-*"), Ok(vec!["p1-t0-001".to_owned()]));
        assert!(
            selected("plane=2")
                .is_err_and(|why| why.contains("has no switch in plane 2; it has switches of planes 0, 1"))
        );
        assert!(selected("zone=1").is_err_and(|why| why.contains("compile that part with")));
    }
}
