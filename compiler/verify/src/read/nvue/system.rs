//! Reads `system`: the name, trimming, and access lists of the control plane. `service` belongs to the site.

use std::borrow::Cow;

use super::access;
use super::fields::Fields;
use super::place::{FILE, fact, path};
use super::qos::Trimming;
use crate::model::device::{Device, FaultKind};
use crate::read::error::ReadError;

/// Reads `system` and `service`. Returns the trimming of packets that do not fit the queue.
pub(super) fn read(set: &mut Fields<'_>, device: &mut Device<'_>) -> Result<Option<Trimming>, ReadError> {
    set.mapping("service")?.finish(device);
    let mut system = set.mapping("system")?;
    device.hostname = system.text("hostname")?.map(|name| Cow::Owned(name.to_owned()));
    if device.hostname.is_none() {
        let message = "the switch has no `system.hostname`".to_owned();
        device.fault(FaultKind::Identity, FILE, fact(&["system", "hostname"]), message);
    }
    let mut control = system.mapping("control-plane")?;
    access::judge(&set.mapping("acl")?, &control.mapping("acl")?, device)?;
    control.finish(device);
    let mut lldp = system.mapping("lldp")?;
    if lldp.text("state")? == Some("disabled") {
        let message = "LLDP is off, so cables cannot be compared with the plan".to_owned();
        device.fault(FaultKind::Setting, FILE, fact(&["system", "lldp", "state"]), message);
    }
    lldp.take("tx-interval");
    lldp.take("tx-hold-multiplier");
    lldp.finish(device);
    let mut forwarding = system.mapping("forwarding")?;
    let mut trim = forwarding.mapping("packet-trim")?;
    let state = trim.text("state")?;
    let size = trim.number::<u16>("size")?;
    let priority = trim.number::<u8>("switch-priority")?;
    let mut remark = trim.mapping("remark")?;
    let dscp = remark.take("dscp");
    let stated = match dscp {
        None => None,
        Some(value) if value.as_str() == Some("port-level") => Some(None),
        Some(value) => {
            let own = value.as_u64().and_then(|dscp| u8::try_from(dscp).ok()).filter(|dscp| *dscp < 64);
            let fault = || {
                remark.path("dscp").fault(format!("`system.forwarding.packet-trim.remark.dscp` is {value}"))
            };
            Some(Some(own.ok_or_else(fault)?))
        }
    };
    remark.finish(device);
    trim.finish(device);
    forwarding.finish(device);
    system.finish(device);
    let wrong = match (priority, stated) {
        (Some(_), Some(_)) => "size",
        (Some(_), None) => "remark",
        (None, _) => "switch-priority",
    };
    let whole = size.zip(priority).zip(stated);
    match (state, whole) {
        (Some("enabled"), Some(((size, priority), dscp)))
            if (256..=1024).contains(&size) && size % 4 == 0 =>
        {
            Ok(Some(Trimming { size, priority, dscp }))
        }
        (Some("enabled"), _) => Err(ReadError::of(
            path(&["system", "forwarding", "packet-trim", wrong]),
            "`system.forwarding.packet-trim` is enabled without a size of 256 to 1024 by 4, a switch priority or a code point",
        )),
        _ => Ok(None),
    }
}
