//! The page: HTML, style, script, examples and the compiled crate in one file.
//!
//! In: this crate as WebAssembly, compressed. Out: HTML. Invariants: the page does not load other resources,
//! and its content security policy forbids it. Only the script whose digest is in the policy can run. The
//! compiler runs in a worker, which the page terminates if it takes too long.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
const WORKER: &str = include_str!("page/worker.js");

/// Fabric files to start from. The first is shown when the page opens.
const EXAMPLES: &[(&str, &str)] = &[
    ("256 NICs in four planes", include_str!("page/pod.yaml")),
    ("32,768 NICs in 11 lines", include_str!("../../../topologies/examples/minimal.yaml")),
    ("Rails", include_str!("../../../topologies/examples/rails.yaml")),
    ("Three tiers, two zones", include_str!("../../../topologies/examples/three-tiers.yaml")),
    ("Breakouts", include_str!("../../../topologies/examples/breakouts.yaml")),
    ("Absent and drained devices", include_str!("../../../topologies/examples/exceptions.yaml")),
    ("Two planes, a lab of Linux switches", include_str!("../../../topologies/lab/two-planes.yaml")),
    ("BGP unnumbered", include_str!("../../../topologies/lab/bgp-unnumbered.yaml")),
    ("P4 switches", include_str!("../../../topologies/lab/two-planes-p4.yaml")),
    ("MRC: 131,072 NICs in 8 planes", include_str!("../../../topologies/reference/mrc-8x512.yaml")),
];

/// Returns the page with the compiled crate, which the caller has compressed with gzip. Compress before
/// encoding: base64 text compresses badly.
pub fn page(wasm_gz: &[u8]) -> String {
    let script = format!("\"use strict\";\nconst WORKER = {};\n{SCRIPT}", text(WORKER));
    let digest = STANDARD.encode(Sha256::digest(&script));
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; img-src data:; worker-src blob:; \
         script-src 'sha256-{digest}' 'wasm-unsafe-eval'"
    );
    let examples: Vec<[&str; 2]> = EXAMPLES.iter().map(|(name, text)| [*name, *text]).collect();
    let examples = serde_json::to_string(&examples).expect("texts are JSON");
    let parts = [
        ("{{policy}}", policy.as_str()),
        ("{{style}}", STYLE),
        ("{{version}}", env!("CARGO_PKG_VERSION")),
        ("{{examples}}", &examples.replace('<', "\\u003c")),
        ("{{wasm}}", &STANDARD.encode(wasm_gz)),
        ("{{script}}", &script),
    ];
    // Each placeholder occurs once in the frame, and inserted text is not searched for placeholders.
    let (mut out, mut rest) = (String::new(), FRAME);
    for (name, value) in parts {
        let (before, after) = rest.split_once(name).expect("the frame has its parts in this order");
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out + rest
}

/// Returns a text as a script literal that is safe in HTML.
fn text(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON").replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn the_page_is_complete_and_names_its_script() {
        let html = page(&[0, 97, 115, 109]);
        assert!(!html.contains("{{") && html.contains(">AGFzbQ==<"), "every part is in its place");
        assert_eq!(html.matches("<script").count(), html.matches("</script>").count());
        assert!(!html.contains("src=\"") && !html.contains("href=\"http"), "it loads nothing");
    }
}
