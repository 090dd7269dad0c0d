//! Site additions to EOS configurations that are replaced completely, as text: accounts, AAA, the management
//! network.
//!
//! In: the texts of a folder, and closc's configuration of a switch. Out: both merged. Invariants: a command
//! that closc owns is rejected, and the error names it. The site's commands come first, so that a VRF exists
//! before closc's commands name it.
//!
//! ```text
//! ! devices: p*-t0-* p1-t1-*
//! username ops privilege 15 role network-admin secret sha512 ...
//! ```

use closc_artefacts::site::is_of_site;
use closc_sonic::fits;

/// First words of the comment that selects switches.
const DEVICES: &str = "! devices:";

/// Site additions.
#[derive(Debug, Default)]
pub struct SiteText {
    files: Vec<SiteFile>,
}

#[derive(Debug)]
struct SiteFile {
    name: String,
    /// Patterns of switch names; every switch if empty.
    devices: Vec<String>,
    text: String,
}

impl SiteText {
    /// Parses files, given by name and text.
    ///
    /// # Errors
    ///
    /// Returns the file and line of a command that closc owns.
    pub fn parse<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut made = SiteText::default();
        for (name, text) in files {
            for (at, line) in numbered_commands(text) {
                let head = line.split_whitespace().collect::<Vec<_>>().join(" ");
                if !is_of_site(&head) {
                    return Err(format!("`{name}`:{at}: closc owns `{head}`; write it in the fabric file"));
                }
            }
            let devices = text.lines().find_map(|line| line.strip_prefix(DEVICES)).unwrap_or_default();
            let devices =
                devices.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
            made.files.push(SiteFile { name: name.to_owned(), devices, text: text.to_owned() });
        }
        Ok(made)
    }

    /// Merges the site's additions for a switch into the configuration that closc wrote.
    ///
    /// # Errors
    ///
    /// Rejects an interface that closc configures too.
    pub fn merge(&self, device: &str, own: &str) -> Result<String, String> {
        let (mut head, mut rest) = own.split_once('\n').unwrap_or((own, ""));
        let parts = self.files.iter();
        let parts: Vec<&SiteFile> = parts
            .filter(|part| {
                part.devices.is_empty() || part.devices.iter().any(|pattern| fits(pattern, device))
            })
            .collect();
        if parts.is_empty() {
            return Ok(own.to_owned());
        }
        if !head.starts_with('!') {
            (head, rest) = ("!", own);
        }
        let mut text = format!("{head}\n");
        for SiteFile { name, text: more, .. } in parts {
            let twice = more
                .lines()
                .find(|line| line.starts_with("interface ") && own.lines().any(|own| own == *line));
            if let Some(line) = twice {
                return Err(format!(
                    "`{name}` for `{device}`: `{line}` is also in the configuration that closc writes"
                ));
            }
            for line in more.lines().filter(|line| !line.starts_with(DEVICES)) {
                text.push_str(line);
                text.push('\n');
            }
            text.push_str("!\n");
        }
        Ok(text + rest)
    }
}

/// Returns the top-level commands of a configuration.
pub fn commands(text: &str) -> impl Iterator<Item = &str> {
    numbered_commands(text).map(|(_, line)| line)
}

/// Returns the top-level commands with line numbers. The text of a banner is not a command.
fn numbered_commands(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_banner = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_command = !in_banner && is_top(line);
        in_banner = if in_banner { line.trim_end() != "EOF" } else { line.starts_with("banner ") };
        is_command
    })
}

fn is_top(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with([' ', '\t', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_banner_is_no_command() {
        let text = "banner login\nusername a secret b\nEOF\n! c\nntp server d\n   e\n";
        assert_eq!(commands(text).collect::<Vec<_>>(), ["banner login", "ntp server d"]);
    }
}
