//! `closc lsp`, driven by an independent language client (pygls) over standard input and output.

use std::process::Command;

use crate::common::root;

#[test]
fn a_public_client_has_a_session() {
    let found = Command::new("python3").args(["-c", "import pygls.lsp.client"]).output();
    if !found.is_ok_and(|found| found.status.success()) {
        return closc_skip::skip("python3 cannot import pygls (pip install pygls)");
    }
    let session = Command::new("python3")
        .arg(root().join("compiler/cli/tests/lsp_session.py"))
        .arg(env!("CARGO_BIN_EXE_closc"))
        .arg(root().join("topologies/reference/mrc-8x512.yaml"))
        .output()
        .expect("python runs");
    let said = String::from_utf8_lossy(&session.stdout);
    println!("{said}");
    assert!(session.status.success(), "{said}\n{}", String::from_utf8_lossy(&session.stderr));
    assert!(said.ends_with("the session ended well\n"), "{said}");
}
