//! An S3-compatible object store.
//!
//! In: `s3://BUCKET/KEY`. Out: an [`Object`] for requests. Invariants: unencrypted HTTP is used only for endpoints on
//! this machine, and only if `AWS_ALLOW_HTTP` is `true`.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use camino::Utf8Path;
use object_store::RetryConfig;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
// The crate is not called directly. Its features select the TLS library of the store's client.
use reqwest as _;
use tokio::runtime::{Builder, Runtime};

use super::SCHEME;

/// Maximum number of retries of a request. [`PATIENCE`] limits their total time.
const RETRIES: usize = 4;
const PATIENCE: Duration = Duration::from_secs(60);

/// An object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) store: Arc<AmazonS3>,
    pub(super) key: Path,
    /// URL of the object, for messages.
    pub(super) place: String,
}

/// Waits for a request to the store. Requests run on separate threads, because the caller may be inside another
/// runtime.
pub(super) fn wait<F>(future: F) -> io::Result<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = match RUNTIME.get() {
        Some(runtime) => runtime,
        None => {
            let made = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            RUNTIME.get_or_init(|| made)
        }
    };
    let (answer, answered) = mpsc::sync_channel(1);
    drop(runtime.spawn(async move { answer.send(future.await) }));
    answered.recv().map_err(|_| io::Error::other("a request to the object store ended without an answer"))
}

impl Object {
    /// Parses a URL and configures its store.
    pub(super) fn at(place: &Utf8Path) -> anyhow::Result<Object> {
        let rest = place.as_str().strip_prefix(SCHEME).unwrap_or_default();
        let (bucket, key) = rest
            .split_once('/')
            .filter(|(bucket, key)| !bucket.is_empty() && !key.is_empty())
            .with_context(|| format!("`{place}` does not name an object: write `{SCHEME}BUCKET/KEY`"))?;
        // Another library may have installed a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
        let http = endpoint(&builder)?;
        let retry = RetryConfig { max_retries: RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let store = builder.with_allow_http(http).with_retry(retry).build();
        let store = store.map_err(|error| anyhow!("`{place}`: {error}"))?;
        let key = Path::parse(key).with_context(|| format!("`{place}`"))?;
        Ok(Object { store: Arc::new(store), key, place: place.to_string() })
    }

    /// Converts an error of the store.
    pub(super) fn fault(&self, error: &object_store::Error) -> io::Error {
        let kind = match error {
            object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                io::ErrorKind::PermissionDenied
            }
            object_store::Error::Precondition { .. } => {
                let message = format!("`{}` was replaced while it was read", self.place);
                return io::Error::other(message);
            }
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, format!("`{}`: {error}", self.place))
    }
}

/// Returns whether the configured endpoint uses unencrypted HTTP; fails if that is not allowed.
fn endpoint(builder: &AmazonS3Builder) -> anyhow::Result<bool> {
    let stated = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let Some(url) = stated.iter().find_map(|key| builder.get_config_value(key)) else { return Ok(false) };
    let allowed = std::env::var("AWS_ALLOW_HTTP").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    speaks_http(&url, allowed)
}

fn speaks_http(url: &str, allowed: bool) -> anyhow::Result<bool> {
    let Some(rest) = url.strip_prefix("http://") else { return Ok(false) };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // The part before `@`, a user name and a password, could be mistaken for the host.
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, _)) => host,
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_here = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    ensure!(
        is_here,
        "`AWS_ENDPOINT_URL` uses `http` to `{host}`, so trees could be read and changed in transit: use \
         `https`"
    );
    ensure!(
        allowed,
        "`AWS_ENDPOINT_URL` uses `http` to this machine: set `AWS_ALLOW_HTTP=true` if this is intended"
    );
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::speaks_http;

    #[test]
    fn http_is_spoken_to_this_machine_alone_and_where_it_is_allowed() {
        for here in ["http://127.0.0.1:9000", "http://[::1]:9000/x", "http://localhost", "http://127.8.0.1/"]
        {
            assert!(speaks_http(here, true).is_ok_and(|http| http), "{here}");
            assert!(
                speaks_http(here, false).is_err_and(|why| why.to_string().contains("AWS_ALLOW_HTTP=true"))
            );
        }
        for there in [
            "http://s3.example",
            "http://127.0.0.1:80@s3.example/",
            "http://192.0.2.1",
            "http://localhost.example",
        ] {
            assert!(
                speaks_http(there, true).is_err_and(|why| why.to_string().contains("use `https`")),
                "{there}"
            );
        }
        assert!(speaks_http("https://s3.example", false).is_ok_and(|http| !http));
    }
}
