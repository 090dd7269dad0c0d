//! Measures how fast a target takes entries: inserts, reads back, modifies and deletes IPv6 prefixes.
//!
//! ```text
//! cargo run --release -p closc-runtime --example inserts -- 127.0.0.1:9559 PROGRAM.p4info.txtpb PROGRAM.json
//!     [--table NAME --action NAME] [--entries 50000] [--batch 5000] [--in-flight 4] [--device-id 0]
//! ```
//!
//! The table must have a key of one LPM field of 128 bits; without `--table` the first such table is used.
//! The arguments of the action are all 1.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use closc_runtime::client::{Client, Commit, Controller, Endpoint, Options, Pipeline, Session};
use closc_runtime::info::{ActionRef, MatchKind, Scope, Table};
use closc_runtime::order::{OrderedUpdates, Phase, Wave};
use closc_runtime::proto::v1;
use closc_runtime::value::{Value, Width};
use closc_runtime::{DeviceId, ElectionId, Info, entry, text};

struct Arguments {
    address: String,
    p4info: String,
    config: String,
    table: Option<String>,
    action: Option<String>,
    n_entries: u32,
    batch: usize,
    in_flight: usize,
    device: u64,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut plain = Vec::new();
    let mut all = Arguments {
        address: String::new(),
        p4info: String::new(),
        config: String::new(),
        table: None,
        action: None,
        n_entries: 50_000,
        batch: 5_000,
        in_flight: 4,
        device: 0,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--table" => all.table = Some(value()?),
            "--action" => all.action = Some(value()?),
            "--entries" => all.n_entries = value()?.parse()?,
            "--batch" => all.batch = value()?.parse()?,
            "--in-flight" => all.in_flight = value()?.parse()?,
            "--device-id" => all.device = value()?.parse()?,
            _ => plain.push(word),
        }
    }
    let [address, p4info, config] =
        <[String; 3]>::try_from(plain).map_err(|_| "see the comment at the top of the source")?;
    Ok(Arguments { address, p4info, config, ..all })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let info = Arc::new(Info::new(text::read_p4info(&std::fs::read_to_string(&arguments.p4info)?)?)?);
    let pipeline = Pipeline::new(info.clone(), std::fs::read(&arguments.config)?.into());
    let mut options = Options::default();
    options.write.max_updates = arguments.batch;
    options.write.in_flight = arguments.in_flight;
    let endpoint = Endpoint::plain(&arguments.address)?;
    let client = Client::connect(&endpoint, DeviceId(arguments.device), options).await?;
    println!("API {}", client.capabilities().await?.p4runtime_api_version);
    let session = Session::open(client, Controller::new(ElectionId(1))).await?;
    session.require_primary()?;
    let change = session.commit_pipeline(&pipeline, Commit::Clear).await?;
    println!("pipeline {change:?}");

    let table = find_table(&info, arguments.table.as_deref())?;
    let action = find_action(table, arguments.action.as_deref())?;
    println!("{} -> {}", table.preamble.name, action.action.preamble.name);
    let (entries, seconds) = measure(|| build(&info, table, action, arguments.n_entries))?;
    report("build", arguments.n_entries, seconds);
    for (what, update) in [
        ("insert", v1::Update::insert as fn(v1::TableEntry) -> v1::Update),
        ("modify", v1::Update::modify),
        ("delete", v1::Update::delete),
    ] {
        let updates: Vec<v1::Update> = entries.iter().cloned().map(update).collect();
        let waves = vec![Wave { phase: Phase::Insert, range: 0..updates.len() }];
        let ordered = OrderedUpdates { updates, waves };
        let start = Instant::now();
        session.write_ordered(&ordered).await?;
        report(what, arguments.n_entries, start.elapsed().as_secs_f64());
        if what == "insert" {
            let start = Instant::now();
            let found = session.client().read(vec![entry::wildcard(table.preamble.id)]).await?;
            report("read", found.len() as u32, start.elapsed().as_secs_f64());
        }
    }
    session.close().await;
    Ok(())
}

fn report(what: &str, n_entries: u32, seconds: f64) {
    println!("{what:>8} {n_entries} in {:.3} s, {:.0} k/s", seconds, f64::from(n_entries) / seconds / 1000.0);
}

fn measure<T>(work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<(T, f64), Box<dyn Error>> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64()))
}

fn find_table<'i>(info: &'i Info, name: Option<&str>) -> Result<&'i Table, Box<dyn Error>> {
    let fits = |table: &Table| {
        matches!(table.fields(), [field] if field.kind == MatchKind::Lpm && field.width == Width::Bits(128))
            && table.profile.is_none()
    };
    if let Some(name) = name {
        return Ok(info.table(name)?.as_ref());
    }
    let table = info.tables().iter().find(|table| fits(table));
    Ok(table.ok_or("no table has a key of one IPv6 prefix")?.as_ref())
}

fn find_action<'t>(table: &'t Table, name: Option<&str>) -> Result<&'t ActionRef, Box<dyn Error>> {
    if let Some(name) = name {
        return Ok(table.action(name)?);
    }
    let mut actions = table.actions().iter();
    let usable = |action: &&ActionRef| matches!(action.scope, Scope::Everywhere | Scope::EntriesOnly);
    Ok(actions.find(usable).ok_or("the table has no action for entries")?)
}

fn build(
    info: &Info,
    table: &Table,
    action: &ActionRef,
    n_entries: u32,
) -> Result<Vec<v1::TableEntry>, Box<dyn Error>> {
    let field = &table.fields()[0].name;
    let arguments: Vec<(&str, Value<'_>)> =
        action.action.params().iter().map(|param| (param.name.as_str(), 1u8.into())).collect();
    let name = &action.action.preamble.name;
    let one = |index: u32| {
        let prefix = 0xfcbb_0000_u128 << 96 | u128::from(index) << 64;
        info.entry_of(table).lpm(field, prefix, 64).action(name, &arguments).build()
    };
    Ok((0..n_entries).map(one).collect::<Result<_, _>>()?)
}
