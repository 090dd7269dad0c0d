//! Arista EOS: `eos.conf` in a configuration session.
//!
//! In: the file of a tree, and `show running-config`. Out: a session that replaces the configuration, committed with a
//! timer. Invariants: the session keeps users, AAA and the rest of the site's settings. A default that EOS does not
//! print counts as present if `show running-config all` prints it. The session is confirmed over a new connection.

use closc_artefacts::site::is_of_site;

use super::facts::{Facts, Finding, fact, facts, findings, paths, setting};
use super::system::{ChangeParameters, Step, System, SystemState, Texts};
use crate::folders::Place;

/// The file of a tree.
const FILE: &str = closc_artefacts::paths::EOS_CONF;

/// Prefix of closc's sessions and backups.
const PREFIX: &str = "closc-";

/// Backups kept on a switch.
const KEPT: usize = 8;

/// The operating system.
pub(super) struct Eos;

/// A top-level command, with the lines below it.
struct Block<'t> {
    lines: Vec<&'t str>,
}

/// Splits a configuration into its top-level commands.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut in_banner = false;
    for line in text.lines() {
        if in_banner {
            in_banner = line.trim_end() != "EOF";
            if let Some(block) = found.last_mut() {
                block.lines.push(line);
            }
            continue;
        }
        let is_top = !line.starts_with(' ');
        if line.trim().is_empty() || (is_top && line.starts_with('!')) || line.trim_end() == "end" {
            continue;
        }
        in_banner = line.starts_with("banner ");
        match found.last_mut() {
            Some(block) if !is_top => block.lines.push(line),
            _ => found.push(Block { lines: vec![line] }),
        }
    }
    found
}

impl<'t> Block<'t> {
    fn head(&self) -> String {
        self.lines
            .first()
            .map_or_else(String::new, |line| line.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn is_of_site(&self) -> bool {
        is_of_site(&self.head())
    }

    /// Returns whether this is a static IPv4 route that closc owns, because the fabric has IPv4 routes.
    fn is_route_of_fabric(&self, wanted: &Facts) -> bool {
        let is_route = |head: &str| head.starts_with("ip route ") && !head.starts_with("ip route vrf ");
        is_route(&self.head()) && wanted.iter().any(|fact| is_route(fact))
    }

    fn is_banner(&self) -> bool {
        self.lines.first().is_some_and(|line| line.starts_with("banner "))
    }

    /// Splits the command into the facts that closc owns, and the lines of the site.
    fn facts(&self, wanted: &Facts, settings: &Facts) -> (Facts, Vec<&'t str>) {
        let of_site = self.is_of_site() && !self.is_route_of_fabric(wanted);
        let (mut own, mut site) = (Facts::new(), Vec::new());
        if self.is_banner() {
            return (own, self.lines.clone());
        }
        let text = self.lines.join("\n");
        // Comments below a command are not facts, so every line is checked.
        let mut found = paths(&text).into_iter();
        for line in &self.lines {
            if paths(line).is_empty() {
                continue;
            }
            let Some(path) = found.next() else { break };
            let fact = fact(&path);
            if !of_site
                || wanted.contains(&fact)
                || (path.len() > 1 || self.lines.len() == 1) && settings.contains(setting(&fact))
            {
                own.insert(fact);
            } else {
                site.push(*line);
            }
        }
        // Lines of the site need the command that opens their mode.
        if !site.is_empty() && self.lines.first() != site.first() {
            site.insert(0, self.lines[0]);
        }
        (own, site)
    }
}

/// Splits a configuration into the facts that closc owns, and the lines of the site.
fn split<'t>(text: &'t str, wanted: &Facts) -> (Facts, Vec<&'t str>) {
    // The name of a VRF does not count as a value, because other VRFs belong to the site.
    let settings: Facts = wanted
        .iter()
        .map(|fact| setting(fact).to_owned())
        .filter(|setting| setting != "vrf instance")
        .collect();
    let (mut own, mut site) = (Facts::new(), Vec::new());
    for block in blocks(text) {
        let (mine, theirs) = block.facts(wanted, &settings);
        own.extend(mine);
        site.extend(theirs);
    }
    (own, site)
}

fn wanted_facts(wanted: &Texts) -> Result<Facts, String> {
    let text = wanted.get(FILE).ok_or_else(|| format!("there is no `{FILE}`"))?;
    let mut found = Facts::new();
    for block in blocks(text).into_iter().filter(|block| !block.is_banner()) {
        found.extend(facts(&block.lines.join("\n")));
    }
    Ok(found)
}

/// Returns the lines of a file that are commands.
fn commands(text: &str) -> String {
    lines(blocks(text).iter().flat_map(|block| &block.lines))
}

/// Joins lines, each with a line feed.
fn lines<T: std::fmt::Display>(lines: impl IntoIterator<Item = T>) -> String {
    lines.into_iter().fold(String::new(), |text, line| text + &line.to_string() + "\n")
}

/// Commands that begin every script.
const START: &str = "enable\nterminal length 0\nterminal width 32767\n";

fn session(run: &str) -> String {
    format!("{PREFIX}{run}")
}

/// Formats seconds as an EOS timer.
fn timer(seconds: u64) -> String {
    let seconds = seconds.clamp(1, 24 * 3600 - 1);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

impl System for Eos {
    fn shell(&self) -> Option<&'static str> {
        None
    }

    fn has_folders(&self) -> bool {
        false
    }

    fn files(&self) -> &'static [&'static str] {
        &[FILE]
    }

