//! Every bad fabric file in `tests/errors` gives exactly the message next to it.
//!
//! In: Markdown files with a fabric and its message. Out: one test per file. `CLOSC_BLESS=1` regenerates the
//! messages. Review them before you commit.

mod support;

use std::path::Path;

use support::Case;

fn check(path: &Path) -> datatest_stable::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let case = Case::parse(&text).ok_or("the file has no fence ```yaml")?;
    let (diagnostics, shown) = case.run();
    if std::env::var_os("CLOSC_BLESS").is_some() {
        let (head, _) = text.split_once("```text\n").ok_or("the file has no fence ```text")?;
        std::fs::write(path, format!("{head}```text\n{shown}```\n"))?;
    } else if shown != case.expected {
        return Err(format!("expected:\n{}\nfound:\n{shown}", case.expected).into());
    }
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let code = name.split('-').next().unwrap_or_default();
    if diagnostics.iter().any(|found| found.rule.code == code) {
        return Ok(());
    }
    Err(format!("the file is named after {code}, and nothing gives it:\n{shown}").into())
}

datatest_stable::harness! {
    { test = check, root = "../../tests/errors", pattern = r"^[EW][0-9]{4}-.*\.md$" },
}
