//! A progress bar on stderr, on a terminal and without `--quiet`.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};

/// Returns a progress bar; a hidden one with `quiet` or without a terminal.
pub fn bar(quiet: bool, steps: u64, what: &'static str) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:>12} [{bar:40}] {pos}/{len} {eta}")
        .expect("the template of the bar is fixed text")
        .progress_chars("=> ");
    ProgressBar::new(steps).with_style(style).with_message(what)
}
