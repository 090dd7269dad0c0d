//! Parses the arguments of `simple_switch_grpc`: general ones, the program, and target options after `--`.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;

use closc_runtime::server::TlsFiles;
use thiserror::Error;

use super::options::{Level, LogTarget, Options};

/// Invalid arguments.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UsageError {
    /// The option is unknown.
    #[error("option `{0}` is not known")]
    Unknown(String),
    /// A short form matches several options.
    #[error("option `{argument}` could be `{first}` or `{second}`")]
    Ambiguous {
        /// The argument.
        argument: String,
        /// One option.
        first: String,
        /// Another.
        second: String,
    },
    /// An option has no value.
    #[error("option `{0}` needs a value")]
    NoValue(String),
    /// An option takes no value.
    #[error("option `{0}` takes no value")]
    NeedlessValue(String),
    /// The value is invalid.
    #[error("option `{option}`: `{value}` is not {expected}")]
    Value {
        /// The option.
        option: String,
        /// Given value.
        value: String,
        /// Expected value.
        expected: &'static str,
    },
    /// The option is not supported.
    #[error("option `{option}` is not supported: {reason}")]
    Unsupported {
        /// The option.
        option: String,
        /// The reason.
        reason: &'static str,
    },
    /// There is an extra argument.
    #[error("`{0}` is one argument too many")]
    TooMany(String),
    /// The options exclude each other.
    #[error("options `{0}` and `{1}` exclude each other")]
    Exclusive(&'static str, &'static str),
    /// The option requires another one.
    #[error("option `{option}` needs `{needed}`")]
    Needs {
        /// The option.
        option: &'static str,
        /// The required option.
        needed: &'static str,
    },
    /// Neither a program nor `--no-p4` was given.
    #[error("name the JSON of a program, or start without one with `--no-p4`")]
    NoProgram,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionArity {
    Nothing,
    Value,
    /// An optional folder. An argument that ends in `.json` is the program instead.
    Maybe,
}

/// Options before `--`: long name, short name, whether they take a value.
const GENERAL: [(&str, Option<char>, OptionArity); 26] = [
    ("help", Some('h'), OptionArity::Nothing),
    ("version", Some('v'), OptionArity::Nothing),
    ("interface", Some('i'), OptionArity::Value),
    ("pcap", None, OptionArity::Maybe),
    ("use-files", None, OptionArity::Value),
    ("packet-in", None, OptionArity::Value),
    ("thrift-port", None, OptionArity::Value),
    ("device-id", None, OptionArity::Value),
    ("nanolog", None, OptionArity::Value),
    ("log-console", None, OptionArity::Nothing),
    ("log-file", None, OptionArity::Value),
    ("log-level", Some('L'), OptionArity::Value),
    ("log-flush", None, OptionArity::Nothing),
    ("log-file-max-size", None, OptionArity::Value),
    ("log-file-max-files", None, OptionArity::Value),
    ("notifications-addr", None, OptionArity::Value),
    ("debugger", None, OptionArity::Nothing),
    ("debugger-addr", None, OptionArity::Value),
    ("restore-state", None, OptionArity::Value),
    ("dump-packet-data", None, OptionArity::Value),
    ("no-p4", None, OptionArity::Nothing),
    ("max-port-count", None, OptionArity::Value),
    ("warn-on-invalid-hdr-read", None, OptionArity::Nothing),
    ("ret-zero-on-invalid-hdr-read", None, OptionArity::Nothing),
    ("p4info", None, OptionArity::Value),
    ("json-version", None, OptionArity::Nothing),
];

