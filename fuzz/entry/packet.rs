//! Sends arbitrary bytes as a packet into the fabric pipeline, without a panic.
//!
//! In: four values: the number of the packet test whose entries are used, a port, a waiting time, and a
//! packet. Out: none. Invariants: an output packet without its controller header is not longer than the input
//! packet.

use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use closc_switch::{CheckedPorts, Engine, EngineConfig, Program, Script, Sink};

/// Size in bytes of the header of a packet to the controller.
const CONTROLLER_HEADER: usize = 4;

/// Checks the length of transmitted packets.
struct LengthSink(usize);

impl Sink for LengthSink {
    fn transmit(&mut self, _port: u32, frame: &[u8]) {
        assert!(frame.len() <= self.0 + CONTROLLER_HEADER, "{} bytes became {}", self.0, frame.len());
    }
}

/// One switch per packet test, with the entries that the test leaves behind.
static SWITCHES: LazyLock<Mutex<Vec<Engine>>> = LazyLock::new(|| {
    // The fuzz targets and the tests are in folders at different depths.
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut folders = above.map(|folder| folder.join("p4/pipelines/fabric"));
    let folder = folders.find(|folder| folder.is_dir()).expect("it is in the repository");
    let json = std::fs::read(folder.join("fabric.bmv2.json")).expect("it is in the repository");
    let program = Arc::new(Program::from_json(&json).expect("p4c made it"));
    let mut scripts: Vec<_> = std::fs::read_dir(folder.join("stf"))
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "stf"));
    scripts.sort();
    let engine = |path| {
        let script = Script::parse(&std::fs::read_to_string(path).expect("a text")).expect("a packet test");
        let config = EngineConfig { priority_queues: 8, ..EngineConfig::default() };
        let mut engine = Engine::new(Arc::clone(&program), config);
        script.run(&mut engine, CheckedPorts::All).expect("it passes");
        engine
    };
    Mutex::new(scripts.iter().map(engine).collect())
});

/// Runs one input.
pub(crate) fn run(input: (u8, u16, u64, &[u8])) {
    let (which, port, wait_ns, packet) = input;
    let mut engines = SWITCHES.lock().unwrap_or_else(PoisonError::into_inner);
    let at = usize::from(which) % engines.len();
    let now_ns = (1 << 40) + wait_ns % (1 << 40);
    engines[at].receive(now_ns, u32::from(port) % 512, packet, &mut LengthSink(packet.len()));
}
