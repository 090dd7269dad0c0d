//! Reads a switch that runs Cumulus Linux from its `nvue.yaml`.
//!
//! In: the text. Out: a [`Device`]. Invariants: the file is a list with at most one entry `set`, and may have a
//! `header`. Every key below `set` is read, listed as a site setting that is not judged, or a fault.

use std::borrow::Cow;
use std::sync::Arc;

use closc_artefacts::{Family, Routing};
use closc_platform::Balance;

use super::bgp::Bgp;
use super::fields::{Fields, Path};
use super::interface::Panel;
use super::place::FILE;
use super::qos::QosReader;
use super::value::Value;
use super::{adaptive, plain, segments, system};
use crate::model::device::{Device, DeviceBalance, FaultKind, Hop};
use crate::model::language::Language;
use crate::read::error::ReadError;
use crate::read::text_routes::TextRoutes;
use crate::read::value;

/// Reads a file.
pub(super) fn read<'a>(
    language: &'static Language,
    text: &'a str,
    routing: Routing,
) -> Result<Device<'a>, ReadError> {
    let whole = match plain::read(text) {
        Some(whole) => whole,
        None => by_library(text)?,
    };
    let entries =
        whole.as_array().ok_or_else(|| ReadError::new("it is not a list of entries such as `set`"))?;
    let mut set = None;
    let mut device = Device::new(language);
    for entry in entries {
        let mut entry = Fields::of(Path::new("entry"), Some(entry))?;
        // `header` contains the model and version of the switch that saved the file.
        entry.take("header");
        if let Some(own) = entry.take("set")
            && set.replace(own).is_some()
        {
            return Err(ReadError::new("`set` appears twice"));
        }
        entry.finish(&mut device);
    }
    let mut set = Fields::of(Path::new("set"), set)?;
    let mut panel = Panel::default();
    for (name, value) in set.mapping("interface")?.entries() {
        panel.interface(name, value, &mut device)?;
    }
    let mut qos = QosReader::read(set.mapping("qos")?, &mut device)?;
    let mut router = set.mapping("router")?;
    if let Some(adaptive) = adaptive::read(&mut router, &mut device)? {
        panel.note_dialect("adaptive-routing", adaptive);
        device.balance = adaptive.is_on.then_some(DeviceBalance { kind: Balance::Adaptive, groups: None });
    }
    // BGP settings are accepted only if the fabric uses BGP.
    let bgp = if routing.speaks_bgp() { Some(Bgp::read(&mut router, &mut device)?) } else { None };
    segments::read(router, &mut device)?;
    qos.trimming = system::read(&mut set, &mut device)?;
    routes(set.mapping("vrf")?, bgp, &mut panel, &mut device)?;
    set.finish(&mut device);
    let attached = panel.finish(&mut device);
    device.qos = Some(Arc::new(qos.finish(&attached, &mut device)));
    Ok(device)
}

/// Reads any YAML with the library.
pub(super) fn by_library(text: &str) -> Result<Value<'static>, ReadError> {
    // In NVUE's files, `on` and `off` are text, with or without quotes.
    let options = serde_saphyr::options! { strict_booleans: true };
    let whole: serde_json::Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().map(|at| at.line() as usize);
        ReadError { line, ..ReadError::new(error.to_string()) }
    })?;
    // NVUE's keys are text, but a YAML parser may read `4:` as a number. The library does not distinguish text and
    // numbers here, so such keys are rejected.
    let is_number = |line: &str| {
        let line = line.trim_start();
        let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
        rest.len() < line.len() && rest.starts_with(':')
    };
    if let Some(at) = text.lines().position(is_number) {
        return Err(ReadError::at(at + 1, "a key is a number; expected text"));
    }
    Ok(whole.into())
}

/// Returns the address family of a route, and the type of its next hops.
fn family(route: &mut Fields<'_>, path: &Path<'_>) -> Result<(Family, &'static str), ReadError> {
    match route.text("address-family")? {
        Some("ipv4-unicast") => Ok((Family::V4, "ipv4-address")),
        Some("ipv6-unicast") => Ok((Family::V6, "ipv6-address")),
        _ => {
            let message = format!("`{path}` has an unknown address family");
            Err(path.to("address-family").fault(message))
        }
    }
}

fn routes<'v>(
    mut vrfs: Fields<'v>,
    bgp: Option<Bgp<'v>>,
    panel: &mut Panel,
    device: &mut Device<'_>,
) -> Result<(), ReadError> {
    let mut own = vrfs.mapping("default")?;
    let mut router = own.mapping("router")?;
    if let Some(bgp) = bgp {
        bgp.process(router.mapping("bgp")?, panel, device)?;
    }
    let mut found = TextRoutes::default();
    let all = router.mapping("static")?;
    for (prefix, route) in all.entries() {
        let path = all.path(prefix);
        let mut route = Fields::of(path.clone(), Some(route))?;
        let (family, address) = family(&mut route, &path)?;
        let ways = route.mapping("via")?;
        let parsed = value::prefix(family, prefix).map_err(|message| path.fault(message))?;
        let mut none = true;
        for (gateway, way) in ways.entries() {
            none = false;
            let mut way = Fields::of(ways.path(gateway), Some(way))?;
            let kind = way.text("type")?;
            let ports: Vec<String> = way.mapping("interface")?.set()?;
            way.finish(device);
            let hop = match (kind, gateway, &ports[..]) {
                (Some("blackhole"), "blackhole", []) => None,
                (Some(kind), gateway, [port]) if kind == address => Some(Hop {
                    port: panel.index(port),
                    gateway: Some(ways.path(gateway).parse(gateway)?),
                    mac: None,
                    weight: 1,
                }),
                _ => {
                    let message =
                        format!("`{path}` goes to `{gateway}` over {} ports as `{kind:?}`", ports.len());
                    device.fault(FaultKind::Unknown, FILE, ways.path(gateway).to("type").fact(), message);
                    continue;
                }
            };
            found.add(parsed, Cow::Owned(prefix.to_owned()), hop).map_err(|message| path.fault(message))?;
        }
        if none {
            return Err(path.fault(format!("`{path}` has no next hop")));
        }
        route.finish(device);
    }
    router.finish(device);
    own.finish(device);
    vrfs.finish(device);
    device.routes = found.list;
    Ok(())
}
