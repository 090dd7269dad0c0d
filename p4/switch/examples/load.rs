//! Loads BMv2 JSON files, with their P4Infos if there are any, and prints a summary.
//!
//! In: file names. Out: one line per file, or the error.

use std::fmt::Write as _;

use closc_runtime::text::read_p4info;
use closc_switch::{Pipeline, Program};

fn main() {
    for name in std::env::args().skip(1) {
        match load(&name) {
            Ok(found) => println!("{name}: {found}"),
            Err(fault) => println!("{name}: fault: {fault}"),
        }
    }
}

fn load(name: &str) -> Result<String, Box<dyn std::error::Error>> {
    let text = std::fs::read(name)?;
    let program = Program::from_json(&text)?;
    let mut found = program.to_string();
    let base = name.trim_end_matches(".json").trim_end_matches(".bmv2");
    if let Ok(info) = std::fs::read_to_string(format!("{base}.p4info.txtpb")) {
        let pipeline = Pipeline::new(read_p4info(&info)?, text.into())?;
        write!(found, ", bound to {} tables of the P4Info", pipeline.info().tables().len())?;
    }
    Ok(found)
}
