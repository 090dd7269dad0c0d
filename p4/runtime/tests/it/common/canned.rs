//! A switch that answers every Read with the same messages, regardless of the request.

use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use closc_runtime::server::{Limits, Listener, Places, serve};
use closc_runtime::wire::RawCodec;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, http};
use tonic::server::{Grpc, ServerStreamingService};
use tonic::{Request, Response, Status};

/// Answers every Read with `times` copies of a message.
#[derive(Clone)]
struct CannedReads {
    message: Bytes,
    times: usize,
}

impl ServerStreamingService<Bytes> for CannedReads {
    type Response = Bytes;
    type ResponseStream = tokio_stream::Iter<std::vec::IntoIter<Result<Bytes, Status>>>;
    type Future = BoxFuture<Response<Self::ResponseStream>, Status>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        let answers = vec![Ok(self.message.clone()); self.times];
        Box::pin(async move { Ok(Response::new(tokio_stream::iter(answers))) })
    }
}

impl tonic::codegen::Service<http::Request<Body>> for CannedReads {
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let this = self.clone();
        let mut grpc = Grpc::new(RawCodec).max_encoding_message_size(usize::MAX);
        Box::pin(async move { Ok(grpc.server_streaming(this, request).await) })
    }
}

/// Starts such a switch on a free loopback port; it runs until it is aborted or asked to close.
pub(super) async fn canned(
    message: Vec<u8>,
    times: usize,
    closing: watch::Receiver<bool>,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = Listener::tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.expect("a free port");
    let address = listener.address().expect("a port");
    let service = CannedReads { message: message.into(), times };
    (address, tokio::spawn(serve(listener, None, Places::new(Limits::default()), service, closing)))
}
