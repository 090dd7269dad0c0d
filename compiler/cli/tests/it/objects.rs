//! Archives in an object store: written atomically, and read in parts. The store is moto from PyPI, in
//! `target/judges/moto`; the tests need the feature `s3`.

use crate::common::{Place, small_fabric};

const TREE: &str = "s3://trees/a/tree.tar.zst";

/// Without the feature, every URL of a store is rejected; with the feature, only a URL without an object.
#[test]
fn what_cannot_be_there_is_refused() {
    let place = Place::new();
    place.write("fabric.yaml", small_fabric("objects", 1, "bmv2", "p4"));
    let why = place.ends(1, &["compile", "fabric.yaml", "--out", "s3://trees/tree"]);
    assert!(why.contains("name it `s3://trees/tree.tar.zst`"), "{why}");
    if !cfg!(feature = "s3") {
        for args in [
            &["compile", "fabric.yaml", "--out", TREE][..],
            &["verify", TREE],
            &["diff", TREE, TREE],
            &["merge", "s3://trees/0.json"],
        ] {
            let why = place.ends(1, args);
            assert!(why.contains("build it with `cargo build --features s3`"), "{args:?}: {why}");
        }
    }
}

#[cfg(feature = "s3")]
mod store {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpStream;
    use std::process::{Child, Command, Output, Stdio};

    use super::TREE;
    use crate::common::{Place, root, small_fabric};

    /// A secret that must not appear in messages.
    const SECRET: &str = "wJalrXUtnFEMIclosc";

    /// A store on a free port of this machine.
    struct Store {
        process: Child,
        port: u16,
    }

