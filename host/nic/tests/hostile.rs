//! Whatever comes from a network or a socket: nothing panics, nothing grows, and what is not ours changes nothing.

mod common;

use closc_nic::agent::{Agent, At, Options};
use closc_nic::api;
use closc_nic::batch::Batch;
use closc_nic::region::Region;
use closc_nic::wire::{self, Identity, Message, Next, Sequence};
use closc_paths::Table;
use proptest::prelude::*;

use common::{Net, nic, table};

fn identity() -> Identity {
    Identity {
        block: 0xfcbb_bbbb,
        blocks: 1,
        pool: 0xfd00_c105_0001 << 80,
        pool_len: 48,
        udp_port: 49791,
        cookie: 0x0123_4567_89ab_cdef,
    }
}

fn agent(table: &Table<'_>) -> Agent {
    let options = Options { channels: Some(4), cookie: Some(identity().cookie), ..Options::default() };
    Agent::new(&At { table, now_ns: 1 }, options, Region::Pattern { wrong: 0 }, 5).unwrap()
}

/// A frame that is as good as ours up to what a test fills in.
fn frame(source: [u8; 16], sequence: Option<Sequence>, next: Next, payload: &[u8]) -> Vec<u8> {
    let own = identity();
    let mut room = vec![0; 80];
    let mut to = [0; 16];
    to[..6].copy_from_slice(&[0xfc, 0xbb, 0xbb, 0xbb, 0x80, 0x01]);
    let sequence = sequence.as_ref().map(|sequence| (sequence, own.tag()));
    let start = wire::write_outer(
        &mut room,
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd],
        (&source, &to),
        (0, 0),
        sequence,
        (next, payload.len()),
    );
    [&room[start..], payload].concat()
}

fn message(bytes: &[u8]) -> Vec<u8> {
    let own = identity();
    let mut out = vec![0; 8];
    wire::write_udp(&mut out, &own, 0, bytes.len() + 12);
    out.extend_from_slice(&[0xc1, 0x05, 1]);
    out.extend_from_slice(&bytes[..1]);
    out.extend_from_slice(&own.cookie.to_be_bytes());
    out.extend_from_slice(&bytes[1..]);
    let len = out.len() as u16;
    out[4..6].copy_from_slice(&len.to_be_bytes());
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn readers_take_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = wire::parse(&bytes, &identity());
        let _ = wire::read(&bytes, &identity());
    }

    /// Bytes that get past every check, so that what is behind is reached.
    #[test]
    fn an_agent_takes_any_message(
        kind in 0u8..9,
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..20),
        number in any::<u32>(),
        group in 0u16..3,
    ) {
        let raw = table(0);
        let opened = Table::open(&raw).unwrap();
        let mut agent = agent(&opened);
        let mut batch = Batch::new(9600);
        for (n, body) in bodies.iter().enumerate() {
            let bytes = message(&[&[kind], body.as_slice()].concat());
            let sequence = Sequence { epoch: n as u16 % 3, number: number.wrapping_add(n as u32 * 97), entropy: number };
            for sequence in [None, Some(sequence)] {
                let frame = frame(nic(group), sequence, Next::Udp, &bytes);
                let at = At { table: &opened, now_ns: 1 + n as u64 * 1_000_000 };
                agent.receive(&at, &frame, &mut batch, &mut |_| ());
                agent.tick(&at, &mut batch, &mut |_| ());
                batch.clear();
            }
        }
    }

    #[test]
    fn what_is_written_reads_back(
        id in any::<u32>(), epoch in any::<u16>(), entropy in any::<u32>(), plane in any::<u8>(), ports in any::<u32>(),
        base in any::<u32>(), word in any::<u64>(),
    ) {
        let own = identity();
        let probe = wire::PairProbe { id, epoch, entropy, plane: plane & 0x7f, twice: plane > 0x7f, ports, held_ns: base };
        let mut marks = [0; 16];
        marks[..3].fill(entropy);
        let sack = wire::Sack { epoch, base, bits: [word; wire::SACK_BITS / 64], ports, marks, n_marks: 3 };
        let turn = wire::SelfProbe { id, tier: 2, plane, uplink: epoch, t1_uplink: 9, epoch };
        let mut missing = [(0, 0); wire::RANGES_MAX];
        missing[0] = (3, 4);
        let status = wire::Status { write: word, complete: false, question: true, refused: word & 1 == 1, total: 900, missing, n_missing: 1 };
        for message in [
            Message::PairProbe(probe),
            Message::PairAnswer(probe),
            Message::Sack(sack),
            Message::SelfProbe(turn),
            Message::Status(status),
            Message::Cut(wire::Cut { epoch, number: id, entropy, at_last_hop: word & 1 == 1, ports }),
        ] {
            let mut out = [0; wire::MESSAGE_LEN_MAX];
            let len = wire::write(&mut out, &message, &own);
            prop_assert_eq!(wire::read(&out[..len], &own), Ok(message));
            prop_assert!(wire::read(&out[..len - 1], &own).is_err());
            // What agents before sent: nothing of how long a probe waited.
            if let Message::PairAnswer(answer) = message {
                let before = Message::PairAnswer(wire::PairProbe { held_ns: 0, ..answer });
                prop_assert_eq!(wire::read(&out[..len - 4], &own), Ok(before));
            }
        }
    }

    #[test]
    fn requests_take_any_line(line in "[ -~]{0,200}", fields in prop::collection::vec(("[a-z]{2,9}", any::<u64>()), 0..5)) {
        let raw = table(0);
        let opened = Table::open(&raw).unwrap();
        let mut agent = agent(&opened);
        let at = At { table: &opened, now_ns: 1 };
        api::answer(&mut agent, &at, line.as_bytes(), 0.0);
        for op in ["status", "paths", "findings", "events", "deny", "allow", "write", "metrics", "reload"] {
            let mut object = serde_json::json!({ "op": op, "to": "fd00:c105:1:2::1", "id": 3, "bytes": 1 });
            for (name, number) in &fields {
                object[name] = (*number).into();
            }
            api::answer(&mut agent, &at, object.to_string().as_bytes(), 0.0);
        }
    }
}

