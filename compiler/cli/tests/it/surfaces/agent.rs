//! Packets for an agent, read by the library. An agent whose group has 250 NICs receives the frames of one
//! input.

use closc_nic::agent::{Agent, AgentContext, Options};
use closc_nic::batch::Batch;
use closc_nic::region::Region;
use closc_nic::wire::{self, Message, NextHeader, Sequence};
use closc_paths::Table;

use crate::common::Place;
use crate::surfaces::kinds::Numbers;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, make_input};

#[path = "../../../../../host/nic/tests/it/common/mod.rs"]
mod net;

pub(crate) static SURFACE: Surface = Surface {
    name: "agent packets",
    kinds: KINDS.len(),
    make: |number, size| make_input(KINDS, number, size),
    open: || Some(Box::new(Library(Place::new()))),
};

/// Number of NICs in the group.
const PEERS: u16 = 250;

const KINDS: &[Kind] = &[
    ("writes of a terabyte", |n, size| {
        frames(n, size, |n| {
            let chunk = wire::Chunk {
                write: n.next(),
                total: 1 << 40,
                target: n.next(),
                offset: n.up_to(1 << 20) << 12,
                unit: 4096,
                data: &[7; 16],
            };
            random_frame(n, &Message::Chunk(chunk))
        })
    }),
    ("writes of pieces of a byte", |n, size| {
        frames(n, size, |n| {
            let chunk = wire::Chunk {
                write: n.up_to(15),
                total: 1 << 20,
                target: 0,
                offset: n.up_to(1 << 20),
                unit: 1,
                data: &[7],
            };
            random_frame(n, &Message::Chunk(chunk))
        })
    }),
    ("every second piece", |n, size| {
        let mut next = 0;
        let mut out = Vec::new();
        while out.len() < size {
            next += 2;
            let chunk =
                wire::Chunk { write: 1, total: 1 << 20, target: 0, offset: next, unit: 1, data: &[7] };
            let frame = from(
                1,
                Some(Sequence { epoch: 1, number: next as u32, entropy: n.next() as u32 }),
                &Message::Chunk(chunk),
            );
            push(&mut out, &frame);
        }
        out
    }),
    ("odd claims of writes", |n, size| {
        frames(n, size, |n| {
            let odd = [0, 1, u64::MAX, 1 << 63, u64::from(u32::MAX)];
            let mut one = || odd[n.up_to(4) as usize];
            let chunk = wire::Chunk {
                write: one(),
                total: one(),
                target: one(),
                offset: one(),
                unit: one() as u32,
                data: &[7; 9],
            };
            random_frame(n, &Message::Chunk(chunk))
        })
    }),
    ("jumps of numbers", |n, size| {
        frames(n, size, |n| {
            let sequence =
                Sequence { epoch: n.up_to(3) as u16, number: n.next() as u32, entropy: n.next() as u32 };
            from(1 + n.up_to(240) as u16, Some(sequence), &probe(n))
        })
    }),
    ("new epochs", |n, size| {
        frames(n, size, |n| {
            let sequence = Sequence { epoch: n.next() as u16, number: 0, entropy: 0 };
            from(1, Some(sequence), &probe(n))
        })
    }),
    ("probes", |n, size| {
        frames(n, size, |n| {
            let message = probe(n);
            from(1 + n.up_to(240) as u16, None, &message)
        })
    }),
    ("answers", |n, size| {
        frames(n, size, |n| {
            let Message::PairProbe(probe) = probe(n) else { return Vec::new() };
            from(1 + n.up_to(240) as u16, None, &Message::PairAnswer(probe))
        })
    }),
    ("acknowledgements", |n, size| {
        frames(n, size, |n| {
            let bits = std::array::from_fn(|_| n.next());
            let marks = std::array::from_fn(|_| n.next() as u32);
            let sack = wire::Sack {
                epoch: 5,
                base: n.next() as u32,
                bits,
                ports: n.next() as u32,
                marks,
                n_marks: 16,
                kbps: n.next() as u32,
            };
            random_frame(n, &Message::Sack(sack))
        })
    }),
    ("missing ranges", |n, size| {
        frames(n, size, |n| {
            let missing = std::array::from_fn(|_| (n.next(), n.next()));
            let status = wire::Status {
                write: n.next(),
                complete: n.up_to(1) == 0,
                question: n.up_to(1) == 0,
                refused: false,
                total: n.next(),
                missing,
                n_missing: 24,
            };
            random_frame(n, &Message::Status(status))
        })
    }),
    ("questions", |n, size| {
        frames(n, size, |n| {
            let status = wire::Status {
                write: n.up_to(9),
                complete: false,
                question: true,
                refused: false,
                total: u64::MAX,
                missing: [(0, 0); wire::RANGES_MAX],
                n_missing: 0,
            };
            random_frame(n, &Message::Status(status))
        })
    }),
    ("cut packets", |n, size| {
        frames(n, size, |n| {
            let cut = wire::TrimReport {
                epoch: 5,
                number: n.next() as u32,
                entropy: n.next() as u32,
                at_last_hop: n.up_to(1) == 0,
                ports: n.next() as u32,
            };
            random_frame(n, &Message::Cut(cut))
        })
    }),
    ("own probes", |n, size| {
        frames(n, size, |n| {
            let turn = wire::SelfProbe {
                id: n.next() as u32,
                tier: n.up_to(255) as u8,
                plane: n.up_to(255) as u8,
                uplink: n.next() as u16,
                t1_uplink: n.next() as u16,
                epoch: 5,
            };
            from(0, None, &Message::SelfProbe(turn))
        })
    }),
    ("packets of other protocols", |n, size| {
        frames(n, size, |n| {
            let message = probe(n);
            let mut frame = random_frame(n, &message);
            if let Some(byte) = frame.get_mut(20) {
                *byte = n.next() as u8;
            }
            frame
        })
    }),
    ("damaged bytes", |n, size| {
        frames(n, size, |n| {
            let message = probe(n);
            let mut frame = random_frame(n, &message);
            let at = n.up_to(frame.len() as u64 - 1) as usize;
            frame[at] ^= n.up_to(254) as u8 + 1;
            frame.truncate(at.max(1) * 2);
            frame
        })
    }),
    ("empty frames", |n, size| frames(n, size, |_| Vec::new())),
    ("noise", |n, size| frames(n, size, |n| (0..12).flat_map(|_| n.next().to_le_bytes()).collect())),
];

