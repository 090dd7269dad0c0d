//! Runs the same program, entries and packets on BMv2 and on this switch, and compares the results.
//!
//! Needs `simple_switch_grpc` in `PATH` or in `CLOSC_BMV2`. Other variables:
//!
//! - `CLOSC_SEED`: the first seed, to repeat a run
//! - `CLOSC_SEEDS`: number of seeds
//! - `CLOSC_BESIDE`: number of simultaneous runs
//! - `CLOSC_ROUNDS`: rounds per run
//! - `CLOSC_P4_SAMPLES`: a folder with more programs

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use closc_runtime::EntityKey;
use closc_runtime::info::{CounterUnit, Table};
use closc_runtime::proto::v1;
use closc_runtime::status::{Outcome, unpack};
use closc_runtime::text::{self, read_p4info};
use closc_switch::{EngineConfig, Outbox, Pipeline, Script, Switch, SwitchConfig};
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use tonic::Status;
use v1::entity::Entity as Case;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

use crate::common;
use crate::common::controller::Controller;
use crate::judge::random::{Keys, Random};
use crate::judge::{self, Bmv2, Packets, Results, random};

/// Device id of both switches.
const DEVICE: u64 = 1;

/// Number of packets per round.
const PACKETS: usize = 192;

/// Number of entries per table that are tried in a round.
const ENTRIES: usize = 6;

/// A program to compare.
#[derive(Clone)]
struct Subject {
    name: String,
    info: String,
    program: Vec<u8>,
    /// Known packets.
    seeds: Vec<(u32, Vec<u8>)>,
    queues: usize,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeds(scripts: impl IntoIterator<Item = PathBuf>) -> Vec<(u32, Vec<u8>)> {
    let mut seeds = Vec::new();
    for script in scripts {
        let text = std::fs::read_to_string(script).unwrap_or_default();
        let Ok(script) = Script::parse(&text) else { continue };
        seeds.extend(script.packets().map(|(port, frame)| (port, frame.to_vec())));
    }
    seeds
}

/// A comparison of both switches.
struct Contest {
    subject: Subject,
    switch: Arc<Switch>,
    judge: Bmv2,
    controller: Controller,
    packets: Packets,
    pipeline: Arc<Pipeline>,
    random: Random,
    keys: Keys,
    /// All entries that were ever inserted.
    entries: Vec<v1::TableEntry>,
    /// Tables from which entries were deleted.
    deletion_tables: BTreeSet<u32>,
    counts: ComparisonCounts,
}

/// Counts of a comparison.
#[derive(Clone, Copy, Debug, Default)]
struct ComparisonCounts {
    /// Packets sent.
    packets: usize,
    /// Packets received from BMv2.
    copies: usize,
    /// Updates that both accepted.
    accepted: usize,
    /// Updates that both rejected.
    rejected: usize,
}

impl Contest {
    async fn begin(program: &Path, subject: Subject, seed: u64) -> Self {
        let config = v1::ForwardingPipelineConfig {
            p4info: Some(read_p4info(&subject.info).expect("a P4Info")),
            p4_device_config: subject.program.clone().into(),
            cookie: None,
        };
        let info = config.p4info.clone().expect("set above");
        let pipeline = Pipeline::new(info, config.p4_device_config.clone()).expect(&subject.name);
        let pipeline = Arc::new(pipeline);
        let engine = EngineConfig { priority_queues: subject.queues, ..EngineConfig::default() };
        let switch = SwitchConfig { device_id: DEVICE, engine, ..SwitchConfig::default() };
        let ours = Arc::new(Switch::new(switch));
        ours.run_pipeline(Arc::clone(&pipeline));
        let judge = Bmv2::start(program, DEVICE, subject.queues).await;
        let mut controller = Controller::primary(judge.address(), DEVICE, 1).await;
        controller.set(Action::VerifyAndCommit, Some(config)).await.expect("BMv2 takes the program");
        let packets = judge.packets().await;
        let (random, keys) = (Random::new(seed), Keys::default());
        let (entries, deleted, done) = (Vec::new(), BTreeSet::new(), ComparisonCounts::default());
        Self {
            subject,
            switch: ours,
            judge,
            controller,
            packets,
            pipeline,
            random,
            keys,
            entries,
            deletion_tables: deleted,
            counts: done,
        }
    }

    /// Applies an update on both switches. If only one switch accepts it, the difference is recorded and the
    /// update is undone.
    async fn write(&mut self, update: v1::Update) -> Option<String> {
        let outcome = self.switch.write(std::slice::from_ref(&update), Atomicity::ContinueOnError);
        let ours = outcome.expect("a pipeline").remove(0);
        let theirs = self.controller.write(vec![update.clone()], Atomicity::ContinueOnError).await;
        match (ours.is_ok(), theirs.is_ok()) {
            (true, true) => self.counts.accepted += 1,
            (false, false) => self.counts.rejected += 1,
            (true, false) | (false, true) => return Some(self.disagreement(update, &ours, theirs).await),
        }
        None
    }

