//! Table `FLEX_COUNTER_TABLE`: groups of counters that orchagent reads from the ASIC.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::place::FILE;
use crate::model::device::{Device, FaultKind};
use crate::model::place::Fact;
use crate::read::json::Str;

/// Counter groups in sonic-flex_counter.yang.
const GROUPS: [&str; 25] = [
    "ACL",
    "BUFFER_POOL_WATERMARK",
    "DASH_METER",
    "DEBUG_COUNTER",
    "ENI",
    "FLOW_CNT_ROUTE",
    "FLOW_CNT_TRAP",
    "HA_SET",
    "PFCWD",
    "PG_DROP",
    "PG_WATERMARK",
    "POLICER",
    "PORT",
    "PORT_BUFFER_DROP",
    "PORT_PHY_ATTR",
    "PORT_RATES",
    "QUEUE",
    "QUEUE_WATERMARK",
    "RIF",
    "RIF_RATES",
    "SRV6",
    "SWITCH",
    "TUNNEL",
    "WRED_ECN_PORT",
    "WRED_ECN_QUEUE",
];

/// Allowed polling intervals: from the minimum of the same YANG model to the longest default of orchagent, that of
/// watermarks.
const INTERVALS_MS: std::ops::RangeInclusive<u32> = 100..=60_000;

/// A counter group.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) struct CounterRow<'a> {
    #[serde(borrow)]
    flex_counter_status: Option<Str<'a>>,
    #[serde(borrow)]
    flex_counter_delay_status: Option<Str<'a>>,
    #[serde(borrow)]
    poll_interval: Option<Str<'a>>,
    #[serde(rename = "BULK_CHUNK_SIZE")]
    _bulk: Option<IgnoredAny>,
    #[serde(rename = "BULK_CHUNK_SIZE_PER_PREFIX")]
    _bulk_by_prefix: Option<IgnoredAny>,
}

/// Judges a group, and adds it to the counters of the device if it is enabled.
pub(super) fn judge<'a>(group: Cow<'a, str>, row: &CounterRow<'a>, device: &mut Device<'a>) {
    let is = |value: &Option<Str<'_>>, meant: &str| value.as_ref().is_some_and(|value| value.0 == meant);
    if !GROUPS.contains(&&*group) {
        let fact = Fact::row("FLEX_COUNTER_TABLE", &*group);
        let message =
            format!("`FLEX_COUNTER_TABLE|{group}` is not a group of counters that the proof models");
        return device.fault(FaultKind::Unknown, FILE, fact, message);
    }
    let interval = row.poll_interval.as_ref().map(|interval| &*interval.0);
    if let Some(wrong) = interval.filter(|text| !text.parse().is_ok_and(|ms| INTERVALS_MS.contains(&ms))) {
        let fact = Fact::Path(vec!["FLEX_COUNTER_TABLE".into(), (&*group).into(), "POLL_INTERVAL".into()]);
        let (least, most) = (INTERVALS_MS.start(), INTERVALS_MS.end());
        let message =
            format!("counters `{group}` are read every `{wrong}` ms; expected {least} to {most} ms");
        return device.fault(FaultKind::Setting, FILE, fact, message);
    }
    // orchagent skips a row with a delay.
    if is(&row.flex_counter_status, "enable") && !is(&row.flex_counter_delay_status, "true") {
        device.counters.push(group);
    }
}