fn probe(numbers: &mut Numbers) -> Message<'static> {
    Message::PairProbe(wire::PairProbe {
        id: numbers.next() as u32,
        epoch: numbers.next() as u16,
        entropy: numbers.next() as u32,
        plane: numbers.up_to(127) as u8,
        twice: numbers.up_to(1) == 0,
        ports: numbers.next() as u32,
        hold_ns: numbers.next() as u32,
    })
}

/// A valid frame from a NIC in the agent's group.
fn from(peer: u16, sequence: Option<Sequence>, message: &Message<'_>) -> Vec<u8> {
    let own = net::identity();
    let source = (u128::from_be_bytes(net::nic(0)) + u128::from(peer)).to_be_bytes();
    let mut bytes = vec![0; wire::MESSAGE_LEN_MAX];
    let length = wire::write(&mut bytes, message, &own);
    let mut payload = vec![0; 8];
    wire::write_udp(&mut payload, &own, 0, length);
    payload.extend_from_slice(&bytes[..length]);
    net::frame(source, sequence, NextHeader::Udp, &payload)
}

/// A valid frame with a random sender and sequence number.
fn random_frame(numbers: &mut Numbers, message: &Message<'_>) -> Vec<u8> {
    let (peer, number) = (1 + numbers.up_to(240) as u16, numbers.up_to(4_000) as u32);
    from(peer, Some(Sequence { epoch: 1, number, entropy: numbers.next() as u32 }), message)
}

/// Frames, each preceded by its length.
fn frames(numbers: &mut Numbers, size: usize, frame: impl Fn(&mut Numbers) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < size {
        let frame = frame(numbers);
        push(&mut out, &frame);
    }
    out
}

fn push(out: &mut Vec<u8>, frame: &[u8]) {
    out.extend_from_slice(&(frame.len() as u16).to_be_bytes());
    out.extend_from_slice(frame);
}

struct Library(Place);

impl Reader for Library {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        measure::library("surfaces::agent::receives_frames", &self.0, input)
    }
}

#[test]
fn receives_frames() {
    let Some(input) = measure::input() else { return };
    let bytes = net::crowded(PEERS);
    let table = Table::open(&bytes).expect("the table is right");
    let region = Region::Pattern { wrong: 0 };
    let at = AgentContext { table: &table, now_ns: 1 };
    let mut agent = Agent::new(&at, Options::default(), region, 5).expect("the table is this agent's");
    let mut batch = Batch::new(9600);
    let (mut rest, mut now_ns) = (input.as_slice(), 1_u64);
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length)).min(after.len());
        let at = AgentContext { table: &table, now_ns };
        agent.receive(&at, &after[..length], &mut batch, &mut |_| ());
        if now_ns.is_multiple_of(32) {
            agent.tick(&at, &mut batch, &mut |_| ());
        }
        batch.clear();
        (rest, now_ns) = (&after[length..], now_ns + 1_001);
    }
}
