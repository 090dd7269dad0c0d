//! A fabric as one page for a browser.
//!
//! In: a plan. Out: an HTML file that loads nothing: drawing, devices, search, paths between two NICs, failures. Invariants:
//! the page carries parameters, name patterns and exceptions, never a list of devices, so its size does not grow with the
//! fabric; what its script computes is compared with the plan by tests; names of others are text in it, never code.

mod model;
mod page;

pub use page::page;
