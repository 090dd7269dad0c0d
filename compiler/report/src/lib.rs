//! A fabric as one page for a browser.
//!
//! In: a plan, and optionally a difference. Out: an HTML file that loads nothing, with drawings, devices,
//! search, paths between two NICs, failures and the difference. Other outputs are drawings of parts as SVG
//! and DOT, Markdown, designs side by side, and the order of a fabric.
//!
//! Invariants: the page contains parameters, name patterns and exceptions instead of a list of devices. Only
//! single pins, at most 50,000, and listed management addresses make it grow with the fabric. Tests compare
//! the results of its script with the plan. Names from input are escaped.

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
pub use order::{MissingPosition, Order};
pub use page::page;
pub use sheet::{Plot, Remarks, Sheet, SheetDesign, sheet};
