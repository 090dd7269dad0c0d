//! Arbitration between controllers: section 5.

use closc_runtime::proto::v1;
use tonic::Code;

use super::List;
use crate::make::DROP;
use crate::make::exact;
use crate::section::Section;
use crate::step::{DENIED, ExpectedMessage, IN_USE, INVALID, NOT_FOUND, OK, PRIMARY, Sender, Step, accept};

/// A device that no server is likely to have.
const NO_DEVICE: u64 = 0x7fff_ffff_ffff_fff1;

/// The names of a second and a third stream.
const OTHER: &str = "second";
const THIRD: &str = "third";

fn plain() -> v1::MasterArbitrationUpdate {
    v1::MasterArbitrationUpdate::default()
}

fn of_device(device_id: u64) -> v1::MasterArbitrationUpdate {
    v1::MasterArbitrationUpdate { device_id, ..plain() }
}

fn of_role(name: &str) -> v1::MasterArbitrationUpdate {
    let role = v1::Role { name: name.to_owned(), ..Default::default() };
    v1::MasterArbitrationUpdate { role: Some(role), ..plain() }
}

fn receive(name: &'static str, code: Code, election: Option<i64>) -> Step {
    Step::Receive(name, ExpectedMessage::Arbitration(code, election))
}

fn by(election: Option<i64>) -> Sender {
    Sender { election, ..Sender::default() }
}

pub(super) fn add(list: &mut List<'_>) {
    roles(list);
    first_messages(list);
    missing_election_id(list);
    later_messages(list);
    changed_election_id(list);
    notifications(list);
    writers(list);
}

fn roles(list: &mut List<'_>) {
    list.add(
        Section::DefaultRole,
        "role-default-writes",
        "a controller with the default role may write everything",
        |maker| Ok(vec![accept(v1::Update::insert(maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?))]),
    );
    list.add(
        Section::DefaultRole,
        "role-unset-is-default",
        "an arbitration message without a role is of the default role",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Arbitrate(OTHER, of_role(""), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
            ])
        },
    );
}

fn first_messages(list: &mut List<'_>) {
    list.add(
        Section::ArbitrationRules,
        "arbitration-unknown-device",
        "a stream for a device that does not exist ends with NOT_FOUND",
        |_| Ok(vec![Step::Open(OTHER, of_device(NO_DEVICE), Some(1)), end(OTHER, NOT_FOUND)]),
    );
    list.add(
        Section::ArbitrationRules,
        "arbitration-same-election-id",
        "a stream with the election id of a live controller ends with INVALID_ARGUMENT",
        |_| Ok(vec![Step::Open(OTHER, plain(), Some(0)), end(OTHER, INVALID)]),
    );
    list.add(
        Section::ArbitrationRules,
        "arbitration-lower-is-backup",
        "a controller with a smaller election id becomes a backup",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-5)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::WriteAs(by(Some(-5)), Vec::new(), 0, DENIED),
                Step::WriteAs(by(Some(0)), Vec::new(), 0, OK),
            ])
        },
    );
    list.add(
        Section::ArbitrationRules,
        "arbitration-greater-is-primary",
        "a controller with a greater election id becomes primary, and the one before it a backup",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(5)),
                receive(PRIMARY, Code::AlreadyExists, Some(5)),
                receive(OTHER, Code::Ok, Some(5)),
                Step::WriteAs(by(Some(0)), Vec::new(), 0, DENIED),
                Step::WriteAs(by(Some(5)), Vec::new(), 0, OK),
            ])
        },
    );
}

fn missing_election_id(list: &mut List<'_>) {
    list.add(
        Section::ArbitrationRules,
        "arbitration-without-election-id",
        "a controller without an election id is a backup",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), None),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::WriteAs(by(None), Vec::new(), 0, DENIED),
            ])
        },
    );
    list.add(
        Section::ArbitrationRules,
        "arbitration-two-without-election-id",
        "more than one controller may leave the election id unset",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), None),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Open(THIRD, plain(), None),
                receive(THIRD, Code::AlreadyExists, Some(0)),
            ])
        },
    );
}

fn end(name: &'static str, codes: crate::step::Codes) -> Step {
    Step::Receive(name, ExpectedMessage::End(codes))
}

