//! `cables/plane-P.csv`: the cables of a plane, one per row, for installers and labs.
//!
//! Invariants: rows are written without quotes, because names of devices and ports contain no commas, quotes or line
//! breaks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The columns, in order.
pub const COLUMNS: [&str; 9] = [
    "plane",
    "kind",
    "lower_device",
    "lower_port",
    "upper_device",
    "upper_port",
    "length",
    "medium",
    "state",
];

/// The header line, with its line break.
pub const HEADER: &str = "plane,kind,lower_device,lower_port,upper_device,upper_port,length,medium,state\n";

/// A row. Fields are kept as text, so that readers can report invalid ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row<'a> {
    /// The plane, from 0.
    pub plane: u8,
    /// Kind of connection, a [`Kind`].
    pub kind: &'a str,
    /// The device nearer to the NICs.
    pub lower_device: &'a str,
    /// Name of the port on the lower device.
    pub lower_port: &'a str,
    /// The device farther from the NICs.
    pub upper_device: &'a str,
    /// Name of the port on the upper device.
    pub upper_port: &'a str,
    /// Length with unit.
    pub length: &'a str,
    /// Medium.
    pub medium: &'a str,
    /// Whether traffic may use the cable, a [`State`].
    pub state: &'a str,
}

impl fmt::Display for Row<'_> {
    /// Writes the row as in the file, without the line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { plane, kind, lower_device, lower_port, upper_device, upper_port, length, medium, state } =
            self;
        write!(
            f,
            "{plane},{kind},{lower_device},{lower_port},{upper_device},{upper_port},{length},{medium},{state}"
        )
    }
}

/// Kind of connection, by the devices at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A NIC and a T0.
    NicT0,
    /// A T0 and a T1.
    T0T1,
    /// A T1 and a T2.
    T1T2,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::NicT0, Kind::T0T1, Kind::T1T2];

    /// Returns the keyword in the file.
    pub fn keyword(self) -> &'static str {
        match self {
            Kind::NicT0 => "nic-t0",
            Kind::T0T1 => "t0-t1",
            Kind::T1T2 => "t1-t2",
        }
    }

    /// Returns the kind with a keyword.
    pub fn from_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.keyword() == word)
    }
}

/// Whether traffic may use a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The cable carries traffic.
    Up,
    /// The cable is plugged in, but must not carry new traffic.
    Drained,
    /// The cable is drained, and its switch ports drop all IPv6 packets except ICMPv6.
    Isolated,
}

impl State {
    /// All states.
    pub const ALL: [State; 3] = [State::Up, State::Drained, State::Isolated];

    /// Returns the keyword in the file.
    pub fn keyword(self) -> &'static str {
        match self {
            State::Up => "up",
            State::Drained => "drained",
            State::Isolated => "isolated",
        }
    }

    /// Returns the state with a keyword.
    pub fn from_word(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.keyword() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_lists_the_columns() {
        assert_eq!(HEADER.trim_end().split(',').collect::<Vec<_>>(), COLUMNS);
    }

    #[test]
    fn words_are_read_back() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_word(kind.keyword()), Some(kind));
        }
        for state in State::ALL {
            assert_eq!(State::from_word(state.keyword()), Some(state));
        }
        assert_eq!(State::from_word("absent"), None);
    }
}
