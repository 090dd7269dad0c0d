//! Hostile requests: malformed, long, pipelined and truncated. Each gets at most one answer, and later
//! clients are still served.
//!
//! `CLOSC_HOSTILE=1000` sends 1,000 requests.

#[path = "support/client.rs"]
mod client;

use closc_http::{Answer, Request, serve};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use client::ask;

/// Maximum size of an answer of this server in bytes.
const ANSWER_MAX: usize = 4096;
/// Maximum growth of the peak memory of this process.
const GROWTH_MAX_KIB: u64 = 64 << 10;

/// Pseudo-random numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn number_below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n as u64) as usize
    }
}

/// Returns a request with one or several kinds of damage.
fn hostile(random: &mut Random) -> Vec<u8> {
    let heads: [&[u8]; 5] = [
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/drain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"token\":\"\"}",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    let mut bytes = heads[random.number_below(heads.len())].to_vec();
    for _ in 0..=random.number_below(3) {
        let at = random.number_below(bytes.len().max(1));
        match random.number_below(8) {
            0 => bytes.truncate(at),
            1 => bytes = bytes.repeat(1 + random.number_below(200)),
            2 => {
                drop(bytes.splice(
                    at..at,
                    vec![b"\0\n: A\xff/"[random.number_below(7)]; random.number_below(100_000)],
                ));
            }
            3 => drop(bytes.splice(at..at, b"X-A: b\r\n".repeat(random.number_below(5_000)))),
            4 => drop(bytes.splice(at..at, b"Content-Length: 99999999999999999999\r\n".iter().copied())),
            5 => bytes.extend((0..random.number_below(20_000)).map(|n| n as u8)),
            6 => bytes.iter_mut().skip(at).step_by(7).for_each(|byte| *byte ^= 0x15),
            _ => {
                for byte in bytes.iter_mut().skip(at).take(4) {
                    *byte = random.number_below(256) as u8;
                }
            }
        }
    }
    bytes
}

/// Returns the peak memory of this process in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel counts it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn hostile_requests_get_at_most_one_short_answer_and_bounded_memory() {
    let tries = std::env::var("CLOSC_HOSTILE").ok().and_then(|text| text.split(',').next()?.parse().ok());
    let runtime = Runtime::new().expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    runtime.spawn(serve(listener, None, |request: &Request| {
        Answer::text(200, format!("{}\n", request.is_post))
    }));
    let good = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert!(ask(address, good).ends_with(b"false\n"));
    let before = peak_kib();
    let random = &mut Random(38);
    for number in 0..tries.unwrap_or(100_u32) {
        let request = hostile(random);
        let answer = ask(address, &request);
        let text = String::from_utf8_lossy(&answer);
        assert!(answer.len() <= ANSWER_MAX, "{number}: {text}");
        assert!(text.matches("HTTP/1.1 ").count() <= 1, "{number}: {text}");
        if number % 10 == 0 {
            assert!(ask(address, good).ends_with(b"false\n"), "{number}: {request:?}");
        }
    }
    let growth = peak_kib() - before;
    println!("{growth} KiB for hostile requests");
    assert!(growth <= GROWTH_MAX_KIB, "{growth} KiB");
}
