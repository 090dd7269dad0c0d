//! Checks that a path of an option is a folder or a file, as its value name in `--help` states.
//!
//! In: the parsed command line. Out: the first path of the wrong kind. Invariants: it is found before any work. Only
//! options are checked; commands explain their own arguments.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use closc_artefacts::paths::MANIFEST;

/// Options with files for other programs, which would report a missing file late.
const READ_BY_OTHERS: [&str; 1] = ["ssh_config"];

/// Returns why the path of an option is of the wrong kind.
pub(super) fn fault(command: &Command, matches: &ArgMatches) -> Option<String> {
    let options = command.get_arguments().filter(|option| !option.is_positional());
    let mut given = options.filter(|option| {
        let id = option.get_id().as_str();
        matches.ids().any(|own| own == id) && matches.value_source(id) == Some(ValueSource::CommandLine)
    });
    let own = given.find_map(|option| of_option(option, matches));
    own.or_else(|| {
        let (name, inner) = matches.subcommand()?;
        fault(command.find_subcommand(name)?, inner)
    })
}

fn of_option(option: &Arg, matches: &ArgMatches) -> Option<String> {
    let id = option.get_id().as_str();
    let kind = option.get_value_names()?.first()?.as_str();
    let name = format!("--{}", option.get_long()?);
    let values = matches.try_get_raw(id).ok()??;
    values.filter_map(|value| value.to_str()).find_map(|value| {
        let place = std::path::Path::new(value);
        match kind {
            "DIR" if value == "-" => Some(format!(
                "`{name} -` is not possible: expected a folder; standard output takes only one file"
            )),
            "DIR" if place.exists() && !place.is_dir() && !value.ends_with(".tar.zst") => {
                Some(format!("`{name} {value}` is a file; expected a folder"))
            }
            "FILE" if place.join(MANIFEST).is_file() => {
                Some(format!("`{name} {value}` is a compiled tree; expected a file"))
            }
            "FILE" | "FILE.svg" | "PEM" | "KEY" | "PUB" if place.is_dir() => {
                Some(format!("`{name} {value}` is a folder; expected a file"))
            }
            "FILE" if READ_BY_OTHERS.contains(&id) && !place.exists() => {
                Some(format!("`{name} {value}` does not exist"))
            }
            _ => None,
        }
    })
}
