//! Entries of the pipeline `fabric_tna`: the tables of `fabric` on Tofino.
//!
//! In: the intent of a T0, T1 or T2. Out: entries with the names of `fabric`. Ports have the numbers of the
//! SDE (`dev_port`), from the port map of the platform. Queues are counted in cells. Packets to the
//! controller and strict classes are not limited. Marking uses two random numbers, because the chip can
//! neither multiply nor divide. The hash has a polynomial for each tier. The pipeline cannot trim, and
//! earlier checks reject profiles that trim (E0703).

use std::ops::RangeInclusive;

use closc_artefacts::StatedSwitch;
use closc_plan::DeviceIntent;
use closc_runtime::Info;
use closc_runtime::proto::v1;
use closc_runtime::value::Width;

use super::fabric::{self, Arguments, Form, Marks};
use crate::error::{EntriesError, Fault};

/// Bytes of a cell of Tofino 2, for platforms that do not state it.
const CELL: u64 = 176;

/// A share of 100 %.
const WHOLE: u64 = 1 << 16;

/// Parts per million in a probability of 1.
const MILLION: u64 = 1_000_000;

static FORM: Form = Form {
    name: "fabric_tna",
    ports,
    port: |port| port.physical.device,
    unit: |intent, _| intent.platform.buffer.as_ref().map_or(CELL, |buffer| buffer.cell.0),
    marking,
    hash: |intent, seed, qp_mask| {
        // Adjacent tiers have different levels, so they get different functions.
        let function = intent.switch.tier.level() % 4;
        vec![("function", function.into()), ("seed", seed.into()), ("qp_mask", qp_mask.into())]
    },
    // All 20 stages of the ingress pipeline are in use.
    limits: false,
};

/// Returns the entities of a switch.
pub(crate) fn entities(intent: &DeviceIntent<'_>, info: &Info) -> Result<Vec<v1::Entity>, Fault> {
    fabric::entities_in(&FORM, intent, info)
}

/// Adds the marking thresholds of a switch to its values in the manifest.
pub(crate) fn add_stated_values(
    intent: &DeviceIntent<'_>,
    switch: &mut StatedSwitch,
) -> Result<(), EntriesError> {
    fabric::add_values_of_form(&FORM, intent, switch)
}

/// Returns all numbers that fit in the width of a port. The front ports among them depend on the board, and
/// the platform's port map lists them.
fn ports(info: &Info) -> Result<RangeInclusive<u16>, Fault> {
    Ok(match info.table("ingress.port_role")?.field("ingress_port")?.width {
        Width::Bits(bits @ 1..16) => 0..=(1 << bits) - 1,
        Width::Bits(_) | Width::Text => 0..=u16::MAX,
    })
}

/// Returns the arguments that mark along the straight line of the profile. The probability at a depth is
/// `(depth - min) / 2^k * share / 2^16`. The ramp is 2^k, the smallest power of two that is at least
/// `max - min`. The first random number is below 2^k and is compared with `depth - min`. The second is below
/// 2^16 and selects the share of those packets to mark. Returns `None` if the share would exceed 100 %.
fn marking(marks: Marks) -> Option<Arguments> {
    let span = marks.max.checked_sub(marks.min)?.max(1);
    let ramp = span.next_power_of_two();
    let probability = u64::from(marks.probability_ppm);
    let share = (probability * ramp * WHOLE + span * MILLION / 2) / (span * MILLION);
    if share > WHOLE {
        return None;
    }
    Some(vec![
        ("min_depth_cells", marks.min.into()),
        ("max_depth_cells", marks.max.into()),
        ("ramp_mask", (ramp - 1).into()),
        // The largest share that fits in 16 bits is 65,535 of 65,536.
        ("share", share.min(WHOLE - 1).into()),
    ])
}
