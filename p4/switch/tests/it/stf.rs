//! STF packet tests: those of this project's pipelines, and those in a folder of samples.
//!
//! `CLOSC_P4_SAMPLES` names a folder with one folder for each sample, in it `NAME.json` and `NAME.stf`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use closc_switch::{CheckedPorts, Engine, EngineConfig, Program, Script};

fn list_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Runs scripts against a program; returns the failures.
fn check(program: &Path, scripts: &[PathBuf], priority_queues: usize, watched: CheckedPorts) -> Vec<String> {
    let name = |path: &Path, problem: String| format!("{}: {problem}", path.display());
    let loaded = std::fs::read(program).map_err(|error| error.to_string());
    let loaded = loaded.and_then(|text| Program::from_json(&text).map_err(|error| error.to_string()));
    let loaded = match loaded {
        Ok(loaded) => Arc::new(loaded),
        Err(problem) => return vec![name(program, problem)],
    };
    let one = |script: &PathBuf| {
        let text = std::fs::read_to_string(script).map_err(|error| error.to_string())?;
        let script = Script::parse(&text).map_err(|fault| fault.to_string())?;
        let config = EngineConfig { priority_queues, ..EngineConfig::default() };
        script.run(&mut Engine::new(Arc::clone(&loaded), config), watched).map_err(|fault| fault.to_string())
    };
    scripts.iter().filter_map(|script| one(script).err().map(|problem| name(script, problem))).collect()
}

