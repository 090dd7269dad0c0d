//! Connections to the Unix socket for requests.
//!
//! Invariants: the number of connections, the bytes of each, and the bytes of all answers together are
//! limited. No client can make the agent wait, or lock others out. Connections without a request have their
//! own limit, at which the oldest is closed. At the limit for connections with requests, the connection with
//! the oldest request is closed. At the limit of bytes, the connection with the largest unread answer is
//! closed.

use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, AsRawFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, lchown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::{Agent, AgentContext};
use crate::api::{self, Answer, LINE_MAX, Request};
use crate::io::orders::{Caller, OrderStart, Orders};
use crate::io::setup::SetupFault;
use crate::io::sys::{self, PollRequest};

/// Maximum number of connections with a request.
const CLIENTS_MAX: usize = 32;
/// Maximum number of connections without a request yet.
const SILENT_MAX: usize = 8;
/// Maximum number of connections accepted per turn of the loop, so that each new connection is read before it can be
/// closed for another one.
const TAKEN_MAX: usize = SILENT_MAX / 2;
/// Maximum bytes of pending answers of all clients together.
const OUT_MAX: usize = 4 << 20;

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// More requests may follow.
    Asks,
    /// The client has finished sending, and still receives its answers.
    Ended,
    /// It is closed when pending data has been sent.
    Closed,
}

struct Client {
    stream: UnixStream,
    caller: Caller,
    line: Vec<u8>,
    out: Vec<u8>,
    waits_for: Option<u64>,
    wants_reload: bool,
    phase: Phase,
    /// Sequence number of its last request; `None` before the first.
    last_request: Option<u64>,
    /// Time of the first attempt to log the next line, while another process holds the audit log.
    blocked_since: Option<u64>,
}

/// The server for requests. Its socket file is removed with it.
pub struct Server {
    path: PathBuf,
    requests: UnixListener,
    clients: Vec<Client>,
    /// Requests so far.
    request_count: u64,
    orders: Orders,
}

