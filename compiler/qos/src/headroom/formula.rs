//! The formula of a model.
//!
//! In: a [`Model`] and a [`Request`]. Out: a [`Headroom`]. Invariants: every model has one formula, in its own file.

use super::error::HeadroomError;
use super::link::Request;
use super::model::Model;
use super::{Headroom, classic, ieee, slope, spectrum, tofino};
use crate::units::Bytes;

impl Model {
    /// Computes the headroom of one lossless group of one port. `cell` is the allocation unit of the platform. Only the
    /// generic model uses it; all others have their own.
    pub fn headroom(self, request: &Request, cell: Option<Bytes>) -> Result<Headroom, HeadroomError> {
        match self {
            Self::Ieee => ieee::headroom(request, cell),
            Self::Spectrum(asic) => Ok(spectrum::headroom(asic, request)),
            Self::Tofino2 => Ok(tofino::headroom(request)),
            Self::Classic(asic) => Ok(classic::headroom(asic, request)),
            Self::Chip(chip) => slope::headroom(chip, request),
        }
    }
}
