//! The catalogue of switch hardware.
//!
//! In: one YAML file for each SKU, built into the program or added by a site. Out: [`Platform`]s by name, each with its
//! ports, buffers, limits and features. Invariants: every platform in the catalogue is complete and consistent, so
//! later stages need no further checks.

mod alias;
mod balance;
mod breakout;
mod builtin;
mod cages;
pub mod capability;
mod catalogue;
mod checks;
mod claim;
mod factory;
mod fault;
mod file;
mod hardware;
mod hwsku;
mod lower;
mod maker;
mod model;
mod nearest;
mod omission;
mod os;
mod port;
mod read;
mod release;
mod required_keys;
pub mod telemetry;
mod width;

pub use balance::{Balance, BalanceFact, Balancing};
pub use breakout::{BreakoutError, Share};
pub use cages::{CageError, CageSet};
pub use catalogue::Catalogue;
pub use checks::RULES;
pub use claim::{Claim, FeatureSupport, Provenance, SkuFeature};
pub use factory::{FactoryImpact, FactorySetting};
pub use fault::{Fault, Impact, OutputFacts};
pub use file::schema;
pub use hardware::Hardware;
pub use hwsku::SplitCages;
pub use maker::Maker;
pub use model::*;
pub use omission::{Omission, Omissions};
pub use os::{Os, Releases};
pub use release::Release;
pub use required_keys::{MissingKey, missing_keys};
pub use width::{EcmpWidth, GroupWidth};
