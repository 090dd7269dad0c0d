//! The switches with BGP.

use crate::model::bgp::Speaker;
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;

/// Returns the switches with BGP.
pub(crate) fn speakers(fabric: &Fabric) -> impl Iterator<Item = (SwitchId, &Speaker)> {
    fabric.cabling.switch_ids().filter_map(|id| Some((id, fabric.switch(id)?.speaker.as_ref()?)))
}
