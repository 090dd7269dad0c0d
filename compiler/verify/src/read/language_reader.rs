//! The interface of a language module: its files, and their readers.

use closc_artefacts::Routing;

use super::error::{ReadError, text};
use super::sections::SectionCache;
use super::site::SiteGroup;
use crate::model::device::Device;
use crate::model::language::Language;
use crate::model::pipeline::{PipelineNames, Pipelines};

/// Maximum number of files per switch.
pub(crate) const FILES_MAX: usize = 6;

/// A language module.
pub(crate) struct LanguageReader {
    pub(crate) language: &'static Language,
    /// Files of a switch, the main one first; at most [`FILES_MAX`].
    pub(crate) files: &'static [RequiredFile],
    /// The pipeline of its table entries, if it has any.
    pub(crate) pipeline: Option<&'static Pipeline>,
    /// Settings in the main file that sites may choose freely.
    pub(crate) site: &'static [SiteGroup],
    /// Reads a switch.
    pub(crate) read: for<'a> fn(&Files<'a>, &ReaderContext<'_>) -> Result<Device<'a>, ReadError>,
}

impl LanguageReader {
    /// Returns the name of the file that identifies the language.
    pub(crate) fn main(&self) -> &'static str {
        self.files.first().map_or("", |file| file.name)
    }
}

/// A P4 pipeline in a tree.
pub(crate) struct Pipeline {
    /// Path of the P4Info.
    pub(crate) info: &'static str,
    /// Required tables: a pipeline without them is unknown to the verifier.
    pub(crate) tables: &'static [&'static str],
}

/// A file of a language.
pub(crate) struct RequiredFile {
    pub(crate) name: &'static str,
    /// Returns whether a switch has the file in a routing mode. If not, the file must be absent.
    pub(crate) with: fn(Routing) -> bool,
}

/// Returns true, for a file that is present in every routing mode.
pub(crate) fn always(_: Routing) -> bool {
    true
}

/// Inputs of reading, in addition to the files of the switch.
pub(crate) struct ReaderContext<'a> {
    /// Routing mode.
    pub(crate) routing: Routing,
    /// Names of the pipelines in the tree.
    pub(crate) pipelines: &'a Pipelines,
    /// SONiC tables that were read for other switches.
    pub(crate) tables: &'a SectionCache,
    /// Whether SONiC switches have the list of isolated ports.
    pub(crate) isolates: bool,
}

impl<'a> ReaderContext<'a> {
    /// Returns the names of a pipeline, which the tree must contain.
    pub(crate) fn pipeline(&self, pipeline: &Pipeline) -> Result<&'a PipelineNames, ReadError> {
        let missing = || ReadError::new(format!("`{}` is missing, so entries have no names", pipeline.info));
        self.pipelines.get(pipeline.info).ok_or_else(missing)
    }
}

/// The files of a switch, in the order of [`LanguageReader::files`]. A missing file is empty.
pub(crate) struct Files<'a> {
    files: &'static [RequiredFile],
    bytes: &'a [Vec<u8>],
}

impl<'a> Files<'a> {
    /// Wraps the contents of the files, given in the order of [`LanguageReader::files`].
    pub(crate) fn new(room: &LanguageReader, bytes: &'a [Vec<u8>]) -> Self {
        Files { files: room.files, bytes }
    }

    /// Returns the bytes of a file.
    pub(crate) fn bytes(&self, name: &str) -> &'a [u8] {
        let at = self.files.iter().position(|file| file.name == name);
        at.and_then(|at| self.bytes.get(at)).map_or(&[], Vec::as_slice)
    }

    /// Returns the text of a file.
    pub(crate) fn text(&self, name: &'static str) -> Result<&'a str, ReadError> {
        let beside = self.files.first().is_none_or(|main| main.name != name);
        text(self.bytes(name)).map_err(|error| if beside { error.with_file(name) } else { error })
    }
}
