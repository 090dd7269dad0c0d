//! Label text at each end of a cable.

use closc_topology::{Side, TierId, Topology};

use super::{Line, Plug, rack, unit};

/// A pattern of labels: text with placeholders in braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelPattern {
    parts: Vec<PatternPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    Text(String),
    Word(Word),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Cable,
    Plane,
    Device,
    Port,
    Cage,
    Rack,
    Unit,
    FarDevice,
    FarPort,
    FarCage,
    FarRack,
    FarUnit,
}

const WORDS: [(&str, Word); 12] = [
    ("cable", Word::Cable),
    ("plane", Word::Plane),
    ("device", Word::Device),
    ("port", Word::Port),
    ("cage", Word::Cage),
    ("rack", Word::Rack),
    ("unit", Word::Unit),
    ("far_device", Word::FarDevice),
    ("far_port", Word::FarPort),
    ("far_cage", Word::FarCage),
    ("far_rack", Word::FarRack),
    ("far_unit", Word::FarUnit),
];

/// Why a text is not a valid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// A placeholder is unknown.
    #[error("`{{{0}}}` is not a field of a label; expected {words}", words = placeholder_list())]
    Word(String),
    /// A brace is not closed or not opened.
    #[error("a brace is not closed or not opened")]
    Brace,
}

fn placeholder_list() -> String {
    WORDS.map(|(word, _)| format!("`{{{word}}}`")).join(", ")
}

impl LabelPattern {
    /// The default pattern: this end, then the far end.
    pub const DEFAULT: &'static str = "{device}:{port} > {far_device}:{far_port}";

    /// If labels contain a rack or a unit, returns the first tier, or `hosts`, for which the fabric file has no racks.
    pub fn tier_without_racks(&self, topology: &Topology) -> Option<&'static str> {
        let places = [Word::Rack, Word::Unit, Word::FarRack, Word::FarUnit].map(PatternPart::Word);
        if !self.parts.iter().any(|part| places.contains(part)) {
            return None;
        }
        let racks = topology.racks.as_ref();
        let mut tiers = TierId::ALL.into_iter().filter(|tier| topology.tier(*tier).is_some());
        let tier = tiers.find(|tier| racks.is_none_or(|racks| racks.tier(*tier).is_none()));
        let hosts = racks.is_none_or(|racks| racks.hosts.is_none()).then_some("hosts");
        tier.map(TierId::keyword).or(hosts)
    }

    /// Returns the label at one end of a cable. `Side::Down` is the end nearer to the NICs.
    pub(super) fn label(&self, line: &Line, end: Side) -> String {
        let (own, far) = match end {
            Side::Down => (&line.a, &line.b),
            Side::Up => (&line.b, &line.a),
        };
        let cage = |plug: &Plug| plug.cage.map(|cage| cage.to_string()).unwrap_or_default();
        let parts = self.parts.iter().map(|part| match part {
            PatternPart::Text(text) => text.clone(),
            PatternPart::Word(Word::Cable) => line.name.clone(),
            PatternPart::Word(Word::Plane) => line.link.plane().to_string(),
            PatternPart::Word(Word::Device) => own.at.device.clone(),
            PatternPart::Word(Word::Port) => own.at.port.clone(),
            PatternPart::Word(Word::Cage) => cage(own),
            PatternPart::Word(Word::Rack) => rack(own),
            PatternPart::Word(Word::Unit) => unit(own),
            PatternPart::Word(Word::FarDevice) => far.at.device.clone(),
            PatternPart::Word(Word::FarPort) => far.at.port.clone(),
            PatternPart::Word(Word::FarCage) => cage(far),
            PatternPart::Word(Word::FarRack) => rack(far),
            PatternPart::Word(Word::FarUnit) => unit(far),
        });
        parts.collect()
    }
}

impl std::str::FromStr for LabelPattern {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (word, behind) = after.split_once('}').ok_or(LabelError::Brace)?;
            if before.contains('}') {
                return Err(LabelError::Brace);
            }
            parts.push(PatternPart::Text(before.to_owned()));
            let known = WORDS.iter().find(|(name, _)| *name == word);
            parts.push(PatternPart::Word(known.ok_or_else(|| LabelError::Word(word.to_owned()))?.1));
            rest = behind;
        }
        if rest.contains('}') {
            return Err(LabelError::Brace);
        }
        parts.push(PatternPart::Text(rest.to_owned()));
        Ok(LabelPattern { parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_patterns_are_named() {
        let parsed = |text: &str| text.parse::<LabelPattern>().map_err(|error| error.to_string());
        assert!(parsed(LabelPattern::DEFAULT).is_ok());
        assert!(
            parsed("{devise}")
                .is_err_and(|error| error.contains("`{devise}`") && error.contains("`{far_port}`"))
        );
        for text in ["{device", "device}", "a}b{port}"] {
            assert_eq!(parsed(text), Err(LabelError::Brace.to_string()), "{text}");
        }
    }
}