/// The result of a turn.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// A client asked to reload the table.
    pub reload: bool,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Without write permission for its folder, the file stays. The next agent replaces it.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Server {
    /// Listens on a socket. Replaces a socket file without a server, but no other kind of file. If a group is
    /// given, its members may connect.
    pub fn open(socket: &Path, group: Option<u32>) -> Result<Server, SetupFault> {
        let what = format!("`{}`", socket.display());
        let opened = requests(socket).and_then(|requests| {
            if group.is_some() {
                lchown(socket, None, group)?;
                std::fs::set_permissions(socket, Permissions::from_mode(0o660))?;
            }
            Ok(requests)
        });
        let requests = opened.map_err(|error| SetupFault::Open { resource: what, error })?;
        Ok(Server {
            path: socket.to_owned(),
            requests,
            clients: Vec::new(),
            request_count: 0,
            orders: Orders::default(),
        })
    }

    /// Sets the permitted users and the audit log.
    pub(crate) fn set_orders(&mut self, orders: Orders) {
        self.orders = orders;
    }

    /// Returns the permitted users and the audit log.
    pub(crate) fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Adds the descriptors to wait for.
    pub(crate) fn fds(&self, out: &mut Vec<PollRequest>) {
        out.push(PollRequest::read(self.requests.as_raw_fd()));
        // The loop wakes up to send pending answers when the socket has space. Requests beyond the limit do not wake
        // it.
        let of = |client: &Client| PollRequest {
            fd: client.stream.as_raw_fd(),
            read: client.reads(),
            write: !client.out.is_empty(),
        };
        out.extend(self.clients.iter().map(of));
    }

    /// Returns whether buffered lines can be answered now. They are already in memory, so they do not wake the loop.
    pub(crate) fn has_lines(&self) -> bool {
        self.clients.iter().any(Client::has_line)
    }

    /// Returns whether a client waits for a write or for the audit log, or a buffered line can be answered now.
    pub fn is_waited_for(&self) -> bool {
        self.clients.iter().any(|client| client.waits_for.is_some()) || self.has_lines() || self.has_held()
    }

    /// Returns whether an order waits for the audit log, which does not wake the loop.
    pub(crate) fn has_held(&self) -> bool {
        self.clients.iter().any(|client| client.blocked_since.is_some())
    }

    /// Accepts connections and handles requests. Changed denials are saved before the request is answered.
    pub fn read(
        &mut self,
        agent: &mut Agent,
        at: &AgentContext<'_>,
        unix: f64,
        save: &mut dyn FnMut(&Agent) -> Result<(), String>,
    ) -> Round {
        for _ in 0..TAKEN_MAX {
            let Ok((stream, _)) = self.requests.accept() else { break };
            let _ = stream.set_nonblocking(true);
            self.join(stream);
        }
        let mut round = Round::default();
        for client in &mut self.clients {
            client.read();
            while let Some(line) = client.next_line() {
                if client.blocked_since.is_none() {
                    self.request_count += 1;
                    client.last_request = Some(self.request_count);
                }
                let who = (&client.caller, client.blocked_since);
                let Some(answer) = answer(&line, (&self.orders, who), agent, (at, unix), save) else {
                    client.hold(&line, at.now_ns);
                    break;
                };
                client.take(answer, &mut round);
            }
        }
        self.make_room();
        round
    }

    /// Closes the connections with the largest answers until the others are within the limit.
    fn bound_answers(&mut self) {
        while self.clients.iter().map(|client| client.out.len()).sum::<usize>() > OUT_MAX {
            let largest = self.clients.iter().enumerate().max_by_key(|(_, client)| client.out.len());
            let Some((largest, _)) = largest else { return };
            self.clients.remove(largest);
        }
    }

    fn join(&mut self, stream: UnixStream) {
        let silent = self.clients.iter().filter(|client| client.last_request.is_none()).count();
        if silent >= SILENT_MAX
            && let Some(oldest) = self.clients.iter().position(|client| client.last_request.is_none())
        {
            self.clients.remove(oldest);
        }
        self.clients.push(Client {
            caller: Caller(sys::peer(stream.as_fd()).ok()),
            stream,
            line: Vec::new(),
            out: Vec::new(),
            waits_for: None,
            wants_reload: false,
            phase: Phase::Asks,
            last_request: None,
            blocked_since: None,
        });
    }

    /// Closes the connections with the oldest requests until the number of those with requests is within the limit.
    fn make_room(&mut self) {
        while self.clients.iter().filter(|client| client.last_request.is_some()).count() > CLIENTS_MAX {
            // A client that waits for the agent is closed only if all clients do.
            let key =
                |client: &Client| (client.waits() || client.blocked_since.is_some(), client.last_request);
            let asked = self.clients.iter().enumerate().filter(|(_, client)| client.last_request.is_some());
            let Some((oldest, _)) = asked.min_by_key(|(_, client)| key(client)) else { return };
            self.clients.remove(oldest);
        }
    }

    /// Answers clients whose write has ended.
    pub fn answer_writes(&mut self, agent: &Agent, at: &AgentContext<'_>) {
        for client in &mut self.clients {
            let Some(id) = client.waits_for else { continue };
            let view = agent.write_view(at, id);
            if view.as_ref().is_none_or(|view| view.done || view.failed.is_some()) {
                client.waits_for = None;
                let said = view.map(|view| match view.failed {
                    Some(why) => api::fault(why),
                    None => serde_json::to_value(view).unwrap_or_else(api::fault),
                });
                client.say(&said.unwrap_or_else(|| api::fault("the far NIC no longer exists")));
            }
        }
    }

    /// Answers clients that asked for a reload.
    pub fn answer_reloads(&mut self, said: &Value) {
        for client in self.clients.iter_mut().filter(|client| client.wants_reload) {
            client.wants_reload = false;
            client.say(said);
        }
    }

    /// Sends answers, and closes finished connections.
    pub fn flush(&mut self) {
        self.clients.iter_mut().for_each(Client::flush);
        self.bound_answers();
        self.clients.retain(|client| !client.is_over());
    }
}

/// Listens for requests, unless another agent serves the socket.
fn requests(socket: &Path) -> io::Result<UnixListener> {
    if std::os::unix::net::UnixStream::connect(socket).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another agent serves this socket"));
    }
    match std::fs::symlink_metadata(socket) {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(socket)?,
        // The error of the bind names the existing file.
        Ok(_) | Err(_) => {}
    }
    let requests = UnixListener::bind(socket)?;
    requests.set_nonblocking(true)?;
    Ok(requests)
}

