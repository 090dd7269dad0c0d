//! SONiC's own YANG models: `CLOSC_SONIC_YANG` is a command that takes files and fails if they are not valid.

use std::process::Command;
use std::{env, fs};

use crate::common::sonic;

#[test]
fn the_models_accept_every_configuration() {
    let Ok(command) = env::var("CLOSC_SONIC_YANG") else {
        closc_skip::skip("set CLOSC_SONIC_YANG to a command that validates config_db.json files");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (name, bytes) in sonic() {
        let path = folder.path().join(name).join("config_db.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        files.push(path);
    }
    let mut words = command.split_whitespace();
    let program = words.next().expect("CLOSC_SONIC_YANG names a program");
    let output =
        Command::new(program).args(words).args(&files).output().expect("CLOSC_SONIC_YANG can be run");
    let said = String::from_utf8_lossy(&output.stdout);
    let refused: Vec<&str> = said.lines().filter(|line| !line.starts_with("OK")).collect();
    assert!(output.status.success(), "{}\n{}", refused.join("\n"), String::from_utf8_lossy(&output.stderr));
}
