//! Runs one switch with the options of the command line.

use std::io::{self, Write as _};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use closc_runtime::server::{Acceptor, Protocol, TlsFileError, TlsFiles};
use closc_runtime::text::read_p4info;

use super::arguments::{Request, UsageError, parse};
use super::error::CommandError;
use super::log;
use super::options::Options;
use crate::engine::EngineConfig;
use crate::pipeline::{Pipeline, PipelineCache};
use crate::ports::Interfaces;
use crate::server::{Endpoint, PacketService, Service};
use crate::switch::{Clock, Switch, SwitchConfig};

const HELP: &str = "\
Usage: switch [options] [program.json] [-- options]

Runs a software switch with P4Runtime. The options are those of simple_switch_grpc.

Options:
  -i, --interface PORT@NAME       Attach an interface as a port; can be repeated
      --device-id ID              Number by which controllers know the switch (default 0)
      --no-p4                     Start without a program
      --p4info FILE               P4Info of the program, as text
      --pcap [FOLDER]             Write captures of every interface (default: here)
      --log-console               Write messages to standard error
      --log-file FILE             Write messages to a file
  -L, --log-level LEVEL           trace, debug, info, warn, error or off (default info)
  -h, --help                      Show this text
  -v, --version                   Show the version
      --json-version              Show the newest format of programs that is read

Options after `--`:
      --grpc-server-addr ADDRESS  Serve P4Runtime there (default 127.0.0.1:9559), or at unix:PATH
      --grpc-server-ssl           Serve with TLS
      --grpc-server-cert FILE     Certificate of the switch, as PEM
      --grpc-server-key FILE      Key of the switch, as PEM, readable only by its owner
      --grpc-server-cacert FILE   Authority that controllers must be signed by, as PEM
      --grpc-server-crl FILE      Certificates of controllers that were revoked, as PEM
      --grpc-server-with-client-auth
                                  Take only controllers with a certificate
      --cpu-port PORT             Port that stands for the controller
      --drop-port PORT            Port that means drop (default 511)
      --priority-queues N         Queues of each port (default 1)
      --enforce-restrictions      Refuse what @entry_restriction and @action_restriction forbid
      --dp-grpc-server-addr ADDRESS
                                  Exchange the packets of ports without interface over gRPC
";

/// Addresses of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// P4Runtime: `ADDRESS:PORT`, or `unix:PATH`.
    pub p4runtime: String,
    /// Address for packets of ports without an interface, if requested.
    pub packets: Option<SocketAddr>,
    /// Arguments that were accepted without effect, with the reason, and warnings about others.
    pub notes: Vec<String>,
}

/// Interval between checks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs a switch until a signal ends it. The arguments are those of `simple_switch_grpc`, without its name.
///
/// `started` is called with the addresses of the switch once it is ready.
pub fn switch_main(
    arguments: impl IntoIterator<Item = String>,
    started: impl FnOnce(&Addresses),
) -> Result<(), CommandError> {
    let options = match parse(arguments)? {
        Request::Run(options) => options,
        Request::Help => return say(HELP),
        Request::Version => return say(concat!(env!("CARGO_PKG_VERSION"), "\n")),
        Request::FormatVersion => return say("2.23\n"),
    };
    log::start(&options)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    run(&options, &stop, started)
}

fn say(text: &str) -> Result<(), CommandError> {
    Ok(io::stdout().write_all(text.as_bytes())?)
}

