//! The catalogue of switch hardware.
