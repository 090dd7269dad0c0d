//! From a shaped and checked file to a [`Platform`].
//!
//! In: a [`File`] that every check accepted. Out: the platform. Invariants: nothing can fail here.

use crate::checks::features::has;
use crate::file::{BufferFile, Feature, File, LanesFile, LimitsFile, PanelFile, SonicFile, TrimmingFile};
use crate::{Buffer, Features, Limits, Panel, Platform, Sonic, TrimmingLimits};

/// Makes a platform from a checked file.
pub(crate) fn lower(file: File) -> Platform {
    Platform {
        features: features(&file),
        id: file.id.value.into(),
        title: file.title,
        oses: file.os.value,
        panel: panel(&file.panel),
        sonic: file.sonic.map(|sonic| self::sonic(sonic.value)),
        buffer: file.buffer.as_ref().map(buffer),
        trimming: file.trimming.map(|trimming| self::trimming(trimming.value)),
        limits: limits(&file.limits),
        sources: file.sources,
    }
}

/// Returns the serial lanes cage by cage; nothing where they count past 16 bits.
pub(crate) fn serial_lanes(panel: &PanelFile) -> Option<Vec<u16>> {
    let lanes = u16::from(panel.lanes.value);
    let run = |first: u16| (0..lanes).map(move |lane| first.checked_add(lane));
    match &panel.serial_lanes.value {
        LanesFile::From(first) => (0..panel.cages.value)
            .map(|cage| cage.checked_mul(panel.numbers.step)?.checked_mul(lanes)?.checked_add(*first))
            .collect::<Option<Vec<u16>>>()?
            .into_iter()
            .flat_map(run)
            .collect(),
        LanesFile::First(first) => first.iter().copied().flat_map(run).collect(),
        LanesFile::Each(each) => Some(each.iter().flatten().copied().collect()),
    }
}

fn panel(file: &PanelFile) -> Panel {
    Panel {
        cages: file.cages.value,
        lanes: file.lanes.value,
        lane_speed: file.lane_speed.value,
        breakouts: file.breakouts.iter().map(|at| at.value).collect(),
        default_breakout: file.default.value,
        naming: file.naming,
        first_number: file.numbers.first,
        number_step: file.numbers.step,
        serial_lanes: serial_lanes(file).expect("the check of lanes refuses what does not fit"),
    }
}

fn sonic(file: SonicFile) -> Sonic {
    Sonic {
        hwsku: file.hwsku,
        any_breakout: file.any_breakout,
        platform: file.platform,
        hwskus: file
            .hwskus
            .into_iter()
            .map(|one| (one.breakouts.iter().map(|at| at.value).collect(), one.hwsku))
            .collect(),
    }
}

fn buffer(file: &BufferFile) -> Buffer {
    Buffer {
        total: file.total.value,
        cell: file.cell.value,
        headroom_model: file.headroom.value.as_str().into(),
        lossless_queue_max: file.lossless_queue_max.as_ref().map(|at| at.value),
    }
}

fn trimming(file: TrimmingFile) -> TrimmingLimits {
    let TrimmingFile { size_min, size_max, queue, queues } = file;
    TrimmingLimits { size_min, size_max, queue, queues }
}

fn limits(file: &LimitsFile) -> Limits {
    Limits {
        my_sids: file.my_sids.value,
        ipv6_routes: file.ipv6_routes.value,
        ecmp_width: file.ecmp_width.value,
        ecmp_groups: file.ecmp_groups.value,
        neighbours: file.neighbours.value,
    }
}

fn features(file: &File) -> Features {
    Features {
        un: has(file, Feature::Un),
        ua: has(file, Feature::Ua),
        trimming: has(file, Feature::Trimming),
        pfc: has(file, Feature::Pfc),
        ecn: has(file, Feature::Ecn),
        qp_hash: has(file, Feature::QpHash),
    }
}