/// Options after `--`.
const TARGET: [(&str, Option<char>, OptionArity); 18] = [
    ("disable-swap", None, OptionArity::Nothing),
    ("enable-swap", None, OptionArity::Nothing),
    ("load-modules", None, OptionArity::Value),
    ("grpc-server-addr", None, OptionArity::Value),
    ("grpc-server-ssl", None, OptionArity::Nothing),
    ("grpc-server-cacert", None, OptionArity::Value),
    ("grpc-server-cert", None, OptionArity::Value),
    ("grpc-server-key", None, OptionArity::Value),
    ("grpc-server-crl", None, OptionArity::Value),
    ("grpc-server-with-client-auth", None, OptionArity::Nothing),
    ("cpu-port", None, OptionArity::Value),
    ("drop-port", None, OptionArity::Value),
    ("dp-grpc-server-addr", None, OptionArity::Value),
    ("priority-queues", None, OptionArity::Value),
    ("max-mc-groups", None, OptionArity::Value),
    ("max-l1-entries", None, OptionArity::Value),
    ("max-l2-entries", None, OptionArity::Value),
    ("enforce-restrictions", None, OptionArity::Nothing),
];

/// Parser state: the options so far, and values that are only combined at the end.
#[derive(Default)]
struct Reader {
    options: Options,
    /// Flags that were given.
    flags: BTreeSet<&'static str>,
    file: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    authority: Option<PathBuf>,
    revoked: Option<PathBuf>,
}

/// The command that the arguments select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Run a switch.
    Run(Box<Options>),
    /// Show the help.
    Help,
    /// Show the version.
    Version,
    /// Show the newest supported version of the program format.
    FormatVersion,
}

/// Parses the arguments after the name of the command.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Request, UsageError> {
    let mut reader = Reader::default();
    let mut arguments = arguments.into_iter().peekable();
    let mut known: &[(&str, Option<char>, OptionArity)] = &GENERAL;
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            known = &TARGET;
            continue;
        }
        let Some((name, takes, given)) = find(&argument, known)? else {
            reader.positional(argument)?;
            continue;
        };
        let value = match (takes, given) {
            (OptionArity::Nothing, Some(_)) => return Err(UsageError::NeedlessValue(name.to_owned())),
            (OptionArity::Nothing, None) => String::new(),
            (OptionArity::Maybe | OptionArity::Value, Some(given)) => given,
            (OptionArity::Maybe, None) => {
                arguments.next_if(|next| is_folder(next)).unwrap_or_else(|| ".".to_owned())
            }
            (OptionArity::Value, None) => {
                arguments.next().ok_or_else(|| UsageError::NoValue(name.to_owned()))?
            }
        };
        match name {
            "help" => return Ok(Request::Help),
            "version" => return Ok(Request::Version),
            "json-version" => return Ok(Request::FormatVersion),
            _ => {}
        }
        reader.take(name, value)?;
    }
    reader.finish().map(|options| Request::Run(Box::new(options)))
}

/// Returns whether an argument can be the folder of the preceding option: it is neither an option nor a program.
fn is_folder(argument: &str) -> bool {
    !argument.starts_with('-') && std::path::Path::new(argument).extension() != Some("json".as_ref())
}

