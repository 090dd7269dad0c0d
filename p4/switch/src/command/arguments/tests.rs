//! Every option of `simple_switch_grpc`, in every spelling.

use super::*;

fn read(line: &str) -> Result<Options, UsageError> {
    match parse(line.split_whitespace().map(str::to_owned))? {
        Request::Run(options) => Ok(*options),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_for_captures_is_given_in_any_spelling() {
    for (line, folder) in [
        ("--pcap /tmp x.json", "/tmp"),
        ("--pcap=/tmp x.json", "/tmp"),
        ("x.json --pcap pcaps", "pcaps"),
        ("--pcap x.json", "."),
        ("--pcap --log-console x.json", "."),
        ("x.json --pcap", "."),
    ] {
        let options = read(line).expect(line);
        assert_eq!(options.captures.as_deref(), Some(std::path::Path::new(folder)), "{line}");
        assert_eq!(options.program.as_deref(), Some(std::path::Path::new("x.json")), "{line}");
    }
}

#[test]
fn questions_are_answered_whatever_else_is_said() {
    let ask = |line: &str| parse(line.split_whitespace().map(str::to_owned));
    assert_eq!(ask("-h"), Ok(Request::Help));
    assert_eq!(ask("--no-p4 --version"), Ok(Request::Version));
    assert_eq!(ask("--json-version"), Ok(Request::FormatVersion));
}

#[test]
fn the_command_line_of_a_mininet_script_is_read() {
    let line = "-i 1@s1-eth1 -i2@s1-eth2 --interface=3@s1-eth3 --pcap=/captures --nanolog ipc:///log.ipc \
                --device-id 4 --log-console -Ldebug --thrift-port 9091 program.json -- \
                --grpc-server-addr 0.0.0.0:50051 --cpu-port 255 --drop-port 510";
    let options = read(line).expect("all of it is known");
    let interface = |port, name: &str| (port, name.to_owned());
    assert_eq!(
        options.interfaces,
        [interface(1, "s1-eth1"), interface(2, "s1-eth2"), interface(3, "s1-eth3")]
    );
    assert_eq!((options.device_id, options.cpu_port, options.drop_port), (4, Some(255), 510));
    assert_eq!(options.address, "0.0.0.0:50051");
    assert_eq!(options.program, Some("program.json".into()));
    assert_eq!(options.captures, Some("/captures".into()));
    assert_eq!((options.log, options.level), (Some(LogTarget::Console), Level::Debug));
    assert_eq!(options.notes.len(), 2);
}

#[test]
fn without_arguments_only_loopback_is_listened_on() {
    let options = read("--no-p4").expect("enough");
    assert!(options.address.starts_with("127.0.0.1:"));
    assert_eq!(options, Options::default());
    assert_eq!(read("--no-p4 --pcap").expect("enough").captures, Some(".".into()));
}

#[test]
fn a_beginning_is_enough_where_it_is_clear() {
    assert_eq!(read("--no-p4 --log-con").expect("clear").log, Some(LogTarget::Console));
    assert!(matches!(read("--no-p4 --log"), Err(UsageError::Ambiguous { .. })));
    assert!(matches!(read("--no-p4 --log-file-max-size 5"), Ok(options) if options.notes.len() == 1));
}

#[test]
fn certificates_need_each_other() {
    let needs = |line: &str| match read(line) {
        Err(UsageError::Needs { needed, .. }) => needed,
        other => panic!("{other:?}"),
    };
    assert_eq!(needs("--no-p4 -- --grpc-server-cert c"), "--grpc-server-ssl");
    assert_eq!(needs("--no-p4 -- --grpc-server-ssl --grpc-server-key k"), "--grpc-server-cert");
    let line = "--no-p4 -- --grpc-server-ssl --grpc-server-cert c --grpc-server-key k";
    assert_eq!(needs(&format!("{line} --grpc-server-with-client-auth")), "--grpc-server-cacert");
    let mutual = read(&format!("{line} --grpc-server-with-client-auth --grpc-server-cacert a"));
    let files = mutual.expect("complete").tls.expect("asked for");
    assert_eq!(files.client_authority, Some("a".into()));
}

#[test]
fn what_makes_no_sense_is_named() {
    for (line, message) in [
        ("", "name the JSON of a program, or start without one with `--no-p4`"),
        ("a.json b.json", "`b.json` is one argument too many"),
        ("--no-p4 --colour", "option `--colour` is not known"),
        ("--no-p4 --cpu-port 5", "option `--cpu-port` is not known"),
        ("--no-p4 -i", "option `interface` needs a value"),
        (
            "--no-p4 -i eth0",
            "option `--interface`: `eth0` is not a port number, `@` and the name of an interface",
        ),
        ("--no-p4 -- --cpu-port many", "option `--cpu-port`: `many` is not a port from 1"),
        ("--no-p4 -- --cpu-port 0", "option `--cpu-port`: `0` is not a port from 1"),
        ("--no-p4 --no-p4=1", "option `no-p4` takes no value"),
        ("--no-p4 --log-console --log-file f", "options `--log-console` and `--log-file` exclude each other"),
    ] {
        assert_eq!(read(line).expect_err(line).to_string(), message);
    }
    assert!(matches!(read("--no-p4 --use-files 1"), Err(UsageError::Unsupported { .. })));
}

/// A value that an option takes.
fn sample(name: &str) -> &'static str {
    match name {
        "interface" => "1@veth0",
        "log-level" => "debug",
        "grpc-server-addr" | "dp-grpc-server-addr" => "127.0.0.1:0",
        "pcap" => "captures",
        "priority-queues" => "8",
        _ => "7",
    }
}

/// Returns all spellings of an option: the full name with a separate or attached value, the shortest
/// unambiguous prefix, and the short name.
fn spellings(known: &[(&'static str, Option<char>, OptionArity)], index: usize) -> Vec<Vec<String>> {
    let (name, short, takes) = known[index];
    let clear =
        |length: &usize| known.iter().filter(|(other, ..)| other.starts_with(&name[..*length])).count();
    let beginning = (1..=name.len()).find(|length| clear(length) == 1).unwrap_or(name.len());
    let longs = [format!("--{name}"), format!("--{}", &name[..beginning])];
    if takes == OptionArity::Nothing {
        return longs
            .into_iter()
            .chain(short.map(|short| format!("-{short}")))
            .map(|word| vec![word])
            .collect();
    }
    let value = sample(name).to_owned();
    let mut all = Vec::new();
    for long in longs {
        all.push(vec![format!("{long}={value}")]);
        all.push(vec![long, value.clone()]);
    }
    if let Some(short) = short {
        all.push(vec![format!("-{short}{value}")]);
        all.push(vec![format!("-{short}"), value]);
    }
    all
}

/// Returns the options that an option requires.
fn company(name: &str) -> &'static [&'static str] {
    match name {
        "grpc-server-ssl" => &["--grpc-server-cert=c", "--grpc-server-key=k"],
        "grpc-server-cacert" | "grpc-server-cert" | "grpc-server-key" => {
            &["--grpc-server-ssl", "--grpc-server-cert=c", "--grpc-server-key=k"]
        }
        "grpc-server-with-client-auth" => {
            &["--grpc-server-ssl", "--grpc-server-cert=c", "--grpc-server-key=k", "--grpc-server-cacert=a"]
        }
        "grpc-server-crl" => &[
            "--grpc-server-ssl",
            "--grpc-server-cert=c",
            "--grpc-server-key=k",
            "--grpc-server-cacert=a",
            "--grpc-server-with-client-auth",
        ],
        _ => &[],
    }
}

#[test]
fn every_spelling_of_every_option_means_the_same() {
    let mut tried = 0;
    for (known, is_target) in [(&GENERAL[..], false), (&TARGET[..], true)] {
        for (index, (name, ..)) in known.iter().enumerate() {
            let mut meanings = Vec::new();
            for spelling in spellings(known, index) {
                let mut line: Vec<String> = vec!["--no-p4".to_owned()];
                if is_target {
                    line.push("--".to_owned());
                    line.extend(company(name).iter().map(|&word| word.to_owned()));
                }
                line.extend(spelling);
                meanings.push((parse(line.clone()), line));
                tried += 1;
            }
            for (meaning, line) in &meanings {
                assert_eq!(*meaning, meanings[0].0, "{line:?}");
                match meaning {
                    Ok(_) => {}
                    Err(UsageError::Unsupported { option, .. }) => assert_eq!(option, "--use-files"),
                    Err(error) => panic!("{line:?}: {error}"),
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn what_has_no_meaning_here_is_accepted_and_named() {
    for (line, named) in [
        ("--no-p4 --thrift-port 9090", "--thrift-port"),
        ("--no-p4 --nanolog ipc:///tmp/log.ipc", "--nanolog"),
        ("--no-p4 --notifications-addr=ipc:///tmp/n.ipc", "--notifications-addr"),
        ("--no-p4 --debugger", "--debugger"),
        ("--no-p4 --debugger-addr ipc:///tmp/d.ipc", "--debugger-addr"),
        ("--no-p4 --restore-state old.state", "--restore-state"),
        ("--no-p4 -i 1@veth0 --packet-in ipc:///tmp/p.ipc", "--packet-in"),
        ("--no-p4 --max-port-count 512", "--max-port-count"),
        ("--no-p4 -- --max-mc-groups 10", "--max-mc-groups"),
        ("--no-p4 -- --enable-swap", "--enable-swap"),
        ("--no-p4 -- --load-modules=a.so,b.so", "--load-modules"),
    ] {
        let options = read(line).expect(line);
        assert_eq!(options.notes.len(), 1, "{line}");
        assert!(
            options.notes[0].starts_with(&format!("`{named}` does nothing here: ")),
            "{:?}",
            options.notes
        );
        assert_eq!(options.interfaces, [], "{line}: BMv2 ignores interfaces beside `--packet-in`");
    }
}

#[test]
fn the_tutorials_of_p4lang_start_a_switch() {
    // `utils/p4runtime_switch.py` of p4lang/tutorials joins these arguments with spaces for a shell.
    let line = "-i 1@s1-eth1 -i 2@s1-eth2 --pcap /tmp --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 \
                build/basic.json --log-console --thrift-port 9090 -- --grpc-server-addr 0.0.0.0:50051";
    let options = read(line).expect("all of it is known");
    assert_eq!(options.captures, Some("/tmp".into()));
    assert_eq!(options.program, Some("build/basic.json".into()));
    assert_eq!((options.interfaces.len(), options.address.as_str()), (2, "0.0.0.0:50051"));
    assert_eq!(options.notes.len(), 2, "{:?}", options.notes);
}

/// Returns the options that a help text of `simple_switch_grpc` lists: name, letter, and whether a value
/// follows.
fn help_options(help: &str) -> Vec<(String, Option<char>, bool)> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let option = |line: &str| {
        let (short, rest) = match line.strip_prefix('-')?.split_once(" [ --") {
            Some((letter, rest)) => (letter.chars().next(), rest),
            None => (None, line.strip_prefix("--")?),
        };
        let (name, rest) = rest.split_once([' ', '\n']).unwrap_or((rest, ""));
        let rest = rest.trim_start_matches("] ");
        Some((name.to_owned(), short, rest.starts_with("arg") || rest.starts_with("[=arg")))
    };
    lines.filter_map(option).collect()
}

#[test]
fn every_option_that_bmv2_lists_is_known() {
    let Some(program) = closc_skip::program("simple_switch_grpc") else { return };
    let output = std::process::Command::new(program).arg("--help").output().expect("the program runs");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let (general, target) = help.split_once("Target specific options").expect("it has both");
    for (text, known, least) in [(general, &GENERAL[..], 18), (target, &TARGET[..], 14)] {
        let listed = help_options(text);
        assert!(listed.len() >= least, "{listed:?}");
        for (name, short, has_value) in listed {
            let found = known.iter().find(|(known, ..)| *known == name);
            let (_, letter, takes) = found.unwrap_or_else(|| panic!("`--{name}` is not known"));
            assert_eq!((*letter, *takes != OptionArity::Nothing), (short, has_value), "--{name}");
        }
    }
}