    impl Store {
        /// Starts moto, or prints that it is missing.
        fn start() -> Option<Store> {
            let python = root().join("target/judges/moto/bin/python");
            if !python.is_file() {
                closc_skip::skip("moto is not in target/judges/moto, which is the object store");
                return None;
            }
            let mut command = Command::new(python);
            command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut process = command.spawn().expect("python runs");
            let mut lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
            let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
                let (_, rest) = line.split_once("http://127.0.0.1:")?;
                rest.trim().parse().ok()
            });
            // moto prints a line per request, and blocks without a reader.
            std::thread::spawn(move || lines.for_each(drop));
            let store = Store { process, port: port.expect("moto says its port") };
            assert!(store.ask("PUT /trees HTTP/1.1", "").starts_with("HTTP/1.1 200"));
            Some(store)
        }

        /// Sends a request without a signature, which moto does not require.
        fn ask(&self, line: &str, body: &str) -> String {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("moto listens");
            let length = body.len();
            let head = format!(
                "{line}\r\nHost: s3.amazonaws.com\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            stream.write_all(head.as_bytes()).expect("moto reads");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).expect("moto answers");
            String::from_utf8_lossy(&answer).into_owned()
        }

        fn closc(&self, place: &Place, args: &[&str]) -> Output {
            self.command(place, args).output().expect("closc runs")
        }

        fn command(&self, place: &Place, args: &[&str]) -> Command {
            let mut command = place.command(args);
            command.env("AWS_ACCESS_KEY_ID", "AKIACLOSC").env("AWS_SECRET_ACCESS_KEY", SECRET);
            command.env("AWS_DEFAULT_REGION", "us-east-1").env("AWS_ALLOW_HTTP", "true");
            command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port));
            command
        }

        #[track_caller]
        fn ends(&self, place: &Place, code: i32, args: &[&str]) -> String {
            ended(&self.closc(place, args), code)
        }
    }

    impl Drop for Store {
        fn drop(&mut self) {
            drop(self.process.kill());
            drop(self.process.wait());
        }
    }

    #[track_caller]
    fn ended(output: &Output, code: i32) -> String {
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(
            !text.contains(SECRET) && !text.contains("AKIACLOSC"),
            "a credential is in a message: {text}"
        );
        text
    }

    #[test]
    fn trees_are_written_read_compared_and_merged_there() {
        let Some(store) = Store::start() else { return };
        let place = Place::new();
        place.write("fabric.yaml", small_fabric("objects", 2, "bmv2", "p4"));
        store.ends(&place, 0, &["compile", "fabric.yaml", "--out", TREE]);
        place.ends(0, &["compile", "fabric.yaml", "--out", "tree.tar.zst"]);
        assert_eq!(store.ends(&place, 0, &["verify", TREE]), place.ends(0, &["verify", "tree.tar.zst"]));
        store.ends(&place, 0, &["diff", "tree.tar.zst", TREE]);
        // Compile and verify in parts, with summaries.
        let mut summaries = Vec::new();
        for index in 0..2 {
            let part = format!("s3://trees/parts/{index}.tar.zst");
            store.ends(
                &place,
                0,
                &["compile", "fabric.yaml", "--out", &part, "--shard", &format!("{index}/2")],
            );
        }
        for index in 0..2 {
            let (part, summary) =
                (format!("s3://trees/parts/{index}.tar.zst"), format!("s3://trees/{index}.json"));
            let tables = ["--tables", "s3://trees/parts/0.tar.zst", "s3://trees/parts/1.tar.zst"];
            store.ends(&place, 0, &[&["verify", &part, "--summary", &summary], &tables[..]].concat());
            summaries.push(summary);
        }
        let merged = store.ends(&place, 0, &["merge", &summaries[0], &summaries[1]]);
        let whole = place.ends(0, &["verify", "tree.tar.zst"]);
        let paths = whole.lines().find(|line| line.starts_with("paths: ")).expect("paths are proved");
        assert!(merged.contains(paths), "{paths}\n{merged}");
        // A push reads the tree from the store. The error names the switches, which do not exist.
        place.write("inventory.yaml", "devices:\n  p0-t0-001: { endpoint: '127.0.0.1:9', device_id: 1 }\n");
        let why = store.ends(
            &place,
            1,
            &["push", TREE, "--inventory", "inventory.yaml", "--device", "p0-t0-001", "--timeout", "5"],
        );
        assert!(why.contains("p0-t0-001"), "{why}");
        // A missing archive, and an invalid one.
        let why = store.ends(&place, 1, &["verify", "s3://trees/b.tar.zst"]);
        assert!(why.contains("`s3://trees/b.tar.zst`"), "{why}");
        store.ask("PUT /trees/cut.tar.zst HTTP/1.1", "no archive");
        let why = store.ends(&place, 1, &["verify", "s3://trees/cut.tar.zst"]);
        assert!(why.contains("cut.tar.zst"), "{why}");
    }

    /// A tree is visible only when its upload is complete, even if the compiler is killed.
    #[test]
    fn what_is_not_complete_is_not_visible() {
        let Some(store) = Store::start() else { return };
        let place = Place::new();
        place.write("fabric.yaml", small_fabric("objects", 1, "bmv2", "p4"));
        let mut killed = store.command(&place, &["compile", "fabric.yaml", "--out", TREE]);
        let mut killed = killed.stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("closc runs");
        // The kill can happen before, during or after the upload.
        drop(killed.kill());
        drop(killed.wait());
        let seen = store.closc(&place, &["verify", TREE]);
        if seen.status.code() != Some(0) {
            let why = ended(&seen, 1);
            assert!(why.contains("not found") || why.contains("NoSuchKey"), "{why}");
        }
        store.ends(&place, 0, &["compile", "fabric.yaml", "--out", TREE]);
        store.ends(&place, 0, &["verify", TREE]);
        // Unencrypted endpoints are rejected immediately.
        let rejected = |url: &str, allow: &str| {
            let mut command = store.command(&place, &["compile", "fabric.yaml", "--out", TREE]);
            command.env("AWS_ENDPOINT_URL", url).env("AWS_ALLOW_HTTP", allow);
            ended(&command.output().expect("closc runs"), 1)
        };
        let here = format!("http://127.0.0.1:{}", store.port);
        assert!(rejected(&here, "false").contains("set `AWS_ALLOW_HTTP=true`"));
        assert!(rejected("http://192.0.2.1:9000", "true").contains("use `https`"));
    }
}
