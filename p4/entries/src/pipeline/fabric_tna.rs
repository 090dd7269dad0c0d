//! Entries of the pipeline `fabric_tna`: the tables of `fabric` on Tofino.
//!
//! In: the intent of a T0, T1 or T2. Out: entries by the names of `fabric`. What is of another form: ports have the numbers of
//! the SDE (`dev_port`), from the port map of the platform; queues are counted in cells; marking is by two dice, as the chip can
//! neither multiply nor divide; the hash has a polynomial for each tier. There is no table that trims: whoever asks for that is
//! refused before (E0703).

use std::ops::RangeInclusive;

use closc_artefacts::StatedSwitch;
use closc_plan::DeviceIntent;
use closc_runtime::Info;
use closc_runtime::proto::v1;
use closc_runtime::value::Width;

use super::fabric::{self, Arguments, Form, Marks};
use crate::error::{EntriesError, Fault};

/// Bytes of a cell of Tofino 2, where a platform does not say.
const CELL: u64 = 176;

/// A share that is whole.
const WHOLE: u64 = 1 << 16;

/// Parts of a probability.
const MILLION: u64 = 1_000_000;

static FORM: Form = Form {
    name: "fabric_tna",
    ports,
    port: |port| port.physical.device,
    unit: |intent, _| intent.platform.buffer.as_ref().map_or(CELL, |buffer| buffer.cell.0),
    marking,
    hash: |intent, seed, qp_mask| {
        // Neighbouring tiers are of different levels.
        let function = intent.switch.tier.level() % 4;
        vec![("function", function.into()), ("seed", seed.into()), ("qp_mask", qp_mask.into())]
    },
    // All 20 stages of the ingress pipeline are taken.
    limits: false,
};

/// Returns the entities of a switch.
pub(crate) fn entities(intent: &DeviceIntent<'_>, info: &Info) -> Result<Vec<v1::Entity>, Fault> {
    fabric::entities_in(&FORM, intent, info)
}

/// Adds to what a fabric states of a switch what entries say of its queues: when packets are marked.
pub(crate) fn state(intent: &DeviceIntent<'_>, switch: &mut StatedSwitch) -> Result<(), EntriesError> {
    fabric::state(&FORM, intent, switch)
}

/// Every number of its width can be a front port of some board: the port map of the platform says which are.
fn ports(info: &Info) -> Result<RangeInclusive<u16>, Fault> {
    Ok(match info.table("ingress.port_role")?.field("ingress_port")?.width {
        Width::Bits(bits @ 1..16) => 0..=(1 << bits) - 1,
        Width::Bits(_) | Width::Text => 0..=u16::MAX,
    })
}

/// A ramp of 2^k cells, the least power that is not below that from one threshold to the other, and the share of the packets
/// above the dice that are marked: `(depth - min) / 2^k * share / 2^16` is the straight line of the profile. Nothing where that
/// share were more than all.
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
        // All but one in 65,536 is the most that 16 bits say.
        ("share", share.min(WHOLE - 1).into()),
    ])
}
