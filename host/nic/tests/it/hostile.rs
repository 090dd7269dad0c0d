//! Arbitrary input from a network or a socket. It must cause no panic and no growth of memory, and input of other
//! fabrics must change no state.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use closc_nic::agent::{Agent, AgentContext, Options};
use closc_nic::api;
use closc_nic::batch::Batch;
use closc_nic::region::Region;
use closc_nic::wire::{self, Message, NextHeader, Sequence};
use closc_paths::Table;
use proptest::prelude::*;

use crate::nic_common as common;
use crate::nic_common::{Net, frame, identity, nic, table};

fn agent(table: &Table<'_>) -> Agent {
    let options = Options { channels: Some(4), ..Options::default() };
    Agent::new(&AgentContext { table, now_ns: 1 }, options, Region::Pattern { wrong: 0 }, 5).unwrap()
}

fn message(bytes: &[u8]) -> Vec<u8> {
    let own = identity();
    let mut out = vec![0; 8];
    wire::write_udp(&mut out, &own, 0, bytes.len() + 16);
    out.extend_from_slice(&[0xc1, 0x05, 2]);
    out.extend_from_slice(&bytes[..1]);
    out.extend_from_slice(&own.cookie.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
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

    /// Bytes that pass every check, so that the code behind the checks is reached.
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
                let frame = frame(nic(group), sequence, NextHeader::Udp, &bytes);
                let at = AgentContext { table: &opened, now_ns: 1 + n as u64 * 1_000_000 };
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
        let probe = wire::PairProbe { id, epoch, entropy, plane: plane & 0x7f, twice: plane > 0x7f, ports, hold_ns: base };
        let mut marks = [0; 16];
        marks[..3].fill(entropy);
        let bits = [word; wire::SACK_BITS / 64];
        let sack = wire::Sack { epoch, base, bits, ports, marks, n_marks: 3, kbps: id };
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
            Message::Cut(wire::TrimReport { epoch, number: id, entropy, at_last_hop: word & 1 == 1, ports }),
        ] {
            let mut out = [0; wire::MESSAGE_LEN_MAX];
            let len = wire::write(&mut out, &message, &own);
            prop_assert_eq!(wire::read(&out[..len], &own), Ok(message));
            prop_assert!(wire::read(&out[..len - 1], &own).is_err());
            // The format of older agents: without the waiting time of a probe.
            if let Message::PairAnswer(answer) = message {
                let before = Message::PairAnswer(wire::PairProbe { hold_ns: 0, ..answer });
                prop_assert_eq!(wire::read(&out[..len - 4], &own), Ok(before));
            }
        }
    }

    #[test]
    fn requests_take_any_line(line in "[ -~]{0,200}", fields in prop::collection::vec(("[a-z]{2,9}", any::<u64>()), 0..5)) {
        let raw = table(0);
        let opened = Table::open(&raw).unwrap();
        let mut agent = agent(&opened);
        let at = AgentContext { table: &opened, now_ns: 1 };
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
    let at = AgentContext { table: &opened, now_ns: 1 };
    let mut inner = vec![0x60, 0, 0, 0, 0, 0, 59, 64];
    inner.extend_from_slice(&nic(1));
    inner.extend_from_slice(&nic(0));
    let sequence = Some(Sequence { epoch: 1, number: 0, entropy: 0 });
    let good = frame(nic(1), sequence, NextHeader::Ipv6, &inner);
    let (mut cookie, mut block, mut segment) = (good.clone(), good.clone(), good.clone());
    cookie[60] ^= 1;
    block[38] ^= 1;
    segment[43] ^= 1;
    let outside = frame([0x20; 16], sequence, NextHeader::Ipv6, &inner);
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

/// All NICs of the pool send, and begin writes that they never finish. Memory must stay within its limit.
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
        let frame = frame(nic(1), Some(sequence), NextHeader::Udp, &bytes);
        net.deliver(0, &frame);
    }
    assert!(net.agents[0].status(&net.at(0)).channels.len() <= 1);
    assert!(net.agents[0].events_after(0).count() <= 256);
}

/// Runs a test of this program in a child process with limited memory. Returns whether this is the child.
fn is_in_process_with(mib: u64, test: &str) -> bool {
    const MARK: &str = "CLOSC_NIC_LIMITED";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let own = std::env::current_exe().unwrap();
    let limited = format!("ulimit -v {} && exec \"$0\" --exact {test} --nocapture", mib << 10);
    let done = std::process::Command::new("sh")
        .args(["-c", &limited])
        .arg(own)
        .env(MARK, "1")
        // One arena per thread would use address space, but no memory.
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    false
}

fn chunk_of(source: [u8; 16], write: u64, piece: u64, number: u32) -> Vec<u8> {
    let mut chunk = vec![5];
    for field in [write, 1 << 20, 0, piece] {
        chunk.extend_from_slice(&field.to_be_bytes());
    }
    chunk.extend_from_slice(&1u32.to_be_bytes());
    chunk.push(0);
    let sequence = Sequence { epoch: 1, number, entropy: number };
    frame(source, Some(sequence), NextHeader::Udp, &message(&chunk))
}

