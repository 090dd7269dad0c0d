//! A fake target for tests, which start it, script it, break it and inspect it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;

use super::line::Line;
use super::script::Script;
use super::service::{Service, State};
use crate::client::{ClientError, Endpoint, Pipeline};
use crate::election::DeviceId;
use crate::proto::v1;
use crate::server::{P4RuntimeServer, ServerTls};
use v1::stream_message_request::Update as FromController;
use v1::stream_message_response::Update as ToController;

/// Options of a fake target.
#[derive(Debug, Clone, Default)]
pub struct FakeOptions {
    /// Its device id.
    pub device: DeviceId,
    /// Its faults.
    pub script: Script,
    /// Its certificates; without them it uses no TLS.
    pub tls: Option<ServerTls>,
}

/// A P4Runtime server on loopback that follows a script. Dropping it stops it.
#[derive(Debug)]
pub struct FakeTarget {
    address: SocketAddr,
    /// Bound but never listening: it reserves the port while the target is down, so that connections are refused.
    _port: TcpSocket,
    service: Service,
    options: FakeOptions,
    tasks: Vec<JoinHandle<()>>,
}

impl FakeTarget {
    /// Starts without faults.
    pub async fn start() -> io::Result<Self> {
        FakeTarget::with(FakeOptions::default()).await
    }

    /// Starts with a script.
    pub async fn with_script(script: Script) -> io::Result<Self> {
        FakeTarget::with(FakeOptions { script, ..Default::default() }).await
    }

    /// Starts with options.
    pub async fn with(options: FakeOptions) -> io::Result<Self> {
        let port = TcpSocket::new_v4()?;
        port.set_reuseaddr(true)?;
        port.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = port.local_addr()?;
        let listener = TcpListener::bind(address).await?;
        let state = State::new(options.device, options.script.clone());
        let service = Service { state: Arc::new(Mutex::new(state)) };
        let mut target = FakeTarget { address, _port: port, service, options, tasks: Vec::new() };
        target.serve(listener)?;
        Ok(target)
    }

    fn serve(&mut self, listener: TcpListener) -> io::Result<()> {
        let (lines, incoming) = mpsc::channel::<io::Result<Line>>(16);
        let service = self.service.clone();
        self.tasks.push(tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (line, cutter) = Line::new(stream);
                service.lock().lines.push(cutter);
                if lines.send(Ok(line)).await.is_err() {
                    break;
                }
            }
        }));
        let server = P4RuntimeServer::new(self.service.clone())
            .max_decoding_message_size(256 << 20)
            .max_encoding_message_size(usize::MAX);
        let mut builder = Server::builder();
        if let Some(tls) = &self.options.tls {
            builder = builder.tls_config(tls.config()).map_err(io::Error::other)?;
        }
        let router = builder.add_service(server);
        self.tasks.push(tokio::spawn(async move {
            // If the server fails, the test notices a broken connection.
            drop(router.serve_with_incoming(ReceiverStream::new(incoming)).await);
        }));
        Ok(())
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Returns the address as an endpoint.
    pub fn endpoint(&self) -> Result<Endpoint, ClientError> {
        Endpoint::plain(&self.address())
    }

    /// Changes the script.
    pub fn set_script(&self, script: Script) {
        self.service.lock().script = script;
    }

    /// Breaks all connections; the state stays.
    pub fn disconnect(&self) {
        self.service.lock().cut();
    }

    /// Restarts at once without any state: no pipeline, no entries, no election ids. Updates and Writes are counted
    /// from 0 again.
    pub fn restart(&self) {
        let mut state = self.service.lock();
        state.cut();
        *state = State::new(state.device, state.script.clone());
    }

    /// Restarts with a pipeline that was not set over P4Runtime.
    pub fn restart_with(&self, pipeline: &Pipeline) {
        self.restart();
        let config = v1::ForwardingPipelineConfig {
            p4info: Some(pipeline.info().message().clone()),
            p4_device_config: pipeline.device_config().clone(),
            cookie: None,
        };
        self.service.lock().pipeline = Some((pipeline.info().clone(), config));
    }

    /// Changes the cookie of the pipeline, as if another controller had set it.
    pub fn recookie(&self, cookie: u64) {
        if let Some((_, config)) = &mut self.service.lock().pipeline {
            config.cookie = Some(v1::forwarding_pipeline_config::Cookie { cookie });
        }
    }

    /// Stops listening and breaks all connections, like a machine that is switched off.
    pub async fn down(&mut self) {
        for task in self.tasks.drain(..) {
            task.abort();
            // Wait until the listener is closed.
            drop(task.await);
        }
        self.service.lock().cut();
    }

    /// Listens again on the same port, with the same state.
    pub async fn up(&mut self) -> io::Result<()> {
        let listener = TcpListener::bind(self.address).await?;
        self.serve(listener)
    }

    /// Makes another controller primary.
    pub fn lose_primary(&self) {
        self.service.lock().lose_primary();
    }

    /// Disconnects that controller.
    pub fn free_primary(&self) {
        self.service.lock().free_primary();
    }

    /// Adds entities without any check, as if another controller had written them.
    pub fn plant(&self, entities: impl IntoIterator<Item = v1::Entity>) {
        let mut state = self.service.lock();
        for entity in entities {
            state.store.plant(entity);
        }
    }

    /// Returns all entities, in the order of their keys.
    pub fn entities(&self) -> Vec<v1::Entity> {
        self.service.lock().store.entities().cloned().collect()
    }

    /// Returns the pipeline.
    pub fn pipeline(&self) -> Option<v1::ForwardingPipelineConfig> {
        self.service.lock().pipeline.as_ref().map(|(_, config)| config.clone())
    }

    /// Returns the number of Writes received.
    pub fn n_writes(&self) -> u64 {
        self.service.lock().n_writes
    }

    /// Returns the number of requests to set a pipeline, including failed ones.
    pub fn n_pipelines(&self) -> u64 {
        self.service.lock().n_pipelines
    }

    /// Returns the number of updates processed.
    pub fn n_updates(&self) -> u64 {
        self.service.lock().n_updates
    }

    /// Returns the messages that controllers sent on their streams, except for arbitration.
    pub fn received_messages(&self) -> Vec<FromController> {
        self.service.lock().received.clone()
    }

    /// Sends a message to the primary. Returns false if there is none, or if its queue is full.
    pub fn send_to_primary(&self, update: ToController) -> bool {
        self.service.lock().send_to_primary(update)
    }
}

impl Drop for FakeTarget {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.service.lock().cut();
    }
}
