//! Every rule of the section "Client Arbitration and Controller Replication", and a comparison with a model.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const DEVICE: u64 = 7;

fn arbitration() -> Arbitration {
    Arbitration::new([DeviceId(DEVICE)], 5)
}

fn first_message(election: Option<u128>) -> v1::MasterArbitrationUpdate {
    v1::MasterArbitrationUpdate {
        device_id: DEVICE,
        election_id: election.map(|id| ElectionId(id).into()),
        ..Default::default()
    }
}

fn with_role(election: u128, role: &str) -> v1::MasterArbitrationUpdate {
    v1::MasterArbitrationUpdate {
        role: RoleName::new(role).to_message(None),
        ..first_message(Some(election))
    }
}

/// Answers to clients: stream, code and election id.
fn codes(notifications: &[Notification]) -> Vec<(u64, Code, Option<u128>)> {
    let tell = |notification: &Notification| {
        let status = notification.update.status.as_ref().expect("every notification has a status");
        let election = notification.update.election_id.map(|id| ElectionId::from(id).0);
        (notification.stream.0, Code::from_i32(status.code), election)
    };
    notifications.iter().map(tell).collect()
}

fn update(
    arbitration: &mut Arbitration,
    stream: u64,
    election: Option<u128>,
) -> Vec<(u64, Code, Option<u128>)> {
    codes(&arbitration.update(StreamId(stream), &first_message(election)).expect("the update is accepted"))
}

fn write(arbitration: &Arbitration, election: Option<u128>) -> Result<StreamId, Refusal> {
    arbitration.authorize(DeviceId(DEVICE), &RoleName::default(), election.map(ElectionId))
}

#[test]
fn the_first_controller_is_primary_and_a_lower_one_backup() {
    let mut arbitration = arbitration();
    assert_eq!(update(&mut arbitration, 1, Some(10)), [(1, Code::Ok, Some(10))]);
    assert_eq!(update(&mut arbitration, 2, Some(9)), [(2, Code::AlreadyExists, Some(10))]);
    assert_eq!(write(&arbitration, Some(10)), Ok(StreamId(1)));
    assert_eq!(write(&arbitration, Some(9)).map_err(|refusal| refusal.code()), Err(Code::PermissionDenied));
    assert_eq!(write(&arbitration, None).map_err(|refusal| refusal.code()), Err(Code::PermissionDenied));
}

#[test]
fn a_higher_one_takes_over_and_everybody_is_notified_the_new_primary_last() {
    let mut arbitration = arbitration();
    update(&mut arbitration, 1, Some(10));
    update(&mut arbitration, 2, Some(9));
    let codes = update(&mut arbitration, 3, Some(11));
    let expected =
        [(1, Code::AlreadyExists, Some(11)), (2, Code::AlreadyExists, Some(11)), (3, Code::Ok, Some(11))];
    assert_eq!(codes, expected);
    assert!(write(&arbitration, Some(10)).is_err());
    assert_eq!(write(&arbitration, Some(11)), Ok(StreamId(3)));
}

#[test]
fn an_unset_election_id_is_never_primary_and_zero_is_an_id() {
    let mut arbitration = arbitration();
    assert_eq!(update(&mut arbitration, 1, None), [(1, Code::NotFound, None)]);
    assert_eq!(
        update(&mut arbitration, 2, Some(0)),
        [(1, Code::AlreadyExists, Some(0)), (2, Code::Ok, Some(0))]
    );
}

#[test]
fn without_its_primary_a_role_has_none_until_somebody_comes_with_the_highest_id_again() {
    let mut arbitration = arbitration();
    update(&mut arbitration, 1, Some(10));
    update(&mut arbitration, 2, Some(9));
    assert_eq!(codes(&arbitration.disconnect(StreamId(1))), [(2, Code::NotFound, Some(10))]);
    assert!(write(&arbitration, Some(10)).is_err(), "the primary is gone");
    // A backup with its old id stays backup; it becomes primary with an id that is at least the highest id so far.
    assert_eq!(update(&mut arbitration, 2, Some(9)), [(2, Code::NotFound, Some(10))]);
    assert_eq!(update(&mut arbitration, 2, Some(10)), [(2, Code::Ok, Some(10))]);
    assert_eq!(write(&arbitration, Some(10)), Ok(StreamId(2)));
}

#[test]
fn a_primary_may_step_down_and_may_say_the_same_again() {
    let mut arbitration = arbitration();
    update(&mut arbitration, 1, Some(10));
    update(&mut arbitration, 2, Some(5));
    assert_eq!(
        update(&mut arbitration, 1, Some(10)),
        [(2, Code::AlreadyExists, Some(10)), (1, Code::Ok, Some(10))]
    );
    assert_eq!(
        update(&mut arbitration, 1, Some(3)),
        [(1, Code::NotFound, Some(10)), (2, Code::NotFound, Some(10))]
    );
    assert!(write(&arbitration, Some(10)).is_err());
}

