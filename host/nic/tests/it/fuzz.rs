//! A short, deterministic run of the fuzz target: see `fuzz/`.

#[path = "../../../../fuzz/entry/agent.rs"]
mod agent;
#[path = "../../../../fuzz/entry/inputs.rs"]
mod inputs;

use inputs::Inputs;

#[test]
fn any_bytes_may_come_from_the_network_or_the_socket() {
    let piece = |kind: u8, bytes: &[u8]| {
        let length = (bytes.len() as u16).to_be_bytes();
        [&[kind, 3][..], &length, bytes].concat()
    };
    let deny = br#"{"op":"deny","ban":{"plane":3,"uplinks":[1,2],"reason":"drain"}}"#;
    let write = br#"{"op":"write","to":"fd00:c105:1:2::1","bytes":9000,"local":0,"target":0}"#;
    let seeds = [
        [piece(2, deny), piece(2, br#"{"op":"status"}"#), piece(2, write)].concat(),
        [piece(1, &[1; 40]), piece(4, &[2; 24]), piece(7, &[3; 60]), piece(130, &[0; 49])].concat(),
        [piece(0, &[0x60; 80]), piece(2, br#"{"op":"paths","to":"fd00:c105:1:2::1"}"#)].concat(),
    ];
    for seed in &seeds {
        agent::run(seed);
    }
    for number in 0..400 {
        agent::run(&Inputs::new(number).next(&seeds));
    }
}
