//! Breakouts as text: `8x100G`.
//!
//! In: text from a topology or catalogue file. Out: a [`Breakout`]. Invariants: printed text can be parsed again.

use std::fmt;
use std::str::FromStr;

use closc_qos::units::{Speed, UnitError};

use crate::{Breakout, CageSet, Os, Panel, Platform};

/// The share of a cage that a breakout uses, if it does not use the complete cage: `1x800G(4)` is one port on four
/// lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Share {
    /// Number of lanes in use.
    pub lanes: u8,
    /// First lane in use, from 0.
    pub lane: u8,
    /// Number of ports on the lanes before it.
    pub ports: u8,
    /// Whether ports of another breakout use the lanes behind it.
    #[serde(skip)]
    pub is_beside_others: bool,
}

/// Reason to reject a text as a breakout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BreakoutError {
    /// The text does not consist of a number of ports, `x` and a speed.
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
        /// The number of ports in the text.
        ports: u32,
    },
    /// The speed is invalid.
    #[error("`{text}`: {cause}")]
    Speed {
        /// The text.
        text: String,
        /// Error of the speed.
        cause: UnitError,
    },
    /// The platform does not offer the breakout.
    #[error("`{platform}` does not offer `{breakout}`; it offers {breakouts}")]
    NotOffered {
        /// The platform.
        platform: String,
        /// The breakout.
        breakout: Breakout,
        /// The breakouts that the platform offers.
        breakouts: String,
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
        let (speed, lanes) = match speed.strip_suffix(')').map(|speed| speed.split_once('(')) {
            Some(split) => split.map(|(speed, lanes)| (speed, Some(lanes))).ok_or_else(form)?,
            None => (speed, None),
        };
        let share = match lanes.map(str::parse::<u8>) {
            Some(Ok(lanes)) if lanes > 0 => Some(Share { lanes, lane: 0, ports: 0, is_beside_others: false }),
            Some(_) => return Err(form()),
            None => None,
        };
        let speed: Speed =
            speed.parse().map_err(|cause| BreakoutError::Speed { text: text.to_owned(), cause })?;
        Ok(Breakout { ports: ports as u8, speed, share })
    }
}

impl Breakout {
    /// Returns the number of lanes per port, in cages with this number of lanes.
    pub fn width(&self, lanes: u8) -> u8 {
        self.share.map_or(lanes, |share| share.lanes) / self.ports.max(1)
    }

    /// Returns the number of ports of this breakout that use as many lanes as `count` ports of another, rounded up.
    pub fn ports_for(&self, count: u64, other: Breakout, lanes: u8) -> u64 {
        (count * u64::from(other.width(lanes))).div_ceil(u64::from(self.width(lanes)).max(1))
    }

    /// Returns the breakout that splits a complete cage into ports of the same width and speed; `None` if the
    /// width does not divide the cage.
    pub(crate) fn of_whole_cages(&self, lanes: u8) -> Option<Breakout> {
        let width = self.width(lanes);
        let divides_share = self.share.is_none_or(|share| share.lanes.is_multiple_of(self.ports));
        let divides = width > 0 && lanes.is_multiple_of(width) && divides_share;
        divides.then(|| Breakout { ports: lanes / width, speed: self.speed, share: None })
    }

    /// Moves a share to the last lanes of a cage if ports of another breakout are in the same cage. `Share::ports`
    /// counts all ports of the other breakout that fit on the lanes before the share, even unused ones. A breakout of
    /// complete cages does not change.
    #[must_use]
    pub fn shift_behind(mut self, other: Option<Breakout>, lanes: u8) -> Breakout {
        if let (Some(share), Some(other)) = (&mut self.share, other) {
            share.lane = lanes.saturating_sub(share.lanes);
            share.ports = share.lane / other.width(lanes).max(1);
        }
        self
    }

    /// Returns the breakout of the first lanes of a cage whose other lanes belong to ports of another breakout. A
    /// breakout of complete cages does not change.
    #[must_use]
    pub fn beside_others(mut self) -> Breakout {
        if let Some(share) = &mut self.share {
            share.is_beside_others = true;
        }
        self
    }

    /// Returns the breakout as hwskus list it: a share on the first lanes counts as a complete cage, unless it is one
    /// of `partial`.
    pub(crate) fn for_hwsku(self, lanes: u8, partial: &[Breakout]) -> Breakout {
        let is_first = self.share.is_some_and(|share| share.lane == 0);
        if is_first && !partial.contains(&self) { self.of_whole_cages(lanes).unwrap_or(self) } else { self }
    }
}

