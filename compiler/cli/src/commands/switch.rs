//! `closc switch`: the embedded software switch as a process, with the arguments of `simple_switch_grpc`.
//!
//! Its arguments are not ours to parse: they begin with `-i 1@veth1` and have a `--` in their midst that means
//! something else than it does here. So this command is taken from the command line before anything else is.

use closc_switch::switch_main;

use crate::output::{self, Outcome};

/// Returns what follows `closc switch`, where that is what was written.
pub fn arguments() -> Option<Vec<String>> {
    let mut words = std::env::args().skip(1);
    (words.next()? == "switch").then(|| words.collect())
}

/// Runs a switch until a signal ends it.
pub fn run(arguments: Vec<String>) -> anyhow::Result<Outcome> {
    switch_main(arguments, |at| {
        output::say(format_args!("P4Runtime is served at {}", at.p4runtime));
        if let Some(packets) = at.packets {
            output::say(format_args!("packets are exchanged at {packets}"));
        }
        for note in &at.notes {
            output::say(format_args!("warning: {note}"));
        }
    })?;
    Ok(Outcome::Fine)
}