#[test]
fn packets_from_outside_or_with_a_wrong_cookie_are_counted_and_change_nothing() {
    let raw = table(0);
    let opened = Table::open(&raw).unwrap();
    let mut agent = agent(&opened);
    let mut batch = Batch::new(9600);
    let at = At { table: &opened, now_ns: 1 };
    let mut inner = vec![0x60, 0, 0, 0, 0, 0, 59, 64];
    inner.extend_from_slice(&nic(1));
    inner.extend_from_slice(&nic(0));
    let sequence = Some(Sequence { epoch: 1, number: 0, entropy: 0 });
    let good = frame(nic(1), sequence, Next::Ipv6, &inner);
    let (mut cookie, mut block, mut segment) = (good.clone(), good.clone(), good.clone());
    cookie[60] ^= 1;
    block[38] ^= 1;
    segment[43] ^= 1;
    let outside = frame([0x20; 16], sequence, Next::Ipv6, &inner);
    let mut got = 0;
    for frame in [&cookie, &block, &segment, &outside, &good[..60].to_vec()] {
        agent.receive(&at, frame, &mut batch, &mut |_| got += 1);
    }
    let status = agent.status(&at);
    assert_eq!((got, status.channels.len(), batch.ready().len()), (0, 0, 0));
    let counters = status.counters;
    assert_eq!((counters.wrong_cookie, counters.outside, counters.malformed), (1, 2, 1));
    let strays: Vec<u64> = status.planes.iter().map(|plane| plane.strays).collect();
    assert_eq!(strays, [1, 0, 0, 0], "the one for another NIC says in which plane it came");
    agent.receive(&at, &good, &mut batch, &mut |_| got += 1);
    assert_eq!(
        (got, agent.status(&at).channels.len()),
        (1, 1),
        "the good one shows that the others were nearly good"
    );
}

/// Every NIC of the pool sends, writes are begun and never ended: what is kept stays what there is room for.
#[test]
fn a_flood_does_not_grow_the_agent() {
    let bytes = [table(0), table(1)];
    let tables = [Table::open(&bytes[0]).unwrap(), Table::open(&bytes[1]).unwrap()];
    let mut net = Net::new([&tables[0], &tables[1]]);
    net.run(1_000_000);
    for n in 0..20_000u32 {
        let mut chunk = [0u8; 40 + 9];
        chunk[0] = 5;
        chunk[1..9].copy_from_slice(&u64::from(n).to_be_bytes());
        chunk[9..17].copy_from_slice(&100_000u64.to_be_bytes());
        let bytes = message(&chunk);
        let sequence = Sequence { epoch: (n % 5) as u16, number: n.wrapping_mul(77), entropy: n };
        let frame = frame(nic(1), Some(sequence), Next::Udp, &bytes);
        net.deliver(0, &frame);
    }
    assert!(net.agents[0].status(&net.at(0)).channels.len() <= 1);
    assert!(net.agents[0].events_after(0).count() <= 256);
}