/// A recognised option: its name, whether it takes a value, and an attached value.
type OptionMatch = (&'static str, OptionArity, Option<String>);

/// Recognises an option; `None` for an argument without dashes.
fn find(
    argument: &str,
    known_options: &[(&'static str, Option<char>, OptionArity)],
) -> Result<Option<OptionMatch>, UsageError> {
    if let Some(long) = argument.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        return complete(name, known_options).map(|(name, takes)| Some((name, takes, value)));
    }
    let mut chars = argument.chars();
    let (Some('-'), Some(short)) = (chars.next(), chars.next()) else { return Ok(None) };
    let found = known_options.iter().find(|(_, letter, _)| *letter == Some(short));
    let (name, _, takes) = found.ok_or_else(|| UsageError::Unknown(argument.to_owned()))?;
    let rest = chars.as_str();
    // `-h` and `-v` end the run, so letters attached to them do not matter.
    let value = (!rest.is_empty() && *takes != OptionArity::Nothing).then(|| rest.to_owned());
    Ok(Some((name, *takes, value)))
}

/// Finds an option by its name, or by an unambiguous prefix.
fn complete(
    argument: &str,
    known_options: &[(&'static str, Option<char>, OptionArity)],
) -> Result<(&'static str, OptionArity), UsageError> {
    if let Some((name, _, takes)) = known_options.iter().find(|(name, ..)| *name == argument) {
        return Ok((name, *takes));
    }
    let mut candidates =
        known_options.iter().filter(|(name, ..)| !argument.is_empty() && name.starts_with(argument));
    match (candidates.next(), candidates.next()) {
        (Some((name, _, takes)), None) => Ok((name, *takes)),
        (Some((first, ..)), Some((second, ..))) => Err(UsageError::Ambiguous {
            argument: format!("--{argument}"),
            first: format!("--{first}"),
            second: format!("--{second}"),
        }),
        (None, _) => Err(UsageError::Unknown(format!("--{argument}"))),
    }
}

fn number<N: std::str::FromStr>(option: &str, value: &str, wanted: &'static str) -> Result<N, UsageError> {
    let wrong =
        |_| UsageError::Value { option: format!("--{option}"), value: value.to_owned(), expected: wanted };
    value.parse().map_err(wrong)
}

impl Reader {
    fn positional(&mut self, argument: String) -> Result<(), UsageError> {
        if self.options.program.is_some() {
            return Err(UsageError::TooMany(argument));
        }
        self.options.program = Some(argument.into());
        Ok(())
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    fn note(&mut self, option: &str, reason: &str) {
        self.options.notes.push(format!("`--{option}` does nothing here: {reason}"));
    }

    fn take(&mut self, name: &'static str, value: String) -> Result<(), UsageError> {
        let unsupported = |reason| Err(UsageError::Unsupported { option: format!("--{name}"), reason });
        match name {
            "interface" => self.interface(&value)?,
            "pcap" => self.options.captures = Some(value.into()),
            "device-id" => self.options.device_id = number(name, &value, "a device id")?,
            "log-file" => self.file = Some(value.into()),
            "log-level" => self.options.level = level(&value)?,
            "p4info" => self.options.p4info = Some(value.into()),
            "grpc-server-addr" => self.options.address = value,
            "grpc-server-cacert" => self.authority = Some(value.into()),
            "grpc-server-cert" => self.certificate = Some(value.into()),
            "grpc-server-key" => self.key = Some(value.into()),
            "grpc-server-crl" => self.revoked = Some(value.into()),
            "log-console" | "no-p4" | "grpc-server-ssl" | "grpc-server-with-client-auth" => {
                self.flags.insert(name);
            }
            "cpu-port" => {
                let port = number::<NonZeroU32>(name, &value, "a port from 1")?;
                self.options.cpu_port = Some(port.get());
            }
            "enforce-restrictions" => self.options.restricts = true,
            "drop-port" => self.options.drop_port = number(name, &value, "a port")?,
            "dp-grpc-server-addr" => self.options.packet_address = Some(value),
            "priority-queues" => {
                let queues: u8 = number(name, &value, "a number of queues from 1 to 8")?;
                self.options.priority_queues = queues.clamp(1, 8).into();
            }
            "thrift-port" => self.note(name, "there is no Thrift server, P4Runtime does it all"),
            "nanolog" | "notifications-addr" => self.note(name, "there is no nanomsg"),
            "debugger" | "debugger-addr" => self.note(name, "there is no debugger"),
            "log-flush" => self.note(name, "logs are always written at once"),
            "log-file-max-size" | "log-file-max-files" => self.note(name, "log files are not rotated"),
            "dump-packet-data" => self.note(name, "log at level `debug` to see packets"),
            "max-port-count" | "max-mc-groups" | "max-l1-entries" | "max-l2-entries" => {
                self.note(name, "there is no such limit");
            }
            "disable-swap" | "enable-swap" => self.note(name, "programs change through P4Runtime alone"),
            "load-modules" => {
                self.note(name, "there are no modules; a program with externs of its own is refused");
            }
            "warn-on-invalid-hdr-read" | "ret-zero-on-invalid-hdr-read" => {
                self.note(name, "a field of a header that is not valid always keeps its last value");
            }
            "use-files" => {
                return unsupported(
                    "packets come from interfaces, or over gRPC with `--dp-grpc-server-addr`",
                );
            }
            "packet-in" => {
                self.flags.insert(name);
                self.note(name, "there is no nanomsg; `--dp-grpc-server-addr` exchanges packets over gRPC");
            }
            "restore-state" => {
                self.note(name, "the switch starts without entries; write them through P4Runtime");
            }
            other => return Err(UsageError::Unknown(format!("--{other}"))),
        }
        Ok(())
    }

    fn interface(&mut self, value: &str) -> Result<(), UsageError> {
        let wrong = || UsageError::Value {
            option: "--interface".to_owned(),
            value: value.to_owned(),
            expected: "a port number, `@` and the name of an interface",
        };
        let (port, name) = value.split_once('@').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        if name.is_empty() {
            return Err(wrong());
        }
        self.options.interfaces.push((port, name.to_owned()));
        Ok(())
    }

    fn finish(mut self) -> Result<Options, UsageError> {
        if self.has("log-console") && self.file.is_some() {
            return Err(UsageError::Exclusive("--log-console", "--log-file"));
        }
        if self.has("packet-in") {
            // As in BMv2, packets are exchanged over gRPC instead of the interfaces.
            self.options.interfaces.clear();
        }
        self.options.log = match self.file.take() {
            Some(file) => Some(LogTarget::File(file)),
            None => self.has("log-console").then_some(LogTarget::Console),
        };
        if self.has("no-p4") {
            if self.options.program.take().is_some() {
                self.options.notes.push("the program is not loaded because of `--no-p4`".to_owned());
            }
        } else if self.options.program.is_none() {
            return Err(UsageError::NoProgram);
        }
        self.options.tls = self.tls()?;
        Ok(self.options)
    }

    fn tls(&mut self) -> Result<Option<TlsFiles>, UsageError> {
        let needs = |option, needed| Err(UsageError::Needs { option, needed });
        let client_auth = self.has("grpc-server-with-client-auth");
        if !self.has("grpc-server-ssl") {
            return match (&self.authority, &self.certificate, &self.key) {
                (None, None, None) if !client_auth => Ok(None),
                (Some(_), ..) => needs("--grpc-server-cacert", "--grpc-server-ssl"),
                (None, Some(_), _) => needs("--grpc-server-cert", "--grpc-server-ssl"),
                (None, None, Some(_)) => needs("--grpc-server-key", "--grpc-server-ssl"),
                (None, None, None) => needs("--grpc-server-with-client-auth", "--grpc-server-ssl"),
            };
        }
        let Some(certificate) = self.certificate.take() else {
            return needs("--grpc-server-ssl", "--grpc-server-cert");
        };
        let Some(key) = self.key.take() else { return needs("--grpc-server-ssl", "--grpc-server-key") };
        let authority = self.authority.take();
        if client_auth && authority.is_none() {
            return needs("--grpc-server-with-client-auth", "--grpc-server-cacert");
        }
        // Without client authentication, the authority has no effect.
        let client_authority = authority.filter(|_| client_auth);
        let revoked = self.revoked.take();
        if revoked.is_some() && client_authority.is_none() {
            return needs("--grpc-server-crl", "--grpc-server-with-client-auth");
        }
        Ok(Some(TlsFiles { certificate, key, client_authority, revocation_list: revoked }))
    }
}

fn level(value: &str) -> Result<Level, UsageError> {
    Ok(match value {
        "trace" => Level::Trace,
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        "off" => Level::Off,
        _ => {
            return Err(UsageError::Value {
                option: "--log-level".to_owned(),
                value: value.to_owned(),
                expected: "`trace`, `debug`, `info`, `warn`, `error` or `off`",
            });
        }
    })
}

#[cfg(test)]
mod tests;