#[test]
fn pipelines_of_this_project() {
    let pipelines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines");
    let (mut scripts, mut faults) = (0, Vec::new());
    for pipeline in list_files(&pipelines) {
        let found: Vec<PathBuf> =
            list_files(&pipeline.join("stf")).into_iter().filter(|path| has_extension(path, "stf")).collect();
        scripts += found.len();
        for program in list_files(&pipeline).iter().filter(|path| has_extension(path, "json")) {
            faults.extend(check(program, &found, 8, CheckedPorts::All));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(scripts > 0, "no script in {}", pipelines.display());
}

/// Samples of p4c that pass only because its own runner ignores counters, each with the reason why BMv2
/// counts differently.
const OTHERWISE: [(&str, &str); 1] =
    [("counter3", "its bytes are those of a target that counts the frame check sequence, 4 a packet")];

#[test]
fn samples_of_others() {
    let Some(folder) = std::env::var_os("CLOSC_P4_SAMPLES") else {
        closc_skip::skip("CLOSC_P4_SAMPLES is not set; expected a folder of samples");
        return;
    };
    let (mut samples, mut otherwise, mut faults) = (0, 0, Vec::new());
    for sample in list_files(Path::new(&folder)) {
        let Some(name) = sample.file_name().and_then(|name| name.to_str()) else { continue };
        let (program, script) = (sample.join(format!("{name}.json")), sample.join(format!("{name}.stf")));
        if program.exists() && script.exists() {
            samples += 1;
            let found = check(&program, &[script], 1, CheckedPorts::Named);
            match OTHERWISE.iter().find(|(known, _)| name.ends_with(known)) {
                Some((_, why)) if !found.is_empty() => {
                    println!("{}: {why}", found.join("\n"));
                    otherwise += 1;
                }
                Some(_) | None => faults.extend(found),
            }
        }
    }
    println!(
        "{} of {samples} samples pass; {otherwise} count what BMv2 does not",
        samples - otherwise - faults.len()
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Runs a script against the fabric pipeline, as one T1 whose packets leave through port 4.
fn run_on_fabric(more: &str, watched: CheckedPorts) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines/fabric");
    let program = std::fs::read(folder.join("fabric.bmv2.json")).expect("it is in the repository");
    let program = Arc::new(Program::from_json(&program).expect("p4c made it"));
    let script = std::fs::read_to_string(folder.join("stf/un-t1.stf")).expect("it is in the repository");
    let kept = |line: &&str| !line.starts_with("expect") && !line.starts_with("check_counter");
    let script: Vec<&str> = script.lines().filter(kept).collect();
    let script =
        Script::parse(&format!("{}\n{more}", script.join("\n"))).map_err(|fault| fault.to_string())?;
    let config = EngineConfig { priority_queues: 8, ..EngineConfig::default() };
    script.run(&mut Engine::new(program, config), watched).map_err(|fault| fault.to_string())
}

#[test]
fn ports_that_no_line_names_are_judged_only_where_that_is_asked_for() {
    assert_eq!(run_on_fabric("", CheckedPorts::Named), Ok(()));
    let fault = run_on_fabric("", CheckedPorts::All).expect_err("port 4 sends");
    assert!(fault.contains("port 4 sent an unexpected packet"), "{fault}");
    let fault = run_on_fabric("no_packet", CheckedPorts::Named).expect_err("port 4 sends");
    assert!(fault.contains("port 4 sent an unexpected packet"), "{fault}");
    // A port that receives packets counts as named, too.
    assert!(run_on_fabric("packet 4 00", CheckedPorts::Named).is_err());
}

#[test]
fn an_expectation_without_digits_is_of_one_packet() {
    assert_eq!(run_on_fabric("expect 4", CheckedPorts::Named), Ok(()));
    assert_eq!(run_on_fabric("expect 4 02****00", CheckedPorts::Named), Ok(()));
    let fault = run_on_fabric("expect 4\nexpect 4", CheckedPorts::Named).expect_err("it sends one");
    assert!(fault.contains("port 4 sent 1 packets, 2 are expected"), "{fault}");
    assert!(run_on_fabric("expect 5", CheckedPorts::Named).is_err());
}

#[test]
fn direct_counters_are_found_by_their_own_name_and_by_that_of_their_table() {
    for counter in
        ["ingress.my_sid_counter($own)", "my_sid_counter(own)", "\"ingress.my_sid\"($own)", "my_sid($own)"]
    {
        assert_eq!(
            run_on_fabric(&format!("check_counter {counter} packets == 1"), CheckedPorts::Named),
            Ok(()),
            "{counter}"
        );
        let fault = run_on_fabric(&format!("check_counter {counter}"), CheckedPorts::Named)
            .expect_err("it is 1, not 0");
        assert!(fault.contains("is 1, not == 0"), "{fault}");
    }
    let fault = run_on_fabric("check_counter my_sid($other) packets == 1", CheckedPorts::Named)
        .expect_err("no such entry");
    assert!(fault.contains("no entry has this name"), "{fault}");
}

#[test]
fn commands_of_the_control_plane_change_what_they_name() {
    let program = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/features.json"));
    let program = Arc::new(Program::from_json(&program.expect("the fixture is there")).expect("p4c made it"));
    let run = |text: &str| {
        let script = Script::parse(text).expect("all lines are statements");
        script.run(&mut Engine::new(program.clone(), EngineConfig::default()), CheckedPorts::All)
    };
    let good = "counter_write ports 3 7 900\ncheck_counter ports(3) packets == 7\ncheck_counter ports(3) bytes == 900\n\
                register_write last_seen 1 0xff\nregister_read last_seen 1\nregister_reset last_seen\n\
                meter_set_rates port_meter 2 0.000005:4 0.00002:5\nmeter_array_set_rates port_meter 0.5:1 1:2\n\
                meter_get_rates port_meter 15\nmirroring_add 5 3\nmirroring_get 5\n\
                mc_mgrp_create 1\nmc_node_create 7 1 2\nmc_node_associate 1 0\nmc_node_update 0 3\n\
                add exact_dst dst:0x0000000000aa broadcast(group:1)\n\
                packet 1 0000000000aa 000000000000 0000\nexpect 3 0000000000aa\n";
    assert_eq!(run(good), Ok(()));
    for bad in [
        "counter_write ports 16 1 1",
        "register_read last_seen 8",
        "register_write last_seen 8 1",
        "meter_get_rates port_meter 16",
        "meter_set_rates port_meter 1 -1:2 1:2",
        "meter_set_rates port_meter 1 1:2",
        "meter_get_rates rate 0",
        "mirroring_get 5",
        "mc_node_update 0 3",
        "meter_of",
    ] {
        assert!(run(bad).is_err(), "{bad}");
    }
}
