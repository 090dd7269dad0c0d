//! The sections of the P4Runtime specification 1.5.0 that are tested.

use schemars::JsonSchema;
use serde::Serialize;

macro_rules! sections {
    ($($variant:ident $number:literal $title:literal;)+) => {
        /// A section of the specification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Section {$(
            #[doc = $title]
            $variant,
        )+}

        impl Section {
            /// All sections in the order of the specification.
            pub const ALL: &'static [Section] = &[$(Section::$variant),+];

            /// Returns the number.
            pub fn number(self) -> &'static str {
                match self {$(Section::$variant => $number,)+}
            }

            /// Returns the title.
            pub fn title(self) -> &'static str {
                match self {$(Section::$variant => $title,)+}
            }
        }
    };
}

sections! {
    DefaultRole "5.1" "Default role and device id";
    ArbitrationRules "5.3" "Rules for MasterArbitrationUpdate";
    ArbitrationNotifications "5.4" "Client arbitration notifications";
    DefaultValues "8.1" "Default-valued fields";
    Symmetry "8.2" "Read-write symmetry";
    Bytestrings "8.3" "Bytestrings";
    MatchFormat "9.1.1" "Match format";
    ActionSpecification "9.1.2" "Action specification";
    DefaultEntry "9.1.3" "Default entry";
    ConstantTables "9.1.4" "Constant tables";
    TableWildcards "9.1.6" "Wildcard reads of tables";
    DirectResources "9.1.7" "Direct resources";
    IdleTimeout "9.1.8" "Idle timeout";
    Members "9.2.1" "Member programming";
    Groups "9.2.2" "Group programming";
    OneShot "9.2.3" "One-shot action selector programming";
    Counters "9.3" "CounterEntry and DirectCounterEntry";
    Meters "9.4" "MeterEntry and DirectMeterEntry";
    Multicast "9.5.1" "MulticastGroupEntry";
    CloneSessions "9.5.2" "CloneSessionEntry";
    ValueSets "9.6" "ValueSetEntry";
    Registers "9.7" "RegisterEntry";
    Digests "9.8" "DigestEntry";
    Externs "9.9" "ExternEntry";
    Write "12" "Write";
    Atomicity "12.2" "Batch atomicity";
    ErrorReporting "12.3" "Error reporting of Write";
    Read "13" "Read";
    SetPipeline "14" "SetForwardingPipelineConfig";
    GetPipeline "15" "GetForwardingPipelineConfig";
    PacketIo "16.1" "Packet I/O";
    StreamErrors "16.6" "Stream error reporting";
    Capabilities "17" "Capabilities";
}

impl Section {
    /// Returns whether the section has a number or is a subsection of it.
    pub fn is_in(self, number: &str) -> bool {
        let rest = self.number().strip_prefix(number);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_a_section_and_its_parts() {
        assert!(Section::MatchFormat.is_in("9") && Section::MatchFormat.is_in("9.1"));
        assert!(!Section::Write.is_in("1") && !Section::ValueSets.is_in("9.1"));
        let numbers: Vec<Vec<u32>> = Section::ALL
            .iter()
            .map(|section| section.number().split('.').map(|part| part.parse().expect("a number")).collect())
            .collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}