fn later_messages(list: &mut List<'_>) {
    list.add(
        Section::ArbitrationRules,
        "arbitration-other-device",
        "a later message for another device ends the stream with FAILED_PRECONDITION",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Arbitrate(OTHER, of_device(NO_DEVICE), Some(-1)),
                end(OTHER, IN_USE),
            ])
        },
    );
    list.add(
        Section::ArbitrationRules,
        "arbitration-other-role",
        "a later message with another role ends the stream with FAILED_PRECONDITION",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Arbitrate(OTHER, of_role("another"), Some(-1)),
                end(OTHER, IN_USE),
            ])
        },
    );
    list.add(
        Section::ArbitrationRules,
        "arbitration-later-same-election-id",
        "a later message with the election id of another live controller ends the stream with INVALID_ARGUMENT",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Arbitrate(OTHER, plain(), Some(0)),
                end(OTHER, INVALID),
            ])
        },
    );
}

fn changed_election_id(list: &mut List<'_>) {
    list.add(
        Section::ArbitrationRules,
        "arbitration-own-election-id-again",
        "a controller may send its own election id again, and stays what it was",
        |_| {
            Ok(vec![
                Step::Arbitrate(PRIMARY, plain(), Some(0)),
                receive(PRIMARY, Code::Ok, Some(0)),
                Step::WriteAs(by(Some(0)), Vec::new(), 0, OK),
            ])
        },
    );
    list.add(
        Section::ArbitrationRules,
        "arbitration-raises-itself",
        "a backup that raises its election id becomes primary",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Arbitrate(OTHER, plain(), Some(7)),
                receive(PRIMARY, Code::AlreadyExists, Some(7)),
                receive(OTHER, Code::Ok, Some(7)),
            ])
        },
    );
}

fn notifications(list: &mut List<'_>) {
    list.add(
        Section::ArbitrationNotifications,
        "notification-primary-leaves",
        "when the primary disconnects, backups receive NOT_FOUND with the highest election id",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Close(PRIMARY),
                receive(OTHER, Code::NotFound, Some(0)),
            ])
        },
    );
    list.add(
        Section::ArbitrationNotifications,
        "notification-primary-steps-down",
        "a primary that lowers its election id is a backup, and all controllers receive that there is none",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-5)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Arbitrate(PRIMARY, plain(), Some(-1)),
                receive(OTHER, Code::NotFound, Some(0)),
                receive(PRIMARY, Code::NotFound, Some(0)),
                Step::WriteAs(by(Some(-1)), Vec::new(), 0, DENIED),
            ])
        },
    );
    list.add(
        Section::ArbitrationNotifications,
        "notification-id-is-not-forgotten",
        "after the primary left, a smaller election id does not become primary",
        |_| {
            Ok(vec![
                Step::Open(OTHER, plain(), Some(-1)),
                receive(OTHER, Code::AlreadyExists, Some(0)),
                Step::Close(PRIMARY),
                receive(OTHER, Code::NotFound, Some(0)),
                Step::Open(THIRD, plain(), Some(-2)),
                receive(THIRD, Code::NotFound, Some(0)),
                Step::WriteAs(by(Some(-1)), Vec::new(), 0, DENIED),
            ])
        },
    );
}

fn writers(list: &mut List<'_>) {
    list.add(
        Section::Write,
        "write-not-the-election-id",
        "a Write with another election id than the primary's is PERMISSION_DENIED",
        |_| {
            Ok(vec![
                Step::WriteAs(by(Some(1)), Vec::new(), 0, DENIED),
                Step::WriteAs(by(Some(-1)), Vec::new(), 0, DENIED),
                Step::WriteAs(by(None), Vec::new(), 0, DENIED),
            ])
        },
    );
    list.add(
        Section::Write,
        "write-unknown-device",
        "a Write to a device that does not exist is NOT_FOUND",
        |_| {
            let sender = Sender { device: Some(NO_DEVICE), ..Sender::primary() };
            Ok(vec![Step::WriteAs(sender, Vec::new(), 0, NOT_FOUND)])
        },
    );
    list.add(
        Section::Write,
        "write-unknown-role",
        "a Write with a role that the device does not have is NOT_FOUND",
        |_| {
            let sender = Sender { role: "no-such-role", ..Sender::primary() };
            Ok(vec![Step::WriteAs(sender, Vec::new(), 0, NOT_FOUND)])
        },
    );
}
