//! Measures the time of a lookup from entropy value to outer address, in a table file:
//! `cargo run --release -p closc-paths --example lookup -- group-0001.bin 2001:db8:1000:2::1`.

use std::hint::black_box;
use std::net::Ipv6Addr;
use std::time::Instant;

use closc_paths::Table;

const ROUNDS: u32 = 50_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (file, to) = (args.next().ok_or("name a table")?, args.next().ok_or("name an inner address")?);
    let bytes = std::fs::read(file)?;
    let table = Table::open(&bytes)?;
    let to = table.destination(to.parse::<Ipv6Addr>()?.octets()).ok_or("the address is not in the fabric")?;
    let start = Instant::now();
    for entropy in 0..ROUNDS {
        black_box(table.outer(&to, black_box(entropy)));
    }
    let each = start.elapsed().as_nanos() as f64 / f64::from(ROUNDS);
    println!("{each:.2} ns a lookup, {ROUNDS} lookups");
    Ok(())
}
