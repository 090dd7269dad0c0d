//! Advice for a need with limits that no design meets.
//!
//! In: a need. Out: options, each of which permits a design. Invariants: each option has been tried, and the file of
//! a design with it passed the checks.

use closc_compile::front::Options;
use closc_design::{Design, Floor, Requirements, Sieve, Verdict};
use closc_diagnostics::Levels;
use closc_platform::Catalogue;

use super::SearchInput;
use super::checks::Checks;
use crate::args::Args;

/// Maximum number of files that are checked to try an option.
const TRIED: usize = 24;

/// A search that stops at the first design that passes the checks.
struct FirstPassing<'c, 'n> {
    checks: &'c mut Checks<'n>,
    tried: usize,
    has_passed: bool,
}

impl FirstPassing<'_, '_> {
    fn is_decided(&self) -> bool {
        self.has_passed || self.tried >= TRIED
    }
}

impl<'a> Sieve<'a> for FirstPassing<'_, '_> {
    fn omits(&self, _: &Floor<'a>, _: u8) -> bool {
        self.is_decided()
    }

    fn add_design(&mut self, design: Design<'a>) {
        if !self.is_decided() {
            self.tried += 1;
            self.has_passed = self.checks.pass(&design).is_ok_and(|verdict| verdict != Verdict::Refused);
        }
    }
}

/// Returns the options that each permit a design.
pub(super) fn advice(args: &Args, asked: &SearchInput<'_>) -> Vec<String> {
    closc_design::advice(asked.need, |need| permits(args, need, asked.catalogue))
}

/// Returns whether a design for a need passes the checks. Different switches are tried first.
fn permits(args: &Args, need: &Requirements, catalogue: &Catalogue) -> bool {
    let options = Options { platforms: args.platforms.clone(), levels: Levels::default() };
    let mut checks = Checks::new(need, &[], options);
    let mut first = FirstPassing { checks: &mut checks, tried: 0, has_passed: false };
    // An error means that no design exists.
    let _outside = closc_design::sample(need, catalogue, 1, &mut first);
    if !first.has_passed {
        first.tried = 0;
        let _outside = closc_design::space(need, catalogue, &mut first);
    }
    first.has_passed
}
