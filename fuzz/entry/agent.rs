//! Feeds arbitrary bytes to a host agent: as frames, as messages in valid frames, and as requests on its
//! socket.
//!
//! In: pieces. Each has one byte for its kind, one for the time that passes, two for its length, and then its
//! content. Out: none. Invariants: the agent does not panic, and does not open more channels than configured.

#[path = "../../host/nic/tests/it/common/mod.rs"]
mod common;

use closc_nic::agent::{Agent, AgentContext, Options};
use closc_nic::api;
use closc_nic::batch::Batch;
use closc_nic::region::Region;
use closc_nic::wire::{self, Identity, NextHeader, Sequence};
use closc_paths::Table;

use common::{nic, table};

/// Maximum number of channels of the agent.
const CHANNELS: usize = 4;

fn identity() -> Identity {
    Identity {
        block: 0xfcbb_bbbb,
        blocks: 1,
        pool: 0xfd00_c105_0001 << 80,
        pool_len: 48,
        udp_port: 49791,
        // Without a secret, the cookie of a fabric is derived from its addresses.
        cookie: (0xfd00_c105_0001_u64 << 16) ^ 0xfcbb_bbbb_u64.rotate_left(17) ^ 0x9e37_79b9_7f4a_7c15,
    }
}

/// Returns a valid frame with a message of any kind.
fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    let own = identity();
    let mut message = vec![0; 8];
    wire::write_udp(&mut message, &own, 0, body.len() + 12);
    message.extend_from_slice(&[0xc1, 0x05, 1, kind % 9]);
    message.extend_from_slice(&own.cookie.to_be_bytes());
    message.extend_from_slice(body);
    let len = message.len() as u16;
    message[4..6].copy_from_slice(&len.to_be_bytes());
    let number = body.first_chunk().map_or(0, |bytes: &[u8; 4]| u32::from_be_bytes(*bytes));
    let sequence = Sequence { epoch: u16::from(kind) % 3, number, entropy: number };
    let sequence = (kind >= 128).then_some((&sequence, own.tag()));
    let mut to = [0; 16];
    to[..6].copy_from_slice(&[0xfc, 0xbb, 0xbb, 0xbb, 0x80, 0x01]);
    let mut room = vec![0; 80];
    let ethernet = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd];
    let addresses = (&nic(u16::from(kind) % 3), &to);
    let start = wire::write_outer(
        &mut room,
        &ethernet,
        addresses,
        (0, 0),
        sequence,
        (NextHeader::Udp, message.len()),
    );
    [&room[start..], &message].concat()
}

/// Takes up to `count` bytes from the front.
fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(count.min(bytes.len()));
    *bytes = rest;
    taken
}

/// Runs one input.
pub(crate) fn run(input: &[u8]) {
    let raw = table(0);
    let table = Table::open(&raw).expect("it was written here");
    let options = Options { channels: Some(CHANNELS), ..Options::default() };
    let begin = AgentContext { table: &table, now_ns: 1 };
    let mut agent = Agent::new(&begin, options, Region::Pattern { wrong: 0 }, 5).expect("the table is good");
    let mut batch = Batch::new(9600);
    let (mut input, mut now_ns) = (input, 1);
    while let [kind, passes, high, low] = *take(&mut input, 4) {
        let piece = take(&mut input, usize::from(u16::from_be_bytes([high, low])));
        now_ns += u64::from(passes) * 1_000_000;
        let at = AgentContext { table: &table, now_ns };
        match kind % 3 {
            0 => agent.receive(&at, piece, &mut batch, &mut |_| ()),
            1 => agent.receive(&at, &framed(kind, piece), &mut batch, &mut |_| ()),
            _ => drop(api::answer(&mut agent, &at, piece, now_ns as f64 / 1e9)),
        }
        agent.tick(&at, &mut batch, &mut |_| ());
        batch.clear();
        assert!(agent.status(&at).channels.len() <= CHANNELS);
    }
    assert!(agent.events_after(0).count() <= 1024);
}
