//! Ports that corrupt frames: all data arrives unchanged, from 0.01 to 5 % of damaged frames, at each port of the path.
//!
//! By default, 48 MB are sent in all. `CLOSC_CORRUPTION_MB=10000` sets the number of megabytes.

use closc_paths::Table;

use crate::nic_common::{Cable, Net, nic, table};

const MS: u64 = 1_000_000;
/// Shares of damaged frames, in hundred-thousandths.
const SHARES: [u32; 4] = [10, 100, 1_000, 5_000];
/// Data bytes of a packet, and bytes of a write.
const UNIT: u32 = 4_096;
const WRITE_BYTES: u64 = 1 << 20;

/// Sends data while a cable corrupts a share of the frames. Returns the numbers of bytes that arrived, and of damaged
/// frames.
fn send(cable: Cable, share: u32, bytes: u64) -> (u64, u64) {
    let tables = [table(0), table(1)];
    let tables = tables.each_ref().map(|bytes| Table::open(bytes).unwrap());
    let mut net = Net::new([&tables[0], &tables[1]]);
    net.run(100 * MS);
    net.corrupt.insert(cable, share);
    let writes = bytes.div_ceil(WRITE_BYTES);
    for n in 0..writes {
        let (at, place) = (net.at(0), n % 64 * WRITE_BYTES);
        let order = (place, place, WRITE_BYTES, Some(UNIT));
        let id = net.agents[0].write(&at, nic(1), order).unwrap();
        let is_done = |net: &Net<'_>| net.agents[0].write_view(&net.at(0), id).is_some_and(|view| view.done);
        for _ in 0..10_000 {
            if is_done(&net) {
                break;
            }
            net.run(MS / 5);
        }
        assert!(is_done(&net), "{cable:?}, {share}: write {n} is not finished after 2 s");
    }
    let [sender, receiver] = [0, 1].map(|n| net.agents[n].status(&net.at(n)));
    assert_eq!((receiver.wrong_bytes, sender.wrong_bytes), (0, 0), "{cable:?}, {share}");
    (receiver.counters.written_bytes, sender.counters.damaged + receiver.counters.damaged)
}

#[test]
fn no_damaged_byte_is_accepted_from_any_port() {
    let megabytes = std::env::var("CLOSC_CORRUPTION_MB").ok().and_then(|text| text.parse::<u64>().ok());
    let cables = [Cable::Nic(1, 0), Cable::Nic(1, 1), Cable::Uplink(1, 0, 0), Cable::Uplink(1, 1, 0)];
    let stretches = (cables.len() * SHARES.len()) as u64;
    let each = megabytes.unwrap_or(48) * 1_000_000 / stretches;
    let (mut all, mut damaged) = (0, 0);
    for cable in cables {
        for share in SHARES {
            let (bytes, frames) = send(cable, share, each);
            println!("{cable:?}, {} %: {bytes} bytes, {frames} damaged frames", f64::from(share) / 1e3);
            assert!(bytes >= each, "{cable:?}, {share}: {bytes} of {each}");
            (all, damaged) = (all + bytes, damaged + frames);
        }
    }
    println!("{all} bytes arrived, {damaged} frames were damaged, 0 bytes are wrong");
    assert!(damaged > 0, "no frame was damaged");
}
