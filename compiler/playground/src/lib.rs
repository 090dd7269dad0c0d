//! The compiler in a browser: from the text of a fabric file to findings, drawings, configurations, impact of
//! failures and a proof, as JSON.
//!
//! In: a [`Request`] as JSON. Out: JSON with `ok` or `error` ([`answer`]), and the page that contains the
//! compiled crate ([`page`]). Invariants: no I/O, so the crate compiles for `wasm32-unknown-unknown`.
//! Findings and files are the same as on the command line, except that a reference to another file is an
//! error. `Verify` immediately rejects a fabric whose verification would take too long. The error contains
//! its number of cables.

mod abi;
mod device;
mod fabric;
mod page;
mod proof;

use closc_compile::front::{self, Origin, Reading};
use closc_diagnostics::Levels;
use closc_plan::Plan;
use closc_whatif::report::{Answer, EachQuestion, EachReport};
use closc_whatif::{Element, Elements, Kind, WhatIf, domains_of, show};
use serde::{Deserialize, Serialize};

pub use abi::{closc_answer, closc_buffer};
pub use page::page;

/// The name of the text in findings.
const NAME: &str = "fabric.yaml";

/// Number of worst-affected NIC pairs in the output of `Whatif`.
const WORST: usize = 5;

/// A request about the text of a fabric file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Request {
    /// Findings, and the fabric that the text describes.
    Check { text: String },
    /// A drawing of the fabric, of `plane 0`, or of a switch.
    Drawing { text: String, subject: String },
    /// The files of a switch or node.
    Device { text: String, name: String },
    /// The impact of failures; if none is named, of single failures of each kind.
    Whatif { text: String, fail: Vec<String> },
    /// The proof of the compiled tree.
    Verify { text: String },
}

/// An answer, or an error.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Response {
    Ok(serde_json::Value),
    Error(String),
}

/// Output as text.
#[derive(Debug, Serialize)]
struct OutputText {
    text: String,
}

/// Answers a request.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let response = match serde_json::from_slice(request) {
        Ok(request) => respond(request).map_or_else(Response::Error, Response::Ok),
        Err(error) => Response::Error(format!("not a request: {error}")),
    };
    serde_json::to_vec(&response).expect("an answer has text keys only")
}

fn respond(request: Request) -> Result<serde_json::Value, String> {
    match request {
        Request::Check { text } => json(&fabric::check(&read(&text))),
        Request::Drawing { text, subject } => {
            json(&OutputText { text: fabric::drawing(&plan(&text)?, &subject)? })
        }
        Request::Device { text, name } => json(&device::files(&plan(&text)?, &name)?),
        Request::Whatif { text, fail } => json(&OutputText { text: whatif(&plan(&text)?, &fail)? }),
        Request::Verify { text } => json(&proof::verify(&plan(&text)?)?),
    }
}

fn json(value: &impl Serialize) -> Result<serde_json::Value, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// The text in the page. A file that it refers to cannot be read.
struct PageText;

impl Origin for PageText {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn companion(&self, file: &str) -> (String, Result<String, String>) {
        (file.to_owned(), Err("the playground cannot read other files".to_owned()))
    }
}

fn read(text: &str) -> Reading {
    front::read_from(&PageText, text.as_bytes(), &[], &Levels::default())
}

fn plan(text: &str) -> Result<Plan, String> {
    read(text).plan.ok_or_else(|| "the fabric file has errors".to_owned())
}

/// Returns the output of `closc whatif`.
fn whatif(plan: &Plan, fail: &[String]) -> Result<String, String> {
    let domains = domains_of(plan.fabric());
    let elements = Elements { fabric: plan.fabric(), domains: &domains };
    let mut failed: Vec<Element> = Vec::new();
    for name in fail {
        failed.extend(elements.parse(name)?);
    }
    if !failed.is_empty() {
        let outcome = WhatIf::new(elements).fail(&failed, WORST);
        return Ok(show::answer(&Answer::new(elements, &failed, None, &outcome)));
    }
    let whatif = WhatIf::new(elements);
    let classes: Vec<_> = Kind::ALL.iter().flat_map(|kind| whatif.fail_combinations(&[*kind], 1)).collect();
    let asked = EachQuestion {
        question: String::new(),
        part: None,
        earlier_failures: &[],
        together: 1,
        overview: true,
    };
    Ok(show::impacts(&EachReport::new(elements, asked, whatif.pairs(), &classes)))
}