/// A host that forges all NICs of its group begins writes of a million pieces from each. Formerly one packet allocated
/// a bitmap of 128 KiB: 500 MiB for 12,000 packets.
#[test]
fn writes_that_are_begun_take_no_memory_for_what_they_announce() {
    const PEERS: u128 = 250;
    if !is_in_process_with(192, "hostile::writes_that_are_begun_take_no_memory_for_what_they_announce") {
        return;
    }
    let bytes = common::crowded(PEERS as u16);
    let table = Table::open(&bytes).unwrap();
    let at = AgentContext { table: &table, now_ns: 1 };
    let mut agent = Agent::new(&at, Options::default(), Region::Pattern { wrong: 0 }, 5).unwrap();
    let mut batch = Batch::new(9600);
    for peer in 1..PEERS {
        let source = (u128::from_be_bytes(nic(0)) + peer).to_be_bytes();
        for number in 0..48u32 {
            let (write, page) = (u64::from(number % 16) + 1, u64::from(number / 16));
            let frame = chunk_of(source, write, page << 15, number);
            agent.receive(&at, &frame, &mut batch, &mut |_| ());
            batch.clear();
        }
    }
    assert!(agent.counters().written_bytes > 10_000, "{:?}", agent.counters());
    // A NIC can have only as many gaps as its share of memory permits. Its writes continue when gaps are filled.
    let source = (u128::from_be_bytes(nic(0)) + 1).to_be_bytes();
    for number in 0..1_500u32 {
        agent.receive(
            &at,
            &chunk_of(source, 99, u64::from(number) * 2, 100 + number),
            &mut batch,
            &mut |_| (),
        );
        batch.clear();
    }
    let refused = agent.counters().refused_writes;
    assert!(refused > 300, "{refused} pieces refused");
    agent.receive(&at, &chunk_of(source, 99, 1, 5_000), &mut batch, &mut |_| ());
    assert_eq!(agent.counters().refused_writes, refused);
}

/// Pipelined requests to the port for Prometheus whose answers are not read. Formerly all answers were kept in memory:
/// 797 MiB for 4.6 MB of requests.
#[test]
fn pipelined_scrapes_that_read_nothing_take_no_memory() {
    if !is_in_process_with(256, "hostile::pipelined_scrapes_that_read_nothing_take_no_memory") {
        return;
    }
    let port = closc_nic::io::scrape::Port::open("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = port.address().unwrap();
    let mut scrapes = port.serve().unwrap();
    let page = "closc_nic_x 1\n".repeat(40_000);
    let mut clients: Vec<TcpStream> = Vec::new();
    let requests = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500);
    let mut sent = 0;
    for _ in 0..400 {
        let client = TcpStream::connect(address).unwrap();
        client.set_nonblocking(true).unwrap();
        clients.push(client);
        for client in &mut clients {
            sent += client.write(&requests).unwrap_or(0);
        }
        scrapes.answer(|| page.clone());
    }
    assert!(sent > 4 << 20, "{sent} bytes");
    drop(clients);
    // A later scraper is answered.
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let read = std::thread::spawn(move || {
        let mut text = String::new();
        client.read_to_string(&mut text).map(|_| text)
    });
    while !read.is_finished() {
        scrapes.answer(|| page.clone());
        std::thread::yield_now();
    }
    assert!(read.join().unwrap().unwrap().ends_with(&page[..140]));
}

/// With a secret, a host of the fabric can read the cookies of messages sent to it, but cannot forge messages from
/// other NICs.
#[test]
fn a_cookie_of_one_pair_is_refused_from_another() {
    let bytes = [table(0), table(1)];
    let tables = [Table::open(&bytes[0]).unwrap(), Table::open(&bytes[1]).unwrap()];
    let options = Options { secret: Some([7; 32]), process_secret: [9; 32], ..Options::default() };
    let mut net = Net::with([&tables[0], &tables[1]], options);
    net.say(0, b"word");
    net.run(300_000_000);
    let status = net.agents[0].status(&net.at(0));
    assert_eq!((net.got[1].len(), status.counters.wrong_cookie), (1, 0), "agents with one secret talk");
    assert!(status.counters.probe_answers > 0, "{:?}", status.counters);
    // The cookie derived from addresses is rejected.
    let forged = chunk_of(nic(1), 3, 0, 9);
    let mut tagged = forged.clone();
    tagged[60..62].copy_from_slice(&net.agents[0].identity().tag().to_be_bytes());
    wire::seal(&mut tagged);
    for frame in [forged, tagged] {
        let before = net.agents[0].counters().wrong_cookie;
        net.deliver(0, &frame);
        assert_eq!(net.agents[0].counters().wrong_cookie, before + 1);
    }
}
