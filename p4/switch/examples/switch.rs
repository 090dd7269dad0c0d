//! The switch as a separate command, for scripts that call `simple_switch_grpc`.

use std::process::ExitCode;

use closc_switch::{Addresses, switch_main};

fn main() -> ExitCode {
    let started = |at: &Addresses| {
        eprintln!("P4Runtime at {}", at.p4runtime);
        for note in &at.notes {
            eprintln!("warning: {note}");
        }
    };
    match switch_main(std::env::args().skip(1), started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