/// Runs a switch until it is stopped.
fn run(options: &Options, stop: &AtomicBool, started: impl FnOnce(&Addresses)) -> Result<(), CommandError> {
    let engine = EngineConfig {
        drop_port: options.drop_port,
        priority_queues: options.priority_queues,
        ..EngineConfig::default()
    };
    let (device_id, cpu_port) = (options.device_id, options.cpu_port);
    let cache = if options.restricts { PipelineCache::with_restrictions() } else { PipelineCache::default() };
    let config = SwitchConfig { device_id, cpu_port, engine, clock: Clock::wall() };
    let pipeline = match &options.program {
        Some(file) => Some(load(&cache, file, options.p4info.as_deref())?),
        None => None,
    };
    let switch = Arc::new(Switch::with_cache(config, Arc::new(cache)));
    let doubt = pipeline.as_ref().and_then(|pipeline| pipeline.program().doubt_drop_port(options.drop_port));
    let doubt = doubt.map(|doubt| doubt.to_string());
    if let Some(pipeline) = pipeline {
        switch.run_pipeline(Arc::new(pipeline));
    }
    let interfaces = Arc::new(Interfaces::open(&options.interfaces, options.captures.as_deref())?);
    let packets = PacketService::new(Arc::clone(&switch), Arc::clone(&interfaces));
    switch.set_ports(Arc::new(packets.clone()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build()?;
    let tls = options.tls.clone().map(acceptor).transpose()?;
    let service = Service::new([Arc::clone(&switch)]);
    let endpoint = runtime.block_on(ServerEndpoint::start(service, &options.address, tls))?;
    let packet_endpoint = match &options.packet_address {
        Some(address) => Some(runtime.block_on(packets.serve(resolve(address)?))?),
        None => None,
    };
    let addresses = Addresses {
        p4runtime: endpoint.address(),
        packets: packet_endpoint.as_ref().map(Endpoint::address),
        notes: options.notes.iter().cloned().chain(doubt).collect(),
    };
    tracing::info!("device {device_id} serves P4Runtime at {}", addresses.p4runtime);
    started(&addresses);
    let result = std::thread::scope(|scope| {
        let forwarder = scope.spawn(|| interfaces.run(&switch, &packets));
        while !stop.load(Ordering::Acquire) && !forwarder.is_finished() {
            std::thread::sleep(PATIENCE);
        }
        interfaces.stop();
        forwarder.join().unwrap_or_else(|_| Err(io::Error::other("the thread that forwards packets broke")))
    });
    drop((endpoint, packet_endpoint));
    runtime.shutdown_timeout(PATIENCE);
    Ok(result?)
}

fn acceptor(files: TlsFiles) -> Result<Acceptor, TlsFileError> {
    files.acceptor(Protocol::Http2, |renewed| match renewed {
        Ok(()) => tracing::info!("certificates were read again"),
        Err(error) => tracing::warn!("certificates are unchanged: {error}"),
    })
}

/// The P4Runtime endpoint: a network address or a local socket.
enum ServerEndpoint {
    Network(Endpoint),
    Socket(Endpoint<PathBuf>),
}

impl ServerEndpoint {
    async fn start(service: Service, address: &str, tls: Option<Acceptor>) -> Result<Self, CommandError> {
        let Some(path) = address.strip_prefix("unix:") else {
            let address = resolve(address)?;
            if tls.is_none() && !address.ip().is_loopback() {
                tracing::warn!(
                    "{address} serves P4Runtime without TLS: any client that reaches it controls the switch"
                );
            }
            return Ok(Self::Network(Endpoint::serve_with(service, address, tls).await?));
        };
        if tls.is_some() {
            let needed = "an address of the network";
            return Err(UsageError::Needs { option: "--grpc-server-ssl", needed }.into());
        }
        let path = Path::new(path.strip_prefix("//").unwrap_or(path));
        Ok(Self::Socket(Endpoint::serve_unix(service, path).await?))
    }

    fn address(&self) -> String {
        match self {
            Self::Network(endpoint) => endpoint.address().to_string(),
            Self::Socket(endpoint) => format!("unix:{}", endpoint.path().display()),
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, CommandError> {
    std::fs::read(file).map_err(|error| CommandError::Read { file: file.to_owned(), error })
}

/// Loads a program. Without a P4Info, the program runs, but controllers cannot write or read.
fn load(cache: &PipelineCache, program: &Path, p4info: Option<&Path>) -> Result<Pipeline, CommandError> {
    let info = match p4info {
        Some(file) => {
            let text = read(file)?;
            read_p4info(&String::from_utf8_lossy(&text))
                .map_err(|error| CommandError::Info { file: file.to_owned(), error })?
        }
        None => closc_runtime::proto::config::P4Info::default(),
    };
    let pipeline = match p4info {
        Some(_) => cache.compile(info, read(program)?.into()),
        None => Pipeline::without_info(read(program)?.into()),
    };
    pipeline.map_err(|error| CommandError::Program { file: program.to_owned(), error })
}

fn resolve(address: &str) -> Result<SocketAddr, CommandError> {
    let fail = |error| CommandError::Address { address: address.to_owned(), error };
    let mut found = address.to_socket_addrs().map_err(fail)?;
    found.next().ok_or_else(|| fail(io::Error::from(io::ErrorKind::NotFound)))
}
