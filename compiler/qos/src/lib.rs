//! QoS profiles, PFC headroom and ECN thresholds.
//!
//! In: numbers with units (speed, length, bytes, time), a QoS profile and the constants of a switch ASIC. Out: the
//! settings of switch and host, with all terms of the calculation. Invariants: the crate does no I/O, uses no other
//! crate of the workspace, and computes with integers of 64 or 128 bits. The same input always gives the same output.
//!
//! ```
//! use closc_qos::headroom::{Link, Model, Request};
//! use closc_qos::profile::Preset;
//!
//! let profile = Preset::Lossless.profile();
//! let link = Link::new("400G".parse()?, "300m".parse()?, "9100".parse()?, 4)?;
//! let model: Model = "nvidia-spectrum-4".parse()?;
//! let headroom = model.headroom(&Request::of(link, &profile)?, None)?;
//! assert_eq!(headroom.xoff.0, 281_600);
//! print!("{}", headroom.terms); // one line a term: name, value, unit, formula, source
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod asic;
pub mod bdp;
pub mod buffer;
pub mod codes;
pub mod ecn;
mod error;
pub mod explain;
pub mod headroom;
pub mod host;
mod place;
pub mod profile;
pub mod units;

pub use error::QosError;
pub use place::Place;
pub use units::{Bytes, Length, Nanoseconds, Speed, UnitError};
