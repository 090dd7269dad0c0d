//! Effect of long requests on others: even with millions of fields they never block a thread that serves connections.
//!
//! Requests are passed to the service as from a connection, and the processor time of each poll is measured.

#[path = "../../../runtime/tests/it/common/meter.rs"]
mod meter;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use closc_runtime::proto::v1;
use closc_switch::Service;
use http_body::{Body as _, Frame};
use tonic::Code;
use tonic::body::Body;
use tonic::codegen::{Service as _, http};

use crate::common;
use crate::common::controller::{DEVICE, switch};
use meter::MeteredFuture;

/// Maximum processor time of one poll, for an unoptimised build on a slow machine. It is several hundred
/// times the usual time, and a tenth of the time for validating a long request.
const LONGEST: Duration = Duration::from_millis(60);

/// The bytes of a request in HTTP/2 frames.
struct Frames(VecDeque<Bytes>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Returns a call with a message and its stated length, in HTTP/2 frames.
fn request(method: &str, length: usize, message: &[u8]) -> http::Request<Body> {
    let length = u32::try_from(length).expect("short enough").to_be_bytes();
    let bytes = [&[0][..], &length, message].concat();
    let frames = bytes.chunks(16 << 10).map(Bytes::copy_from_slice).collect();
    http::Request::post(format!("/p4.v1.P4Runtime/{method}"))
        .header("content-type", "application/grpc")
        .body(Body::new(Frames(frames)))
        .expect("a call")
}

/// Runs a call to its end; returns the status, and the longest poll.
async fn call(service: &Service, method: &str, message: &[u8]) -> (Code, Duration) {
    call_parts(service, method, message.len(), message).await
}

/// Like [`call`], with a separate stated length, which the bytes may exceed.
async fn call_parts(service: &Service, method: &str, length: usize, bytes: &[u8]) -> (Code, Duration) {
    let mut service = service.clone();
    let request = request(method, length, bytes);
    let work = async move {
        let response = service.call(request).await.expect("it answers always");
        let (parts, body) = response.into_parts();
        let status = |headers: &http::HeaderMap| {
            headers.get("grpc-status").map(|code| Code::from_bytes(code.as_bytes()))
        };
        let (mut found, mut body) = (status(&parts.headers), pin!(body));
        while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await {
            let frame = frame.expect("the answer is whole");
            found = found.or_else(|| frame.trailers_ref().and_then(status));
        }
        found.expect("a status")
    };
    MeteredFuture::new(work).await
}

fn head() -> Vec<u8> {
    prost::Message::encode_to_vec(&v1::WriteRequest { device_id: DEVICE, ..Default::default() })
}

#[tokio::test]
async fn millions_of_fields_keep_no_thread_that_answers_others() {
    let service = Service::new([switch(DEVICE)]);
    let most = (4 << 20) - 64;
    let mut write = head();
    write.extend([0x22, 0x00].repeat(most / 2));
    // A Read has its entities in another field: first empty entities, then empty values of an unknown field.
    let mut read = head();
    read.extend([0x12, 0x00].repeat(most / 2));
    let mut unknown = head();
    unknown.extend([0x7a, 0x00].repeat(most / 2));
    for (method, message, code) in [
        ("Write", &write, Code::PermissionDenied),
        ("Write", &unknown, Code::PermissionDenied),
        ("SetForwardingPipelineConfig", &unknown, Code::PermissionDenied),
        ("Read", &read, Code::InvalidArgument),
        ("Read", &unknown, Code::InvalidArgument),
    ] {
        let (found, longest) = call(&service, method, message).await;
        println!("{method} of {} bytes: {} us at once", message.len(), longest.as_micros());
        assert_eq!(found, code, "{method}");
        assert!(longest <= LONGEST, "{method}: {longest:?}");
    }
}

/// Data after the single message of a request is rejected, even if the message is short.
#[tokio::test]
async fn a_second_message_of_a_request_is_refused() {
    let service = Service::new([switch(DEVICE)]);
    let mut two = head();
    let second = [&[0, 0, 0x20, 0, 0][..], &vec![0; 2 << 20]].concat();
    for (method, code) in [("Write", Code::PermissionDenied), ("Read", Code::FailedPrecondition)] {
        assert_eq!(call(&service, method, &two).await.0, code, "{method} of one message");
    }
    let length = two.len();
    two.extend(second);
    for method in ["Write", "Read", "SetForwardingPipelineConfig"] {
        let (found, _) = call_parts(&service, method, length, &two).await;
        assert_eq!(found, Code::InvalidArgument, "{method} of two messages");
    }
}

/// A Read with many requests for missing entities is answered, and does not block others.
#[tokio::test]
async fn a_read_of_nothing_many_times_ends_and_lets_others_in() {
    let switch = switch(DEVICE);
    switch.run_pipeline(common::features());
    let service = Service::new([switch]);
    let nothing = v1::ReadRequest {
        device_id: DEVICE,
        entities: vec![v1::DigestEntry::default().into(); 20_000],
        ..Default::default()
    };
    let nothing = prost::Message::encode_to_vec(&nothing);
    let long = tokio::spawn({
        let service = service.clone();
        async move { call(&service, "Read", &nothing).await }
    });
    let everything = v1::ReadRequest {
        device_id: DEVICE,
        entities: vec![v1::TableEntry::default().into()],
        ..Default::default()
    };
    let (code, longest) = call(&service, "Read", &prost::Message::encode_to_vec(&everything)).await;
    assert_eq!(code, Code::Ok);
    assert!(longest <= LONGEST, "{longest:?}");
    let (_, longest) = long.await.expect("it ends");
    assert!(longest <= LONGEST, "{longest:?}");
}
