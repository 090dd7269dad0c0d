//! Packet tests that p4testgen (p4c's `backends/p4tools`) generated from the sources of this project's
//! pipelines, on this switch and on BMv2. Expected packets come from symbolic execution of the P4 program,
//! independently of both switches.
//!
//! `CLOSC_TESTGEN` names a folder with a folder for each pipeline, as `p4/pipelines/testgen` fills it. BMv2
//! takes part if `simple_switch_grpc` is in `PATH` or in `CLOSC_BMV2`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use closc_runtime::info::{Info, MatchKind};
use closc_runtime::proto::v1;
use closc_runtime::text::{self, read_p4info};
use closc_runtime::value::Width;
use closc_switch::{EngineConfig, Pipeline, Store};
use v1::field_match::{FieldMatchType, Optional};
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

use crate::common::Bench;
use crate::common::controller::Controller;
use crate::judge::{self, Bmv2, Results};

/// Device id of BMv2.
const DEVICE: u64 = 1;

/// Number of queues per port that the pipelines need.
const QUEUES: usize = 8;

/// An expected output packet.
#[derive(Clone, Debug)]
struct ExpectedPacket {
    port: u32,
    frame: Vec<u8>,
    /// Mask of the known bits.
    mask: Vec<u8>,
}

/// A test: entries, an input packet, and the output packet, if any.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    entries: Vec<v1::Entity>,
    port: u32,
    frame: Vec<u8>,
    expected: Option<ExpectedPacket>,
}

/// Returns the contents of the braces after each `name {` at the beginning of a line.
fn blocks<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!("\n{name} {{\n");
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(&start) {
        rest = &rest[at + start.len()..];
        let end = rest.find("\n}\n").expect("the block ends at the beginning of a line");
        found.push(&rest[..=end]);
        rest = &rest[end..];
    }
    found
}

/// Returns the value of a field on its own line.
fn field<'t>(block: &'t str, name: &str) -> &'t str {
    let value = block.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("no `{name}` in\n{block}"))
}

/// Reads a string of bytes.
fn bytes(literal: &str) -> Vec<u8> {
    let packet: v1::PacketOut = text::read(&format!("payload: {literal}")).expect("it is a string");
    packet.payload.to_vec()
}

impl Case {
    fn read(path: &Path, info: &Info) -> Self {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let [input] = blocks(&text, "input_packet")[..] else { panic!("{}: one packet", path.display()) };
        let number = |block, name| field(block, name).parse().expect("a number");
        let expected = blocks(&text, "expected_output_packet").into_iter().map(|block| ExpectedPacket {
            port: number(block, "port"),
            frame: bytes(field(block, "packet")),
            mask: bytes(field(block, "packet_mask")),
        });
        let expected: Vec<ExpectedPacket> = expected.collect();
        assert!(expected.len() <= 1, "{}: pipelines make no copies", path.display());
        let entity = |block: &&str| {
            let entity: v1::Entity = text::read(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
            usual(entity, info)
        };
        Self {
            name: path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned(),
            entries: blocks(&text, "entities").iter().map(entity).collect(),
            port: number(input, "port"),
            frame: bytes(field(input, "packet")),
            expected: expected.into_iter().next(),
        }
    }

    /// Returns the difference between actual and expected packets.
    fn judge(&self, sent: &[(u32, Vec<u8>)]) -> Result<(), String> {
        let good = match (&self.expected, sent) {
            (None, []) => true,
            (Some(expected), [(port, frame)]) => {
                let bits = expected.frame.iter().zip(frame).zip(&expected.mask);
                *port == expected.port
                    && frame.len() == expected.frame.len()
                    && bits.into_iter().all(|((wanted, found), mask)| wanted & mask == found & mask)
            }
            (None | Some(_), _) => false,
        };
        if good { Ok(()) } else { Err(self.show(sent)) }
    }

    fn show(&self, sent: &[(u32, Vec<u8>)]) -> String {
        let mut text = format!("{}: into port {}: {}\n", self.name, self.port, hex(&self.frame));
        match &self.expected {
            None => text += "  expected nothing\n",
            Some(ExpectedPacket { port, frame, mask }) => {
                let _ = writeln!(text, "  expected {port}: {}\n      mask   {}", hex(frame), hex(mask));
            }
        }
        for (port, frame) in sent {
            let _ = writeln!(text, "  came out {port}: {}", hex(frame));
        }
        for entry in &self.entries {
            text += &text::write(entry);
        }
        text
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Normalises an entry for P4Runtime. p4testgen does not omit fields that match everything, writes optional fields as
/// ternary, leaves bits after a prefix set, and omits weights in action sets.
fn usual(mut entity: v1::Entity, info: &Info) -> v1::Entity {
    use v1::table_action::Type;
    let Some(v1::entity::Entity::TableEntry(entry)) = &mut entity.entity else {
        panic!("p4testgen writes table entries alone: {entity:?}")
    };
    let table = info.table_by_id(entry.table_id).expect("the pipeline has the table");
    entry.r#match.retain_mut(|found| {
        let (_, field) = table.field_by_id(found.field_id).expect("the table has the field");
        let Width::Bits(width) = field.width else { panic!("`{}` is text", field.name) };
        match &mut found.field_match_type {
            Some(FieldMatchType::Ternary(ternary)) => {
                let any = ternary.mask.iter().all(|byte| *byte == 0);
                if field.kind == MatchKind::Optional {
                    let value = std::mem::take(&mut ternary.value);
                    found.field_match_type = Some(FieldMatchType::Optional(Optional { value }));
                }
                !any
            }
            Some(FieldMatchType::Lpm(lpm)) => {
                clip(&mut lpm.value, width, lpm.prefix_len.unsigned_abs());
                lpm.prefix_len > 0
            }
            Some(_) | None => true,
        }
    });
    if let Some(Type::ActionProfileActionSet(set)) =
        entry.action.as_mut().and_then(|action| action.r#type.as_mut())
    {
        set.action_profile_actions.iter_mut().for_each(|action| action.weight = 1);
    }
    entity
}

/// Clears the bits after a prefix of a value.
fn clip(value: &mut Vec<u8>, width: u32, prefix: u32) {
    let bytes = width.div_ceil(8) as usize;
    let missing = bytes.saturating_sub(value.len());
    value.splice(0..0, std::iter::repeat_n(0, missing));
    let skipped = bytes * 8 - width as usize;
    for at in skipped + prefix as usize..bytes * 8 {
        value[at / 8] &= !(0x80 >> (at % 8));
    }
}

/// A pipeline with its tests. Types that are text for controllers are numbers, as in p4testgen and BMv2.
struct Subject {
    name: &'static str,
    pipeline: Arc<Pipeline>,
    program: Vec<u8>,
    cases: Vec<Case>,
}

impl Subject {
    fn of(name: &'static str, tests: &Path) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines").join(name);
        let info = std::fs::read_to_string(folder.join(format!("{name}.p4info.txtpb"))).expect("a P4Info");
        let info = read_p4info(&info).expect("it is a P4Info");
        let program = std::fs::read(folder.join(format!("{name}.bmv2.json"))).expect("a program");
        let named = Pipeline::new(info, program.clone().into()).expect("it is a pipeline");
        let pipeline =
            Pipeline::new(named.numeric_p4info(), program.clone().into()).expect("so it is with numbers");
        let files = std::fs::read_dir(tests).unwrap_or_else(|error| panic!("{}: {error}", tests.display()));
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "txtpb"));
        files.sort();
        let cases: Vec<Case> = files.iter().map(|file| Case::read(file, pipeline.info())).collect();
        Self { name, pipeline: Arc::new(pipeline), program, cases }
    }

