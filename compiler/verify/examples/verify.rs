//! Verifies a compiled tree: `cargo run --release --example verify -- DIR`.

use std::process::ExitCode;

use closc_verify::{Folder, Options, verify};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: verify DIR [PATHS]: also walk every path of fabrics of up to PATHS paths");
        return ExitCode::FAILURE;
    };
    let mut options = Options::default();
    if let Some(walk) = arguments.next() {
        match walk.parse() {
            Ok(paths) => options.walk_up_to = paths,
            Err(error) => {
                eprintln!("`{walk}` is no number of paths: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    match verify(&Folder::new(folder), &options) {
        Ok(report) => {
            print!("{}", report.text());
            if report.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