#[test]
fn refusals_have_the_codes_of_the_specification() {
    let mut arbitration = arbitration();
    update(&mut arbitration, 1, Some(10));
    let mut code = |stream, message: &v1::MasterArbitrationUpdate| {
        arbitration.update(StreamId(stream), message).expect_err("refused").code()
    };
    assert_eq!(code(2, &first_message(Some(10))), Code::InvalidArgument, "the id is in use");
    let elsewhere = v1::MasterArbitrationUpdate { device_id: 8, ..first_message(Some(1)) };
    assert_eq!(code(2, &elsewhere), Code::NotFound, "the device is not known");
    assert_eq!(code(1, &elsewhere), Code::FailedPrecondition, "the stream has a device");
    assert_eq!(code(1, &with_role(10, "routing")), Code::FailedPrecondition, "the stream has a role");
    let config = Some(prost_types::Any::default());
    let configured = v1::MasterArbitrationUpdate {
        role: RoleName::default().to_message(config),
        ..first_message(Some(1))
    };
    assert_eq!(code(2, &configured), Code::InvalidArgument, "role configurations are not taken");
    for stream in 2..=5 {
        update(&mut arbitration, stream, None);
    }
    let refused = arbitration.update(StreamId(6), &first_message(None)).expect_err("five are the limit");
    assert_eq!(refused.code(), Code::ResourceExhausted);
}

#[test]
fn roles_are_independent_and_unknown_ones_are_not_found() {
    let mut arbitration = arbitration();
    update(&mut arbitration, 1, Some(10));
    let codes_of_routing =
        codes(&arbitration.update(StreamId(2), &with_role(10, "routing")).expect("another role"));
    assert_eq!(codes_of_routing, [(2, Code::Ok, Some(10))]);
    assert_eq!(arbitration.primaries(DeviceId(DEVICE)).collect::<Vec<_>>(), [StreamId(1), StreamId(2)]);
    let unknown = arbitration.authorize(DeviceId(DEVICE), &RoleName::new("acl"), Some(ElectionId(10)));
    assert_eq!(unknown.expect_err("no controller has this role").code(), Code::NotFound);
    let device = arbitration.authorize(DeviceId(1), &RoleName::default(), Some(ElectionId(10)));
    assert_eq!(device.expect_err("no such device").code(), Code::NotFound);
}

#[test]
fn the_role_configuration_of_the_primary_is_handed_on() {
    let mut arbitration = arbitration().accept_role_config();
    let config = Some(prost_types::Any { type_url: "x/y".to_owned(), value: vec![1] });
    let mine = v1::MasterArbitrationUpdate {
        role: RoleName::new("routing").to_message(config.clone()),
        ..first_message(Some(3))
    };
    arbitration.update(StreamId(1), &mine).expect("accepted");
    let backup = arbitration.update(StreamId(2), &with_role(2, "routing")).expect("accepted");
    assert_eq!(backup[0].update.role.as_ref().and_then(|role| role.config.clone()), config);
}

#[derive(Debug, Clone)]
enum Step {
    Update(u64, Option<u128>),
    Disconnect(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u64..5, proptest::option::of(0u128..6)).prop_map(|(stream, id)| Step::Update(stream, id)),
        1 => (0u64..5).prop_map(Step::Disconnect),
    ]
}

proptest! {
    /// At most one controller is notified that it is primary. It has the highest id so far, and only it may write.
    #[test]
    fn there_is_at_most_one_primary(steps in proptest::collection::vec(step(), 1..60)) {
        let mut arbitration = arbitration();
        let mut believes: BTreeSet<u64> = BTreeSet::new();
        let mut highest: Option<u128> = None;
        for step in steps {
            let notifications = match step {
                Step::Update(stream, id) => {
                    let accepted = arbitration.update(StreamId(stream), &first_message(id));
                    if accepted.is_ok() { highest = highest.max(id); } else { believes.remove(&stream); }
                    accepted.unwrap_or_else(|_| arbitration.disconnect(StreamId(stream)))
                }
                Step::Disconnect(stream) => {
                    believes.remove(&stream);
                    arbitration.disconnect(StreamId(stream))
                }
            };
            for (stream, code, election) in codes(&notifications) {
                prop_assert_eq!(election, highest);
                if code == Code::Ok { believes.insert(stream); } else { believes.remove(&stream); }
            }
            prop_assert!(believes.len() <= 1, "two primaries: {:?}", believes);
            let primary = arbitration.primary(DeviceId(DEVICE), &RoleName::default()).map(|stream| stream.0);
            prop_assert_eq!(primary, believes.first().copied());
            prop_assert_eq!(write(&arbitration, highest).is_ok(), primary.is_some() && highest.is_some());
        }
    }
}

#[test]
fn roles_without_controllers_make_room_for_others() {
    let mut arbitration = arbitration();
    update(&mut arbitration, 0, Some(1));
    for stream in 1..10_000 {
        let message = with_role(1, &format!("role {stream}"));
        arbitration.update(StreamId(stream), &message).expect("there is room");
        arbitration.disconnect(StreamId(stream));
    }
    assert!(arbitration.devices[&DeviceId(DEVICE)].len() <= ROLES);
    assert!(arbitration.devices[&DeviceId(DEVICE)].contains_key(&RoleName::default()));
    let refused = (10_000..10_100).find_map(|stream| {
        arbitration.update(StreamId(stream), &with_role(1, &format!("held {stream}"))).err()
    });
    assert_eq!(refused.map(|refusal| refusal.code()), Some(Code::ResourceExhausted));
    let long = arbitration.update(StreamId(1), &with_role(1, &"x".repeat(ROLE_BYTES + 1)));
    assert_eq!(long.map_err(|refusal| refusal.code()), Err(Code::InvalidArgument));
}
