//! Reads own segments: `router.segment-routing`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use closc_artefacts::Prefix;

use super::fields::Fields;
use super::place::{FILE, fact};
use crate::model::device::{Device, FaultKind, Segment};
use crate::model::place::Fact;
use crate::read::error::ReadError;

/// Maximum number of segments. Further segments are accepted but not programmed (release notes of 5.16, 4907468).
const SEGMENTS_MAX: usize = 256;

/// Reads `router`.
pub(super) fn read(mut router: Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
    let mut routing = router.mapping("segment-routing")?;
    let mut srv6 = routing.mapping("srv6")?;
    let state = srv6.text("state")?;
    let mut faults: Vec<(Vec<Fact>, String)> = Vec::new();
    let mut locators = locators(&srv6.mapping("locator")?, device, &mut faults)?;
    let mut fixed = routing.mapping("static")?;
    let sids = fixed.mapping("srv6-sid")?;
    for (text, value) in sids.entries() {
        let mut sid = Fields::of(sids.path(text), Some(value))?;
        let prefix: Prefix = sids.path(text).parse(text)?;
        let locator = sid.text("locator-name")?.unwrap_or_default();
        let behaviour = sid.text("behavior")?.unwrap_or("nothing");
        sid.finish(device);
        if behaviour != "uN" {
            let message = format!("segment `{text}` is `{behaviour}`; expected `uN`");
            faults.push((vec![sids.path(text).to("behavior").fact()], message));
        }
        if locators.remove(locator) != Some(prefix) {
            let message = format!("segment `{text}` is not that of its locator `{locator}`");
            let locator = fact(&["router", "segment-routing", "srv6", "locator", locator]);
            faults.push((vec![sids.path(text).fact(), locator], message));
        }
        device.segments.push(Segment { prefix, text: Cow::Owned(text.to_owned()) });
    }
    for name in locators.keys() {
        let fact = fact(&["router", "segment-routing", "srv6", "locator", name]);
        faults.push((vec![fact], format!("locator `{name}` has no segment of its own")));
    }
    if !device.segments.is_empty() && state != Some("enabled") {
        faults.push((
            vec![fact(&["router", "segment-routing", "srv6", "state"])],
            "there are segments, but `srv6.state` is not `enabled`".to_owned(),
        ));
    }
    if device.segments.len() > SEGMENTS_MAX {
        let message = format!(
            "{} segments are more than the {SEGMENTS_MAX} that are programmed",
            device.segments.len()
        );
        faults.push((vec![fact(&["router", "segment-routing", "static", "srv6-sid"])], message));
    }
    for (fact, message) in faults {
        device.fault(FaultKind::Segment, FILE, fact, message);
    }
    srv6.finish(device);
    fixed.finish(device);
    routing.finish(device);
    router.finish(device);
    Ok(())
}

/// Reads locators by name, and reports their faults.
fn locators<'v>(
    own: &Fields<'v>,
    device: &mut Device<'_>,
    faults: &mut Vec<(Vec<Fact>, String)>,
) -> Result<BTreeMap<&'v str, Prefix>, ReadError> {
    let mut locators: BTreeMap<&str, Prefix> = BTreeMap::new();
    for (name, value) in own.entries() {
        let mut locator = Fields::of(own.path(name), Some(value))?;
        let Some(text) = locator.text("prefix")? else {
            return Err(own.path(name).fault(format!("locator `{name}` has no prefix")));
        };
        // NVUE's defaults are 16, 16 and 0 (Segment Routing).
        let bits = [("block-length", 16), ("node-length", 16), ("func-length", 0)];
        let mut found = [0_u8; 3];
        for ((key, default), slot) in bits.into_iter().zip(&mut found) {
            *slot = locator.number(key)?.unwrap_or(default);
        }
        if found != [32, 16, 0] {
            let [block, node, function] = found;
            let message =
                format!("locator `{name}` has {block} + {node} + {function} bits; expected 32 + 16 + 0");
            let wrong =
                bits.iter().zip(found).zip([32, 16, 0]).filter(|((_, found), wanted)| found != wanted);
            let wrong = wrong.map(|(((key, _), _), _)| own.path(name).to(key).fact());
            faults.push((wrong.collect(), message));
        }
        locators.insert(name, locator.path("prefix").parse(text)?);
        locator.finish(device);
    }
    Ok(locators)
}
