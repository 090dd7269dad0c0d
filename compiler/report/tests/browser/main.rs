//! The page in a browser.

mod driver;
mod page;
mod same;
