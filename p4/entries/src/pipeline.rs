//! The registry of pipelines: one line each.
//!
//! In: the name of a pipeline. Out: its P4Info, its BMv2 JSON, and the entities of an intent. Invariants: what is
//! embedded is what is committed under `p4/pipelines/`.

mod fabric;

use std::sync::{Arc, LazyLock};

use closc_plan::DeviceIntent;
use closc_runtime::proto::v1;
use closc_runtime::text;
use closc_runtime::{Info, client};

use crate::error::{EntriesError, Fault};

pub use fabric::state;

/// A pipeline that intents can be expressed in.
#[derive(Debug)]
pub struct Pipeline {
    name: &'static str,
    p4info: &'static str,
    bmv2: &'static str,
    index: &'static LazyLock<Arc<Info>>,
    entities: fn(&DeviceIntent<'_>, &Info) -> Result<Vec<v1::Entity>, Fault>,
}

/// Embeds what p4c made of a pipeline and indexes its P4Info at first use.
macro_rules! pipelines {
    ($($name:ident => $entities:path;)+) => {
        static PIPELINES: &[Pipeline] = &[$({
            const P4INFO: &str = include_str!(concat!(
                "../../pipelines/", stringify!($name), "/", stringify!($name), ".p4info.txtpb"
            ));
            static INDEX: LazyLock<Arc<Info>> = LazyLock::new(|| Arc::new(index(P4INFO)));
            Pipeline {
                name: stringify!($name),
                p4info: P4INFO,
                bmv2: include_str!(concat!(
                    "../../pipelines/", stringify!($name), "/", stringify!($name), ".bmv2.json"
                )),
                index: &INDEX,
                entities: $entities,
            }
        }),+];
    };
}

pipelines! {
    fabric => fabric::entities;
}

fn index(p4info: &str) -> Info {
    let message = text::read_p4info(p4info).expect("a test reads the P4Info of every pipeline");
    Info::new(message).expect("a test indexes the P4Info of every pipeline")
}

impl Pipeline {
    /// Returns every pipeline.
    pub fn all() -> &'static [Pipeline] {
        PIPELINES
    }

    /// Returns the pipeline with the name.
    pub fn find(name: &str) -> Option<&'static Pipeline> {
        PIPELINES.iter().find(|pipeline| pipeline.name == name)
    }

    /// Returns the pipeline of multi-plane Clos fabrics.
    pub fn fabric() -> &'static Pipeline {
        Pipeline::find("fabric").expect("the registry has it")
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the P4Info as p4c wrote it, in protobuf text.
    pub fn p4info(&self) -> &'static str {
        self.p4info
    }

    /// Returns the program as BMv2 and the embedded switch run it.
    pub fn bmv2(&self) -> &'static str {
        self.bmv2
    }

    /// Returns the P4Info by name.
    pub fn info(&self) -> &Arc<Info> {
        self.index
    }

    /// Returns it as what a controller sets on a target; its cookie says which pipeline a target runs.
    pub fn for_target(&self) -> client::Pipeline {
        client::Pipeline::new(self.info().clone(), self.bmv2.as_bytes().into())
    }

    /// Returns the entities of a switch, in an order in which they can be inserted.
    pub fn entities(&self, intent: &DeviceIntent<'_>) -> Result<Vec<v1::Entity>, EntriesError> {
        (self.entities)(intent, self.index).map_err(|fault| match fault {
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
            assert!(pipeline.bmv2().starts_with('{'), "{}", pipeline.name());
            assert_eq!(Pipeline::find(pipeline.name()).map(Pipeline::name), Some(pipeline.name()));
        }
        assert!(Pipeline::find("none").is_none());
    }

    #[test]
    fn a_cookie_is_a_function_of_the_pipeline() {
        for pipeline in Pipeline::all() {
            let again = Arc::new(index(pipeline.p4info()));
            let again = client::Pipeline::new(again, pipeline.bmv2().as_bytes().into());
            assert_eq!(pipeline.for_target().cookie(), again.cookie());
        }
    }
}
