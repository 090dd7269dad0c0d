//! The link for which headroom is computed.
//!
//! In: numbers from the topology and the platform. Out: a [`Link`] whose numbers are within limits. Invariants: the
//! limits are far above any real device (a cable around the Earth, 4 Pb/s, packets of 64 KiB), and low enough that no
//! step of any formula overflows 128 bits.

use super::error::HeadroomError;
use crate::explain::{ExactFraction, exact};
use crate::profile::{LosslessTraffic, Profile};
use crate::units::{Bytes, Length, Nanoseconds, Speed};

/// One end of a link: the inputs of formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    speed: Speed,
    cable: Length,
    mtu: Bytes,
    lanes: u8,
    gearbox_delay: Nanoseconds,
}

impl Link {
    /// The longest cable: once around the Earth.
    pub const LONGEST: Length = Length::from_meters(40_075_000);
    /// The smallest Ethernet frame.
    pub const SMALLEST_MTU: Bytes = Bytes(64);
    /// The largest IP packet.
    pub const LARGEST_MTU: Bytes = Bytes(65_535);
    /// A delay that exceeds that of any gearbox.
    const LONGEST_GEARBOX: Nanoseconds = Nanoseconds(1_000_000);

    /// Creates a link from the speed, cable, MTU and number of serial lanes of a port.
    pub fn new(speed: Speed, cable: Length, mtu: Bytes, lanes: u8) -> Result<Self, HeadroomError> {
        if cable > Self::LONGEST {
            return Err(HeadroomError::CableTooLong { cable, longest: Self::LONGEST });
        }
        if mtu < Self::SMALLEST_MTU || mtu > Self::LARGEST_MTU {
            let (min, max) = (Self::SMALLEST_MTU, Self::LARGEST_MTU);
            return Err(HeadroomError::MtuOutOfRange { kind: "MTU", mtu, min, max });
        }
        Ok(Self { speed, cable, mtu, lanes, gearbox_delay: Nanoseconds::ZERO })
    }

    /// Adds the delay of a gearbox between ASIC and cage (SONiC: `gearbox_delay`, 400 ns on SN3800).
    pub fn with_gearbox(self, delay: Nanoseconds) -> Result<Self, HeadroomError> {
        if delay > Self::LONGEST_GEARBOX {
            return Err(HeadroomError::GearboxTooSlow { delay, longest: Self::LONGEST_GEARBOX });
        }
        Ok(Self { gearbox_delay: delay, ..self })
    }

    /// Returns the link with a different cable length.
    pub fn with_cable(self, cable: Length) -> Result<Self, HeadroomError> {
        Self::new(self.speed, cable, self.mtu, self.lanes)?.with_gearbox(self.gearbox_delay)
    }

    /// Returns the speed.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// Returns the length of the cable.
    pub fn cable(&self) -> Length {
        self.cable
    }

    /// Returns the MTU of the port.
    pub fn mtu(&self) -> Bytes {
        self.mtu
    }

    /// Returns the number of serial lanes.
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// Returns the delay of the gearbox; zero without one.
    pub fn gearbox_delay(&self) -> Nanoseconds {
        self.gearbox_delay
    }

    pub(super) fn meters(&self) -> ExactFraction {
        exact(self.cable.millimeters(), 1_000_u16)
    }

    pub(super) fn mbps(&self) -> ExactFraction {
        exact(self.speed.mbps(), 1_u8)
    }
}

/// A link and its traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    link: Link,
    traffic: LosslessTraffic,
    shared_headroom: bool,
}

impl Request {
    /// Creates a request for headroom. `shared_headroom` states whether ports share a pool.
    pub fn new(link: Link, traffic: LosslessTraffic, shared_headroom: bool) -> Result<Self, HeadroomError> {
        let (min, max) = (Link::SMALLEST_MTU, Link::LARGEST_MTU);
        if traffic.mtu < min || traffic.mtu > max {
            return Err(HeadroomError::MtuOutOfRange { kind: "lossless MTU", mtu: traffic.mtu, min, max });
        }
        Ok(Self { link, traffic, shared_headroom })
    }

    /// Creates the request for a profile, with its packet sizes and its sharing of headroom.
    pub fn of(link: Link, profile: &Profile) -> Result<Self, HeadroomError> {
        Self::new(link, profile.lossless_traffic(), profile.shared_headroom().is_some())
    }

    /// Returns the link.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Returns the packet sizes of lossless classes.
    pub fn traffic(&self) -> LosslessTraffic {
        self.traffic
    }

    /// Returns whether ports share a headroom pool.
    pub fn shared_headroom(&self) -> bool {
        self.shared_headroom
    }

    /// Returns the request with a different cable length.
    pub fn with_cable(self, cable: Length) -> Result<Self, HeadroomError> {
        Ok(Self { link: self.link.with_cable(cable)?, ..self })
    }

    /// Returns the request with headroom from a shared pool.
    #[must_use]
    pub fn with_shared_headroom(self) -> Self {
        Self { shared_headroom: true, ..self }
    }
}
