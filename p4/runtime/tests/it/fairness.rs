//! A switch with a very long answer must not delay the other switches of a controller. No answer blocks a thread for
//! long, and the other switches are read in the meantime.

#[path = "common/meter.rs"]
mod meter;

use std::ops::ControlFlow;
use std::time::Duration;

use closc_runtime::client::{Client, Endpoint, Options};
use closc_runtime::proto::v1;
use closc_runtime::{DeviceId, RoleName};
use tokio::sync::watch;

use crate::canned::canned;
use meter::MeteredFuture;

/// Maximum processor time of one poll, in an unoptimised build on a slow machine. It is about ten times the
/// usual value, and a fraction of the time for a complete answer.
const LONGEST: Duration = Duration::from_millis(100);

/// Reads all entities of a switch. Returns the number of entities, and the longest poll.
async fn read(client: &Client) -> (usize, Duration) {
    let mut budget = client.options().memory_limit;
    let mut taken = 0;
    let role = RoleName::default();
    let read = client.read_each(vec![v1::TableEntry::default().into()], &role, &mut budget, |_| {
        taken += 1;
        ControlFlow::Continue(())
    });
    // The read of a hostile switch ends with an error, because its answer exceeds a limit.
    let (_, longest) = MeteredFuture::new(read).await;
    (taken, longest)
}

async fn switch(message: Vec<u8>, closing: &watch::Sender<bool>) -> Client {
    let (address, _) = canned(message, 1, closing.subscribe()).await;
    let endpoint = Endpoint::plain(&address.to_string()).expect("an address");
    Client::connect(&endpoint, DeviceId(0), Options::default()).await.expect("it listens")
}

/// All tasks share one thread, so a long poll would block all of them.
#[tokio::test]
async fn a_switch_that_answers_at_length_keeps_nobody_from_the_others() {
    let closing = watch::Sender::new(false);
    // An entity: a table entry with only an id.
    let entity = [0x0a, 0x06, 0x12, 0x04, 0x08, 0x81, 0x80, 0x08];
    let honest = switch(entity.repeat(900), &closing).await;
    let unknown = |fields: usize| [0x7a, 0x00].repeat(fields);
    // Entities with unknown fields: one with millions, and many with thousands.
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
