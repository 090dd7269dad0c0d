//! Which daemons of FRRouting run.

/// The file.
pub(crate) const FILE: &str = closc_artefacts::paths::DAEMONS;

/// Checks which daemons run: another routing protocol would bring routes that nothing proves, and BGP needs its own.
pub(crate) fn faults(daemons: &str, bgp: bool) -> Vec<String> {
    let running = |line: &str| {
        line.split('#').next().and_then(|line| Some(line.trim_ascii().strip_suffix("=yes")?.to_owned()))
    };
    let running: Vec<String> = daemons.lines().filter_map(running).collect();
    let wanted: &[&str] = if bgp { &["bgpd", "bfdd"] } else { &[] };
    let missing = wanted.iter().filter(|daemon| !running.iter().any(|runs| runs == *daemon));
    let missing = missing.map(|daemon| format!("`{daemon}` does not run, and no route is learned"));
    let known = ["vtysh_enable", "zebra", "staticd", "mgmtd"];
    let foreign = running
        .iter()
        .filter(|daemon| !known.contains(&daemon.as_str()) && !wanted.contains(&daemon.as_str()));
    let foreign =
        foreign.map(|daemon| format!("`{daemon}` runs, and would bring routes that nothing proves"));
    missing.chain(foreign).collect()
}
