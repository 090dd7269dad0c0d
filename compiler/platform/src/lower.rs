//! Converts a checked file to a [`Platform`].
//!
//! In: a [`File`] that passed all checks. Out: the platform. Invariants: the conversion cannot fail.

use crate::file::{BufferFile, Feature, File, HwskuFile, LimitsFile, PanelFile, SonicFile, TrimmingFile};
use crate::{Breakout, Buffer, CageSet, Features, Limits, Panel, Platform, Sonic, TrimmingLimits};

/// Creates a platform from a checked file.
pub(crate) fn lower(file: File) -> Platform {
    Platform {
        features: features(&file),
        id: file.id.value.into(),
        title: file.title,
        oses: file.os.value,
        pipeline: file.pipeline.map(|pipeline| pipeline.value.into()),
        rack_units: file.rack_units.map(|units| units.value),
        power: file.power.map(|power| power.value),
        panel: panel(&file.panel),
        sonic: file.sonic.map(|sonic| self::sonic(sonic.value, &file.panel)),
        buffer: file.buffer.as_ref().map(buffer),
        trimming: file.trimming.map(|trimming| self::trimming_limits(trimming.value)),
        limits: limits(&file.limits),
        balancing: file.balancing,
        layouts: file.layouts.into_iter().map(|(name, layout)| (name, layout.value)).collect(),
        derived: false,
        sources: file.sources,
    }
}

fn panel(file: &PanelFile) -> Panel {
    Panel {
        cages: file.cages.value,
        lanes: file.lanes.value,
        lane_speed: file.lane_speed.value,
        breakouts: file.breakouts.iter().map(|at| at.value).collect(),
        partial: file.partial(),
        default_breakout: file.default.value,
        naming: file.naming,
        usual_naming: file.naming,
        namings: file.namings.clone(),
        older_naming: file.older_naming,
        aliases: file.aliases.as_ref().map(|at| at.value.clone()),
        first_number: file.numbers.first,
        number_step: file.numbers.step,
        cages_per_number: Some(file.numbers.cages).filter(|cages| *cages != 1),
        port_numbers: file.port_numbers().map(|all| all.into_iter().map(|number| number as u16).collect()),
        lanes_per_number: file.lanes_per_number.as_ref().map(|at| at.value),
        listed_lanes: file.listed_lanes.as_ref().map(|at| at.value),
        device_ports: file.device_ports.as_ref().map(|at| at.value.clone()),
        port_bits: file.port_bits.as_ref().map(|at| at.value),
        logical_ports: file.logical_ports.clone(),
        breakout_cages: file.breakout_cages.iter().map(|(split, at)| (*split, at.value)).collect(),
        disables_next: file.disables_next.iter().map(|at| at.value).collect(),
        serial_lanes: file.serial_lanes().expect("E1006 rejects lanes beyond 16 bits"),
    }
}

fn sonic(file: SonicFile, panel: &PanelFile) -> Sonic {
    let cages = file.hwskus.iter().filter(|one| !one.cages.is_empty());
    let cages = cages.map(|one| (one.hwsku.clone(), assign_cages(one, panel))).collect();
    Sonic {
        hwsku: file.hwsku,
        cages,
        any_breakout: file.any_breakout,
        platform: file.platform,
        since: file.since,
        asic: file.asic,
        states_autoneg: file.states_autoneg,
        hwskus: { file.hwskus.iter() }
            .map(|one| (assign_lanes(one, panel).into_iter().collect(), one.hwsku.clone()))
            .collect(),
        ecmp_widths: { file.facts.iter() }
            .filter_map(|(hwsku, facts)| Some((hwsku.clone(), facts.ecmp_width.as_ref()?.members)))
            .collect(),
        facts: file.facts,
    }
}

/// Assigns the breakouts of a hwsku to lanes of the cage, in the order of the file. A share has the last lanes,
/// unless it is the first breakout or is alone in its cages.
fn assign_lanes(hwsku: &HwskuFile, panel: &PanelFile) -> Vec<Breakout> {
    let (lanes, partial) = (panel.lanes.value, panel.partial());
    let all: Vec<Breakout> = hwsku.breakouts.iter().map(|at| at.value).collect();
    let shares_cages = |one: &Breakout| {
        let own = hwsku.cages.get(one);
        let others = all.iter().filter(|other| *other != one);
        others.into_iter().any(|other| match (own, hwsku.cages.get(other)) {
            (Some(own), Some(theirs)) => own.iter().any(|cage| theirs.contains(cage)),
            (None, _) | (_, None) => true,
        })
    };
    let place = |(at, breakout): (usize, Breakout)| match (at, shares_cages(&breakout)) {
        (_, false) => breakout,
        (0, true) => breakout.beside_others(),
        (_, true) => breakout.shift_behind(all.first().copied(), lanes),
    };
    all.iter().copied().enumerate().map(place).map(|own| own.for_hwsku(lanes, &partial)).collect()
}

/// Returns the cages of each breakout of a hwsku, where the file lists them.
fn assign_cages(hwsku: &HwskuFile, panel: &PanelFile) -> Vec<(Breakout, CageSet)> {
    let listed = hwsku.breakouts.iter().map(|at| hwsku.cages.get(&at.value));
    let assigned = assign_lanes(hwsku, panel).into_iter().zip(listed);
    assigned.filter_map(|(split, cages)| Some((split, *cages?))).collect()
}

fn buffer(file: &BufferFile) -> Buffer {
    let mut older = file.older.clone();
    older.sort_by_key(|older| older.until);
    Buffer {
        total: file.total.value,
        totals: file.totals.iter().map(|(hwsku, total)| (hwsku.clone(), total.value)).collect(),
        cell: file.cell.value,
        headroom_model: file.headroom.value.as_str().into(),
        headroom_models: { file.headrooms.iter() }
            .map(|(hwsku, model)| (hwsku.clone(), model.value.as_str().into()))
            .collect(),
        lossless_queue_max: file.lossless_queue_max.as_ref().map(|at| at.value),
        older,
    }
}

fn trimming_limits(file: TrimmingFile) -> TrimmingLimits {
    let TrimmingFile { size_min, size_max, queue, queues, keeps_dscp } = file;
    TrimmingLimits { size_min, size_max, queue, queues, keeps_dscp }
}

fn limits(file: &LimitsFile) -> Limits {
    Limits {
        my_sids: file.my_sids.value,
        ipv6_routes: file.ipv6_routes.value,
        ecmp_width: file.ecmp_width.value,
        ecmp_sizes: file.ecmp_sizes.clone(),
        ecmp_groups: file.ecmp_groups.value,
        neighbours: file.neighbours.value,
        provenance: file.provenance.clone(),
    }
}

fn features(file: &File) -> Features {
    Features {
        un: file.has(Feature::Un),
        ua: file.has(Feature::Ua),
        trimming: file.has(Feature::Trimming),
        pfc: file.has(Feature::Pfc),
        ecn: file.has(Feature::Ecn),
        qp_hash: file.has(Feature::QpHash),
    }
}
