//! Reads entities from a target.

use std::ops::ControlFlow;
use std::time::Duration;

use prost::Message as _;
use tokio::time::timeout;
use tonic::Request;

use super::connect::{Client, ready};
use super::error::{ClientError, Rpc};
use crate::election::RoleName;
use crate::entry::wildcards;
use crate::info::Info;
use crate::proto::v1;
use crate::wire::{Elements, RawCodec};

/// Number of entities after which the task yields.
const AT_ONCE: usize = 256;
/// Bytes of entities after which the task yields.
const BYTES_AT_ONCE: usize = 64 << 10;

/// The field `entities` of `ReadResponse`.
const ENTITIES: u32 = 1;

/// State of a target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// The entities, in the order of the requests and answers.
    pub entities: Vec<v1::Entity>,
    /// Requests that the target does not implement. The state of these entities is unknown.
    pub unsupported_entities: Vec<v1::Entity>,
}

impl Client {
    /// Reads the entities that match any of the given ones and passes each to `each` when it is decoded, until `each`
    /// breaks. `budget` is the memory that all of them may take; it is reduced by the memory that they took.
    pub async fn read_each(
        &self,
        entities: Vec<v1::Entity>,
        role: &RoleName,
        budget: &mut usize,
        mut each: impl FnMut(v1::Entity) -> ControlFlow<()>,
    ) -> Result<(), ClientError> {
        let deadline: Duration = self.target.options.deadlines.read;
        let request =
            v1::ReadRequest { device_id: self.target.device.0, role: role.name().to_owned(), entities };
        let mut grpc = self.grpc();
        let late =
            || ClientError::Deadline { endpoint: self.endpoint().to_owned(), rpc: Rpc::Read, deadline };
        let failed = |status| ClientError::from_status(self.endpoint(), Rpc::Read, &status);
        let call = async {
            ready(&mut grpc).await?;
            let request = Request::new(request.encode_to_vec().into());
            grpc.server_streaming(request, Rpc::Read.path(), RawCodec).await
        };
        let response = timeout(deadline, call).await.map_err(|_| late())?;
        let mut answers = response.map_err(failed)?.into_inner();
        let mut n_entities = 0_usize;
        while let Some(answer) =
            timeout(deadline, answers.message()).await.map_err(|_| late())?.map_err(failed)?
        {
            let mut elements = Elements::<v1::Entity>::new(answer, ENTITIES, *budget);
            let mut turn = 0;
            while let Some(entity) = elements.next() {
                let entity = entity.map_err(|error| self.protocol_error(Rpc::Read, &error))?;
                let Some(left) = budget.checked_sub(elements.weight()) else {
                    return Err(self.too_much());
                };
                if each(entity).is_break() {
                    *budget = left;
                    return Ok(());
                }
                n_entities += 1;
                if n_entities.is_multiple_of(AT_ONCE) || elements.consumed_bytes() >= turn + BYTES_AT_ONCE {
                    turn = elements.consumed_bytes();
                    // A switch with a long answer must not delay the others.
                    tokio::task::yield_now().await;
                }
            }
            *budget -= elements.weight();
        }
        Ok(())
    }

    fn too_much(&self) -> ClientError {
        let reason = format!(
            "its entities take more than {} bytes of memory, the limit set by `--switch-memory`",
            self.target.options.memory_limit
        );
        ClientError::Protocol { endpoint: self.endpoint().to_owned(), rpc: Rpc::Read, reason }
    }

    /// Reads the entities that match any of the given ones.
    pub async fn read(&self, entities: Vec<v1::Entity>) -> Result<Vec<v1::Entity>, ClientError> {
        let mut budget = self.target.options.memory_limit;
        self.read_within(entities, &mut budget).await
    }

    async fn read_within(
        &self,
        entities: Vec<v1::Entity>,
        budget: &mut usize,
    ) -> Result<Vec<v1::Entity>, ClientError> {
        let mut found = Vec::new();
        self.read_each(entities, &RoleName::default(), budget, |entity| {
            found.push(entity);
            ControlFlow::Continue(())
        })
        .await?;
        Ok(found)
    }

    /// Reads everything that a controller writes, one table at a time, so that no answer contains more than one table.
    ///
    /// Kinds of entities that the target does not implement are listed in the result and are not an error.
    pub async fn read_state(&self, info: &Info) -> Result<State, ClientError> {
        let mut state = State::default();
        let mut budget = self.target.options.memory_limit;
        for wildcard in wildcards(info) {
            match self.read_within(vec![wildcard.clone()], &mut budget).await {
                Ok(mut entities) => state.entities.append(&mut entities),
                Err(error) if error.is_unimplemented() => state.unsupported_entities.push(wildcard),
                Err(error) => return Err(error),
            }
        }
        Ok(state)
    }
}
