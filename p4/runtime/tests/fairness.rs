//! Effect of a verbose switch on the others of a controller: no answer keeps a thread that works for
//! them, and the others are read meanwhile.

#[path = "common/canned.rs"]
mod canned;
mod common;
#[path = "common/meter.rs"]
mod meter;

use std::ops::ControlFlow;
use std::time::Duration;

use closc_runtime::client::{Client, Endpoint, Options};
use closc_runtime::proto::v1;
use closc_runtime::{DeviceId, RoleName};
use tokio::sync::watch;

use canned::canned;
use meter::Metered;

/// Processor time of one poll, in a build that is not optimised and on a slow machine: some ten times what it
/// takes, and a fraction of what a whole answer takes.
const LONGEST: Duration = Duration::from_millis(100);

/// Reads everything that a switch answers; returns how many entities were taken, and the longest poll.
async fn read(client: &Client) -> (usize, Duration) {
    let mut budget = client.options().memory_limit;
    let mut taken = 0;
    let role = RoleName::default();
    let read = client.read_each(vec![v1::TableEntry::default().into()], &role, &mut budget, |_| {
        taken += 1;
        ControlFlow::Continue(())
    });
    // That it takes too much is what ends it.
    let (_, longest) = Metered::new(read).await;
    (taken, longest)
}

async fn switch(message: Vec<u8>, closing: &watch::Sender<bool>) -> Client {
    let (address, _) = canned(message, 1, closing.subscribe()).await;
    let endpoint = Endpoint::plain(&address.to_string()).expect("an address");
    Client::connect(&endpoint, DeviceId(0), Options::default()).await.expect("it listens")
}

/// One thread for all, so that whoever keeps it keeps everybody.
#[tokio::test]
async fn a_switch_that_answers_at_length_keeps_nobody_from_the_others() {
    let closing = watch::Sender::new(false);
    // An entity with a table entry and its id.
    let entity = [0x0a, 0x06, 0x12, 0x04, 0x08, 0x81, 0x80, 0x08];
    let honest = switch(entity.repeat(900), &closing).await;
    let unknown = |fields: usize| [0x7a, 0x00].repeat(fields);
    // Entities of unknown fields: one of millions, and many of thousands.
    let inside = |fields: usize| {
        let mut entity = vec![0x0a];
        prost::encoding::encode_varint(2 * fields as u64, &mut entity);
        [entity, unknown(fields)].concat()
    };
    for message in [
        [0x0a, 0x00].repeat(4 << 20),
        entity.repeat(1 << 20),
        unknown(4 << 20),
        inside(4 << 20),
        inside(60_000).repeat(60),
    ] {
        let hostile = switch(message, &closing).await;
        let ((_, longest), reads) = tokio::join!(read(&hostile), async {
            let mut longest = Duration::ZERO;
            for _ in 0..3 {
                let (taken, poll) = read(&honest).await;
                assert_eq!(taken, 900);
                longest = longest.max(poll);
            }
            longest
        });
        println!(
            "at once: {} us of the hostile one, {} us of the other",
            longest.as_micros(),
            reads.as_micros()
        );
        assert!(longest <= LONGEST, "{longest:?}");
    }
}
