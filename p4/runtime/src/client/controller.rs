//! Identity of a controller, and its role for a target.

use std::fmt;

use crate::election::{ElectionId, RoleName};

/// Identity of a controller.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Controller {
    /// The id that decides which controller is primary; a controller with `None` never becomes primary.
    pub election: Option<ElectionId>,
    /// The role.
    pub role: RoleName,
    /// The rights of the role, in a message that the target understands.
    pub role_config: Option<prost_types::Any>,
}

impl Controller {
    /// Returns the controller of the default role with an election id.
    pub fn new(election: ElectionId) -> Self {
        Controller { election: Some(election), ..Default::default() }
    }
}

/// State of a controller in the arbitration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Primacy {
    /// Not known yet: the stream is being opened.
    Opening,
    /// The primary: it may write.
    Primary {
        /// The election id of this controller.
        election: ElectionId,
    },
    /// A backup; another controller is primary.
    Backup {
        /// The election id of the primary, if the target reports it.
        primary: Option<ElectionId>,
    },
    /// A backup; no controller is primary.
    Vacant {
        /// The highest election id that the target has received.
        highest: Option<ElectionId>,
    },
    /// The stream broke; it is being reopened.
    Lost {
        /// The reason.
        reason: String,
    },
    /// The stream ended and is not reopened.
    Closed {
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for Primacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Primacy::Opening => f.write_str("the stream is being opened"),
            Primacy::Primary { election } => write!(f, "primary with election id {election}"),
            Primacy::Backup { primary: Some(id) } => {
                write!(f, "another controller is primary, with election id {id}")
            }
            Primacy::Backup { primary: None } => f.write_str("another controller is primary"),
            Primacy::Vacant { highest: Some(id) } => {
                write!(f, "no controller is primary; the highest election id so far is {id}")
            }
            Primacy::Vacant { highest: None } => f.write_str("no controller is primary"),
            Primacy::Lost { reason } => write!(f, "the stream broke: {reason}"),
            Primacy::Closed { reason } => write!(f, "the stream is closed: {reason}"),
        }
    }
}
