//! Properties of the unit types: every value is the same after conversion to text, JSON or YAML and back.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use closc_qos::{Bytes, Length, Nanoseconds, Speed};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

fn comes_back<T>(value: &T)
where
    T: Debug + Display + PartialEq + Serialize + DeserializeOwned + FromStr,
    T::Err: Debug,
{
    assert_eq!(value.to_string().parse::<T>().unwrap(), *value);
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&json).unwrap(), *value);
    assert_eq!(serde_saphyr::from_str::<T>(&value.to_string()).unwrap(), *value);
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(number in any::<u64>(), mbps in 1..=u32::MAX) {
        comes_back(&Bytes(number));
        comes_back(&Length::from_millimeters(number));
        comes_back(&Nanoseconds(number));
        comes_back(&Speed::from_mbps(mbps).unwrap());
    }

    #[test]
    fn round_numbers_parse_back_too(number in 0_u64..2000, power in 0_u32..7) {
        let number = number * 10_u64.pow(power);
        comes_back(&Bytes(number));
        comes_back(&Bytes(number << 10));
        comes_back(&Length::from_millimeters(number));
        comes_back(&Nanoseconds(number));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,24}", digits in "[0-9.]{0,45}", unit in "(|m|km|G|KiB|ns)") {
        let both = format!("{digits}{unit}");
        for text in [&text, &both] {
            let _ = (text.parse::<Bytes>(), text.parse::<Length>());
            let _ = (text.parse::<Nanoseconds>(), text.parse::<Speed>());
        }
    }
}

#[test]
fn a_bare_number_in_yaml_is_refused_with_its_unit() {
    let error = serde_saphyr::from_str::<Vec<Length>>("[30]").unwrap_err().to_string();
    assert!(error.contains("`30` has no unit: write `30m`"), "{error}");
    let error = serde_saphyr::from_str::<Vec<Speed>>("[100]").unwrap_err().to_string();
    assert!(error.contains("`100` has no unit: write `100G`"), "{error}");
    let error = serde_saphyr::from_str::<Vec<Length>>("[2.5]").unwrap_err().to_string();
    assert!(error.contains("`2.5` has no unit: write `2.5m`"), "{error}");
}

#[test]
fn the_schema_is_a_string_with_a_pattern() {
    let schema = serde_json::to_value(schemars::schema_for!(Length)).unwrap();
    assert_eq!(schema["type"], "string");
    assert_eq!(schema["pattern"], r"^[0-9]+(\.[0-9]+)?(mm|cm|m|km)$");
}
