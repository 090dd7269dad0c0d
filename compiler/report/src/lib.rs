//! A fabric as one page for a browser.
//!
//! In: a plan, and what changed. Out: an HTML file that loads nothing: drawing, devices, search, paths between two NICs,
//! failures, a difference; drawings of parts as SVG and DOT; designs side by side; the order of a fabric. Invariants:
//! the page carries parameters, name patterns and exceptions, never a list of devices, so its size does not grow with the
//! fabric; what its script computes is compared with the plan by tests; names of others are text in it, never code.

mod difference;
mod drawing;
mod markdown;
mod model;
mod order;
mod page;
mod sheet;
mod text;

pub use difference::difference;
pub use drawing::{Form, Subject, draw};
pub use markdown::markdown;
pub use order::Order;
pub use page::page;
pub use sheet::{Plot, Sheet, SheetDesign, sheet};
