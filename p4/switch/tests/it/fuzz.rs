//! Runs the fuzz targets of the switch on a few hundred inputs each, in a normal build.

#[path = "../../../../fuzz/entry/bmv2_json.rs"]
mod bmv2_json;
#[path = "../../../../fuzz/entry/inputs.rs"]
mod inputs;
#[path = "../../../../fuzz/entry/p4info.rs"]
mod p4info;
#[path = "../../../../fuzz/entry/packet.rs"]
mod packet;
#[path = "../../../../fuzz/entry/server.rs"]
mod server;

use closc_runtime::proto::v1;
use closc_runtime::{Info, entry, text};
use prost::Message as _;

use inputs::Inputs;

const PROGRAM: &[u8] = include_bytes!("../programs/features.json");
const P4INFO: &str = include_str!("../programs/features.p4info.txtpb");

#[test]
fn any_text_may_be_a_p4info() {
    let seeds = [P4INFO.as_bytes().to_vec()];
    for number in 0..800 {
        let input = Inputs::new(number).next(&seeds);
        p4info::run(&String::from_utf8_lossy(&input));
    }
}

#[test]
fn any_bytes_may_be_a_program() {
    // Without white space, because otherwise most mutations would only affect that.
    let value: serde_json::Value = serde_json::from_slice(PROGRAM).expect("p4c made it");
    let seeds = [serde_json::to_vec(&value).expect("a value has a form")];
    for number in 0..600 {
        bmv2_json::run(&Inputs::new(number).next(&seeds));
    }
}

#[test]
fn any_bytes_may_be_a_packet() {
    // Ethernet, IPv6 with a segment routing header, UDP; and Ethernet, IPv4.
    let srv6 =
        [&[0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 43, 64][..], &[0xfc; 32], &[17, 2, 4, 0], &[0; 28]].concat();
    let ipv4 = [&[8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0][..], &[10; 8], &[0; 8]].concat();
    let seeds = [srv6, ipv4].map(|rest| [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &rest].concat());
    for number in 0..2_000 {
        let mut inputs = Inputs::new(number);
        let (which, port) = (inputs.below(256) as u8, inputs.below(600) as u16);
        let wait = inputs.below(usize::MAX) as u64;
        packet::run((which, port, wait, &inputs.next(&seeds)));
    }
}

#[test]
fn any_bytes_may_be_requests() {
    let info = Info::new(text::read_p4info(P4INFO).expect("p4c made it")).expect("it is whole");
    let entities: Vec<v1::Entity> = entry::wildcards(&info);
    let updates = entities
        .iter()
        .cloned()
        .flat_map(|entity| (0..4).map(move |kind| v1::Update { r#type: kind, entity: Some(entity.clone()) }));
    let write = v1::WriteRequest { updates: updates.collect(), ..Default::default() }.encode_to_vec();
    let read = v1::ReadRequest { entities, ..Default::default() }.encode_to_vec();
    let packet = v1::PacketOut { payload: vec![2; 60].into(), ..Default::default() }.encode_to_vec();
    let request = |kind: u8, message: &[u8]| {
        let length = u16::try_from(message.len()).expect("short").to_be_bytes();
        [&[kind, length[0], length[1]][..], message].concat()
    };
    let seeds: Vec<Vec<u8>> = [0, 1]
        .map(|which| {
            [
                &[which][..],
                &request(0, &write),
                &request(1, &read),
                &request(3, &packet),
                &request(4, &[9; 60]),
            ]
            .concat()
        })
        .to_vec();
    for number in 0..400 {
        server::run(&Inputs::new(number).next(&seeds));
    }
}
