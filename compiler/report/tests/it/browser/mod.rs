//! The page in a browser.

mod page;
mod same;
mod sheet;
