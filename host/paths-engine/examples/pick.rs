//! Times the choice of a path: `cargo run --release -p closc-paths-engine --example pick`. With an argument, it makes
//! that many picks and prints nothing. Use it with `perf stat -e instructions:u` or `valgrind --tool=none`.

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use closc_paths::Table;
use closc_paths_engine::{Capacity, Engine, Settings};

const ROUNDS: u32 = 50_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shape = common::Shape { planes: 8, active: 16, backup: 16, min_active: 64, ..Default::default() };
    let bytes = common::table(&shape);
    let table = Table::open(&bytes)?;
    let mut engine = Engine::new(&table, 0, Settings::default(), Capacity::of(&table, 4))?;
    let path = engine.open(&table, common::nic(1, 1), 0)?;
    let to = table.destination(common::nic(1, 1)).ok_or("the address is not in the fabric")?;
    if let Some(rounds) = std::env::args().nth(1) {
        for _ in 0..rounds.parse::<u32>()? {
            black_box(engine.pick(black_box(path)));
        }
        return Ok(());
    }
    let mut time = |what: &str, with_address: bool, congested: bool| {
        let start = Instant::now();
        for n in 0..ROUNDS {
            let Some(pick) = engine.pick(black_box(path)) else { return };
            if congested && n % 16 == 0 {
                engine.record_congestion(path, pick.plane, pick.entropy);
            }
            if with_address {
                black_box(table.outer(&to, pick.entropy));
            } else {
                black_box(pick);
            }
        }
        let each = start.elapsed().as_nanos() as f64 / f64::from(ROUNDS);
        println!("{each:.2} ns {what}");
    };
    time("a pick of 256 values in 8 planes", false, false);
    time("a pick, one packet in 16 marked", false, true);
    time("a pick and its address", true, false);
    Ok(())
}