    /// Returns the failures of this switch. Each test starts with a new switch.
    fn switch_failures(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for case in &self.cases {
            let engine = EngineConfig { priority_queues: QUEUES, ..EngineConfig::default() };
            let mut bench = Bench { store: Store::new(Arc::clone(&self.pipeline), engine), now_ns: 0 };
            for entry in &case.entries {
                bench.write(v1::Update::insert(entry.clone()));
            }
            faults.extend(case.judge(&bench.send(case.port, &case.frame)).err());
        }
        faults
    }

    /// Returns the failures of BMv2, whose tables are cleared after each test.
    async fn bmv2_failures(&self, program: &Path) -> Vec<String> {
        let judge = Bmv2::start(program, DEVICE, QUEUES).await;
        let mut controller = Controller::primary(judge.address(), DEVICE, 1).await;
        let config = v1::ForwardingPipelineConfig {
            p4info: Some(self.pipeline.info().message().clone()),
            p4_device_config: self.program.clone().into(),
            cookie: None,
        };
        controller.set(Action::VerifyAndCommit, Some(config)).await.expect("BMv2 takes the program");
        let mut packets = judge.packets().await;
        let mut faults = Vec::new();
        for case in &self.cases {
            for entry in &case.entries {
                let update = v1::Update::insert(entry.clone());
                let written = controller.write(vec![update], Atomicity::ContinueOnError).await;
                if let Err(status) = written {
                    faults.push(format!("{}: {status}\n{}", case.name, text::write(entry)));
                }
            }
            let sent = [(case.port, case.frame.clone())];
            let results = packets.exchange(DEVICE, &sent, &Results::new()).await;
            let came: BTreeMap<u32, Vec<Vec<u8>>> = results.into_values().next().unwrap_or_default();
            let came: Vec<(u32, Vec<u8>)> = came
                .into_iter()
                .flat_map(|(port, all)| all.into_iter().map(move |one| (port, one)))
                .collect();
            faults.extend(case.judge(&came).err());
            let gone = case.entries.iter().rev().cloned().map(v1::Update::delete).collect();
            let _ = controller.write(gone, Atomicity::ContinueOnError).await;
        }
        faults
    }
}

/// The pipelines with their tests; empty if no folder is set.
#[track_caller]
fn subjects() -> Vec<Subject> {
    let Some(folder) = std::env::var_os("CLOSC_TESTGEN").map(PathBuf::from) else {
        closc_skip::skip("CLOSC_TESTGEN is not set; expected a folder of tests that p4testgen made");
        return Vec::new();
    };
    let subjects: Vec<Subject> =
        ["fabric", "sai"].into_iter().map(|name| Subject::of(name, &folder.join(name))).collect();
    for Subject { name, cases, .. } in &subjects {
        let forwarded = cases.iter().filter(|case| case.expected.is_some()).count();
        println!("{name}: {} tests, a packet comes out of {forwarded}", cases.len());
        assert!(forwarded > 0, "{name}: some packets must be forwarded");
    }
    subjects
}

fn assert_no_faults(faults: &[String]) {
    assert!(faults.is_empty(), "{} of them\n{}", faults.len(), faults[..faults.len().min(5)].join("\n"));
}

#[test]
fn generated_tests_pass_here() {
    for subject in subjects() {
        assert_no_faults(&subject.switch_failures());
    }
}

#[tokio::test]
async fn generated_tests_pass_on_bmv2() {
    let subjects = subjects();
    let Some(program) = judge::find().filter(|_| !subjects.is_empty()) else { return };
    for subject in subjects {
        assert_no_faults(&subject.bmv2_failures(&program).await);
    }
}