impl Panel {
    /// Returns whether the panel offers a breakout. It offers a share of a cage if the share is one of `partial`, or if
    /// ports of the same width and speed can fill a complete cage.
    pub fn offers(&self, breakout: Breakout) -> bool {
        let Some(share) = breakout.share else { return self.breakouts.contains(&breakout) };
        if self.is_partial(breakout) {
            return true;
        }
        let fits =
            share.lanes < self.lanes && u16::from(share.lane) + u16::from(share.lanes) <= self.lanes.into();
        let width = breakout.width(self.lanes);
        let whole = breakout.of_whole_cages(self.lanes);
        fits && width > 0
            && share.lane % width == 0
            && whole.is_some_and(|whole| self.breakouts.contains(&whole))
    }

    /// Returns the cages that support a breakout; `None` if all of them do.
    pub fn cages_with(&self, breakout: Breakout) -> Option<&CageSet> {
        let whole = breakout.of_whole_cages(self.lanes).filter(|_| !self.is_partial(breakout));
        self.breakout_cages.get(&breakout).or_else(|| self.breakout_cages.get(&whole?))
    }

    /// Returns whether ports with this breakout disable the next cage.
    pub fn disables_next_cage(&self, breakout: Breakout) -> bool {
        self.disables_next.contains(&breakout)
    }

    /// Returns all breakouts that the platform lists: those of complete cages first.
    pub fn listed_breakouts(&self) -> impl Iterator<Item = Breakout> + '_ {
        self.breakouts.iter().chain(&self.partial).copied()
    }

    /// Returns whether a breakout uses the first lanes of a cage and leaves the others unused, in a way that the
    /// platform lists. A single port then has the alias of the cage.
    pub fn is_partial(&self, breakout: Breakout) -> bool {
        self.partial.contains(&breakout)
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
            "description": "ports a cage is split into, `x` and the speed of each, as in `8x100G`. `(N)` after the speed limits them to N lanes of the cage, as in `1x800G(4)`",
            "type": "string",
            "pattern": r"^[0-9]{1,2}x[0-9]+(\.[0-9]+)?[TGM](\([0-9]+\))?$"
        })
    }
}

impl fmt::Display for Breakout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.ports, self.speed)?;
        self.share.map_or(Ok(()), |share| write!(f, "({})", share.lanes))
    }
}

impl Platform {
    /// Returns whether an operating system can split all cages in this way. A split that disables the next cage needs a
    /// panel on which every other cage is empty.
    pub fn splits(&self, os: Os, breakout: Breakout) -> bool {
        os.covering_split() != Some(breakout.ports) || self.panel.number_step > 1
    }

    /// Reads a breakout that the cages of this platform offer.
    pub fn breakout(&self, text: &str) -> Result<Breakout, BreakoutError> {
        let breakout: Breakout = text.parse()?;
        if self.panel.offers(breakout) {
            return Ok(breakout);
        }
        let offered = self.panel.listed_breakouts();
        let offered = offered.map(|b| format!("`{b}`")).collect::<Vec<_>>().join(", ");
        Err(BreakoutError::NotOffered { platform: self.id.to_string(), breakout, breakouts: offered })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_counted_by_their_lanes() {
        let ports = |this: &str, count, other: &str| {
            let [this, other] = [this, other].map(|text| text.parse::<Breakout>().unwrap());
            this.ports_for(count, other, 8)
        };
        assert_eq!(ports("8x100G", 3, "1x800G"), 24);
        assert_eq!(ports("1x800G", 9, "8x100G"), 2);
        assert_eq!(ports("2x400G", 5, "2x400G"), 5);
        assert_eq!(ports("2x400G", 1, "1x400G"), 2, "a port that leaves lanes unused takes its cage");
        assert_eq!(ports("8x100G", 1, "1x400G(4)"), 4);
    }

    #[test]
    fn text_and_value_agree() {
        for text in ["1x800G", "8x100G", "4x200G", "1x1.6T", "16x100G", "1x800G(4)"] {
            assert_eq!(text.parse::<Breakout>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn rejects_malformed_breakouts() {
        for text in [
            "",
            "x",
            "8x",
            "x100G",
            "0x100G",
            "65x100G",
            "8x100",
            "8 x 100G",
            "-1x100G",
            "+8x100G",
            "8x0G",
            "1x800G(0)",
            "1x800G(4",
            "1x800G4)",
            "1x800G(300)",
        ] {
            assert!(text.parse::<Breakout>().is_err(), "{text}");
        }
    }
}
