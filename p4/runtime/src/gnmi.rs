//! A gNMI client: Capabilities, Get and Set.
//!
//! In: an endpoint, certificates, and a user if the switch requires one. Out: messages of
//! [`crate::proto::gnmi`]. Invariants: every call has a deadline; the memory of an answer is estimated before
//! it is decoded; a password never appears in an error message or a log.

use std::fmt;
use std::time::Duration;

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::DeviceId;
use crate::client::{Client, ClientError, Endpoint, Options, Rpc};
use crate::proto::gnmi;

/// A user and a password, for switches that require them.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    user: String,
    password: String,
}

/// Keeps passwords out of logs.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Login {
    /// Returns the login of a user. Both strings must be printable ASCII, because they are sent as gRPC metadata.
    ///
    /// # Errors
    ///
    /// Returns the reason if one of them contains other characters.
    pub fn new(user: &str, password: &str) -> Result<Self, &'static str> {
        let is_printable =
            |text: &str| !text.is_empty() && text.bytes().all(|sign| (0x20..0x7f).contains(&sign));
        match (is_printable(user), is_printable(password)) {
            (false, _) => Err("the user is not of printable ASCII"),
            (_, false) => Err("the password is not of printable ASCII"),
            _ => Ok(Login { user: user.to_owned(), password: password.to_owned() }),
        }
    }

    fn metadata(&self) -> MetadataMap {
        let value = |text: &str| -> MetadataValue<Ascii> {
            let mut value = MetadataValue::try_from(text).expect("it is printable ASCII");
            value.set_sensitive(true);
            value
        };
        let mut metadata = MetadataMap::new();
        metadata.insert("username", value(&self.user));
        metadata.insert("password", value(&self.password));
        metadata
    }
}

/// A connection to a switch that speaks gNMI. Clones share it.
#[derive(Debug, Clone)]
pub struct GnmiClient {
    client: Client,
    login: Option<Login>,
}

impl GnmiClient {
    /// Connects to a switch.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection fails.
    pub async fn connect(
        endpoint: &Endpoint,
        login: Option<Login>,
        options: Options,
    ) -> Result<Self, ClientError> {
        // gNMI messages have no device id; this field of the client is not used.
        let client = Client::connect(endpoint, DeviceId(0), options).await?;
        Ok(GnmiClient { client, login })
    }

    /// Gets the capabilities of the switch.
    ///
    /// # Errors
    ///
    /// Returns an error if the call fails.
    pub async fn capabilities(&self) -> Result<gnmi::CapabilityResponse, ClientError> {
        let deadline = self.client.options().deadlines.capabilities;
        let request = gnmi::CapabilityRequest::default();
        self.client.unary_with(Rpc::GnmiCapabilities, deadline, &request, self.metadata()).await
    }

    /// Gets values.
    ///
    /// # Errors
    ///
    /// Returns an error if the call fails, or if the answer exceeds the memory limit.
    pub async fn get(&self, request: &gnmi::GetRequest) -> Result<gnmi::GetResponse, ClientError> {
        let deadline = self.client.options().deadlines.read;
        self.client.unary_with(Rpc::GnmiGet, deadline, request, self.metadata()).await
    }

    /// Sets values, within `limit`: a switch may take minutes for a Set.
    ///
    /// # Errors
    ///
    /// Returns an error if the call fails. The switch may have applied the request anyway.
    pub async fn set(
        &self,
        request: &gnmi::SetRequest,
        limit: Duration,
    ) -> Result<gnmi::SetResponse, ClientError> {
        self.client.unary_with(Rpc::GnmiSet, limit, request, self.metadata()).await
    }

    fn metadata(&self) -> MetadataMap {
        self.login.as_ref().map(Login::metadata).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_in_no_log() {
        let login = Login::new("admin", "not-a-secret").expect("both are ASCII");
        assert!(!format!("{login:?} {:?}", login.metadata()).contains("not-a-secret"));
        let sent = login.metadata();
        let sent = sent.get("password").and_then(|value| value.to_str().ok());
        assert_eq!(sent, Some("not-a-secret"));
        for (user, password) in [("", "x"), ("x", ""), ("x", "a\nb"), ("ü", "x")] {
            assert!(Login::new(user, password).is_err(), "{user:?} {password:?}");
        }
    }
}
