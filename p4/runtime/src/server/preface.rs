//! Waits for the first bytes of an HTTP/2 connection before any resource is allocated for it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// First bytes of every client (RFC 9113 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Waits for the preface and returns a connection that still contains it.
pub(super) async fn preface<T: AsyncRead + Unpin>(mut inner: T) -> io::Result<PrefacedConnection<T>> {
    let mut found = [0; PREFACE.len()];
    inner.read_exact(&mut found).await?;
    if &found != PREFACE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the client does not use HTTP/2"));
    }
    Ok(PrefacedConnection { unread: PREFACE, inner })
}

/// A connection whose preface was consumed and is returned to the reader again.
#[derive(Debug)]
pub(super) struct PrefacedConnection<T> {
    unread: &'static [u8],
    inner: T,
}

impl<T: AsyncRead + Unpin> AsyncRead for PrefacedConnection<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.unread.is_empty() {
            return Pin::new(&mut self.inner).poll_read(context, buffer);
        }
        let (now, later) = self.unread.split_at(self.unread.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.unread = later;
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for PrefacedConnection<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
