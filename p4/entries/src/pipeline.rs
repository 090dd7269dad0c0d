//! The registry of pipelines, one line per pipeline.
//!
//! In: the name of a pipeline. Out: its P4Info, its BMv2 JSON, and the entities of an intent. Invariants: the embedded
//! files are those committed under `p4/pipelines/`.

mod fabric;
mod fabric_tna;
mod sai;
mod shares;
mod wide_ports;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use closc_artefacts::{StatedSwitch, paths};
use closc_plan::{DeviceIntent, Plan};
use closc_runtime::proto::v1;
use closc_runtime::{Info, capacity, text};
use closc_topology::Switch;

use crate::error::{EntriesError, Fault};

/// A pipeline for which the entries of an intent can be rendered.
#[derive(Debug)]
pub struct Pipeline {
    name: &'static str,
    p4info: Cow<'static, str>,
    /// The program for BMv2 and the embedded switch; `None` for a pipeline whose program the operator builds.
    bmv2: Option<Cow<'static, str>>,
    index: Index,
    entities: fn(&DeviceIntent<'_>, &Info) -> Result<Vec<v1::Entity>, Fault>,
    state: State,
    /// Whether its ports have the numbers of the platform's port map, which is then required.
    is_mapped: bool,
}

/// Adds the marking, trimming and rate limits of a switch to its values in the manifest.
type State = fn(&DeviceIntent<'_>, &mut StatedSwitch) -> Result<(), EntriesError>;

/// The index of a P4Info.
#[derive(Debug)]
enum Index {
    /// Indexed at first use.
    Embedded(&'static LazyLock<Arc<Info>>),
    /// Indexed when the pipeline is generated.
    Generated(Arc<Info>),
}

/// The pipelines of multi-plane Clos fabrics for port numbers of 10, 11 and 12 bits.
static WIDE: [LazyLock<Pipeline>; 3] = [
    LazyLock::new(|| generate_wide(Pipeline::fabric(), 10)),
    LazyLock::new(|| generate_wide(Pipeline::fabric(), 11)),
    LazyLock::new(|| generate_wide(Pipeline::fabric(), wide_ports::WIDEST)),
];

/// The pipelines of SONiC hardware with P4Runtime for port numbers of 10, 11 and 12 bits.
static WIDE_SAI: [LazyLock<Pipeline>; 3] = [
    LazyLock::new(|| generate_wide(Pipeline::sai(), 10)),
    LazyLock::new(|| generate_wide(Pipeline::sai(), 11)),
    LazyLock::new(|| generate_wide(Pipeline::sai(), wide_ports::WIDEST)),
];

fn generate_wide(narrow: &Pipeline, bits: u8) -> Pipeline {
    wide_ports::widen_pipeline(narrow, bits).expect("a test generates the pipelines of every width")
}

/// Embeds the output of p4c for a pipeline, and indexes its P4Info at first use.
macro_rules! pipelines {
    (@bmv2 $name:ident bmv2) => {
        Some(Cow::Borrowed(include_str!(concat!(
            "../../pipelines/", stringify!($name), "/", stringify!($name), ".bmv2.json"
        ))))
    };
    (@bmv2 $name:ident tofino) => { None };
    (@mapped bmv2) => { false };
    (@mapped tofino) => { true };
    ($($name:ident => $entities:path, $state:expr, $target:ident;)+) => {
        static PIPELINES: &[Pipeline] = &[$({
            const P4INFO: &str = include_str!(concat!(
                "../../pipelines/", stringify!($name), "/", stringify!($name), ".p4info.txtpb"
            ));
            static INDEX: LazyLock<Arc<Info>> = LazyLock::new(|| Arc::new(index(P4INFO)));
            Pipeline {
                name: stringify!($name),
                p4info: Cow::Borrowed(P4INFO),
                bmv2: pipelines!(@bmv2 $name $target),
                index: Index::Embedded(&INDEX),
                entities: $entities,
                state: $state,
                is_mapped: pipelines!(@mapped $target),
            }
        }),+];
    };
}

pipelines! {
    fabric => fabric::entities, fabric::add_stated_values, bmv2;
    sai => sai::entities, |_, _| Ok(()), bmv2;
    fabric_tna => fabric_tna::entities, fabric_tna::add_stated_values, tofino;
}

fn index(p4info: &str) -> Info {
    let message = text::read_p4info(p4info).expect("a test reads the P4Info of every pipeline");
    Info::new(message).expect("a test indexes the P4Info of every pipeline")
}

/// Checks that all entities fit in their tables and profiles.
fn check_capacity(
    intent: &DeviceIntent<'_>,
    info: &Info,
    entities: &[v1::Entity],
) -> Result<(), EntriesError> {
    match capacity::excess(info, entities) {
        None => Ok(()),
        Some(excess) => Err(EntriesError::Full { device: intent.name.to_string(), excess }),
    }
}

impl Pipeline {
    /// Returns every pipeline.
    pub fn all() -> &'static [Pipeline] {
        PIPELINES
    }

    /// Returns the pipeline with this name.
    pub(crate) fn find(name: &str) -> Option<&'static Pipeline> {
        PIPELINES.iter().find(|pipeline| pipeline.name == name)
    }

    /// Returns the pipeline of multi-plane Clos fabrics.
    pub fn fabric() -> &'static Pipeline {
        Pipeline::find("fabric").expect("a registered name")
    }

