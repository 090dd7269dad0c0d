//! What the commands that talk to switches share: the fleet, the runtime, the events.

use std::io;
use std::sync::Arc;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Files;
use closc_deploy::{Event, Fleet, Inventory, Observer, Plan, Tree, What};
use indicatif::ProgressBar;

use crate::args::control::FleetArgs;
use crate::args::{Args, Format};
use crate::labs;
use crate::limits;
use crate::output;
use crate::progress;

/// Runs some work on an asynchronous runtime.
pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    limits::raise_open_files();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?
        .block_on(work)
}

/// Bits of a mode by which others than the owner can read or write a file.
const OTHERS: u32 = 0o066;

/// What stands for the inventory of the fabric's lab.
const LAB: &str = "lab";

/// Reads the inventory.
pub fn inventory(args: &FleetArgs) -> anyhow::Result<Inventory> {
    let path = if args.inventory == LAB { &of_lab(&args.source)? } else { &args.inventory };
    parsed(path)
}

/// Reads the inventory of a fabric of this name.
pub fn inventory_of(fabric: &str, inventory: &Utf8Path) -> anyhow::Result<Inventory> {
    if inventory != LAB {
        return parsed(inventory);
    }
    let path = closc_lab::inventory(fabric, &labs::options()?)
        .with_context(|| format!("no lab of fabric `{fabric}` is up: bring it up with `closc lab up`"))?;
    parsed(&path)
}

fn parsed(path: &Utf8Path) -> anyhow::Result<Inventory> {
    let text = output::read(path, closc_files::TEXT_MAX)?;
    let inventory = Inventory::parse(&text).with_context(|| format!("`{path}`"))?;
    for key in inventory.keys() {
        guarded(&beside(path).join(key))?;
    }
    let open: Vec<&str> = inventory.in_the_clear().collect();
    if let Some(first) = open.first() {
        tracing::warn!(
            "{} of {} switches are reached over the network without TLS, the first is `{first}`: give them `tls`",
            open.len(),
            inventory.devices.len()
        );
    }
    Ok(inventory)
}

/// Refuses a private key that others can read.
fn guarded(key: &Utf8Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    // One that is not there is an error where it is read.
    let Ok(metadata) = std::fs::metadata(key) else { return Ok(()) };
    let mode = metadata.permissions().mode();
    if mode & OTHERS != 0 {
        anyhow::bail!(
            "`{key}` is a private key that others can read (mode {:03o}): `chmod 600` it",
            mode & 0o777
        );
    }
    Ok(())
}

/// Finds the inventory of the lab of a tree's fabric, or of a saved plan's.
fn of_lab(source: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    let fabric = if source.is_file() {
        let text = std::fs::read_to_string(source).with_context(|| format!("cannot read `{source}`"))?;
        Plan::from_json(&text).with_context(|| format!("`{source}` is no saved plan"))?.fabric
    } else {
        crate::tree::fabric(source)?
    };
    let options = labs::options()?;
    closc_lab::inventory(&fabric, &options).with_context(|| {
        format!("no lab of fabric `{fabric}` is up: bring it up with `closc lab up {source}`")
    })
}

/// Puts the inventory and the tree together.
pub fn fleet(args: &FleetArgs, inventory: &Inventory) -> anyhow::Result<Fleet> {
    let files = crate::tree::open(&args.source, args.require_signature.as_deref())?;
    let tree = Tree::open(files.into()).with_context(|| format!("`{}`", args.source))?;
    let beside = in_folder(beside(&args.inventory));
    let select = |name: &str| is_selected(args, inventory, name);
    Ok(Fleet::new(inventory, &beside, &Arc::new(tree), select)?)
}

/// Tells whether a switch takes part.
pub fn is_selected(args: &FleetArgs, inventory: &Inventory, name: &str) -> bool {
    let plane = inventory.devices.get(name).and_then(|device| device.plane);
    (args.device.is_empty() || args.device.iter().any(|device| device == name))
        && (args.plane.is_empty() || plane.is_some_and(|plane| args.plane.contains(&plane)))
}

/// The folder whose files an inventory names.
pub fn beside(inventory: &Utf8Path) -> Utf8PathBuf {
    inventory.parent().map(Utf8Path::to_owned).unwrap_or_default()
}

/// Reads files below a folder.
pub fn in_folder(folder: Utf8PathBuf) -> impl Files {
    move |path: &str| -> io::Result<Vec<u8>> { std::fs::read(folder.join(path)) }
}

/// Shows events: a bar of finished switches for people, a line of JSON on stderr for tools.
pub fn observer(args: &Args, devices: usize, what: &'static str) -> (Observer, ProgressBar) {
    let bar = progress::bar(args.quiet || args.format != Format::Human, devices as u64, what);
    let (shown, json) = (bar.clone(), args.format == Format::Json && !args.quiet);
    let observer: Observer = Arc::new(move |event: Event| {
        if json && let Ok(line) = serde_json::to_string(&event) {
            eprintln!("{line}");
        }
        if matches!(event.what, What::DeviceDone { .. } | What::DeviceFailed { .. }) {
            shown.inc(1);
        }
    });
    (observer, bar)
}
