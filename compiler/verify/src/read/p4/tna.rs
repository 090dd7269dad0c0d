//! The language module of Tofino: entries of the pipeline `fabric_tna`, which has the tables of `fabric` except those
//! for trimming and rate limits. Ports have the numbers of the SDE, which are part of their names. Queue lengths are in
//! cells, and marking uses two random numbers.

use super::switch::{self, Dialect, argument};
use super::{TABLES, entries::Action, number, place};
use crate::model::device::Device;
use crate::model::fact::FactKind;
use crate::model::language::{Language, Spreading};
use crate::model::place::Target;
use crate::read::error::{ReadError, text};
use crate::read::language_reader::{Files, LanguageReader, Pipeline, ReaderContext, RequiredFile, always};

const FILE: &str = closc_artefacts::paths::TNA_ENTRIES;

/// Maximum sum of weights in a group: `WCMP_WIDTH` of the pipeline.
const WIDTH: u64 = 256;

/// The pipeline.
static PIPELINE: Pipeline = Pipeline { info: "p4/fabric_tna.p4info.txtpb", tables: &TABLES };

/// The language.
static LANGUAGE: Language = Language {
    name: "tna",
    os: Some(super::LANGUAGE.name),
    spreading: Spreading::Weighted(WIDTH),
    port: number,
    place: find,
    ..super::LANGUAGE
};

static DIALECT: Dialect = Dialect { language: &LANGUAGE, file: FILE, needles, thresholds };

/// The language module.
pub(crate) static ROOM: LanguageReader = LanguageReader {
    language: &LANGUAGE,
    files: &[RequiredFile { name: FILE, with: always }],
    pipeline: Some(&PIPELINE),
    site: &[],
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &ReaderContext<'_>) -> Result<Device<'a>, ReadError> {
    let names = circumstances.pipeline(&PIPELINE)?;
    switch::read(&DIALECT, text(files.bytes(FILE))?, names, circumstances.routing.is_source_routed())
}

fn find(about: FactKind<'_>, _: bool) -> (&'static str, Target) {
    (FILE, needles(about).into())
}

/// Returns the texts to search for, as in `fabric`. However, next hops are found by port instead of ID, and QoS
/// settings by the ECN thresholds.
fn needles(about: FactKind<'_>) -> Vec<String> {
    let ecn = |name: &str| vec![format!("# + egress.ecn  egress_port={} ", number(name))];
    match about {
        FactKind::Address(name)
        | FactKind::Peer(name)
        | FactKind::Description(name)
        | FactKind::Mac(name)
        | FactKind::Neighbour(name) => vec![format!("-> set_nexthop(port={}, ", number(name))],
        FactKind::Qos(name) | FactKind::Headroom(name) => ecn(name),
        FactKind::Setting(name, setting) => {
            place::setting(number(name), setting).unwrap_or_else(|| ecn(name))
        }
        other => place::needles(other),
    }
}

/// Parts per million in one percent.
const PERCENT: u64 = 10_000;

/// Returns the ECN thresholds. With a ramp of 2^k cells and a share for the second random number, the marking
/// probability is `(depth - min) / 2^k * share / 2^16`. Profiles state whole percents, so the share must be the nearest
/// one.
fn thresholds(action: &Action<'_>) -> Result<(u64, u64, u64), ReadError> {
    let [least, most, mask, share] =
        ["min_depth_cells", "max_depth_cells", "ramp_mask", "share"].map(|name| argument(action, name));
    let (least, most) = (least?, most?);
    let (ramp, share) = (mask? + 1, share?);
    let span = most.saturating_sub(least);
    if span == 0 || !ramp.is_power_of_two() || ramp != span.next_power_of_two() {
        return Err(format!(
            "a ramp of {ramp} cells is not the power of two of the {span} between the thresholds"
        )
        .into());
    }
    // The percentage is rounded, because 16 bits can express at most 65,535 of 65,536.
    let of_share = |percent: u128| ((percent * ramp * 65_536 + span * 50) / (span * 100)).min(65_535);
    let percent = (share * span * 100 + ramp * 32_768) / (ramp * 65_536);
    if of_share(percent) != share {
        return Err(
            format!("a share of {share} in 65,536 is not a whole percent just below {most} cells").into()
        );
    }
    Ok((least as u64, most as u64, percent as u64 * PERCENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_its_ramp_and_share_make_of_it() {
        let read = |values: [u128; 4]| {
            let names = ["min_depth_cells", "max_depth_cells", "ramp_mask", "share"];
            let arguments = names.into_iter().zip(values).collect();
            thresholds(&Action::new("egress.set_ecn_thresholds", arguments))
        };
        // 5 % at 900 of 1,024 cells.
        assert_eq!(read([100, 1000, 1023, 3728]), Ok((100, 1000, 50_000)));
        assert_eq!(read([0, 1024, 1023, 65_535]), Ok((0, 1024, 1_000_000)));
        for wrong in
            [[100, 1000, 1023, 3729], [100, 1000, 511, 3728], [100, 1000, 1022, 3728], [100, 100, 0, 1]]
        {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
