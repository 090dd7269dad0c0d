//! Runs STF packet tests.
//!
//! In: pairs of a BMv2 JSON file and an STF script. Out: one line per script; exit code 1 if one fails.

use std::sync::Arc;

use closc_switch::{CheckedPorts, Engine, EngineConfig, Program, Script};

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut failed = 0;
    for pair in names.chunks(2) {
        let [json, stf] = pair else { continue };
        match check(json, stf) {
            Ok(()) => println!("{stf}: ok"),
            Err(fault) => {
                failed += 1;
                println!("{stf}: {fault}");
            }
        }
    }
    println!("{} scripts, {failed} failed", names.len() / 2);
    std::process::exit(i32::from(failed > 0));
}

fn check(json: &str, stf: &str) -> Result<(), Box<dyn std::error::Error>> {
    let program = Program::from_json(&std::fs::read(json)?)?;
    let script = Script::parse(&std::fs::read_to_string(stf)?)?;
    script.run(&mut Engine::new(Arc::new(program), EngineConfig::default()), CheckedPorts::Named)?;
    Ok(())
}
