//! Packets that were lost: which, and at what moment.
//!
//! In: frames as switches, cables and ports lost them; what agents say of packets that they missed. Out: losses of a [`Record`].
//! Invariants: a loss is what the simulation saw get lost, whatever its sender believes; a packet that a sender took for lost
//! and that arrived is none.

use std::collections::HashMap;
use std::net::Ipv6Addr;

use closc_nic::losses::Loss as AgentLoss;
use closc_nic::wire;

use super::super::record::{Loss, Record, Word};
use super::inner::INNER;

/// Where the inner header begins, the option behind it, and the number in the option.
const INNER_AT: usize = 14 + 40;
const OPTION_AT: usize = INNER_AT + INNER;
const NUMBER_AT: usize = OPTION_AT + 8;
const MESSAGE_AT: usize = OPTION_AT + wire::OPTION_LEN + wire::UDP_LEN;
/// The next header of frames that are numbered.
const NUMBERED: u8 = 60;

/// A numbered packet: who sent it, the segment list that it left with, its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Packet {
    from: [u8; 16],
    list: [u8; 16],
    number: u32,
    is_probe: bool,
}

impl Packet {
    /// Reads it off a frame of the fabric; nothing where the frame has no number. Switches change the outer header on the way, so
    /// it is read off the inner one.
    pub(super) fn of(frame: &[u8]) -> Option<Packet> {
        let inner = frame.get(INNER_AT..OPTION_AT).filter(|inner| inner[6] == NUMBERED)?;
        let number = frame.get(NUMBER_AT..NUMBER_AT + 4)?.try_into().ok()?;
        let (from, list) = (inner[8..24].try_into().ok()?, inner[24..40].try_into().ok()?);
        let is_probe = frame.get(MESSAGE_AT..).is_some_and(wire::is_pair_probe);
        Some(Packet { from, list, number: u32::from_be_bytes(number), is_probe })
    }

    /// Sender, and the segment list of its path.
    pub(super) fn way(&self) -> (Ipv6Addr, Ipv6Addr) {
        (self.from.into(), self.list.into())
    }

    /// The packet that an agent missed, by the list that its path has.
    pub(super) fn missed(from: Ipv6Addr, list: [u8; 16], loss: &AgentLoss) -> Packet {
        Packet { from: from.octets(), list, number: loss.packet, is_probe: loss.probe }
    }
}

/// Losses so far.
#[derive(Debug, Default)]
pub(super) struct Deaths {
    /// When, which, and whether a switch dropped it.
    dead: Vec<(u64, Packet, bool)>,
}

impl Deaths {
    /// Notes that a frame was lost, and whether a switch dropped it; acknowledgements and the like are not counted.
    pub(super) fn lost(&mut self, at_ns: u64, frame: &[u8], in_switch: bool) {
        self.dead.extend(Packet::of(frame).map(|packet| (at_ns, packet, in_switch)));
    }

    /// Returns how many packets were lost.
    pub(super) fn count(&self) -> u64 {
        self.dead.len() as u64
    }

    /// Notes packets that cables lost.
    pub(super) fn extend(&mut self, packets: impl IntoIterator<Item = (u64, Packet)>) {
        self.dead.extend(packets.into_iter().map(|(at_ns, packet)| (at_ns, packet, false)));
    }

    /// Adds them to a record in the order of time, each with the word that its sender had of it, if it had any. Returns which
    /// packets they are.
    pub(super) fn tell(mut self, words: &mut Words, record: &mut Record) -> Vec<Packet> {
        self.dead.sort_unstable();
        let lost = self.dead.iter().map(|(lost_ns, packet, in_switch)| Loss {
            lost_ns: *lost_ns,
            step: None,
            in_switch: *in_switch,
            is_probe: packet.is_probe,
            word: words.take(packet, *lost_ns),
        });
        record.losses.extend(lost);
        self.dead.into_iter().map(|(_, packet, _)| packet).collect()
    }
}

/// Senders' reports of missed packets.
#[derive(Debug, Default)]
pub(super) struct Words {
    known: HashMap<Packet, Vec<Word>>,
}

impl Words {
    /// Notes what a sender said.
    pub(super) fn said(&mut self, packet: Packet, (from, to): (usize, usize), loss: &AgentLoss) {
        let AgentLoss { entropy, sent_ns, known_ns, .. } = *loss;
        let known_ns = Some(known_ns);
        self.known.entry(packet).or_default().push(Word { from, to, entropy, sent_ns, known_ns });
    }

    /// Takes the word of a packet that was lost at a time: numbers begin again where an agent forgot a NIC, so times decide.
    fn take(&mut self, packet: &Packet, lost_ns: u64) -> Option<Word> {
        let words = self.known.get_mut(packet)?;
        let until = |word: &Word| word.known_ns.unwrap_or(u64::MAX);
        let at = words.iter().position(|word| (word.sent_ns..=until(word)).contains(&lost_ns))?;
        Some(words.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::inner;
    use super::*;

    fn frame(number: u32) -> Vec<u8> {
        let mut frame = vec![0; 14 + 40 + 16 + 8 + 20];
        (frame[20], frame[37], frame[53]) = (NUMBERED, 1, 2);
        frame[14 + 40 + 8..14 + 40 + 12].copy_from_slice(&number.to_be_bytes());
        inner::wrap(&frame)
    }

    #[test]
    fn a_loss_has_its_moment_and_the_word_of_its_sender() {
        let (mut deaths, mut words, mut record) = (Deaths::default(), Words::default(), Record::default());
        let mut shifted = frame(7);
        shifted[53] = 9;
        deaths.lost(50, &shifted, false);
        deaths.lost(20, &frame(8), true);
        let mut message = frame(9);
        message[INNER_AT + 6] = 17;
        deaths.lost(30, &message, false);
        deaths.lost(30, &frame(9)[..OPTION_AT], false);
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
            words.said(Packet::missed(Ipv6Addr::from(1), list, &said), (0, 1), &said);
        }
        let packets = deaths.tell(&mut words, &mut record);
        let of = |loss: &Loss| (loss.lost_ns, loss.word.map(|word| word.sent_ns), loss.in_switch);
        let found: Vec<_> = record.losses.iter().map(of).collect();
        let wanted = [(20, None, true), (50, Some(40), false)];
        assert_eq!(found, wanted, "what has no number is not counted");
        assert_eq!(packets[1].way(), (Ipv6Addr::from(1), Ipv6Addr::from(2)));
    }
}
