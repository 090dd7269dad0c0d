//! Breakouts as text: `8x100G`.
//!
//! In: text from a topology or catalogue file. Out: a [`Breakout`]. Invariants: what is printed parses back.

use std::fmt;
use std::str::FromStr;

use closc_qos::units::{Speed, UnitError};

use crate::{Breakout, Platform};

/// Why a text is not a breakout, or none of a panel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BreakoutError {
    /// It is not ports, `x` and a speed.
    #[error("`{text}` is not a breakout; write ports and speed, as in `8x100G`")]
    Form {
        /// The text.
        text: String,
    },
    /// The number of ports is not 1 to 64.
    #[error("`{text}` splits a cage into {ports} ports; a cage has 1 to 64")]
    Ports {
        /// The text.
        text: String,
        /// The number in it.
        ports: u32,
    },
    /// The speed is wrong.
    #[error("`{text}`: {cause}")]
    Speed {
        /// The text.
        text: String,
        /// Error of the speed.
        cause: UnitError,
    },
    /// The platform's cages cannot be split so.
    #[error("`{platform}` does not offer `{breakout}`; it offers {offered}")]
    NotOffered {
        /// The platform.
        platform: String,
        /// Request.
        breakout: Breakout,
        /// What there is.
        offered: String,
    },
}

impl FromStr for Breakout {
    type Err = BreakoutError;

    fn from_str(text: &str) -> Result<Self, BreakoutError> {
        let form = || BreakoutError::Form { text: text.to_owned() };
        let (ports, speed) = text.split_once('x').ok_or_else(form)?;
        if ports.is_empty() || !ports.bytes().all(|b| b.is_ascii_digit()) {
            return Err(form());
        }
        let ports: u32 = ports.parse().map_err(|_| form())?;
        if !(1..=64).contains(&ports) {
            return Err(BreakoutError::Ports { text: text.to_owned(), ports });
        }
        let speed: Speed =
            speed.parse().map_err(|cause| BreakoutError::Speed { text: text.to_owned(), cause })?;
        Ok(Breakout { ports: ports as u8, speed })
    }
}

impl<'de> serde::Deserialize<'de> for Breakout {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Breakout {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Breakout".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        if generator.contract().is_serialize() {
            let speed = generator.subschema_for::<Speed>();
            return schemars::json_schema!({
                "description": "ports a cage is split into, and the speed of each",
                "type": "object",
                "properties": { "ports": { "type": "integer", "minimum": 0, "maximum": 255 }, "speed": speed },
                "required": ["ports", "speed"]
            });
        }
        schemars::json_schema!({
            "description": "ports a cage is split into, `x` and the speed of each, as in `8x100G`",
            "type": "string",
            "pattern": r"^[0-9]{1,2}x[0-9]+(\.[0-9]+)?[TGM]$"
        })
    }
}

impl fmt::Display for Breakout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.ports, self.speed)
    }
}

impl Platform {
    /// Reads a breakout that the cages of this platform offer.
    pub fn breakout(&self, text: &str) -> Result<Breakout, BreakoutError> {
        let breakout: Breakout = text.parse()?;
        if self.panel.breakouts.contains(&breakout) {
            return Ok(breakout);
        }
        let offered = self.panel.breakouts.iter().map(|b| format!("`{b}`")).collect::<Vec<_>>().join(", ");
        Err(BreakoutError::NotOffered { platform: self.id.to_string(), breakout, offered })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_value_agree() {
        for text in ["1x800G", "8x100G", "4x200G", "1x1.6T", "16x100G"] {
            assert_eq!(text.parse::<Breakout>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses_what_is_no_breakout() {
        for text in
            ["", "x", "8x", "x100G", "0x100G", "65x100G", "8x100", "8 x 100G", "-1x100G", "+8x100G", "8x0G"]
        {
            assert!(text.parse::<Breakout>().is_err(), "{text}");
        }
    }
}
