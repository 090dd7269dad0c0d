//! Multicast groups and clone sessions: section 9.5.

use closc_runtime::proto::v1;

use super::List;
use crate::make::{backup_group, multicast, session};
use crate::section::Section;
use crate::step::{EXISTS, INVALID, NOT_FOUND, Step, accept, optional, read, refuse, try_accept};

pub(super) fn add(list: &mut List<'_>) {
    groups(list);
    replicas(list);
    backups(list);
    sessions(list);
    session_values(list);
}

fn groups(list: &mut List<'_>) {
    let section = Section::Multicast;
    list.add(section, "multicast-insert", "a multicast group is inserted and read", |_| {
        let group = multicast(9, &[(&[1], 1), (&[2], 1), (&[1], 2)]);
        Ok(vec![
            accept(v1::Update::insert(group.clone())),
            refuse(v1::Update::insert(group.clone()), EXISTS),
            read(multicast(9, &[]), [group.into()]),
        ])
    });
    list.add(section, "multicast-modify", "MODIFY replaces the copies of a group", |_| {
        let second = multicast(9, &[(&[3], 7)]);
        Ok(vec![
            refuse(v1::Update::modify(second.clone()), NOT_FOUND),
            accept(v1::Update::insert(multicast(9, &[(&[1], 1)]))),
            accept(v1::Update::modify(second.clone())),
            read(multicast(9, &[]), [second.into()]),
        ])
    });
    list.add(section, "multicast-delete", "a group is deleted by its id alone", |_| {
        Ok(vec![
            refuse(v1::Update::delete(multicast(9, &[])), NOT_FOUND),
            accept(v1::Update::insert(multicast(9, &[(&[1], 1)]))),
            accept(v1::Update::delete(multicast(9, &[]))),
            Step::ReadCount(multicast(0, &[]).into(), 0),
        ])
    });
    list.add(section, "multicast-all", "group id 0 reads all groups", |_| {
        Ok(vec![
            accept(v1::Update::insert(multicast(8, &[(&[1], 1)]))),
            accept(v1::Update::insert(multicast(9, &[]))),
            Step::ReadCount(multicast(0, &[]).into(), 2),
        ])
    });
    list.add(section, "multicast-zero", "0 is not the id of a group", |_| {
        Ok(vec![refuse(v1::Update::insert(multicast(0, &[(&[1], 1)])), INVALID)])
    });
}

fn replicas(list: &mut List<'_>) {
    let section = Section::Multicast;
    list.add(section, "multicast-copy-twice", "a port and an instance are there once", |_| {
        Ok(vec![
            refuse(v1::Update::insert(multicast(9, &[(&[1], 1), (&[1], 1)])), INVALID),
            refuse(v1::Update::insert(multicast(9, &[(&[1], 1), (&[0, 1], 1)])), INVALID),
        ])
    });
    list.add(section, "multicast-instance-zero", "an instance may be 0", |_| {
        let group = multicast(9, &[(&[1], 0)]);
        Ok(vec![accept(v1::Update::insert(group.clone())), read(multicast(9, &[]), [group.into()])])
    });
    list.add(section, "multicast-instance-wide", "an instance fits what the target has for it", |_| {
        Ok(vec![refuse(v1::Update::insert(multicast(9, &[(&[1], 0x1_0000)])), INVALID)])
    });
    list.add(section, "multicast-port-zero", "0 is not a port of a copy", |_| {
        Ok(vec![refuse(v1::Update::insert(multicast(9, &[(&[0], 1)])), INVALID)])
    });
    list.add(section, "multicast-port-shortest", "a port is read in its shortest form", |_| {
        Ok(vec![
            accept(v1::Update::insert(multicast(9, &[(&[0, 0, 4], 1)]))),
            read(multicast(9, &[]), [multicast(9, &[(&[4], 1)]).into()]),
        ])
    });
    list.add(section, "multicast-port-wide", "a port that the device does not have is refused", |_| {
        let codes = &[tonic::Code::InvalidArgument, tonic::Code::OutOfRange, tonic::Code::NotFound];
        let group = multicast(9, &[(&[1, 0xff, 0xff, 5], 1)]);
        Ok(vec![refuse(v1::Update::insert(group), codes)])
    });
}

fn backups(list: &mut List<'_>) {
    let section = Section::Multicast;
    list.add(section, "multicast-backup", "a copy may have a backup", |_| {
        let group = backup_group((&[1], 1), (&[2], 1));
        Ok(vec![try_accept(v1::Update::insert(group.clone())), read(multicast(1, &[]), [group.into()])])
    });
    list.add(section, "multicast-backup-same-port", "a backup is on another port than its copy", |_| {
        Ok(vec![optional(refuse(v1::Update::insert(backup_group((&[1], 1), (&[1], 2))), INVALID))])
    });
}

fn sessions(list: &mut List<'_>) {
    let section = Section::CloneSessions;
    list.add(section, "session-insert", "a clone session is inserted and read", |_| {
        let entry = session(5, &[(&[1], 1)], 0, 64);
        Ok(vec![
            accept(v1::Update::insert(entry.clone())),
            refuse(v1::Update::insert(entry.clone()), EXISTS),
            read(session(5, &[], 0, 0), [entry.into()]),
        ])
    });
    list.add(section, "session-modify", "MODIFY replaces a session", |_| {
        let second = session(5, &[(&[2], 3)], 0, 0);
        Ok(vec![
            refuse(v1::Update::modify(second.clone()), NOT_FOUND),
            accept(v1::Update::insert(session(5, &[(&[1], 1)], 0, 64))),
            accept(v1::Update::modify(second.clone())),
            read(session(5, &[], 0, 0), [second.into()]),
        ])
    });
    list.add(section, "session-delete", "a session is deleted by its id alone", |_| {
        Ok(vec![
            refuse(v1::Update::delete(session(5, &[], 0, 0)), NOT_FOUND),
            accept(v1::Update::insert(session(5, &[(&[1], 1)], 0, 0))),
            accept(v1::Update::delete(session(5, &[], 0, 0))),
            Step::ReadCount(session(0, &[], 0, 0).into(), 0),
        ])
    });
    list.add(section, "session-zero", "0 is not the id of a session", |_| {
        Ok(vec![refuse(v1::Update::insert(session(0, &[(&[1], 1)], 0, 0)), INVALID)])
    });
}

fn session_values(list: &mut List<'_>) {
    let section = Section::CloneSessions;
    list.add(section, "session-instance-wide", "an instance fits what the target has for it", |_| {
        Ok(vec![refuse(v1::Update::insert(session(5, &[(&[1], 0x1_0000)], 0, 0)), INVALID)])
    });
    list.add(section, "session-port-wide", "a port that the device does not have is refused", |_| {
        let codes = &[tonic::Code::InvalidArgument, tonic::Code::OutOfRange, tonic::Code::NotFound];
        Ok(vec![refuse(v1::Update::insert(session(5, &[(&[1, 0xff, 0xff, 5], 1)], 0, 0)), codes)])
    });
    list.add(section, "session-class", "a class of service is read as it was written", |_| {
        let entry = session(5, &[(&[1], 1)], 1, 0);
        Ok(vec![try_accept(v1::Update::insert(entry.clone())), read(session(5, &[], 0, 0), [entry.into()])])
    });
    list.add(
        section,
        "session-class-wide",
        "a class that the target does not have is INVALID_ARGUMENT",
        |_| {
            let entry = session(5, &[(&[1], 1)], 200_000, 0);
            Ok(vec![optional(refuse(v1::Update::insert(entry), INVALID))])
        },
    );
}
