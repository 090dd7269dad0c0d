//! Routes requests by path. Requests stay encoded until their sender is verified.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use closc_runtime::server::Place;
use closc_runtime::wire::RawCodec;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, BoxFuture, Service as HttpService, http};
use tonic::server::{Grpc, NamedService, ServerStreamingService, StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};

use super::request_body::{RequestBody, Terms};
use super::request_budget::RequestBudget;
use super::service::Service;

/// Path of the service.
const SERVICE: &str = "p4.v1.P4Runtime";

/// Answers one kind of request.
struct Handler<F>(F);

/// Makes a response from a future answer.
fn respond<R, T>(answer: R) -> BoxFuture<Response<T>, Status>
where
    R: Future<Output = Result<T, Status>> + Send + 'static,
{
    Box::pin(async move { answer.await.map(Response::new) })
}

impl<F, R> UnaryService<Bytes> for Handler<F>
where
    F: FnMut(Bytes) -> R,
    R: Future<Output = Result<Bytes, Status>> + Send + 'static,
{
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        respond((self.0)(request.into_inner()))
    }
}

impl<F, R, S> ServerStreamingService<Bytes> for Handler<F>
where
    F: FnMut(Bytes) -> R,
    R: Future<Output = Result<S, Status>> + Send + 'static,
    S: Stream<Item = Result<Bytes, Status>> + Send + 'static,
{
    type Response = Bytes;
    type ResponseStream = S;
    type Future = BoxFuture<Response<S>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        respond((self.0)(request.into_inner()))
    }
}

impl<F, R, S> StreamingService<Bytes> for Handler<F>
where
    F: FnMut(Streaming<Bytes>) -> R,
    R: Future<Output = Result<S, Status>> + Send + 'static,
    S: Stream<Item = Result<Bytes, Status>> + Send + 'static,
{
    type Response = Bytes;
    type ResponseStream = S;
    type Future = BoxFuture<Response<S>, Status>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        respond((self.0)(request.into_inner()))
    }
}

fn grpc(limit: usize) -> Grpc<RawCodec> {
    Grpc::new(RawCodec).max_decoding_message_size(limit).max_encoding_message_size(usize::MAX)
}

impl Service {
    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        let limits = *self.places().limits();
        let Some(("", method)) = request.uri().path().strip_prefix('/').and_then(|path| {
            let (service, method) = path.split_once('/')?;
            Some((service.strip_prefix(SERVICE)?, method))
        }) else {
            return Status::unimplemented("no such service").into_http();
        };
        // The borrow of the path ends here, so that the request can be moved.
        let method = method.to_owned();
        if method == "StreamChannel" {
            let place = request.extensions().get::<Place>().cloned();
            let open =
                Handler(move |messages| std::future::ready(Ok(self.converse(messages, place.clone()))));
            return grpc(limits.stream_message_bytes).streaming(open, request).await;
        }
        let most = if method == "SetForwardingPipelineConfig" {
            limits.pipeline_bytes
        } else {
            limits.message_bytes
        };
        let room = RequestBudget::default();
        let place = request.extensions().get::<Place>().cloned();
        let terms = Terms {
            service: self.clone(),
            max_bytes: most,
            reads: method == "Read",
            place,
            budget: room.clone(),
        };
        let request = request.map(|body| Body::new(RequestBody::new(body, terms)));
        match method.as_str() {
            "Read" => {
                let read = Handler(move |bytes| self.clone().read(bytes, room.clone()));
                grpc(limits.message_bytes).server_streaming(read, request).await
            }
            "Write" => {
                let write = Handler(move |bytes| self.clone().write(bytes, room.clone()));
                grpc(most).unary(write, request).await
            }
            "SetForwardingPipelineConfig" => {
                let set = Handler(move |bytes| self.clone().set_pipeline(bytes, room.clone()));
                grpc(most).unary(set, request).await
            }
            "GetForwardingPipelineConfig" => {
                // Held until the answer is taken.
                let configs = self.configs();
                let get = Handler(move |bytes| std::future::ready(self.clone().get_pipeline(&bytes)));
                let permit = configs.acquire_owned().await.ok();
                let response = grpc(limits.stream_message_bytes).unary(get, request).await;
                response.map(|body| Body::new(PermitBody { body, _permit: permit }))
            }
            "Capabilities" => {
                let get = Handler(move |bytes| std::future::ready(self.capabilities(&bytes)));
                grpc(limits.stream_message_bytes).unary(get, request).await
            }
            _ => Status::unimplemented("no such method").into_http(),
        }
    }
}

impl HttpService<http::Request<Body>> for Service {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = self.clone().answer(request);
        Box::pin(async move { Ok(answer.await) })
    }
}

impl NamedService for Service {
    const NAME: &'static str = SERVICE;
}

/// A body that holds a resource until it is sent.
struct PermitBody<P> {
    body: Body,
    _permit: P,
}

impl<P: Unpin> HttpBody for PermitBody<P> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
