//! The TCP port for Prometheus: `closc-http`, in a separate thread.
//!
//! In: an address, and the metrics text each time the loop is woken for it. Out: answers. Invariants: the
//! agent's loop never waits for a client. Only one scrape at a time asks the loop, and the number of
//! connections is limited, so memory does not grow with requests. The thread starts after privileges have
//! been dropped.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use closc_http::{Answer, Request};

/// Maximum number of connections, enough for a few Prometheus servers.
const CONNECTIONS_MAX: usize = 8;
/// Stack size of the thread.
const STACK_BYTES: usize = 512 << 10;
/// Time limit for the answer of the loop, which comes in its next turn.
const LOOP_PATIENCE: Duration = Duration::from_secs(2);

/// The port, bound but not yet served.
pub struct Port(TcpListener);

/// The loop's side: scrapes that wait for the text.
#[derive(Debug)]
pub struct Scrapes {
    requests: Receiver<SyncSender<String>>,
    woken: UnixStream,
}

/// The thread's side.
struct Asker {
    requests: SyncSender<SyncSender<String>>,
    wakes: Mutex<UnixStream>,
}

impl Port {
    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// Returns why the address cannot be bound.
    pub fn open(address: SocketAddr) -> io::Result<Port> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Port(listener))
    }

    /// Returns the address of the listener.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Serves in a thread, until the process ends.
    ///
    /// # Errors
    ///
    /// Returns why the thread cannot be started.
    pub fn serve(self) -> io::Result<Scrapes> {
        let (wakes, woken) = UnixStream::pair()?;
        wakes.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let (sender, asked) = sync_channel(1);
        let asker = Asker { requests: sender, wakes: Mutex::new(wakes) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(self.0) else { return };
                closc_http::serve_within(CONNECTIONS_MAX, listener, None, move |request| {
                    answer(&asker, request)
                })
                .await;
            });
        };
        std::thread::Builder::new().name("metrics".to_owned()).stack_size(STACK_BYTES).spawn(served)?;
        Ok(Scrapes { requests: asked, woken })
    }
}

fn answer(asker: &Asker, request: &Request) -> Answer {
    if request.is_post {
        return Answer::text(405, "only GET and HEAD are served\n");
    }
    if request.path != "/metrics" {
        return Answer::text(404, "only /metrics is served\n");
    }
    match asker.ask() {
        Some(text) => Answer {
            status: 200,
            content_type: "text/plain; version=0.0.4",
            headers: &[("cache-control", "no-store")],
            body: text,
        },
        None => Answer::text(503, "the agent is busy\n"),
    }
}

impl Asker {
    /// Requests the text from the loop.
    fn ask(&self) -> Option<String> {
        let (answers, text) = sync_channel(1);
        self.requests.try_send(answers).ok()?;
        // If the pipe is full, it wakes the loop anyway.
        let _ = self.wakes.lock().ok()?.write(&[1]);
        text.recv_timeout(LOOP_PATIENCE).ok()
    }
}

impl Scrapes {
    /// Returns the descriptor to wait for.
    pub(crate) fn fd(&self) -> RawFd {
        self.woken.as_raw_fd()
    }

    /// Answers pending scrapes.
    pub fn answer(&mut self, text: impl Fn() -> String) {
        let mut bytes = [0; 64];
        while self.woken.read(&mut bytes).is_ok_and(|n| n > 0) {}
        while let Ok(answers) = self.requests.try_recv() {
            // A scrape that waited too long is gone, so ignore the error.
            let _ = answers.try_send(text());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;
    use crate::io::sys::{self, PollRequest};

    /// Requests a page and answers scrapes like the loop, until the page was read.
    fn ask(scrapes: &mut Scrapes, address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it is read");
        let page = std::thread::spawn(move || {
            let mut page = String::new();
            stream.read_to_string(&mut page).map(|_| page)
        });
        while !page.is_finished() {
            sys::wait(&[PollRequest::read(scrapes.fd())], &mut Vec::new(), 1_000_000);
            scrapes.answer(|| "closc_nic_up 1\n".to_owned());
        }
        page.join().expect("no panic").expect("it answers")
    }

    #[test]
    fn metrics_are_served_and_nothing_else() {
        let port = Port::open("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let address = port.address().expect("it is bound");
        let mut scrapes = port.serve().expect("a thread");
        let page = ask(&mut scrapes, address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4\r\n"), "{page}");
        assert!(page.ends_with("\r\n\r\nclosc_nic_up 1\n"), "{page}");
        let other = ask(&mut scrapes, address, "GET /metricsx HTTP/1.1\r\n\r\n");
        assert!(other.starts_with("HTTP/1.1 404 "), "{other}");
        let post = ask(&mut scrapes, address, "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
    }
}
