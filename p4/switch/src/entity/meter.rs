//! Converts meter configurations from P4Runtime to RFC 2698.

use closc_runtime::proto::{config, v1};
use config::meter_spec::Type;

use super::Fault;
use crate::state::{Counter, Meter, MeterConfig};

/// Converts a validated configuration.
pub(super) fn config(kind: Type, name: &str, given: &v1::MeterConfig) -> Result<MeterConfig, Fault> {
    let fault = |problem| Err(Fault::Meter { meter: name.to_owned(), problem });
    let single = given.pir == given.cir && given.pburst == given.cburst;
    match kind {
        Type::TwoRateThreeColor => {
            if given.eburst != 0 {
                return fault("an excess burst makes no sense with two rates");
            }
            if given.pir < given.cir {
                return fault("the peak rate is below the committed rate");
            }
        }
        Type::SingleRateTwoColor | Type::SingleRateThreeColor => {
            if !single {
                return fault("with one rate, peak rate and burst must be equal to the committed ones");
            }
            if given.eburst != 0 && kind == Type::SingleRateTwoColor {
                return fault("an excess burst makes no sense with two colours");
            }
            if given.eburst != 0 {
                return Err(Fault::unsupported(format!("an excess burst of meter `{name}`")));
            }
        }
    }
    let rate = |value: i64| value.max(0).cast_unsigned();
    Ok(MeterConfig {
        cir: rate(given.cir),
        cburst: rate(given.cburst),
        pir: rate(given.pir),
        pburst: rate(given.pburst),
    })
}

/// Returns a configuration as written.
pub(super) fn config_message(config: MeterConfig) -> v1::MeterConfig {
    v1::MeterConfig {
        cir: config.cir.cast_signed(),
        cburst: config.cburst.cast_signed(),
        pir: config.pir.cast_signed(),
        pburst: config.pburst.cast_signed(),
        eburst: 0,
    }
}

/// Returns the counts of green, yellow and red packets.
pub(super) fn colours(meter: &Meter) -> v1::MeterCounterData {
    let data = |counter: Counter| {
        let (byte_count, packet_count) = (counter.bytes.cast_signed(), counter.packets.cast_signed());
        Some(v1::CounterData { byte_count, packet_count })
    };
    let [green, yellow, red] = meter.colours();
    v1::MeterCounterData { green: data(green), yellow: data(yellow), red: data(red) }
}
