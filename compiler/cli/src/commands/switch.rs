//! `closc switch`: the embedded software switch as a process, with the arguments of `simple_switch_grpc`.
//!
//! The arguments begin with options such as `-i 1@veth1`, and contain a `--` whose meaning differs from closc's. This
//! command is therefore detected before the command line is parsed.

use closc_switch::switch_main;

use crate::output::{self, Outcome};

/// Returns the arguments after `closc switch`; `None` for another command.
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