    /// Undoes an update that only one switch accepted, and returns which one.
    async fn disagreement(
        &mut self,
        update: v1::Update,
        ours: &Outcome,
        theirs: Result<(), Status>,
    ) -> String {
        let back = v1::Update { r#type: v1::update::Type::Delete.into(), ..update.clone() };
        let said = match theirs {
            Ok(()) => {
                // If the update cannot be undone, the comparison of packets shows this.
                let _ = self.controller.write(vec![back], Atomicity::ContinueOnError).await;
                format!("only BMv2 takes it, here it is {ours}")
            }
            Err(status) => {
                let _ = self.switch.write(&[back], Atomicity::ContinueOnError);
                let details = unpack(&status).map_or_else(|| status.to_string(), |all| all[0].to_string());
                format!("only BMv2 refuses it: {details}")
            }
        };
        format!("{said}\n{}", text::write(&update))
    }

    fn run(&self, packets: &[(u32, Vec<u8>)]) -> Results {
        let (mut results, mut outbox) = (Results::new(), Outbox::new());
        for (place, (port, packet)) in (0..).zip(packets) {
            self.switch.receive_all(std::iter::once((*port, packet.as_slice())), &mut outbox);
            for (port, _, frame) in outbox.packets() {
                results.entry(place).or_default().entry(port).or_default().push(frame.to_vec());
            }
            outbox.clear();
        }
        results
    }

    /// Sends packets to BMv2 and compares its results with those of this switch.
    async fn judge_packets(&mut self, packets: &[(u32, Vec<u8>)], ours: &Results) -> Vec<String> {
        let theirs = self.packets.exchange(DEVICE, packets, ours).await;
        self.counts.packets += packets.len();
        self.counts.copies += theirs.values().flat_map(BTreeMap::values).map(Vec::len).sum::<usize>();
        compare(packets, ours, &theirs)
    }

    /// Returns the meter configuration of an entry. P4Runtime resets an omitted configuration ("Direct
    /// Resources"), but BMv2 keeps the previous one, even that of a deleted entry. The test therefore always
    /// sets it.
    fn meter_of(&mut self, table: &Table) -> Option<v1::MeterConfig> {
        table.direct_meter.as_ref().map(|_| random::never_refilled(&mut self.random))
    }

    /// Inserts entries into a table, and modifies or deletes some; returns the differences.
    async fn rewrite(&mut self, table: &Table, names: &random::Names) -> Vec<String> {
        let mut updates = Vec::new();
        for _ in 0..ENTRIES {
            let Some(mut entry) = random::entry(&mut self.random, &self.keys, table, names) else { break };
            if self.deletion_tables.contains(&table.preamble.id) && entry.meter_config.is_none() {
                entry.meter_config = self.meter_of(table);
            }
            self.entries.push(entry.clone());
            updates.push(v1::Update::insert(entry));
        }
        if let Some(entry) = random::default_entry(&mut self.random, table) {
            updates.push(v1::Update::modify(entry));
        }
        let old = self.entries.get(self.random.below(self.entries.len())).cloned();
        if let Some(old) = old.filter(|old| old.table_id == table.preamble.id) {
            let action = random::entry(&mut self.random, &self.keys, table, names).and_then(|new| new.action);
            updates.push(if self.random.once_in(2) {
                let meter_config = self.meter_of(table);
                v1::Update::modify(v1::TableEntry { action, meter_config, ..old })
            } else {
                self.deletion_tables.insert(table.preamble.id);
                v1::Update::delete(old)
            });
        }
        let mut differences = Vec::new();
        for update in updates {
            differences.extend(self.write(update).await);
        }
        differences
    }

    /// Runs one round; returns the differences.
    async fn round(&mut self, names: &random::Names) -> Vec<String> {
        let mut differences = Vec::new();
        let training: Vec<(u32, Vec<u8>)> =
            (0..PACKETS).map(|_| random::packet(&mut self.random, &self.subject.seeds)).collect();
        // The training packets change state such as registers, so BMv2 gets them as well.
        let mut ours = Results::new();
        self.keys.clone().training(|| ours = self.run(&training));
        differences.extend(self.judge_packets(&training, &ours).await);
        for table in &self.pipeline.info().tables().to_vec() {
            differences.extend(self.rewrite(table, names).await);
        }
        let packets: Vec<(u32, Vec<u8>)> =
            (0..PACKETS).map(|_| random::packet(&mut self.random, &self.subject.seeds)).collect();
        let ours = self.run(&packets);
        differences.extend(self.judge_packets(&packets, &ours).await);
        if !self.judge.lives() {
            differences.push("BMv2 died".to_owned());
        }
        differences
    }

    /// Reduces a counter to its declared unit. BMv2 also reports bytes for counters of packets.
    fn reduce_counter(&self, mut entity: v1::Entity) -> v1::Entity {
        let info = self.pipeline.info();
        let (unit, data) = match &mut entity.entity {
            Some(Case::CounterEntry(entry)) => {
                let counter = info.counters().iter().find(|counter| counter.preamble.id == entry.counter_id);
                (counter.map(|counter| counter.unit), &mut entry.data)
            }
            Some(Case::DirectCounterEntry(entry)) => {
                let table = entry.table_entry.as_ref().and_then(|table| info.table_by_id(table.table_id));
                let counter = table.and_then(|table| table.direct_counter.as_ref());
                (counter.map(|counter| counter.unit), &mut entry.data)
            }
            _ => return entity,
        };
        if let (Some(unit), Some(data)) = (unit, data) {
            match unit {
                CounterUnit::Bytes => data.packet_count = 0,
                CounterUnit::Packets => data.byte_count = 0,
                CounterUnit::Both => {}
            }
        }
        entity
    }

    /// Compares all counters.
    async fn counters(&mut self) -> Vec<String> {
        let mut requests: Vec<v1::Entity> = vec![v1::CounterEntry::default().into()];
        let counting = self.pipeline.info().tables().iter().filter(|table| table.direct_counter.is_some());
        requests.extend(counting.map(|table| {
            let table_entry = Some(v1::TableEntry { table_id: table.preamble.id, ..Default::default() });
            v1::Entity::from(v1::DirectCounterEntry { table_entry, data: None })
        }));
        let mut differences = Vec::new();
        for request in requests {
            let ours = self.switch.read(std::slice::from_ref(&request)).expect("a pipeline").entities;
            let theirs = self.controller.read_ok(request).await;
            let listed = |entities: &[v1::Entity]| -> BTreeMap<_, _> {
                entities.iter().map(|entity| (EntityKey::of(entity), text::write(entity))).collect()
            };
            let theirs: Vec<v1::Entity> =
                theirs.into_iter().map(|their| self.reduce_counter(their)).collect();
            let (ours, theirs) = (listed(&ours), listed(&theirs));
            let keys: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
            for key in keys.into_iter().filter(|key| ours.get(key) != theirs.get(key)) {
                let show =
                    |side: &BTreeMap<_, String>| side.get(key).map_or("nothing\n", |text| text).to_owned();
                let (ours, theirs) = (show(&ours), show(&theirs));
                differences.push(format!("counters differ\nhere:\n{ours}BMv2:\n{theirs}"));
            }
        }
        differences
    }
}

fn compare(packets: &[(u32, Vec<u8>)], ours: &Results, theirs: &Results) -> Vec<String> {
    let show = |results: Option<&BTreeMap<u32, Vec<Vec<u8>>>>| {
        let lines = results.into_iter().flatten().flat_map(|(port, frames)| {
            frames.iter().map(move |frame| format!("    port {port}: {}", hex(frame)))
        });
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() { "    nothing".to_owned() } else { lines.join("\n") }
    };
    let differ = |place: &u64| ours.get(place) != theirs.get(place);
    (0..packets.len() as u64)
        .filter(differ)
        .map(|place| {
            let (port, packet) = &packets[place as usize];
            let (ours, theirs) = (show(ours.get(&place)), show(theirs.get(&place)));
            format!("packet {place} into port {port}: {}\n  here:\n{ours}\n  BMv2:\n{theirs}", hex(packet))
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Compares a program; returns the differences, a few of them in full.
async fn contest(program: &Path, subject: Subject, seed: u64, rounds: u64) -> Vec<String> {
    let name = subject.name.clone();
    println!("{name}: seed {seed}, {rounds} rounds");
    let mut contest = Contest::begin(program, subject, seed).await;
    let mut differences = Vec::new();
    let info = contest.pipeline.info().clone();
    let (mut updates, names) = random::profiles(&mut contest.random, &info);
    updates.extend(random::replication(&mut contest.random));
    updates.extend(random::meters(&mut contest.random, &info));
    for update in updates {
        differences.extend(contest.write(update).await);
    }
    for _ in 0..rounds {
        differences.extend(contest.round(&names).await);
    }
    differences.extend(contest.counters().await);
    println!("{name}: seed {seed}: {:?}", contest.counts);
    let count = differences.len();
    differences.truncate(5);
    for difference in &mut differences {
        *difference = format!("{name}, seed {seed}, one of {count}: {difference}");
    }
    differences
}

fn pipelines() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines")
}

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "stf"));
    paths.sort();
    paths
}

fn local_subjects() -> Vec<Subject> {
    let frame = |kind: u16| common::ethernet(1, 2, kind);
    let mut mixed =
        vec![(1, frame(0x800)), (2, frame(0x806)), (510, [&[0x03, 0x80], &frame(5)[..]].concat())];
    for at in 0..6u8 {
        mixed.push((u32::from(at), common::payload(1, at.into(), at, at.into(), at.into())));
    }
    let features = Subject {
        name: "features".to_owned(),
        info: common::FEATURES_INFO.to_owned(),
        program: common::FEATURES.to_vec(),
        seeds: mixed,
        queues: 1,
    };
    let folder = pipelines().join("fabric");
    let fabric = Subject {
        name: "fabric".to_owned(),
        info: std::fs::read_to_string(folder.join("fabric.p4info.txtpb")).expect("it is in the repository"),
        program: std::fs::read(folder.join("fabric.bmv2.json")).expect("it is in the repository"),
        seeds: seeds(scripts(&folder.join("stf"))),
        queues: 8,
    };
    let forward = Subject {
        name: "forward".to_owned(),
        info: include_str!("../programs/forward.p4info.txtpb").to_owned(),
        program: include_bytes!("../programs/forward.json").to_vec(),
        seeds: fabric.seeds.clone(),
        queues: 1,
    };
    vec![features, forward, fabric]
}

/// Compares programs, several at once, with every requested seed.
async fn contests(program: PathBuf, subjects: Vec<Subject>, rounds: u64) {
    let first = number("CLOSC_SEED", 1);
    let seeds = first..first.saturating_add(number("CLOSC_SEEDS", 1));
    let room = Arc::new(Semaphore::new(number("CLOSC_BESIDE", 3).clamp(1, 64) as usize));
    let (mut running, mut differences, mut red) = (JoinSet::new(), Vec::new(), BTreeSet::new());
    for (seed, subject) in seeds.flat_map(|seed| subjects.iter().map(move |subject| (seed, subject.clone())))
    {
        let place = Arc::clone(&room).acquire_owned().await.expect("it is never closed");
        let program = program.clone();
        running.spawn(async move {
            let found = contest(&program, subject, seed, rounds).await;
            drop(place);
            (seed, found)
        });
        while let Some(done) = running.try_join_next() {
            gather(done, &mut differences, &mut red);
        }
    }
    while let Some(done) = running.join_next().await {
        gather(done, &mut differences, &mut red);
    }
    assert!(differences.is_empty(), "seeds {red:?}\n\n{}", differences.join("\n\n"));
}

/// Records the results of a comparison, and its seed if there are differences.
fn gather(
    done: Result<(u64, Vec<String>), JoinError>,
    differences: &mut Vec<String>,
    red: &mut BTreeSet<u64>,
) {
    let (seed, found) = done.expect("a contest runs to its end");
    if !found.is_empty() {
        println!("seed {seed} is red");
        red.insert(seed);
    }
    differences.extend(found);
}

#[tokio::test]
async fn programs_of_this_project_behave_as_on_bmv2() {
    let Some(program) = judge::find() else { return };
    contests(program, local_subjects(), number("CLOSC_ROUNDS", 6)).await;
}

#[tokio::test]
async fn programs_of_others_behave_as_on_bmv2() {
    let Some(program) = judge::find() else { return };
    let Some(folder) = std::env::var_os("CLOSC_P4_SAMPLES") else {
        closc_skip::skip("CLOSC_P4_SAMPLES is not set; expected a folder of samples");
        return;
    };
    let only = std::env::var("CLOSC_P4_SAMPLE").ok();
    let entries = std::fs::read_dir(folder).expect("the folder can be read").flatten();
    let mut samples: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    samples.sort();
    let sample = |sample: PathBuf| {
        let name = sample.file_name()?.to_str()?.to_owned();
        let read = |extension: &str| std::fs::read(sample.join(format!("{name}.{extension}"))).ok();
        let (program, info) = (read("json")?, read("p4info.txtpb")?);
        let seeds = seeds([sample.join(format!("{name}.stf"))]);
        let wanted = only.as_ref().is_none_or(|only| *only == name) && !seeds.is_empty();
        let info = String::from_utf8_lossy(&info).into_owned();
        wanted.then_some(Subject { name, info, program, seeds, queues: 1 })
    };
    contests(program, samples.into_iter().filter_map(sample).collect(), number("CLOSC_ROUNDS", 3)).await;
}