/// Answers a request, and saves changed denials. An order is logged before and after it is carried out. `None` if it
/// has to wait for the log.
fn answer(
    line: &[u8],
    (orders, (caller, since)): (&Orders, (&Caller, Option<u64>)),
    agent: &mut Agent,
    (at, unix): (&AgentContext<'_>, f64),
    save: &mut dyn FnMut(&Agent) -> Result<(), String>,
) -> Option<Answer> {
    let request = match serde_json::from_slice::<Request>(line) {
        Ok(request) => request,
        Err(error) => return Some(Answer::Now(api::fault(error))),
    };
    match orders.begin(&request, caller, (at.now_ns, since)) {
        OrderStart::Yes => {}
        OrderStart::Later => return None,
        OrderStart::Refused(why) => return Some(Answer::Now(api::fault(why))),
    }
    let is_audited = request.is_audited();
    let (answer, change) = api::respond(agent, at, request, unix);
    let answer = match change.map(|change| (change, save(agent))) {
        None | Some((_, Ok(()))) => answer,
        Some((change, Err(why))) => api::answer_unsaved_change(agent, at, change, &why),
    };
    Some(match &answer {
        Answer::Now(said) if is_audited => match orders.end(said) {
            Ok(()) => answer,
            Err(why) => Answer::Now(api::fault(why)),
        },
        // The second line of a reload is written after the table was read.
        Answer::Now(_) | Answer::WhenWritten(_) | Answer::AfterReload => answer,
    })
}

impl Client {
    /// Returns whether to read more: not after the end of input, nor while the buffer has more bytes than a
    /// line may have.
    fn reads(&self) -> bool {
        self.phase == Phase::Asks && self.line.len() <= LINE_MAX
    }

    fn read(&mut self) {
        let mut bytes = [0; 4096];
        while self.reads() {
            match self.stream.read(&mut bytes) {
                Ok(0) => self.phase = Phase::Ended,
                Ok(n) => self.line.extend_from_slice(&bytes[..n]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.phase = Phase::Closed,
            }
        }
    }

    /// Returns whether the answer to the last request is still pending.
    fn waits(&self) -> bool {
        self.waits_for.is_some() || self.wants_reload
    }

    fn has_line(&self) -> bool {
        self.blocked_since.is_none() && self.is_next_readable() && self.line.contains(&b'\n')
    }

    /// Returns whether the next line can be answered, which requires that the previous answer was sent.
    fn is_next_readable(&self) -> bool {
        self.phase != Phase::Closed && !self.waits() && self.out.is_empty()
    }

    /// Keeps a line for the next turn.
    fn hold(&mut self, line: &[u8], now_ns: u64) {
        self.line.splice(..0, line.iter().copied());
        self.blocked_since.get_or_insert(now_ns);
    }

    /// Returns whether the connection is finished. A client that has finished sending still gets its answers.
    fn is_over(&self) -> bool {
        let is_done = match self.phase {
            Phase::Asks => false,
            Phase::Ended => !self.waits() && !self.has_line() && self.blocked_since.is_none(),
            Phase::Closed => true,
        };
        is_done && self.out.is_empty()
    }

    fn next_line(&mut self) -> Option<Vec<u8>> {
        if !self.is_next_readable() {
            return None;
        }
        let Some(end) = self.line.iter().position(|byte| *byte == b'\n') else {
            if self.line.len() > LINE_MAX {
                self.say(&api::fault(format_args!("a request has at most {LINE_MAX} bytes")));
                self.line.clear();
                self.phase = Phase::Closed;
            }
            return None;
        };
        let rest = self.line.split_off(end + 1);
        Some(std::mem::replace(&mut self.line, rest))
    }

    fn take(&mut self, answer: Answer, round: &mut Round) {
        self.blocked_since = None;
        match answer {
            Answer::Now(said) => self.say(&said),
            Answer::WhenWritten(write) => self.waits_for = Some(write),
            Answer::AfterReload => {
                self.wants_reload = true;
                round.reload = true;
            }
        }
    }

    fn say(&mut self, said: &Value) {
        self.out.extend_from_slice(said.to_string().as_bytes());
        self.out.push(b'\n');
    }

    fn flush(&mut self) {
        while !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(n) if n > 0 => {
                    self.out.drain(..n);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(_) | Err(_) => {
                    self.phase = Phase::Closed;
                    self.out.clear();
                }
            }
        }
        // Releases the memory of a long answer.
        self.out = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};

    use closc_paths::Table;

    use super::*;
    use crate::agent::Options;
    use crate::io::{orders, sys};
    use crate::region::Region;

    /// The loop does not poll. It wakes up for connections, for requests, and when a long answer can be continued.
    #[test]
    fn who_asks_wakes_the_loop_and_so_does_room_for_an_answer() {
        const LONG: usize = 4 << 20;
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::open(&folder.path().join("socket"), None).unwrap();
        let woken = |server: &Server| -> Vec<bool> {
            let (mut fds, mut ready) = (Vec::new(), Vec::new());
            server.fds(&mut fds);
            sys::wait(&fds, &mut ready, 60_000_000_000);
            ready
        };
        let mut asks = UnixStream::connect(folder.path().join("socket")).unwrap();
        assert_eq!(woken(&server), [true]);
        let (stream, _) = server.requests.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        server.join(stream);
        asks.write_all(b"{").unwrap();
        assert_eq!(woken(&server), [false, true]);
        server.clients[0].read();
        server.clients[0].out = vec![b'x'; LONG];
        server.flush();
        assert!(!server.clients[0].out.is_empty(), "a socket has no room for all of it");
        let reader = std::thread::spawn(move || {
            let mut read = vec![0; LONG];
            asks.read_exact(&mut read).map(|()| read.len())
        });
        while !server.clients[0].out.is_empty() {
            assert_eq!(woken(&server), [false, true]);
            server.flush();
        }
        assert_eq!(reader.join().unwrap().unwrap(), LONG);
    }

    /// Many clients connect without completing a line. Both later clients and an earlier client are still answered.
    #[test]
    fn connections_that_say_nothing_keep_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut server = Server::open(&path, None).unwrap();
        let bytes = crate::schedule::tests::table(0);
        let table = Table::open(&bytes).unwrap();
        let at = AgentContext { table: &table, now_ns: 1 };
        let mut agent = Agent::new(&at, Options::default(), Region::Pattern { wrong: 0 }, 1).unwrap();
        let mut serve = |server: &mut Server| {
            let (mut fds, mut ready) = (Vec::new(), Vec::new());
            server.fds(&mut fds);
            sys::wait(&fds, &mut ready, 0);
            server.read(&mut agent, &at, 0.0, &mut |_| Ok(()));
            server.flush();
            (ready.iter().any(|ready| *ready), server.clients.len())
        };
        let connect = || UnixStream::connect(&path).unwrap();
        let ask = |stream: &mut UnixStream,
                   server: &mut Server,
                   serve: &mut dyn FnMut(&mut Server) -> (bool, usize)| {
            stream.write_all(b"{\"op\":\"denials\"}\n").unwrap();
            while serve(server).0 {}
            let mut answer = String::new();
            BufReader::new(stream).read_line(&mut answer).unwrap();
            assert!(answer.contains("denials") && answer.ends_with('\n'), "{answer}");
        };
        let mut stays = connect();
        ask(&mut stays, &mut server, &mut serve);
        let mut silent: Vec<UnixStream> = Vec::new();
        for n in 0..400 {
            let mut stream = connect();
            if n % 2 == 0 {
                stream.write_all(b"{").unwrap();
            }
            silent.push(stream);
            assert!(serve(&mut server).1 <= CLIENTS_MAX + SILENT_MAX);
        }
        while serve(&mut server).0 {}
        ask(&mut connect(), &mut server, &mut serve);
        ask(&mut stays, &mut server, &mut serve);
        // Of the clients with requests, those with the most recent ones stay.
        let mut askers: Vec<UnixStream> = Vec::new();
        for _ in 0..CLIENTS_MAX + 5 {
            askers.push(connect());
            ask(askers.last_mut().unwrap(), &mut server, &mut serve);
        }
        assert!(serve(&mut server).1 <= CLIENTS_MAX + SILENT_MAX);
        ask(askers.last_mut().unwrap(), &mut server, &mut serve);
        assert_eq!(stays.read(&mut [0]).unwrap(), 0, "it asked before all of them");
        drop(silent);
    }

    /// A client sends more lines at once than fit into one read, then ends its input. Each line gets its answer later,
    /// and unread data does not wake the loop in between. Then the connection ends.
    #[test]
    fn every_line_of_many_gets_its_answer() {
        const LINES: usize = 300;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut server = Server::open(&path, None).unwrap();
        let bytes = crate::schedule::tests::table(0);
        let table = Table::open(&bytes).unwrap();
        let at = AgentContext { table: &table, now_ns: 1 };
        let mut agent = Agent::new(&at, Options::default(), Region::Pattern { wrong: 0 }, 1).unwrap();
        let mut asks = UnixStream::connect(&path).unwrap();
        let line = format!("{:<99}\n", "{\"op\":\"reload\"}");
        asks.write_all(line.repeat(LINES).as_bytes()).unwrap();
        asks.shutdown(std::net::Shutdown::Write).unwrap();
        let woken = |server: &Server, timeout_ns: u64| {
            let (mut fds, mut ready) = (Vec::new(), Vec::new());
            server.fds(&mut fds);
            sys::wait(&fds, &mut ready, timeout_ns);
            ready.contains(&true)
        };
        assert!(woken(&server, 0));
        let reader = std::thread::spawn(move || BufReader::new(asks).lines().collect::<Result<Vec<_>, _>>());
        let mut answers = 0;
        loop {
            let round = server.read(&mut agent, &at, 0.0, &mut |_| Ok(()));
            if round.reload {
                let full = server.clients[0].line.len() > LINE_MAX && server.clients[0].out.is_empty();
                assert!(!(full && woken(&server, 0)), "unread lines do not wake the server");
                answers += 1;
                server.answer_reloads(&serde_json::json!({ "number": answers }));
            }
            server.flush();
            if server.clients.is_empty() {
                break;
            }
            woken(&server, if server.has_lines() { 0 } else { 60_000_000_000 });
        }
        assert_eq!(answers, LINES);
        let said = reader.join().unwrap().unwrap();
        assert_eq!((said.len(), said[LINES - 1].as_str()), (LINES, "{\"number\":300}"));
    }

    #[test]
    fn a_socket_replaces_dead_sockets_and_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "another file").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert!(Server::open(&at("file"), None).is_err() && Server::open(&at("link"), None).is_err());
        assert_eq!(std::fs::read_to_string(at("file")).unwrap(), "another file");
        drop(UnixListener::bind(at("socket")).unwrap());
        assert!(at("socket").exists());
        drop(Server::open(&at("socket"), None).unwrap());
        assert!(!at("socket").exists(), "an agent that does not start, or ends, leaves none");
    }

    /// If a client never reads, one answer is kept, and further requests wait in the socket. Formerly all answers were
    /// kept in memory.
    #[test]
    fn a_client_that_does_not_read_holds_one_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut server = Server::open(&path, None).unwrap();
        let bytes = crate::schedule::tests::table(0);
        let table = Table::open(&bytes).unwrap();
        let at = AgentContext { table: &table, now_ns: 1 };
        let mut agent = Agent::new(&at, Options::default(), Region::Pattern { wrong: 0 }, 1).unwrap();
        let one = agent.metrics(&at).len();
        let streams: Vec<UnixStream> =
            (0..CLIENTS_MAX).map(|_| UnixStream::connect(&path).unwrap()).collect();
        for _ in 0..2_000 {
            for mut stream in &streams {
                stream.set_nonblocking(true).unwrap();
                let _ = stream.write(&b"{\"op\":\"metrics\"}\n".repeat(100));
            }
            server.read(&mut agent, &at, 0.0, &mut |_| Ok(()));
            server.flush();
        }
        let held: usize = server.clients.iter().map(|client| client.out.len() + client.line.len()).sum();
        let most = server.clients.len() * (2 * one + LINE_MAX + 4096);
        assert!(!server.clients.is_empty() && held <= most, "{held} bytes of {most}");
        // The total size of answers is limited too; the largest one is dropped.
        for client in &mut server.clients {
            client.out = vec![b'x'; OUT_MAX / 4];
        }
        server.bound_answers();
        let held: usize = server.clients.iter().map(|client| client.out.len()).sum();
        assert!(held <= OUT_MAX, "{held}");
    }

    /// On a full disk a new denial is rejected, because a restart would lose it. A denial in force can be ended.
    /// Formerly both were reported as done.
    #[test]
    fn a_denial_that_cannot_be_saved_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut server = Server::open(&path, None).unwrap();
        let bytes = crate::schedule::tests::table(0);
        let table = Table::open(&bytes).unwrap();
        let at = AgentContext { table: &table, now_ns: 1 };
        let mut agent = Agent::new(&at, Options::default(), Region::Pattern { wrong: 0 }, 1).unwrap();
        for plane in 0..table.header().planes {
            agent.port(&at, plane, Some([2; 14]), true);
        }
        let mut full = |agent: &mut Agent, line: &str, is_full: bool| {
            let mut asks = UnixStream::connect(&path).unwrap();
            asks.write_all(line.as_bytes()).unwrap();
            asks.shutdown(std::net::Shutdown::Write).unwrap();
            while server.clients.is_empty() || server.clients.iter().any(|client| !client.is_over()) {
                let save = &mut |_: &Agent| if is_full { Err("disk full".to_owned()) } else { Ok(()) };
                server.read(agent, &at, 0.0, save);
                for client in &mut server.clients {
                    client.flush();
                }
            }
            server.flush();
            let mut answer = String::new();
            BufReader::new(asks).read_line(&mut answer).unwrap();
            answer
        };
        let deny = "{\"op\":\"deny\",\"ban\":{\"plane\":1,\"reason\":\"drain\"}}\n";
        let answer = full(&mut agent, deny, true);
        assert!(answer.contains("disk full: a restart would lose the denial"), "{answer}");
        assert!(agent.bans().bans.is_empty());
        let answer = full(&mut agent, deny, false);
        assert!(answer.contains("\"id\""), "{answer}");
        let id = agent.bans().bans[0].id.unwrap();
        let answer = full(&mut agent, &format!("{{\"op\":\"allow\",\"id\":{id}}}\n"), true);
        assert!(
            answer.contains(&format!("denial {id} has ended, and is in force again after a restart")),
            "{answer}"
        );
        assert!(agent.bans().bans.is_empty(), "lifting works on a full disk");
    }

    /// Another process holds the audit log. Formerly each order blocked the loop, and so all packets and clients, for
    /// up to 2 s.
    #[test]
    fn a_locked_log_delays_orders_and_neither_the_loop_nor_queries() {
        const SECOND: u64 = 1_000_000_000;
        let folder = tempfile::tempdir().unwrap();
        let (path, log) = (folder.path().join("socket"), folder.path().join("log"));
        let mut server = Server::open(&path, None).unwrap();
        let place = camino::Utf8Path::from_path(&log).unwrap();
        server.set_orders(Orders::open(None, Some(place), ("table", b"")).unwrap());
        let bytes = crate::schedule::tests::table(0);
        let table = Table::open(&bytes).unwrap();
        let mut agent = Agent::new(
            &AgentContext { table: &table, now_ns: 1 },
            Options::default(),
            Region::Pattern { wrong: 0 },
            1,
        )
        .unwrap();
        for plane in 0..table.header().planes {
            agent.port(&AgentContext { table: &table, now_ns: 1 }, plane, Some([2; 14]), true);
        }
        let mut turn = |server: &mut Server, now_ns: u64| {
            server.read(&mut agent, &AgentContext { table: &table, now_ns }, 0.0, &mut |_| Ok(()));
            server.flush();
        };
        let [mut orders, mut queries] = [(); 2].map(|()| UnixStream::connect(&path).unwrap());
        let answer = |stream: &UnixStream| {
            stream.set_nonblocking(true).unwrap();
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).map(|_| line).ok()
        };
        let deny = "{\"op\":\"deny\",\"ban\":{\"plane\":1,\"reason\":\"drain\"}}\n";
        let other = std::fs::File::open(&log).unwrap();
        other.lock().unwrap();
        orders.write_all(deny.as_bytes()).unwrap();
        queries.write_all(b"{\"op\":\"denials\"}\n").unwrap();
        turn(&mut server, SECOND);
        assert_eq!(answer(&orders), None, "it waits, and the loop does not");
        assert!(answer(&queries).unwrap().contains("denials"));
        assert!(server.has_held() && server.is_waited_for() && !server.has_lines(), "a timer ends the wait");
        other.unlock().unwrap();
        turn(&mut server, SECOND + orders::RETRY_NS);
        assert!(answer(&orders).unwrap().contains("\"id\":1"));
        assert!(!server.has_held() && !server.is_waited_for());

        // Another process is suspended while it holds the lock. New denials are rejected, and denials can be ended.
        other.lock().unwrap();
        orders.write_all(deny.as_bytes()).unwrap();
        queries.write_all(b"{\"op\":\"allow\",\"id\":1}\n").unwrap();
        turn(&mut server, 10 * SECOND);
        assert_eq!((answer(&orders), answer(&queries)), (None, None));
        turn(&mut server, 12 * SECOND);
        assert!(answer(&orders).unwrap().contains("nothing is changed: another process keeps it locked"));
        assert!(answer(&queries).unwrap().contains("the order was executed, but the audit log"));
        assert!(agent.bans().bans.is_empty());
        assert!(server.orders().metrics().contains(" 3\n"), "{}", server.orders().metrics());
    }
}