    /// Returns the pipeline of SONiC hardware with P4Runtime.
    pub fn sai() -> &'static Pipeline {
        Pipeline::find("sai").expect("a registered name")
    }

    /// Returns the pipeline of a switch if its operating system has one, with the port width that the platforms of the
    /// fabric need.
    pub fn of(plan: &Plan, switch: Switch) -> Option<&'static Pipeline> {
        let topology = plan.topology();
        let (platform, os) = topology.hardware(switch);
        let found = platform.pipeline(os).and_then(Pipeline::find)?;
        if found.name == Pipeline::fabric().name {
            return Some(Pipeline::fabric_of(topology.port_bits()));
        }
        Some(if found.name == Pipeline::sai().name {
            Pipeline::sai_of(topology.named_port_bits())
        } else {
            found
        })
    }

    /// Returns the pipelines that switches of a fabric run, by name.
    pub fn all_of(plan: &Plan) -> Vec<&'static Pipeline> {
        let found = plan.kinds().into_iter().filter_map(|switch| Pipeline::of(plan, switch));
        let by_name: BTreeMap<&str, &'static Pipeline> =
            found.map(|pipeline| (pipeline.name, pipeline)).collect();
        by_name.into_values().collect()
    }

    /// Returns the pipeline of multi-plane Clos fabrics with ports of this width, or of the nearest width that exists.
    fn fabric_of(bits: u8) -> &'static Pipeline {
        match bits.checked_sub(wide_ports::NARROW + 1) {
            None => Pipeline::fabric(),
            Some(more) => &WIDE[usize::from(more).min(WIDE.len() - 1)],
        }
    }

    /// Returns the pipeline of SONiC hardware with P4Runtime, with ports of this width or of the nearest
    /// width that exists. Controllers address its ports by text, so only its program for BMv2 and the
    /// embedded switch differs.
    fn sai_of(bits: u8) -> &'static Pipeline {
        match bits.checked_sub(wide_ports::NARROW + 1) {
            None => Pipeline::sai(),
            Some(more) => &WIDE_SAI[usize::from(more).min(WIDE_SAI.len() - 1)],
        }
    }

    /// Returns every pipeline that a tree can contain, in every port width.
    pub fn tree_pipelines() -> impl Iterator<Item = &'static Pipeline> {
        let widths = || wide_ports::NARROW..=wide_ports::WIDEST;
        let mapped = PIPELINES.iter().filter(|pipeline| pipeline.is_mapped);
        widths().map(Pipeline::fabric_of).chain(widths().map(Pipeline::sai_of)).chain(mapped)
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the name of the file with the entries of a switch.
    pub(crate) fn file(&self) -> &'static str {
        let found = paths::ENTRIES_OF.iter().find(|(_, pipeline)| *pipeline == self.name);
        found.map_or(paths::ENTRIES, |(file, _)| file)
    }

    /// Returns the P4Info, in protobuf text.
    pub fn p4info(&self) -> &str {
        &self.p4info
    }

    /// Returns the program for BMv2 and the embedded switch, or `None` for a chip whose program the operator builds.
    pub fn bmv2(&self) -> Option<&str> {
        self.bmv2.as_deref()
    }

    /// Returns whether its ports have the numbers of the platform's port map, which is then required.
    pub(crate) fn uses_port_map(&self) -> bool {
        self.is_mapped
    }

    /// Returns the P4Info, indexed by name.
    pub fn info(&self) -> &Arc<Info> {
        match &self.index {
            Index::Embedded(index) => index,
            Index::Generated(index) => index,
        }
    }

    /// Returns the configuration that a controller sets on a target. Targets report its cookie, which
    /// identifies the pipeline that they run.
    pub fn for_target(&self) -> closc_runtime::Pipeline {
        let program = self.bmv2.as_deref().unwrap_or_default();
        closc_runtime::Pipeline::new(self.info().clone(), Vec::from(program.as_bytes()).into())
    }

    /// Adds the marking, trimming and rate limits of a switch to its values in the manifest.
    pub fn add_stated_values(
        &self,
        intent: &DeviceIntent<'_>,
        switch: &mut StatedSwitch,
    ) -> Result<(), EntriesError> {
        (self.state)(intent, switch)
    }

    /// Returns the entities of a switch, in an order in which they can be inserted.
    pub fn entities(&self, intent: &DeviceIntent<'_>) -> Result<Vec<v1::Entity>, EntriesError> {
        (self.entities)(intent, self.info()).map_err(|fault| match fault {
            Fault::Error(error) => error,
            Fault::Violation(source) => {
                EntriesError::Pipeline { device: intent.name.to_string(), pipeline: self.name, source }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pipeline_has_a_p4info_that_can_be_read() {
        for pipeline in Pipeline::all() {
            assert!(!pipeline.info().tables().is_empty(), "{}", pipeline.name());
            assert!(pipeline.bmv2().is_none_or(|bmv2| bmv2.starts_with('{')), "{}", pipeline.name());
            assert_eq!(pipeline.bmv2().is_none(), pipeline.uses_port_map(), "{}", pipeline.name());
            assert_eq!(Pipeline::find(pipeline.name()).map(Pipeline::name), Some(pipeline.name()));
        }
        assert!(Pipeline::find("none").is_none());
    }

    #[test]
    fn a_cookie_is_a_function_of_the_pipeline() {
        for pipeline in Pipeline::all() {
            let again = Arc::new(index(pipeline.p4info()));
            let bmv2 = pipeline.bmv2().unwrap_or_default();
            let again = closc_runtime::Pipeline::new(again, Vec::from(bmv2.as_bytes()).into());
            assert_eq!(pipeline.for_target().cookie(), again.cookie());
        }
    }
}
