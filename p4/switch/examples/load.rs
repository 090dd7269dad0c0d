//! Loads BMv2 JSON files and says what is in them.
//!
//! Comes in: file names. Goes out: one line each, or the fault.

fn main() {
    for name in std::env::args().skip(1) {
        match std::fs::read(&name) {
            Ok(text) => match closc_switch::program::Program::from_json(&text) {
                Ok(program) => println!(
                    "{name}: {} headers in {} words, {} states, {} tables, {} actions",
                    program.headers.len(),
                    program.words,
                    program.parser.states.len(),
                    program.tables.len(),
                    program.actions.len(),
                ),
                Err(fault) => println!("{name}: {fault}"),
            },
            Err(fault) => println!("{name}: {fault}"),
        }
    }
}
