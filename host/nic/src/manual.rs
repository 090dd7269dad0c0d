//! Manual pages of the agent.

use std::io::{self, Write as _};
use std::path::Path;

use clap::Command;
use closc_manual::Manual;
use closc_nic::io::state;

const MANUAL: Manual<'static> = Manual {
    section: "1",
    files: &[
        ("/run/closc/nic0.sock", "Socket of the first NIC's agent, used by the other commands"),
        ("/etc/closc/nic0.env", "Table and address of the NIC, read by closc-nic@.service"),
        (
            "/var/lib/closc-nic/nic0.json",
            "Denials with their fabric and NIC, kept across restarts of the agent",
        ),
    ],
    examples: &[
        (
            "closc-nic doctor --table path-tables/group-0001.bin --nic 2001:db8:1000:1::1",
            "Check the requirements of the agent of this NIC",
        ),
        ("closc-nic --socket /run/closc/nic0.sock probe", "Show faults found by probes"),
        ("closc-nic deny --plane 3 --reason drain", "Take a plane out of use"),
    ],
    see_also: &["closc(1)", "systemctl(1)"],
};

/// Writes the pages into a folder, prints them as Markdown, or both.
pub(crate) fn write(command: Command, folder: Option<&Path>, markdown: bool) -> io::Result<()> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)?;
        for page in MANUAL.pages(command.clone())? {
            state::replace(&folder.join(page.name), &page.text, 0o644)?;
        }
    }
    if markdown {
        io::stdout().write_all(closc_manual::reference(command).as_bytes())?;
    }
    Ok(())
}
