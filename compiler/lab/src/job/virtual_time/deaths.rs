//! Lost packets, each with the time of its loss.
//!
//! In: frames that switches, cables or ports dropped; reports of agents about lost packets. Out: losses of a
//! [`Record`]. Invariants: only the simulation decides which packets were lost. A packet that arrived does not count
//! as lost, even if its sender reports a loss.

use std::collections::HashMap;
use std::net::Ipv6Addr;

use closc_nic::losses::Loss as AgentLoss;
use closc_nic::wire;

use super::super::record::{Loss, LossReport, Record};
use super::inner_header::INNER;

/// Offsets of the inner header, the option after it, the number in the option, and the message.
const INNER_AT: usize = 14 + 40;
const OPTION_AT: usize = INNER_AT + INNER;
const NUMBER_AT: usize = OPTION_AT + 8;
const MESSAGE_AT: usize = OPTION_AT + wire::OPTION_LEN + wire::UDP_LEN;
/// Next-header value of numbered frames.
const NUMBERED: u8 = 60;

/// A numbered packet: its sender, its initial segment list, its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Packet {
    from: [u8; 16],
    list: [u8; 16],
    number: u32,
    is_probe: bool,
}

impl Packet {
    /// Reads the packet from a frame in the fabric; `None` if the frame has no number. Switches change the
    /// outer header, so the inner one is read.
    pub(super) fn of(frame: &[u8]) -> Option<Packet> {
        let inner = frame.get(INNER_AT..OPTION_AT).filter(|inner| inner[6] == NUMBERED)?;
        let number = frame.get(NUMBER_AT..NUMBER_AT + 4)?.try_into().ok()?;
        let (from, list) = (inner[8..24].try_into().ok()?, inner[24..40].try_into().ok()?);
        let is_probe = frame.get(MESSAGE_AT..).is_some_and(wire::is_pair_probe);
        Some(Packet { from, list, number: u32::from_be_bytes(number), is_probe })
    }

    /// Returns the sender and the initial segment list.
    pub(super) fn path(&self) -> (Ipv6Addr, Ipv6Addr) {
        (self.from.into(), self.list.into())
    }

    /// Returns the packet that an agent reported lost. `list` is the segment list of its path.
    pub(super) fn from_loss(from: Ipv6Addr, list: [u8; 16], loss: &AgentLoss) -> Packet {
        Packet { from: from.octets(), list, number: loss.packet, is_probe: loss.probe }
    }
}

/// Losses so far.
#[derive(Debug, Default)]
pub(super) struct Deaths {
    /// Time, packet, and whether a switch dropped it.
    dead: Vec<(u64, Packet, bool)>,
}

impl Deaths {
    /// Records a lost frame, and whether a switch dropped it. Frames without a number, such as acknowledgements, are
    /// ignored.
    pub(super) fn record_loss(&mut self, at_ns: u64, frame: &[u8], in_switch: bool) {
        self.dead.extend(Packet::of(frame).map(|packet| (at_ns, packet, in_switch)));
    }

    /// Returns the number of lost packets.
    pub(super) fn count(&self) -> u64 {
        self.dead.len() as u64
    }

    /// Records packets that ports of NICs dropped.
    pub(super) fn extend(&mut self, packets: impl IntoIterator<Item = (u64, Packet)>) {
        self.dead.extend(packets.into_iter().map(|(at_ns, packet)| (at_ns, packet, false)));
    }

    /// Adds the losses to a record in the order of time, each with its sender's report if there is one. Returns the
    /// packets in the same order.
    pub(super) fn tell(mut self, words: &mut LossReports, record: &mut Record) -> Vec<Packet> {
        self.dead.sort_unstable();
        let lost = self.dead.iter().map(|(lost_ns, packet, in_switch)| Loss {
            lost_ns: *lost_ns,
            step: None,
            in_switch: *in_switch,
            is_probe: packet.is_probe,
            report: words.take(packet, *lost_ns),
        });
        record.losses.extend(lost);
        self.dead.into_iter().map(|(_, packet, _)| packet).collect()
    }
}

/// Senders' reports of lost packets.
#[derive(Debug, Default)]
pub(super) struct LossReports {
    reports: HashMap<Packet, Vec<LossReport>>,
}

impl LossReports {
    /// Records a report of a sender.
    pub(super) fn record_loss(&mut self, packet: Packet, (from, to): (usize, usize), loss: &AgentLoss) {
        let AgentLoss { entropy, sent_ns, known_ns, .. } = *loss;
        let known_ns = Some(known_ns);
        self.reports.entry(packet).or_default().push(LossReport { from, to, entropy, sent_ns, known_ns });
    }

    /// Removes and returns the report about a packet that was lost at this time. Numbers restart after an agent drops
    /// a far NIC from memory, so the times must also match.
    fn take(&mut self, packet: &Packet, lost_ns: u64) -> Option<LossReport> {
        let words = self.reports.get_mut(packet)?;
        let until = |word: &LossReport| word.known_ns.unwrap_or(u64::MAX);
        let at = words.iter().position(|word| (word.sent_ns..=until(word)).contains(&lost_ns))?;
        Some(words.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::inner_header;
    use super::*;

    fn frame(number: u32) -> Vec<u8> {
        let mut frame = vec![0; 14 + 40 + 16 + 8 + 20];
        (frame[20], frame[37], frame[53]) = (NUMBERED, 1, 2);
        frame[14 + 40 + 8..14 + 40 + 12].copy_from_slice(&number.to_be_bytes());
        inner_header::wrap(&frame)
    }

    #[test]
    fn a_loss_has_its_moment_and_the_word_of_its_sender() {
        let (mut deaths, mut words, mut record) =
            (Deaths::default(), LossReports::default(), Record::default());
        let mut shifted = frame(7);
        shifted[53] = 9;
        deaths.record_loss(50, &shifted, false);
        deaths.record_loss(20, &frame(8), true);
        let mut message = frame(9);
        message[INNER_AT + 6] = 17;
        deaths.record_loss(30, &message, false);
        deaths.record_loss(30, &frame(9)[..OPTION_AT], false);
        let list = {
            let mut list = [0; 16];
            list[15] = 2;
            list
        };
        let loss = |packet, sent_ns, known_ns| AgentLoss {
            number: 1,
            to: Ipv6Addr::LOCALHOST,
            plane: 0,
            entropy: 3,
            packet,
            sent_ns,
            known_ns,
            came: false,
            probe: false,
        };
        for said in [loss(7, 60, 70), loss(7, 40, 55), loss(10, 1, 2)] {
            words.record_loss(Packet::from_loss(Ipv6Addr::from(1), list, &said), (0, 1), &said);
        }
        let packets = deaths.tell(&mut words, &mut record);
        let of = |loss: &Loss| (loss.lost_ns, loss.report.map(|word| word.sent_ns), loss.in_switch);
        let found: Vec<_> = record.losses.iter().map(of).collect();
        let wanted = [(20, None, true), (50, Some(40), false)];
        assert_eq!(found, wanted, "what has no number is not counted");
        assert_eq!(packets[1].path(), (Ipv6Addr::from(1), Ipv6Addr::from(2)));
    }
}
