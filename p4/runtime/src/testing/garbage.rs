//! A server that does not use gRPC.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Sends the same bytes to every client and discards everything it receives.
#[derive(Debug)]
pub struct GarbageServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl GarbageServer {
    /// Starts on a loopback port. Without bytes, the server never sends anything.
    pub async fn start(bytes: Vec<u8>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let bytes = bytes.clone();
                tokio::spawn(async move {
                    let sent = stream.write_all(&bytes).await;
                    let mut answer = [0; 1024];
                    while sent.is_ok() && matches!(stream.read(&mut answer).await, Ok(1..)) {}
                });
            }
        });
        Ok(GarbageServer { address, task })
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for GarbageServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
