//! Measures a push: how fast entries reach switches, one and many at once.
//!
//! `deploy_figures [ENTRIES] [SWITCHES]` pushes this many IPv6 routes to one embedded switch over gRPC on loopback. It
//! also pushes them to one BMv2 if `simple_switch_grpc` is in the PATH, and a share of them to each of several embedded
//! switches. Embedded switches run in this process and share its processors.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use closc_deploy::{
    Dial, Event, EventKind, Fleet, Member, Program, PushOptions, State, Target, TargetState, open_gate,
    parse_target_state, push,
};
use closc_entries::Pipeline;
use closc_runtime::client::{Backoff, Controller, Endpoint, Jitter};
use closc_runtime::proto::v1;
use closc_runtime::{DeviceId, ElectionId, text};
use closc_switch::{Service, Switch, SwitchConfig};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u32>().ok());
    let n_entries = arguments.next().unwrap_or(100_000);
    let n_switches = arguments.next().unwrap_or(64);
    let program = Arc::new(Program::new("fabric", Pipeline::fabric().for_target()));

    let updates: Vec<v1::Update> = routes(&program, n_entries).into_iter().map(v1::Update::insert).collect();
    let file = text::write_entries(program.info(), "figures", &updates);
    let start = Instant::now();
    let wanted = parse_target_state("entries.txtpb", &file, program.clone()).expect("it was just written");
    let seconds = start.elapsed().as_secs_f64();
    let mib = file.len() >> 20;
    println!(
        "read {n_entries} entries of text, {mib} MiB: {:.2} s, {:.0} entries/s",
        seconds,
        rate(n_entries, seconds)
    );

    let one = start_switch(0).await;
    let wanted = Arc::new(wanted);
    run("one embedded switch", &[(one.address().to_string(), 0)], &wanted).await;
    drop(one);

    if let Some(simple_switch) = closc_skip::program("simple_switch_grpc") {
        let target = ["--cpu-port", "510", "--priority-queues", "8"];
        let bmv2 = closc_skip::Bmv2::start(&simple_switch, 1, &target).expect("the program runs");
        run("one BMv2", &[(bmv2.address(), 1)], &wanted).await;
    }

    let state =
        State::new(program.info(), routes(&program, n_entries / n_switches.max(1))).expect("distinct");
    let each = Arc::new(TargetState::new(program.clone(), state));
    let mut many = Vec::new();
    for number in 0..n_switches {
        many.push(start_switch(number.into()).await);
    }
    let addresses: Vec<(String, u64)> = many
        .iter()
        .enumerate()
        .map(|(number, endpoint)| (endpoint.address().to_string(), number as u64))
        .collect();
    run(&format!("{n_switches} embedded switches at once"), &addresses, &each).await;
}

/// Starts an embedded switch on a port of loopback.
async fn start_switch(device_id: u64) -> closc_switch::Endpoint {
    let config = SwitchConfig { device_id, ..SwitchConfig::default() };
    let service = Service::new([Arc::new(Switch::new(config))]);
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    closc_switch::Endpoint::serve(service, anywhere, None).await.expect("loopback has a port")
}

fn routes(program: &Program, n: u32) -> Vec<v1::Entity> {
    let route = |number: u32| {
        let prefix = Ipv6Addr::from_bits(0xfd << 120 | u128::from(number) << 64);
        let entry = program.info().entry("ingress.ipv6_route").expect("a table").lpm("dst", prefix, 64);
        entry.action("set_nexthop_id", &[("nexthop_id", 1u16.into())]).build().expect("right").into()
    };
    (0..n).map(route).collect()
}

fn rate(n: u32, seconds: f64) -> f64 {
    f64::from(n) / seconds
}

/// Pushes twice, and prints the duration of each part.
async fn run(what: &str, addresses: &[(String, u64)], wanted: &Arc<TargetState>) {
    let members = addresses.iter().enumerate().map(|(number, (address, device))| {
        let target = Target {
            name: format!("switch-{number}"),
            plane: None,
            wave: 0,
            dial: Dial::Address(Endpoint::plain(address).expect("an address")),
            device: DeviceId(*device),
            controller: Controller::new(ElectionId(1)),
        };
        Member::new(target, wanted.clone())
    });
    let mut fleet = Fleet::default();
    fleet.members.extend(members);
    let pause =
        Backoff { initial: Duration::from_millis(10), max: Duration::from_millis(100), jitter: Jitter::None };
    let options = PushOptions { attempts: 100, pause, ..PushOptions::default() };
    let n = wanted.state.len() as u32 * addresses.len() as u32;
    for round in ["first push", "second push"] {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let kept = events.clone();
        let observer = Arc::new(move |event| {
            kept.lock().expect("no panic").push(event);
            Ok(())
        });
        let start = Instant::now();
        let report = push(&fleet, &options, observer, open_gate()).await;
        let seconds = start.elapsed().as_secs_f64();
        assert!(report.is_good(), "{:?}", report.failures().next());
        let sent = report.updates().total();
        print!("{what}, {round}: {n} entries, {sent} updates, {seconds:.2} s");
        if sent > 0 {
            let events = events.lock().expect("no panic");
            let at = |wanted: fn(&EventKind) -> bool, last: bool| {
                let mut times = events.iter().filter(|event| wanted(&event.what)).map(|event| event.at_ms);
                if last { times.max() } else { times.next() }.unwrap_or_default()
            };
            let begun = at(|what| matches!(what, EventKind::Compared { .. }), false);
            let written = at(|what| matches!(what, EventKind::Written { .. }), true);
            let writing = (written.saturating_sub(begun)).max(1) as f64 / 1000.0;
            print!(
                ", {:.0} entries/s; written in {writing:.2} s, {:.0}/s",
                rate(n, seconds),
                rate(n, writing)
            );
        }
        println!();
    }
}