    fn read(&self, _: &Place, _: &Texts) -> String {
        format!(
            "{START}dir flash:\nshow configuration sessions\nshow running-config diffs\nshow running-config\nexit\n"
        )
    }

    fn parse_state(&self, output: &str) -> Result<SystemState, String> {
        let begins = output.find("! Command: show running-config");
        let (head, text) = output.split_at(begins.ok_or("the switch printed no running configuration")?);
        let running = lines(text.lines().map(str::trim_end));
        let pending = head.lines().filter(|line| line.contains("pendingCommitTimer"));
        let mut names = pending.flat_map(str::split_whitespace).filter(|word| word.starts_with(PREFIX));
        let pending = names.next().map(str::to_owned);
        let digest = blake3::hash(running.as_bytes()).to_string();
        let sections = [("running", running), ("head", head.to_owned())];
        let sections = sections.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
        Ok(SystemState { sections, digest, pending_change: pending })
    }

    fn read_more(&self) -> Option<String> {
        Some(format!("{START}show running-config all\nexit\n"))
    }

    fn compare(&self, wanted: &Texts, held: &SystemState) -> Result<Vec<Finding>, String> {
        let wanted = wanted_facts(wanted)?;
        let (own, _) = split(held.section("running"), &wanted);
        let all = facts(held.section("more"));
        let missing: Facts =
            wanted.iter().filter(|fact| !own.contains(*fact) && !all.contains(*fact)).cloned().collect();
        let unexpected: Facts = own.difference(&wanted).cloned().collect();
        let mut found = findings(FILE, &missing, &unexpected);
        if found.is_empty() && held.pending_change.is_none() && is_unsaved(held.section("head")) {
            let saved = Facts::from(["startup-config equal to running-config".to_owned()]);
            found.extend(findings(FILE, &saved, &Facts::new()));
        }
        Ok(found)
    }

    fn places(&self, wanted: &Texts, held: &SystemState) -> Result<Option<Vec<String>>, String> {
        let (_, site) = split(held.section("running"), &wanted_facts(wanted)?);
        let own = wanted.get(FILE).map_or("", String::as_str);
        let heads = site.into_iter().filter(|line| !line.starts_with(' ')).map(str::to_owned);
        Ok(Some(blocks(own).iter().map(Block::head).chain(heads).collect()))
    }

