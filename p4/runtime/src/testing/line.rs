//! A TCP connection that a test can cut, as if a cable were pulled or a process killed.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tonic::transport::server::Connected;

/// The handle that cuts a line.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    cut: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Cutter {
    pub(super) fn cut(&self) {
        self.cut.store(true, Ordering::Release);
        if let Some(waker) = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.cut.load(Ordering::Acquire) { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

/// A connection with its cutter.
#[derive(Debug)]
pub(super) struct Line {
    stream: TcpStream,
    cutter: Arc<Cutter>,
}

impl Line {
    pub(super) fn new(stream: TcpStream) -> (Self, Arc<Cutter>) {
        let cutter = Arc::new(Cutter::default());
        (Line { stream, cutter: cutter.clone() }, cutter)
    }
}

impl Connected for Line {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        *self.cutter.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        self.cutter.check()?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.cutter.check()?;
        Pin::new(&mut self.stream).poll_write(cx, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.cutter.check()?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