    fn apply(
        &self,
        wanted: &Texts,
        held: &SystemState,
        making: &ChangeParameters<'_>,
    ) -> Result<Vec<Step>, String> {
        let (_, site) = split(held.section("running"), &wanted_facts(wanted)?);
        let name = session(making.run);
        let old = held.section("head").lines().flat_map(str::split_whitespace);
        let old = old.filter(|word| word.starts_with(PREFIX) && !is_backup(word));
        let old = lines(old.map(|old| format!("no configure session {old}")));
        let mut backups: Vec<&str> =
            held.section("head").split_whitespace().filter(|word| is_backup(word)).collect();
        backups.sort_unstable();
        let kept = backups.len().saturating_sub(KEPT - 1);
        let gone = lines(backups[..kept].iter().map(|old| format!("delete flash:{old}")));
        let site = lines(&site);
        let own = commands(wanted.get(FILE).map_or("", String::as_str));
        let staged = format!(
            "{START}{old}{gone}copy running-config flash:{name}.conf\nconfigure session {name}\nrollback clean-config\n{site}{own}end\n\
             dir flash:\nshow configuration sessions\nshow running-config diffs\nshow running-config\nexit\n"
        );
        let timer = timer(making.confirm.as_secs());
        let committed = format!("{START}configure session {name} commit timer {timer}\nexit\n");
        Ok(vec![Step { script: staged, rereads: true }, Step { script: committed, rereads: false }])
    }

    fn abandon(&self, making: &ChangeParameters<'_>) -> Option<String> {
        Some(format!("{START}no configure session {}\nexit\n", session(making.run)))
    }

    fn confirm(&self, _: &Place, pending: &str, _: &SystemState) -> String {
        let commit =
            if pending.is_empty() { String::new() } else { format!("configure session {pending} commit\n") };
        format!("{START}{commit}copy running-config startup-config\nexit\n")
    }

    fn roll_back(&self, _: &Place, pending: &str) -> String {
        format!("{START}configure session {pending} abort\nexit\n")
    }

    fn backup(&self, _: &Place, run: &str) -> String {
        format!("{START}more flash:{}.conf\nexit\n", session(run))
    }

    fn parse_backup(&self, output: &str) -> Result<Option<Texts>, String> {
        let Some(begins) = output.find("! Command: show running-config") else { return Ok(None) };
        Ok(Some(Texts::from([(FILE.to_owned(), output[begins..].to_owned())])))
    }

    fn complaint(&self, output: &str) -> Option<String> {
        let end = output.find("! Command: ").unwrap_or(output.len());
        let complaints = output[..end].lines().map(|line| {
            // If the line begins with a prompt, the error message follows it.
            let prompt = line.find(['#', '>']).filter(|at| !line[..*at].contains(' '));
            prompt.map_or(line, |at| &line[at + 1..]).trim_start()
        });
        complaints.into_iter().find(|line| line.starts_with("% ")).map(str::to_owned)
    }
}

/// Returns whether a file of the flash is a backup of closc.
fn is_backup(name: &str) -> bool {
    name.strip_suffix(".conf").is_some_and(|name| name.starts_with(PREFIX))
}

/// Returns whether the running and the startup configuration differ in a line that is not a comment.
fn is_unsaved(head: &str) -> bool {
    let Some(at) = head.find("\n--- ") else { return false };
    head[at..].lines().any(|line| {
        let changed =
            line.strip_prefix(['+', '-']).filter(|_| !line.starts_with("+++") && !line.starts_with("---"));
        changed.is_some_and(|line| !line.trim().is_empty() && !line.trim_start().starts_with('!'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stale route of an IPv4 fabric is removed; in an IPv6 fabric, and in other VRFs, IPv4 routes belong to the
    /// site.
    #[test]
    fn ipv4_routes_are_closcs_in_an_ipv4_fabric() {
        let live = "ip route vrf MGMT 0.0.0.0/0 10.3.0.193\n!\nip route 10.0.0.1/32 Ethernet1/1 100.64.0.0\n!\n\
                    ip route 10.0.0.9/32 Ethernet9/1 100.64.0.8\n!\n";
        let count = |wanted: &str| {
            let wanted: Facts = paths(wanted).iter().map(|path| fact(path)).collect();
            split(live, &wanted).0.len()
        };
        assert_eq!(count("ip route 10.0.0.1/32 Ethernet1/1 100.64.0.0\n"), 2);
        assert_eq!(count("ipv6 route fd00::1/128 Ethernet1/1 fd00::a\n"), 0);
    }
}
